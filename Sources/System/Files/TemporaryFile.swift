// A file for what is still arriving: of a name that is free, readable by its owner only, and gone with its object
// unless it is taken over. Every call may wait for the disk. Must not know what is written. `TemporaryFile+Parts`
// has what files need that are written in several goes.

import Synchronization

/// A temporary file that is written from its beginning to its end.
package final class TemporaryFile: Sendable {
    let state: Mutex<State>

    struct State: ~Copyable, Sendable {
        var path: String
        var descriptor: Descriptor
        /// Whether the file goes with its object.
        var isOwned = true
    }

    /// Makes a file whose name begins and ends like this; exclusively, with mode 0600.
    package static func create(
        in directory: String, prefix: String, suffix: String
    ) -> Result<TemporaryFile, SystemError> {
        let start = directory.hasSuffix("/") ? directory : directory + "/"
        // One name that is taken is chance; a hundred in a row are an attack.
        for attempt in 1...100 {
            let path = start + prefix + Self.freshName() + suffix
            let made = Platform.createExclusively(path)
            if !made.failed { return .success(TemporaryFile(path: path, descriptor: Descriptor(owning: made.value))) }
            if made.error != alreadyThere || attempt == 100 {
                return .failure(SystemError(errno: made.error, call: "open"))
            }
        }
        return .failure(SystemError(errno: alreadyThere, call: "open"))
    }

    /// Takes an open file over.
    package init(path: String, descriptor: consuming Descriptor) {
        state = Mutex(State(path: path, descriptor: descriptor))
    }

    deinit {
        let path = state.withLock { $0.isOwned ? $0.path : nil }
        if let path { Platform.remove(path: path) }
    }

    /// Where it is.
    package var path: String { state.withLock { $0.path } }

    /// Writes all of the bytes behind what is there; answers what went wrong.
    package func append(_ bytes: UnsafeRawBufferPointer) -> SystemError? {
        state.withLock { state in
            var rest = bytes
            while !rest.isEmpty {
                let outcome = Platform.append(state.descriptor.raw, rest)
                if outcome.failed { return SystemError(errno: outcome.error, call: "write") }
                rest = UnsafeRawBufferPointer(rebasing: rest[outcome.value...])
            }
            return nil
        }
    }

    /// Closes the file, which stays where it is; some file systems say only now that there was no room.
    package func close() -> SystemError? {
        state.withLock { state in
            let error = state.descriptor.closeReporting()
            return error == 0 ? nil : SystemError(errno: error, call: "close")
        }
    }

    /// What says that the file has no name any more: what cleans the directory up may have removed it while it was
    /// written to.
    package func lookForName() -> SystemError? {
        var information = stat()
        // Some file systems count no names; those are asked for this one.
        guard state.withLock({ fstat($0.descriptor.raw, &information) }) == 0, information.st_nlink == 0 else {
            return nil
        }
        let found = Platform.findPrivateFile(path)
        guard found.failed else { return nil }
        let error = SystemError(errno: found.error, call: "lstat")
        return error.isMissing ? error : nil
    }

    /// Puts the file, all of it on the disk, in the place of the one at `path`, if any, in one step.
    package func replace(_ path: String) -> SystemError? {
        let written = state.withLock { Platform.synchronise($0.descriptor.raw) }
        if written.failed { return SystemError(errno: written.error, call: "fsync") }
        return move(to: path)
    }

    /// Puts the file in the place of the one at `path` without waiting for the disk: for files whose content shows
    /// whether it is whole.
    package func move(to path: String) -> SystemError? {
        if let error = close() { return error }
        let moved = Platform.rename(self.path, to: path)
        if moved.failed { return SystemError(errno: moved.error, call: "rename") }
        letGo()
        return nil
    }

    /// Leaves the file where it is when this object goes: other code knows its path.
    package func letGo() {
        state.withLock { $0.isOwned = false }
    }

    /// Removes the file now; one that was moved away stays where it was moved to.
    package func remove() {
        let path = state.withLock { state -> String? in
            defer { state.isOwned = false }
            return state.isOwned ? state.path : nil
        }
        if let path { Platform.remove(path: path) }
    }

    /// Letters and digits that cannot be guessed.
    static func freshName() -> String {
        var chance = Chance()
        return name(by: &chance)
    }

    /// The name that random numbers make. Each number is a call of the system, and is good for six letters: these are
    /// as good as equally likely, since 62 to the sixth is far below 2 to the 64th.
    package static func name(by chance: inout some RandomNumberGenerator) -> String {
        String(unsafeUninitializedCapacity: nameLength) { bytes in
            var number: UInt64 = 0
            for index in 0..<nameLength {
                if index % lettersOfNumber == 0 { number = chance.next() }
                let (rest, letter) = number.quotientAndRemainder(dividingBy: UInt64(letters.count))
                bytes[index] = letters[Int(letter)]
                number = rest
            }
            return nameLength
        }
    }

    static let nameLength = 12

    private static let lettersOfNumber = 6
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
    private static let alreadyThere = Platform.fileExists
}
