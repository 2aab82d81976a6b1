// The mask at every alignment, every length around a step, and every place within its four bytes.

import Testing
import URLLoadingWire

@Suite("Web socket masks")
struct WebSocketMaskTests {
    private static let key: [UInt8] = [0x11, 0x22, 0x44, 0x88]
    private static let mask = WebSocketMask(0x8844_2211)

    /// What RFC 6455 §5.3 says, byte by byte.
    private func masked(_ bytes: [UInt8], from place: Int) -> [UInt8] {
        bytes.enumerated().map { $1 ^ Self.key[($0 + place) % 4] }
    }

    @Test("R6455 §5.3: in place, at every alignment and from every byte of the mask; neighbours stay as they are")
    func inPlace() {
        for alignment in 0..<16 {
            for length in Array(0...40) + [63, 64, 65, 127, 128, 131] {
                for place in 0..<4 {
                    var memory = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 7) }
                    let before = memory
                    var mask = Self.mask.advanced(by: place)
                    memory.withUnsafeMutableBytes {
                        mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: $0[alignment..<alignment + length]))
                    }
                    let expected =
                        before[..<alignment] + masked(Array(before[alignment..<alignment + length]), from: place)
                        + before[(alignment + length)...]
                    #expect(memory == Array(expected), "\(alignment) \(length) \(place)")
                    #expect(mask == Self.mask.advanced(by: place + length))
                }
            }
        }
    }

    @Test("R6455 §5.3: copying between memory of any alignments, no more than there is room for")
    func copying() {
        let source = (0..<150).map { UInt8(truncatingIfNeeded: $0 &* 13) }
        for from in 0..<8 {
            for to in 0..<8 {
                for length in [0, 1, 3, 4, 7, 8, 9, 31, 32, 33, 65, 100] {
                    var target = [UInt8](repeating: 0xEE, count: 150)
                    var mask = Self.mask
                    source.withUnsafeBytes { source in
                        target.withUnsafeMutableBytes { target in
                            mask.copy(
                                UnsafeRawBufferPointer(rebasing: source[from..<from + length]),
                                to: UnsafeMutableRawBufferPointer(rebasing: target[to..<to + length]))
                        }
                    }
                    #expect(Array(target[to..<to + length]) == masked(Array(source[from..<from + length]), from: 0))
                    #expect(
                        target[..<to].allSatisfy { $0 == 0xEE } && target[(to + length)...].allSatisfy { $0 == 0xEE })
                }
            }
        }
        var target = [UInt8](repeating: 0xEE, count: 10)
        var mask = Self.mask
        source.withUnsafeBytes { source in target.withUnsafeMutableBytes { mask.copy(source, to: $0) } }
        #expect(target == masked(Array(source[..<10]), from: 0) && mask == Self.mask.advanced(by: 10))
    }

    @Test("R6455 §5.3: masking twice restores the bytes, and it does not matter how the payload is cut")
    func cutting() {
        let payload = (0..<97).map { UInt8(truncatingIfNeeded: $0 &* 29) }
        for place in 0...payload.count {
            var memory = payload
            var mask = Self.mask
            memory.withUnsafeMutableBytes { memory in
                mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: memory[..<place]))
                mask.apply(to: UnsafeMutableRawBufferPointer(rebasing: memory[place...]))
            }
            #expect(memory == masked(payload, from: 0), "\(place)")
            mask = Self.mask
            memory.withUnsafeMutableBytes { mask.apply(to: $0) }
            #expect(memory == payload)
        }
    }
}
