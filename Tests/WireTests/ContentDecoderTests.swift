// Content codings: the vector file, and rules that no vector can state.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Content codings")
struct ContentDecoderTests {
    @Test("B16.49–B16.60: coded bodies, cut in every way", arguments: Vector.load("codings.txt"))
    func codings(vector: Vector) {
        ContentTranscript.check(vector)
    }

    @Test("B16.55: a body cut anywhere is incomplete", arguments: Vector.load("codings.txt").prefix(20))
    func cutAnywhere(vector: Vector) throws {
        guard !vector.events.contains("untouched") else { return }
        for count in 1..<max(vector.bytes.count, 1) {
            let events = ContentTranscript.run(vector, [vector.bytes[..<count]], outputBytes: 4096)
            let isIncomplete = events.last?.hasSuffix("The compressed body is incomplete.") == true
            let isCorrupt = events.last?.hasSuffix("The compressed body is corrupt.") == true
            // Between two members the body could end.
            let isWhole = events.last.map { !$0.hasPrefix("error") } ?? true
            #expect(isIncomplete || isCorrupt || (isWhole && vector.title.contains("members")), "after \(count)")
        }
    }

    @Test("B16.59: output is there before the input is complete")
    func outputComesEarly() throws {
        let vector = try #require(Vector.load("codings.txt").first { $0.title.contains("stored blocks") })
        var decoder = try ContentTranscript.require(ContentDecoder.make(contentEncoding: "gzip"))
        var content: [UInt8] = []
        try ContentTranscript.decode(&decoder, Array(vector.bytes.dropLast(30)), 4096) { content += $0 }
        #expect(content.count > 40)
    }

    @Test("B16.60: an output without room for a byte does not end the body")
    func emptyOutput() throws {
        let vector = try #require(Vector.load("codings.txt").first)
        var decoder = try ContentTranscript.require(ContentDecoder.make(contentEncoding: "gzip"))
        var offset = 0
        let nothing = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        #expect(try decoder.decode(vector.bytes.span.bytes, offset: &offset, into: nothing) == 0)
        #expect(offset < vector.bytes.count)
        var content: [UInt8] = []
        try ContentTranscript.decode(&decoder, Array(vector.bytes[offset...]), 4096) { content += $0 }
        try decoder.finish()
        #expect(content.count == 90)
    }

    @Test("B16.55: a fault is thrown again and again, and by finish")
    func faultStays() throws {
        var decoder = try ContentTranscript.require(ContentDecoder.make(contentEncoding: "gzip"))
        var thrown = 0
        for _ in 0..<2 {
            do throws(WireError) {
                try ContentTranscript.decode(&decoder, Array("no gzip at all".utf8), 64) { _ in }
            } catch {
                #expect(error == .corruptContent)
                thrown += 1
            }
        }
        #expect(thrown == 2)
        do throws(WireError) {
            try decoder.finish()
            Issue.record("finish must throw")
        } catch {
            #expect(error == .corruptContent)
        }
    }

    // MARK: What a head says

    private func head(_ status: Int, _ fields: (String, String)...) -> ResponseHead {
        var list = Fields()
        for (name, value) in fields { list.append(name, value) }
        return ResponseHead(status: status, fields: list)
    }

    private func isDecoded(_ head: ResponseHead, decodesContent: Bool = true) -> Bool {
        ContentDecoder.make(for: head, decodesContent: decodesContent) != nil
    }

