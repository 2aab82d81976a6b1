// Bodies under br and zstd that are not compressed, or are nothing but zeros: what a test needs of these codings where
// the system has a library to undo them and none to apply them.
//
// Must not know: which code undoes them.

/// Bytes under codings that the package itself cannot apply.
package enum StoredCodings {
    /// The bytes under br, in blocks that are not compressed (RFC 7932 §9.2).
    package static func brotli(_ bytes: [UInt8]) -> [UInt8] {
        var coded: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 1 << 16) {
            let piece = bytes[start..<min(start + 1 << 16, bytes.count)]
            // The first block follows four bits that say a window of 4 MiB, others one bit that says that they are not
            // the last; then two bits that say how long the length is, the length, and a bit for not compressed.
            let isFirst = start == 0
            let head = UInt32(piece.count - 1) << (isFirst ? 7 : 3) | 1 << (isFirst ? 23 : 19) | (isFirst ? 0x0B : 0)
            coded += [UInt8(truncatingIfNeeded: head), UInt8(truncatingIfNeeded: head >> 8), UInt8(head >> 16)]
            coded += piece
        }
        return coded + [bytes.isEmpty ? 0x06 : 0x03]
    }

    /// The bytes under zstd, in one frame of blocks that are not compressed (RFC 8878 §3.1.1).
    package static func zstandard(_ bytes: [UInt8]) -> [UInt8] {
        var coded = beginning
        for start in stride(from: 0, to: bytes.count, by: largestBlock) {
            let piece = bytes[start..<min(start + largestBlock, bytes.count)]
            coded += block(kind: 0, piece.count, isLast: false) + piece
        }
        return coded + block(kind: 0, 0, isLast: true)
    }

    /// So many times 128 KiB of zeros under zstd, at four bytes for each.
    package static func zstandard(blocksOfZeros count: Int) -> [UInt8] {
        var coded = beginning
        for _ in 0..<count { coded += block(kind: 1, largestBlock, isLast: false) + [0] }
        return coded + block(kind: 0, 0, isLast: true)
    }

    /// A frame's magic number, and that it has a window of 128 KiB, and neither length nor checksum.
    private static let beginning: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3]
    private static let largestBlock = 128 * 1024

    private static func block(kind: UInt32, _ count: Int, isLast: Bool) -> [UInt8] {
        let head = UInt32(count) << 3 | kind << 1 | (isLast ? 1 : 0)
        return [UInt8(truncatingIfNeeded: head), UInt8(truncatingIfNeeded: head >> 8), UInt8(head >> 16)]
    }
}
