// Content codings. Only `WireError` comes out; neither how the input is cut nor how large the outputs are matters;
// every call makes progress and stays inside its output.

/// Runs one input of the fuzzer.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzInflater(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    var input = FuzzInput(start, count)
    var codings = ["gzip", "deflate", "gzip, gzip", "deflate, gzip", "gzip, deflate, x-gzip"]
    if CodingLibraries.system.brotli != nil { codings += ["br", "gzip, br"] }
    if CodingLibraries.system.zstandard != nil { codings += ["zstd", "zstd, zstd"] }
    let coding = codings[input.choose(below: UInt8(codings.count))]
    let mayKeepEnd = coding.contains("br") || coding.contains("zstd")
    let sizes = [4096, 1 + input.choose(below: 64), 300]
    let seed = input.choose(below: 255)
    var first: Outcome?
    for (pieces, size) in zip(input.waysToCut(seed: seed), sizes) {
        let outcome = decode(coding, pieces, size)
        expect(
            first.map { outcome.agrees(with: $0, mayKeepEnd: mayKeepEnd) } ?? true,
            "cut into \(pieces.count) and \(size): \(outcome.summary), whole: \(first?.summary ?? "")")
        first = outcome
    }
    return 0
}

/// More than this is not compared: an input of a few bytes can become gigabytes.
private let contentLimit = 64 * 1024

private struct Outcome: Equatable {
    var content: [UInt8] = []
    var error: WireError?
    var isCutShort = false

    /// Before a fault the libraries of br and zstd may keep the end of what they have decoded.
    func agrees(with other: Outcome, mayKeepEnd: Bool) -> Bool {
        guard mayKeepEnd, error != nil, error == other.error else { return self == other }
        return content.starts(with: other.content) || other.content.starts(with: content)
    }

    var summary: String { "\(content.count) bytes, \(String(describing: error)), cut short \(isCutShort)" }
}

private func decode(_ coding: String, _ pieces: [ArraySlice<UInt8>], _ size: Int) -> Outcome {
    var outcome = Outcome()
    guard var decoder = ContentDecoder.make(contentEncoding: coding) else { finding("no decoder for \(coding)") }
    // The bytes behind the output must stay as they are.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size + 16, alignment: 1)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0xA5)
    let output = UnsafeMutableRawBufferPointer(rebasing: memory[..<size])
    do throws(WireError) {
        for piece in pieces {
            let bytes = Array(piece)
            var offset = 0
            while true {
                let before = offset
                let produced = try decoder.decode(bytes.span.bytes, offset: &offset, into: output)
                expect(offset >= before && offset <= bytes.count, "offset \(offset) after \(before)")
                expect(produced >= 0 && produced <= size, "\(produced) of \(size)")
                expect(memory[size...].allSatisfy { $0 == 0xA5 }, "wrote behind the output")
                outcome.content += output[..<produced]
                if outcome.content.count >= contentLimit {
                    outcome.content.removeLast(outcome.content.count - contentLimit)
                    outcome.isCutShort = true
                    return outcome
                }
                if !decoder.hasMore, offset == bytes.count { break }
                expect(produced > 0 || offset > before || decoder.hasMore, "no progress")
            }
        }
        try decoder.finish()
    } catch {
        outcome.error = error
    }
    return outcome
}
