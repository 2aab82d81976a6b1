// The codings that the system's libraries undo, br and zstd: their vector files, and what a vector cannot say.

import Testing
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Codings of the system's libraries")
struct LibraryCodingTests {
    static let hasBrotli = CodingLibraries.system.brotli != nil
    static let hasZstandard = CodingLibraries.system.zstandard != nil

    // MARK: Which there are

    @Test("B16.51: a library that is missing, or is another, undoes nothing and is not offered")
    func missing() throws {
        // zlib is there, and has none of the functions.
        for name in ["libno-such-coding.so.1", "libz.so.1", ""] {
            #expect(BrotliLibrary(name) == nil && ZstandardLibrary(name) == nil, "\(name)")
        }
        for coding in ["br", "zstd", "gzip, br", "zstd, gzip"] {
            #expect(!isUndone(coding, by: .none), "\(coding)")
        }
        #expect(CodingLibraries.none.acceptEncoding == "gzip, deflate")
    }

    @Test("B5.18, B16.51: what is offered is what can be undone", .enabled(if: hasBrotli && hasZstandard))
    func offered() {
        let all = CodingLibraries.system
        let brotliAlone = CodingLibraries(brotli: all.brotli, zstandard: nil)
        let zstandardAlone = CodingLibraries(brotli: nil, zstandard: all.zstandard)
        for libraries in [all, brotliAlone, zstandardAlone, .none] {
            for coding in ["gzip", "deflate", "br", "zstd"] {
                let isOffered = libraries.acceptEncoding.contains(coding)
                #expect(isOffered == isUndone(coding, by: libraries), "\(libraries.acceptEncoding), \(coding)")
            }
        }
        #expect(all.acceptEncoding == "gzip, deflate, br, zstd")
    }

    private func isUndone(_ coding: String, by libraries: CodingLibraries) -> Bool {
        ContentDecoder.make(contentEncoding: coding, libraries: libraries) != nil
    }

    // MARK: What they make of bytes

    @Test(
        "B16.51–B16.60: bodies under br, cut in every way",
        .enabled(if: hasBrotli, "libbrotlidec.so.1 is not installed"), arguments: Vector.load("brotli.txt"))
    func brotli(vector: Vector) {
        ContentTranscript.check(vector, libraries: .system)
    }

    @Test(
        "B16.51–B16.60, B16.72, B16.73: bodies under zstd, cut in every way",
        .enabled(if: hasZstandard, "libzstd.so.1 is not installed"), arguments: Vector.load("zstandard.txt"))
    func zstandard(vector: Vector) {
        ContentTranscript.check(vector, libraries: .system)
    }

    /// The vectors whose body is a text and nothing else.
    static let texts =
        ((hasBrotli ? Vector.load("brotli.txt") : []) + (hasZstandard ? Vector.load("zstandard.txt") : []))
        .filter { $0.events.count == 1 && $0.events[0].hasPrefix("text") }

    @Test("B16.55: a body cut anywhere is incomplete", .enabled(if: hasBrotli || hasZstandard), arguments: texts)
    func cutAnywhere(vector: Vector) {
        // The body could end between two frames, and in what is garbage.
        let mayEndEarlier = vector.title.contains("frames") || vector.title.contains("B16.57")
        for count in 1..<max(vector.bytes.count, 1) {
            let events = ContentTranscript.run(
                vector, [vector.bytes[..<count]], outputBytes: 4096, libraries: .system)
            let isIncomplete = events.last?.hasSuffix("The compressed body is incomplete.") == true
            #expect(isIncomplete || mayEndEarlier, "after \(count): \(events)")
        }
    }

    @Test("B16.55: whether a spoilt byte is noticed does not depend on how the body is cut", arguments: texts)
    func spoilt(vector: Vector) {
        // Of a long text some forty places: each is tried with a run for every byte.
        for place in stride(from: 0, to: vector.bytes.count, by: vector.bytes.count / Sanitizer.share(of: 40) + 1) {
            for change in [0x01, 0x80, 0xFF] as [UInt8] {
                var bytes = vector.bytes
                bytes[place] ^= change
                let ways = [[bytes[...]], bytes.indices.map { bytes[$0...$0] }, [bytes[..<place], bytes[place...]]]
                let outcomes = zip(ways, [4096, 512, 64]).map { pieces, outputBytes in
                    ContentTranscript.run(vector, pieces, outputBytes: outputBytes, libraries: .system)
                }
                let longest = outcomes.max { $0.joined().utf8.count < $1.joined().utf8.count } ?? []
                #expect(
                    outcomes.allSatisfy { ContentTranscript.agree($0, longest, mayKeepEnd: true) },
                    "\(place) by \(change): \(outcomes)")
                let error = longest.first { $0.hasPrefix("error") }
                #expect(error?.hasPrefix("error undecodableContent") != false, "\(place) by \(change)")
            }
        }
    }

    @Test("B16.56: with a checksum no spoilt byte goes unnoticed", .enabled(if: hasZstandard))
    func checksum() throws {
        let vector = try #require(Vector.load("zstandard.txt").first { $0.title.contains("zstd with a checksum") })
        for place in vector.bytes.indices {
            var bytes = vector.bytes
            bytes[place] ^= 0x04
            let events = ContentTranscript.run(vector, [bytes[...]], outputBytes: 4096, libraries: .system)
            #expect(events == vector.expectedEvents || events.last?.hasPrefix("error") == true, "\(place)")
        }
    }

    @Test(
        "B16.60: an output without room for a byte does not end the body", .enabled(if: hasBrotli && hasZstandard),
        arguments: ["br", "zstd"])
    func emptyOutput(coding: String) throws {
        let vector = try #require(Self.texts.first { $0.options("coding") == [coding] })
        var decoder = try ContentTranscript.require(ContentDecoder.make(contentEncoding: coding))
        var offset = 0
        let nothing = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        for _ in 1...100 { #expect(try decoder.decode(vector.bytes.span.bytes, offset: &offset, into: nothing) == 0) }
        #expect(offset < vector.bytes.count)
        var content: [UInt8] = []
        try ContentTranscript.decode(&decoder, Array(vector.bytes[offset...]), 4096) { content += $0 }
        try decoder.finish()
        #expect("text " + VectorText.escape(content) == vector.expectedEvents.first)
    }
}
