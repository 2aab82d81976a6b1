// A file that grows at its end by records of one length, which several processes read and, under a lock of their own,
// write. It is shortened only by putting another in its place, which all users of it notice by the old one having lost
// its name. Must not know what a record says.

/// An open log.
package struct RecordLog: ~Copyable, Sendable {
    private let path: String
    private var descriptor: Descriptor
    /// How many bytes were read or written here.
    package private(set) var position: Int64 = 0

    /// Opens a log, made where there is none.
    package static func open(path: String) -> RecordLog? {
        let opened = Platform.openLog(path)
        if opened.failed { return nil }
        return RecordLog(path: path, descriptor: Descriptor(owning: opened.value))
    }

    private init(path: String, descriptor: consuming Descriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// The length; nil when another log has taken the place of this one, or what is known of this one is gone.
    package var currentLength: Int64? {
        guard let (identity, names) = Platform.identity(ofFile: descriptor.raw), names > 0,
            identity.byteCount >= position
        else { return nil }
        return identity.byteCount
    }

    /// What was written behind the position, at most `limit` bytes and whole records of `size` only.
    package mutating func read(recordSize size: Int, limit: Int = 1 << 20) -> [UInt8] {
        guard let length = currentLength else { return [] }
        let count = Int(min(length - position, Int64(limit))) / size * size
        guard count > 0 else { return [] }
        var filled = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialised in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let outcome = Platform.readFile(descriptor.raw, at: position + Int64(filled), into: rest)
                guard !outcome.failed, outcome.value > 0 else { break }
                filled += outcome.value
            }
            initialised = filled
        }
        let whole = filled / size * size
        position += Int64(whole)
        return Array(bytes.prefix(whole))
    }

    /// Writes records at the end, which has to have been read up to; whether that was done. Needs the lock.
    package mutating func append(_ records: [UInt8]) -> Bool {
        // A part of a record, left by a process that was killed, would put all others out of step.
        guard let length = currentLength,
            length == position || !Platform.shorten(descriptor.raw, to: position).failed
        else { return false }
        var written = 0
        let isDone = records.withUnsafeBytes { bytes in
            while written < bytes.count {
                let outcome = Platform.append(descriptor.raw, UnsafeRawBufferPointer(rebasing: bytes[written...]))
                if outcome.failed { return false }
                written += outcome.value
            }
            return true
        }
        guard isDone else {
            _ = Platform.shorten(descriptor.raw, to: position)
            return false
        }
        position += Int64(written)
        return true
    }
}
