// A file's bytes as they were when it was opened, without copying long ones. For files that are written once and never
// changed in place: whoever shortens one that is in use takes the ground from under its readers. Must not know what the
// bytes mean.

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

/// The bytes of a file.
package final class MappedFile: Sendable {
    /// Which file it was.
    package let identity: FileIdentity
    private let content: Content

    private enum Content: Sendable {
        case copied([UInt8])
        /// The address where the kernel shows the file.
        case mapped(UInt, count: Int)
    }

    /// Opens a file of this user; nil where there is none that can be read.
    package static func open(path: String) -> MappedFile? {
        let opened = Platform.openForReading(path)
        guard !opened.failed else { return nil }
        let descriptor = Descriptor(owning: opened.value)
        guard let (identity, _) = Platform.identity(ofFile: descriptor.raw), Platform.isOwn(file: descriptor.raw),
            let content = content(descriptor.raw, count: Int(clamping: identity.byteCount))
        else { return nil }
        return MappedFile(identity, content)
    }

    private init(_ identity: FileIdentity, _ content: Content) {
        self.identity = identity
        self.content = content
    }

    deinit {
        if case .mapped(let address, let count) = content { Platform.unmap(address, count: count) }
    }

    /// Whether the bytes lie where the kernel keeps the file.
    package var isMapped: Bool {
        if case .mapped = content { true } else { false }
    }

    /// Calls `body` with the bytes.
    package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        switch content {
        case .copied(let bytes): try bytes.withUnsafeBytes(body)
        case .mapped(let address, let count):
            try body(UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count))
        }
    }

    private static func content(_ raw: Int32, count: Int) -> Content? {
        if count > mappedFrom { return Platform.map(raw, count: count).map { .mapped($0, count: count) } }
        var filled = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialised in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let outcome = Platform.readFile(raw, at: Int64(filled), into: rest)
                guard !outcome.failed, outcome.value > 0 else { break }
                filled += outcome.value
            }
            initialised = filled
        }
        return filled == count ? .copied(bytes) : nil
    }

    /// Picked by feel: below this a copy costs less than the kernel's book-keeping.
    private static let mappedFrom = 32 * 1024
}
