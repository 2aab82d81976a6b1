// UTF-8 by RFC 3629 and by the tables of the Unicode Standard, cut at every place, with ASCII around it so that the
// steps of eight and 32 bytes meet it at every place as well.

import Testing
import URLLoadingWire

@Suite("Web socket text")
struct WebSocketTextTests {
    /// What is said of bytes that come in pieces of these sizes.
    private func verdict(_ bytes: [UInt8], _ sizes: [Int]) -> String {
        var validator = UTF8Validator()
        var start = 0
        for size in sizes {
            let piece = Array(bytes[start..<min(start + size, bytes.count)])
            guard piece.withUnsafeBytes({ validator.consume($0) }) else { return "invalid" }
            start += piece.count
        }
        return validator.isComplete ? "valid" : "incomplete"
    }

    private func expect(_ bytes: [UInt8], _ expected: String, _ location: SourceLocation = #_sourceLocation) {
        for before in [0, 1, 2, 3, 5, 7, 8, 9, 30, 31, 32, 33] {
            for behind in expected == "valid" ? [0, 1, 8, 40] : expected == "invalid" ? [0, 8, 40] : [0] {
                let all =
                    [UInt8](repeating: 0x61, count: before) + bytes + [UInt8](repeating: 0x62, count: behind)
                #expect(verdict(all, [all.count]) == expected, "\(bytes) behind \(before)", sourceLocation: location)
                for place in before...(before + bytes.count) {
                    #expect(verdict(all, [place, all.count]) == expected, "\(bytes) cut", sourceLocation: location)
                }
                #expect(
                    verdict(all, all.map { _ in 1 }) == expected, "\(bytes) byte by byte", sourceLocation: location)
            }
        }
    }

    @Test("B15.17: the first and the last character of every length")
    func boundaries() {
        for text in [
            "\u{0}", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{FFF}", "\u{1000}", "\u{CFFF}", "\u{D000}",
            "\u{D7FF}",
            "\u{E000}", "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{10000}", "\u{3FFFF}", "\u{40000}", "\u{FFFFF}",
            "\u{100000}", "\u{10FFFF}", "κόσμε", "Hello-µ@ßöäüàá-UTF-8!!", "日本語のテキスト", "😀👍🏽", "aé日😀",
        ] { expect(Array(text.utf8), "valid") }
    }

    @Test("B15.17: overlong forms, surrogates, what is above U+10FFFF and bytes that never occur")
    func invalid() {
        for bytes: [UInt8] in [
            [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF],
            [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF8, 0x80, 0x80, 0x80, 0xAF],
            [0xFC, 0x80, 0x80, 0x80, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xED, 0xAD, 0xBF], [0xED, 0xAF, 0xBF],
            [0xED, 0xB0, 0x80], [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF7, 0xBF, 0xBF, 0xBF], [0xF5, 0x80, 0x80, 0x80], [0x80], [0xBF], [0x80, 0xBF, 0x80], [0xFE], [0xFF],
            [0xFE, 0xFE, 0xFF, 0xFF], [0xC2, 0x41], [0xE1, 0x80, 0x41], [0xE1, 0x41], [0xF1, 0x80, 0x80, 0x41],
            [0xC2, 0xC2], [0xE2, 0x82, 0xE2], [0xF0, 0x9F, 0x98, 0x20],
            [0xC3, 0xA9, 0xC3, 0xA9, 0xC3, 0xA9, 0xC1, 0x81],
            [0xE6, 0x97, 0xA5, 0xED, 0xA0, 0x80], [0xE6, 0x97, 0xA5, 0xE0, 0x80, 0x80],
        ] { expect(bytes, "invalid") }
    }

    @Test("B15.17: a character that stops in the middle is not yet wrong")
    func incomplete() {
        for bytes: [UInt8] in [
            [0xC2], [0xDF], [0xE0], [0xE0, 0xA0], [0xED, 0x9F], [0xE2, 0x82], [0xF0], [0xF0, 0x90], [0xF0, 0x90, 0x80],
            [0xF4, 0x8F, 0xBF],
        ] { expect(bytes, "incomplete") }
    }

    @Test("B15.17: every pair of bytes, and every triple that begins above ASCII, as the standard library judges it")
    func exhaustive() {
        var wrong = 0
        for lead in 0x80...0xFF {
            for second in 0...0xFF {
                for third in [-1, 0x7F, 0x80, 0xBF, 0xC0] {
                    var bytes = [UInt8(lead), UInt8(second)]
                    if third >= 0 { bytes.append(UInt8(third)) }
                    let isValid = String(validating: bytes, as: UTF8.self) != nil
                    // Alone, and where it is judged by words.
                    if (verdict(bytes, [bytes.count]) == "valid") != isValid { wrong += 1 }
                    let longer = bytes + bytes + bytes + [0x61, 0x61]
                    if (verdict(longer, [longer.count]) == "valid") != isValid { wrong += 1 }
                }
            }
        }
        #expect(wrong == 0)
    }

    @Test("B15.17: random bytes, made mostly of characters, as the standard library judges them")
    func random() {
        var generator = SystemRandomNumberGenerator()
        let characters: [[UInt8]] = ["a", "Hello, wor", "é", "éèêëüöä", "日", "日本語", "😀", "\u{7FF}\u{800}"].map {
            Array($0.utf8)
        }
        for _ in 0..<3000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...30, using: &generator) { bytes += characters.randomElement() ?? [] }
            if !bytes.isEmpty, Bool.random() { bytes[bytes.indices.randomElement() ?? 0] = UInt8.random(in: 0...255) }
            let isValid = String(validating: bytes, as: UTF8.self) != nil
            #expect((verdict(bytes, [bytes.count]) == "valid") == isValid, "\(bytes)")
            let sizes = bytes.map { _ in Int.random(in: 0...20) } + [bytes.count]
            #expect((verdict(bytes, sizes) == "valid") == isValid, "\(bytes) in \(sizes)")
        }
    }

    @Test("B15.17: text is checked across fragments, fails with 1007, and with the first byte that makes it wrong")
    func acrossFragments() {
        let text = Array("aé日😀z".utf8)
        for first in 0...text.count {
            for second in first...text.count {
                let bytes =
                    WireFrame.bytes(1, Array(text[..<first]), fin: false)
                    + WireFrame.bytes(0, Array(text[first..<second]), fin: false)
                    + WireFrame.bytes(0, Array(text[second...]))
                #expect(WebSocketOutcome.run([bytes[...]]) == [.text("aé日😀z")])
            }
        }
        let cut = WireFrame.bytes(1, [0x61, 0xE2, 0x82])
        let early = WireFrame.bytes(1, [0x61, 0xED, 0xA0, 0x80], fin: false)
        for pieces in Pieces.waysToCut(cut) {
            #expect(WebSocketOutcome.run(pieces) == [.fault(.invalidText)])
        }
        // The surrogate is known by its second byte, long before the message ends.
        #expect(WebSocketOutcome.run([early[..<5]]) == [.fault(.invalidText)])
        #expect(WebSocketOutcome.run([early[..<4]]) == [])
        #expect(WebSocketFault.invalidText.closeCode == 1007)
        #expect(WebSocketOutcome.run([WireFrame.bytes(2, [0xFF, 0xC0])[...]]) == [.binary([0xFF, 0xC0])])
    }
}
