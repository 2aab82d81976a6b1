// Multipart bodies (RFC 2046 §5.1.1), cut in every way.

import Testing
import URLLoadingWire

@Suite("Multipart bodies")
struct MultipartDecoderTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let title: String
        let bytes: String
        let events: [String]
        var testDescription: String { title }
    }

    static let samples = [
        Sample(
            title: "two parts, preamble and epilogue",
            bytes: "hi\r\n--b\r\nA: 1\r\n\r\none\r\n--b\r\nB: 2\r\n\r\ntwo\r\n--b--\r\nbye\r\n--b\r\nC: 3\r\n\r\n",
            events: ["part A: 1", "body one", "part B: 2", "body two", "end"]),
        Sample(
            title: "the first delimiter at the very beginning, and no fields",
            bytes: "--b\r\n\r\none\r\n--b\r\n\r\ntwo", events: ["part", "body one", "part", "body two"]),
        Sample(
            title: "line feeds alone", bytes: "--b\nA: 1\n\none\n--b\n\ntwo\n--b--",
            events: ["part A: 1", "body one", "part", "body two", "end"]),
        Sample(
            title: "an empty body, with and without a line end of its own",
            bytes: "--b\r\nA: 1\r\n\r\n\r\n--b\r\nA: 2\r\n\r\n--b\r\n\r\nx\r\n--b--",
            events: ["part A: 1", "part A: 2", "part", "body x", "end"]),
        Sample(
            title: "almost delimiters belong to the body",
            bytes: "--b\r\n\r\n\r\n--\r\r\n-\n--a\n-b\r\n--\r\n--b--",
            events: ["part", "body \r\n--\r\r\n-\n--a\n-b\r\n--", "end"]),
        Sample(
            title: "padding behind a delimiter", bytes: "--b \t \r\nA: 1\r\n\r\none\r\n--b-- \r\n",
            events: ["part A: 1", "body one", "end"]),
        Sample(
            title: "one dash behind a delimiter does not end it all", bytes: "--b-\r\nA: 1\r\n\r\none\r\n--b--",
            events: ["part A: 1", "body one", "end"]),
        Sample(
            title: "cut in the middle of what may be a delimiter", bytes: "--b\r\n\r\none\r\n--",
            events: ["part", "body one\r\n--"]),
        Sample(title: "a body that ends with a return", bytes: "--b\r\n\r\none\r", events: ["part", "body one\r"]),
        Sample(title: "no delimiter at all", bytes: "hello\r\nworld\r\n-", events: []),
        Sample(title: "nothing", bytes: "", events: []),
        Sample(
            title: "a field line that is none", bytes: "--b\r\nbroken\r\n\r\n",
            events: ["error"]),
    ]

    private func transcript(_ pieces: [ArraySlice<UInt8>], boundary: String = "b") -> [String] {
        var events: [String] = []
        var body = ""
        func flush() {
            if !body.isEmpty { events.append("body \(body)") }
            body = ""
        }
        guard var decoder = MultipartDecoder(boundary: boundary) else { return ["no decoder"] }
        for piece in pieces {
            let bytes = Array(piece)
            var offset = 0
            while offset < bytes.count {
                do {
                    switch try decoder.next(bytes.span.bytes, offset: &offset) {
                    case .needMore: #expect(offset == bytes.count)
                    case .part(let fields):
                        flush()
                        let lines = (0..<fields.count).map { " \(fields.name(at: $0)): \(fields.value(at: $0))" }
                        events.append("part" + lines.joined())
                    case .body(let range):
                        #expect(!range.isEmpty)
                        body += String(decoding: bytes[range], as: UTF8.self)
                    case .heldBody(let held): body += String(decoding: held, as: UTF8.self)
                    case .end:
                        flush()
                        events.append("end")
                    }
                } catch {
                    flush()
                    return events + ["error"]
                }
            }
        }
        body += String(decoding: decoder.finish(), as: UTF8.self)
        flush()
        return events
    }

    @Test("B1.62: parts, cut in every way", arguments: samples)
    func parts(sample: Sample) {
        for pieces in Pieces.waysToCut(Array(sample.bytes.utf8)) {
            let events = transcript(pieces)
            guard events == sample.events else {
                #expect(events == sample.events, "cut into \(pieces.prefix(3).map(\.count))…")
                return
            }
        }
    }

    @Test("A boundary that is named with the dashes of its delimiter lines works too")
    func dashes() {
        let bytes = Array("--b\r\n\r\none\r\n--b--".utf8)
        #expect(transcript([bytes[...]], boundary: "--b") == ["part", "body one", "end"])
    }

    @Test(
        "A boundary that begins with dashes has more before it, or none: the first delimiter shows it, cut in every way",
        arguments: ["--b", "---b"], [true, false])
    func moreDashes(boundary: String, hasMore: Bool) {
        let forms = [boundary, "--\(boundary)"]
        let (delimiter, other) = (forms[hasMore ? 1 : 0], forms[hasMore ? 0 : 1])
        let lines = [
            "----c", "--", delimiter, "A: 1", "", "one", other, "x", delimiter, "", "two", "\(delimiter)--", "",
        ]
        let expected = ["part A: 1", "body one\r\n\(other)\r\nx", "part", "body two", "end"]
        for pieces in Pieces.waysToCut(Array(lines.joined(separator: "\r\n").utf8)) {
            let events = transcript(pieces, boundary: boundary)
            guard events == expected else {
                #expect(events == expected, "cut into \(pieces.prefix(3).map(\.count))…")
                return
            }
        }
    }

    @Test(
        "A boundary of dashes alone stands behind those of its delimiter lines, cut in every way",
        arguments: ["--", "----"])
    func dashesAlone(boundary: String) {
        let delimiter = "--\(boundary)"
        let lines = ["before", delimiter, "A: 1", "", "one", "\(delimiter)--", ""]
        for pieces in Pieces.waysToCut(Array(lines.joined(separator: "\r\n").utf8)) {
            let events = transcript(pieces, boundary: boundary)
            guard events == ["part A: 1", "body one", "end"] else {
                #expect(events == ["part A: 1", "body one", "end"], "cut into \(pieces.prefix(3).map(\.count))…")
                return
            }
        }
    }

    @Test(
        "Boundaries that are not allowed are refused",
        arguments: ["", "a\nb", "a\u{7F}", String(repeating: "x", count: 257)])
    func badBoundaries(boundary: String) {
        #expect(transcript([], boundary: boundary) == ["no decoder"])
    }

    @Test("The fields of a part have a budget")
    func budget() {
        let bytes = Array(("--b\r\n" + String(repeating: "A: 1\r\n", count: 2000)).utf8)
        #expect(transcript([bytes[...]]) == ["error"])
    }
}
