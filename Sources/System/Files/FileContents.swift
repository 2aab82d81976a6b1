// A file's bytes as they were when it was opened: a copy, so that its readers are safe when the file is shortened
// meanwhile, which they are not with a mapping. Must not know what the bytes mean.

/// Which file something is, as far as can be told from outside.
package struct FileIdentity: Sendable, Hashable {
    /// Its number on its file system.
    package let inode: UInt64
    /// Its length.
    package let byteCount: Int64
    /// When it last changed in any way: nanoseconds since the beginning of 1970.
    package let changedAt: Int64

    init(inode: UInt64, byteCount: Int64, changedAt: Int64) {
        self.inode = inode
        self.byteCount = byteCount
        self.changedAt = changedAt
    }
}

/// The bytes of a file, which stay where they are as long as this object is there.
package final class FileContents: Sendable {
    /// Which file it was.
    package let identity: FileIdentity
    /// The address of the bytes, which are not written to any more.
    private let start: UInt
    private let count: Int

    /// Reads a file of this user; nil where there is none that can be read, where it is longer than `limit`, and where
    /// it has changed while it was read.
    package static func read(path: String, limit: Int) -> FileContents? {
        let opened = Platform.openForReading(path)
        guard !opened.failed else { return nil }
        let descriptor = Descriptor(owning: opened.value)
        guard let (identity, _) = Platform.identity(ofFile: descriptor.raw), Platform.isOwn(file: descriptor.raw),
            let count = Int(exactly: identity.byteCount), (0...max(0, limit)).contains(count)
        else { return nil }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
        let contents = FileContents(identity, UnsafeRawBufferPointer(bytes))
        guard fill(bytes, from: descriptor.raw), let (after, _) = Platform.identity(ofFile: descriptor.raw),
            after == identity
        else { return nil }
        return contents
    }

    private init(_ identity: FileIdentity, _ bytes: UnsafeRawBufferPointer) {
        self.identity = identity
        start = bytes.baseAddress.map { UInt(bitPattern: $0) } ?? 0
        count = bytes.count
    }

    deinit {
        UnsafeRawPointer(bitPattern: start)?.deallocate()
    }

    /// Calls `body` with the bytes.
    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start), count: count))
    }

    /// Whether the buffer is full; false where the file has become shorter, or cannot be read.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer, from raw: Int32) -> Bool {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let outcome = Platform.readFile(raw, at: Int64(filled), into: rest)
            guard !outcome.failed, outcome.value > 0 else { return false }
            filled += outcome.value
        }
        return true
    }
}