    @Test("B16.48, B16.74: a transfer coding below the chunks is undone whatever the content coding is")
    func transferCodings() {
        #expect(head(200, ("Transfer-Encoding", "gzip, chunked")).transferCodings == [.gzip])
        #expect(
            head(200, ("Transfer-Encoding", "gzip"), ("Transfer-Encoding", "deflate,chunked")).transferCodings
                == [.gzip, .deflate])
        #expect(head(200, ("Transfer-Encoding", "identity, , chunked")).transferCodings == [])
        #expect(head(200, ("Transfer-Encoding", "gzip")).transferCodings == [.gzip])
        #expect(head(200, ("Transfer-Encoding", "br, zstd, chunked")).transferCodings == [])
        #expect(isDecoded(head(200, ("Transfer-Encoding", "gzip, chunked"))))
        #expect(isDecoded(head(200, ("Transfer-Encoding", "gzip, chunked")), decodesContent: false))
        #expect(isDecoded(head(200, ("Transfer-Encoding", "gzip, chunked"), ("Content-Encoding", "br"))))
        #expect(!isDecoded(head(200, ("Transfer-Encoding", "chunked"))))
    }

    @Test("B16.32: where chunked is not last nothing is undone")
    func chunkedNotLast() {
        #expect(head(200, ("Transfer-Encoding", "chunked, gzip")).transferCodings == [])
    }

    @Test("B16.48, B16.53: transfer codings are undone before content codings")
    func bothCodings() throws {
        let vectors = Vector.load("codings.txt")
        let vector = try #require(vectors.first { $0.title.contains("deflate, then gzip") })
        let both = head(200, ("Content-Encoding", "deflate"), ("Transfer-Encoding", "gzip, chunked"))
        var decoder = try ContentTranscript.require(ContentDecoder.make(for: both))
        var content: [UInt8] = []
        try ContentTranscript.decode(&decoder, vector.bytes, 64) { content += $0 }
        try decoder.finish()
        #expect("text " + VectorText.escape(content) == vector.expectedEvents.first)
    }

    /// A head whose content and transfer have so many codings.
    private func gzipped(_ content: Int, _ transfer: Int) -> ResponseHead {
        let list = { (count: Int) in Array(repeating: "gzip", count: count).joined(separator: ", ") }
        return head(200, ("Content-Encoding", list(content)), ("Transfer-Encoding", list(transfer) + ", chunked"))
    }

    @Test("B16.48, B16.53: transfer codings do not count as content codings do", arguments: [(4, 1), (1, 4), (3, 2)])
    func fiveCodings(content: Int, transfer: Int) throws {
        let vectors = Vector.load("codings.txt")
        let vector = try #require(vectors.first { $0.title.contains("more codings than make sense") })
        let plain = try #require(vectors.first { $0.title.contains("gzip applied twice") })
        var decoder = try ContentTranscript.require(ContentDecoder.make(for: gzipped(content, transfer)))
        var decoded: [UInt8] = []
        try ContentTranscript.decode(&decoder, vector.bytes, 64) { decoded += $0 }
        try decoder.finish()
        #expect("text " + VectorText.escape(decoded) == plain.expectedEvents.first)
    }

    @Test(
        "B16.53, B16.58: a body with more codings is an error, unless it is empty", arguments: [(5, 0), (0, 5), (5, 4)])
    func tooManyCodings(content: Int, transfer: Int) throws {
        var decoder = try ContentTranscript.require(ContentDecoder.make(for: gzipped(content, transfer)))
        try decoder.finish()
        var thrown: WireError?
        do throws(WireError) {
            try ContentTranscript.decode(&decoder, [31], 64) { _ in }
        } catch {
            thrown = error
        }
        #expect(thrown == .tooManyCodings(limit: 4))
    }

    @Test("B16.61: a part is decoded only where it is the whole")
    func parts() {
        let gzip = ("Content-Encoding", "gzip")
        #expect(isDecoded(head(200, gzip)))
        for range in ["bytes 0-99/100", "BYTES 0-0/1", "bytes 0-9223372036854775806/9223372036854775807"] {
            #expect(isDecoded(head(206, gzip, ("Content-Range", range))), "\(range)")
        }
        for range in [
            "bytes 0-99/200", "bytes 0-99/*", "bytes 100-199/200", "bytes 01-99/100", "bytes 0-/1", "bytes 0-99",
            "bytes 0-99/", "bytes 0--1/0", "bytes 0-9223372036854775807/9223372036854775808", "bytes */100", "",
        ] {
            #expect(!isDecoded(head(206, gzip, ("Content-Range", range))), "\(range)")
        }
        #expect(!isDecoded(head(206, gzip, ("Content-Range", "pages 0-1/2"))))
        #expect(!isDecoded(head(206, gzip)))
        #expect(!isDecoded(head(200, gzip), decodesContent: false))
    }

    @Test("B16.62: the content type does not matter")
    func contentTypeDoesNotMatter() {
        #expect(isDecoded(head(200, ("Content-Type", "application/gzip"), ("Content-Encoding", "gzip"))))
    }

    @Test("B16.49: several Content-Encoding fields are one list")
    func severalFields() throws {
        let vectors = Vector.load("codings.txt")
        let vector = try #require(vectors.first { $0.title.contains("deflate, then gzip") })
        var decoder = try ContentTranscript.require(
            ContentDecoder.make(for: head(200, ("Content-Encoding", "deflate"), ("content-encoding", "gzip"))))
        var content: [UInt8] = []
        try ContentTranscript.decode(&decoder, vector.bytes, 64) { content += $0 }
        #expect("text " + VectorText.escape(content) == vector.expectedEvents.first)
    }
}
