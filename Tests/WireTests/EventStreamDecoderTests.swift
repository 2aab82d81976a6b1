// Streams of server-sent events: the vector file, cut in every way, and walks against a reader
// that takes its input whole.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Streams of events")
struct EventStreamDecoderTests {
    @Test("B5.80, B5.83: streams, cut in every way", arguments: Vector.load("events.txt"))
    func vectors(vector: Vector) {
        let limit = vector.options("limit").first.flatMap { Int($0) } ?? 10_000
        let id = vector.options("id").first ?? ""
        for pieces in Pieces.waysToCut(vector.bytes) {
            let events = Self.transcript(pieces, lastEventID: id, limit: limit)
            guard events == vector.events else {
                #expect(events == vector.events, "cut into \(pieces.prefix(3).map(\.count))…")
                return
            }
        }
    }

    @Test("B5.82: an event is there with its last byte", arguments: ["\n", "\r", "\r\n"])
    func lastByte(ending: String) throws {
        var decoder = EventStreamDecoder(lastEventID: "", limit: 100)
        for data in ["a", "b"] {
            let bytes = Array("data: \(data)\(ending)\(ending)".utf8)
            // A LF behind a CR comes too late to be waited for.
            let last = bytes.count - (ending == "\r\n" ? 2 : 1)
            for (index, byte) in bytes.enumerated() {
                var offset = 0
                let event = try decoder.next([byte].span.bytes, offset: &offset)
                #expect((event != nil) == (index == last), "\(index) of \(bytes.count)")
                #expect(offset == 1)
                if let event { #expect(event.data == data) }
            }
        }
    }

    @Test(
        "B5.85: another stream begins with the ID and the reconnection time of the one before, and nothing else of it")
    func begin() throws {
        var decoder = EventStreamDecoder(lastEventID: "", limit: 100)
        #expect(try Self.events(&decoder, "id:1\nretry:9\ndata:a\n\nid:2\nevent:t\ndata:b\r").map(\.data) == ["a"])
        decoder.begin()
        let events = try Self.events(&decoder, "\u{FEFF}data:c\n\n")
        #expect(events.map { Self.line($0.type, $0.id, $0.data, $0.retry) } == ["message 1: c"])
        #expect(decoder.lastEventID == "1" && decoder.reconnectionTime == 9)
    }

    @Test("B5.80: any stream, cut anywhere, is what a reader of whole streams makes of it", arguments: 0..<400)
    func walk(seed: Int) {
        var random = SeededRandom(seed: 0x55E, of: seed)
        let pool =
            [
                "data", "data:", "data: ", "event: ", "id: ", "id", "retry: ", ":", " ", "x", "7", "19", "\n", "\n\n",
                "\r",
                "\r\n", "\r\r", "\u{FEFF}", "\0", "é", "data: a\n\n", "id: 5\n",
            ].map { Array($0.utf8) } + [[0xE2], [0x80], [0xFF]]
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...60, using: &random) { bytes += pool.randomElement(using: &random) ?? [] }
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...min(rest.count, 9), using: &random)
            pieces.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        let expected = WholeReader(bytes).transcript
        #expect(Self.transcript([bytes[...]], lastEventID: "", limit: 10_000) == expected, "seed \(seed)")
        #expect(Self.transcript(pieces, lastEventID: "", limit: 10_000) == expected, "seed \(seed)")
    }

    // MARK: Reading

    private static func events(
        _ decoder: inout EventStreamDecoder, _ text: String
    ) throws -> [EventStreamDecoder.Event] {
        let bytes = Array(text.utf8)
        var (events, offset): ([EventStreamDecoder.Event], Int) = ([], 0)
        while let event = try decoder.next(bytes.span.bytes, offset: &offset) { events.append(event) }
        #expect(offset == bytes.count)
        return events
    }

    private static func transcript(_ pieces: [ArraySlice<UInt8>], lastEventID: String, limit: Int) -> [String] {
        var decoder = EventStreamDecoder(lastEventID: lastEventID, limit: limit)
        var lines: [String] = []
        do throws(EventStreamDecoder.TooLong) {
            for piece in pieces {
                let bytes = Array(piece)
                var offset = 0
                while let event = try decoder.next(bytes.span.bytes, offset: &offset) {
                    lines.append(line(event.type, event.id, event.data, event.retry))
                }
                #expect(offset == bytes.count)
            }
        } catch {
            #expect(error.limit == limit)
            return lines + ["too long"]
        }
        return lines + last(decoder.lastEventID, decoder.reconnectionTime)
    }

    fileprivate static func line(_ type: String, _ id: String, _ data: String, _ retry: Int64?) -> String {
        let (type, id, data) = (VectorText.escape(type), VectorText.escape(id), VectorText.escape(data))
        return "\(type)\(retry.map { " +\($0)" } ?? "") \(id.isEmpty ? "-" : id):\(data.isEmpty ? "" : " " + data)"
    }

    fileprivate static func last(_ id: String, _ retry: Int64?) -> [String] {
        (id.isEmpty ? [] : ["last \(VectorText.escape(id))"]) + (retry.map { ["retry \($0)"] } ?? [])
    }
}

/// Reads a stream that is there as a whole, step by step as the standard has it, on scalars.
private struct WholeReader {
    private(set) var transcript: [String] = []

    init(_ bytes: [UInt8]) {
        var text = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        if text.first == "\u{FEFF}" { text.removeFirst() }
        var lines: [[Unicode.Scalar]] = [[]]
        for (index, scalar) in text.enumerated() {
            if scalar == "\n", index > 0, text[index - 1] == "\r" { continue }
            if scalar == "\n" || scalar == "\r" { lines.append([]) } else { lines[lines.count - 1].append(scalar) }
        }
        read(lines.dropLast().map(Self.string))
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String {
        scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
    }

    private mutating func read(_ lines: [String]) {
        var (data, type, id, lastID) = ("", "", "", "")
        var (retry, time): (Int64?, Int64?) = (nil, nil)
        for line in lines {
            let scalars = Array(line.unicodeScalars)
            if scalars.isEmpty {
                lastID = id
                if !data.unicodeScalars.isEmpty {
                    let content = Self.string(Array(data.unicodeScalars.dropLast()))
                    let name = type.isEmpty ? "message" : type
                    transcript.append(EventStreamDecoderTests.line(name, id, content, retry))
                }
                (data, type, retry) = ("", "", nil)
                continue
            }
            let name = scalars.prefix { $0 != ":" }
            var value = scalars[name.count...].dropFirst()
            if value.first == " " { value = value.dropFirst() }
            let text = Self.string(Array(value))
            switch Self.string(Array(name)) {
            case "data": data += text + "\n"
            case "event": type = text
            case "id": if !value.contains("\0") { id = text }
            case "retry":
                guard !value.isEmpty, value.allSatisfy({ ("0"..."9").contains($0) }) else { continue }
                time = Int64(text) ?? .max
                retry = time
            default: break
            }
        }
        transcript += EventStreamDecoderTests.last(lastID, time)
    }
}
