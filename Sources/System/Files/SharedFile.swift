// A small file that the processes of one user share: read whole, and changed under a lock by putting another in its
// place, so that no reader ever sees a half of it. For its owner only. Every call may wait for the disk.
//
// Must not know what is in it; its readers must be ready for anything.

/// A file that is replaced in one step.
package struct SharedFile: Sendable, Equatable {
    /// What becomes of the file.
    package enum Change: Sendable {
        /// It stays as it is.
        case keep
        /// This takes its place.
        case replace([UInt8])
        /// It goes.
        case remove
    }

    /// What there is.
    package enum Content: Sendable, Equatable {
        /// There is no file.
        case missing
        /// It is none that could be believed: no file at all, or one that is longer than it may be.
        case unusable
        /// It is another user's.
        case foreign
        /// All that is in it.
        case whole([UInt8])

        /// What is in it; nil where there is none that could be believed.
        package var bytes: [UInt8]? { if case .whole(let bytes) = self { bytes } else { nil } }
    }

    /// Where it is; a file beside it, whose name ends in `.lock`, is what changes are locked by.
    package let path: String

    /// A file at an absolute path, which need not exist.
    package init(path: String) {
        self.path = path
    }

    /// The whole content; nil where there is none that could be believed: no file, one of another user's, one that is
    /// longer than `limit` or cannot be read.
    package func read(atMost limit: Int) -> [UInt8]? {
        if case .success(let content) = content(atMost: limit) { content.bytes } else { nil }
    }

    /// The whole content. Fails where there may be one that cannot be read now: descriptors have run out, or the disk
    /// says no.
    package func content(atMost limit: Int) -> Result<Content, SystemError> {
        let file: OpenFile
        switch OpenFile.open(path: path) {
        case .failure(let error): return Self.content(error).map { .success($0) } ?? .failure(error)
        case .success(let opened): file = opened
        }
        guard Platform.isOwn(file: file.raw) else { return .success(.foreign) }
        guard file.byteCount <= Int64(limit) else { return .success(.unusable) }
        let count = Int(file.byteCount)
        // The initialiser writes to the array, and all arrays without room are one.
        guard count > 0 else { return .success(.whole([])) }
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[filled..<count])
                switch file.read(at: Int64(filled), into: rest) {
                case .success(let read): filled += read
                case .failure(.ended): return
                case .failure(.failed(let error)):
                    failure = error
                    return
                }
            }
        }
        if let failure { return .failure(failure) }
        return .success(bytes.count == count ? .whole(bytes) : .unusable)
    }

    /// What there is where opening has failed, as far as that is known.
    private static func content(_ error: SystemError) -> Content? {
        switch error.errno {
        case ENOENT, ENOTDIR: .missing
        case EISDIR, EINVAL, ENXIO: .unusable
        default: nil
        }
    }

    /// Lets `body` see the content and say what becomes of it, while no other process does the same.
    ///
    /// Fails without calling `body` where the lock is not to be had within `patience`, the file cannot be read now, or
    /// is another user's: where root runs a program with a user's home, the user could not read any more what it would
    /// write. A file of which no content is wanted is `unusable` where it cannot be read.
    package func change(
        atMost limit: Int, patience: Duration = .seconds(5), wantsContent: Bool = true, _ body: (Content) -> Change
    ) -> SystemError? {
        if let error = makeDirectory() { return error }
        // The lock goes with it.
        let lock: FileLock
        switch FileLock.take(path + ".lock", patience: patience) {
        case .failure(let error): return error
        case .success(let taken): lock = taken
        }
        defer { lock.hold() }
        let content: Content
        switch self.content(atMost: limit) {
        case .failure(let error) where wantsContent: return error
        case .failure: content = .unusable
        case .success(.foreign): return SystemError(errno: EPERM, call: "fstat")
        case .success(let read): content = read
        }
        let change = body(content)
        removeLeftOvers()
        switch change {
        case .keep: return nil
        case .replace(let bytes): return replace(with: bytes)
        case .remove:
            Platform.remove(path: path)
            return nil
        }
    }

    private func replace(with bytes: [UInt8]) -> SystemError? {
        switch TemporaryFile.create(in: directory, prefix: newPrefix, suffix: "") {
        case .failure(let error): return error
        case .success(let file):
            // A file that is not put into its place goes with its object.
            return bytes.withUnsafeBytes { file.append($0) } ?? file.replace(path)
        }
    }

    /// Removes what processes have left that were killed while they wrote. Needs the lock, under which no other writes.
    private func removeLeftOvers() {
        guard case .success(let names) = Platform.allNames(in: directory) else { return }
        for name in names where name.hasPrefix(newPrefix) { Platform.remove(path: directory + "/" + name) }
    }

    /// Names of files that are still to take the place of this one begin with it.
    private var newPrefix: String {
        let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        return name + ".new-"
    }

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private func makeDirectory() -> SystemError? {
        var made = ""
        for part in directory.split(separator: "/") {
            made += "/" + part
            let outcome = Platform.makeDirectory(made)
            // Where one above may not be written to it may still be there; what counts is the last.
            if outcome.failed, made == directory { return SystemError(errno: outcome.error, call: "mkdir") }
        }
        return nil
    }
}
