// An encoder and a decoder at work for a long time, with sizes that change in between: they never lose each other.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("HPACK: encoder and decoder together")
struct HPACKWalkTests {
    @Test(
        "H12.2, H3.9: what is written is read, through thousands of blocks and changes of size",
        arguments: 0..<Sanitizer.share(of: 20))
    func walk(seed: Int) throws {
        var random = SeededRandom(seed: 0xF1E1D, of: seed)
        var encoder = HPACKEncoder()
        var reader = HPACKReader()
        let vocabulary = Self.vocabulary(&random)
        for step in 0..<400 {
            if random.chance(15) {
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let size = [0, 31, 64, 200, 1000, 4095, 4096, 10_000].randomElement(using: &random) ?? 0
                    encoder.peerTableSizeChanged(to: size)
                    reader.decoder.tableSizeAcknowledged(size)
                }
            }
            let fields = (0..<Int.random(in: 0...25, using: &random)).map { _ in
                var field = vocabulary.randomElement(using: &random) ?? TextField("a", "b")
                if random.chance(20) { field.value = Self.text(&random, upTo: 40) }
                if random.chance(2) { field.value = Self.text(&random, upTo: 5000) }
                return field
            }
            let block = encoder.block(fields)
            let isWanted = random.chance(80)
            let read = try reader.read(Self.cut(block, &random), for: isWanted ? .fields : .table)
            guard read == (isWanted ? fields : []) else {
                Issue.record("step \(step): \(read), not \(fields)")
                return
            }
        }
    }

    /// Fields that come again and again.
    private static func vocabulary(_ random: inout SeededRandom) -> [TextField] {
        let known = [
            (":method", "GET"), (":path", "/"), ("cookie", "a=b"), ("cookie", "session=0123456789abcdef"),
            ("accept-encoding", "gzip, deflate"), ("content-length", "0"), ("authorization", "secret"), ("x", ""),
            ("", "x"),
        ].map { TextField($0, $1) }
        return known + (0..<60).map { _ in TextField("x-" + text(&random, upTo: 12), text(&random, upTo: 60)) }
    }

    private static func text(_ random: inout SeededRandom, upTo count: Int) -> String {
        let count = Int.random(in: 0...count, using: &random)
        let range: ClosedRange<UInt8> = random.chance(90) ? 0x61...0x7A : 0x01...0x7E
        return String(decoding: (0..<count).map { _ in UInt8.random(in: range, using: &random) }, as: UTF8.self)
    }

    private static func cut(_ block: [UInt8], _ random: inout SeededRandom) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = block[...]
        while !rest.isEmpty {
            let count = random.chance(30) ? rest.count : Int.random(in: 0...min(rest.count, 40), using: &random)
            pieces.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return pieces
    }
}
