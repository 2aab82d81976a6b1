// Bytes that were in order, spoilt in one place: what lies on any wire, whichever protocol it is.

import URLLoadingTestSupport

extension SeededRandom {
    /// Changes, adds or takes away something.
    mutating func spoil(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let (start, end) = place(in: bytes)
        switch Int.random(in: 0..<7, using: &self) {
        case 0: bytes[start] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 1: bytes[start] = Self.oddBytes.randomElement(using: &self) ?? 0
        case 2: bytes.removeSubrange(start..<end)
        case 3: bytes.insert(contentsOf: bytes[start..<end], at: start)
        case 4: bytes.removeSubrange(start...)
        case 5: bytes.insert(contentsOf: noise(Int.random(in: 1...40, using: &self)), at: start)
        default:
            let piece = Array(bytes[start..<end])
            let times = Int.random(in: 2...(chance(10) ? 8000 : 60), using: &self)
            bytes.insert(contentsOf: repeatElement(piece, count: times).joined(), at: start)
        }
    }

    /// A place in bytes that are not empty, and one some bytes behind it.
    mutating func place(in bytes: [UInt8]) -> (start: Int, end: Int) {
        let start = Int.random(in: 0..<bytes.count, using: &self)
        return (start, min(bytes.count, start + Int.random(in: 1...24, using: &self)))
    }

    /// Bytes that mean nothing.
    mutating func noise(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    private static let oddBytes: [UInt8] = [0, 9, 10, 13, 32, 0x30, 0x2D, 0x3A, 0x3B, 0x2C, 0x22, 0x7F, 0x80, 0xFF]
}
