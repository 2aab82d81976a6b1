// A lock between the processes of one user, and between the threads of each: the object that has it open and locked has
// it, and the kernel takes it back from a process that dies. Must not know what it guards.

/// A lock that was got; it goes with its object.
package final class FileLock: Sendable {
    /// How many may hold it at once.
    package enum Kind: Sendable {
        /// One.
        case alone
        /// All that ask for it in this way.
        case shared
    }

    private let descriptor: Descriptor

    private init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // A child that another thread is just starting has a copy of the descriptor, and closes it only by becoming
        // another program: without this the lock would seem to be held meanwhile.
        Platform.unlock(descriptor.raw)
    }

    /// Takes a lock by a file that is made for it where there is none.
    ///
    /// Its holder may hang, and must not hang this process: it is asked for again and again, for a
    /// while. Its holder may also have removed the file: a lock by a file that has no name guards nothing, since the
    /// next one makes another file, and so does this one.
    package static func take(
        _ path: String, _ kind: Kind = .alone, patience: Duration = .seconds(5)
    ) -> Result<FileLock, SystemError> {
        let end = Platform.continuousNanoseconds &+ Int64(patience.wholeMilliseconds) &* 1_000_000
        for _ in 0..<mostFiles {
            let taken = take(Platform.openLock(path), kind, until: end)
            guard case .success(let lock) = taken, !Platform.isNamed(file: lock.descriptor.raw, path) else {
                return taken
            }
        }
        return .failure(SystemError(errno: ESTALE, call: "open"))
    }

    /// Picked by feel: where so many in a row have no name the file system gives a file another number each time that
    /// it is asked, as some on a network do, and no file would ever be the right one.
    private static let mostFiles = 100

    /// Takes a lock by a directory that is there, in which no file is made for it.
    package static func take(directory path: String, patience: Duration) -> Result<FileLock, SystemError> {
        let end = Platform.continuousNanoseconds &+ Int64(patience.wholeMilliseconds) &* 1_000_000
        return take(Platform.openDirectory(path), .alone, until: end)
    }

    private static func take(
        _ opened: Platform.Outcome<Int32>, _ kind: Kind, until end: Int64
    ) -> Result<FileLock, SystemError> {
        if opened.failed { return .failure(SystemError(errno: opened.error, call: "open")) }
        let descriptor = Descriptor(owning: opened.value)
        while true {
            let outcome = kind == .alone ? Platform.tryLock(descriptor.raw) : Platform.trySharedLock(descriptor.raw)
            guard outcome.failed else { return .success(FileLock(descriptor)) }
            guard Platform.isTemporarilyBlocked(outcome.error), Platform.continuousNanoseconds < end else {
                return .failure(SystemError(errno: outcome.error, call: "flock"))
            }
            Platform.pause(milliseconds: 2)
        }
    }

    /// Says that the lock is needed up to here; an object that is not mentioned again may go earlier.
    package func hold() {
        withExtendedLifetime(self) {}
    }
}
