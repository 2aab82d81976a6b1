// Undoes the codings of a body, last applied first, while it arrives: input of any cut goes in, output comes out in
// pieces of the caller's size, and memory stays bounded whatever the ratio is (B16.53, B16.59, B16.60). It does not
// know where bytes come from or go to. RFC 9110 §8.4.

/// A chain of decoders for the codings of one body.
package struct ContentDecoder: ~Copyable {
    /// The coding that was applied first: its output is the content.
    private let innermost: DecoderStage

    /// Whether the last call left something to decode that needs no more input: it filled its output, or it has done
    /// enough for one call.
    package private(set) var hasMore = false

    /// Makes a decoder for codings in the order they were applied, the content's and then those of its transfer;
    /// nil if there is none. Where there are more than make sense, it throws at the first byte: what is left
    /// coded is not the content.
    package init?(_ codings: [ContentCoding], thenTransfer transferCodings: [ContentCoding] = []) {
        guard max(codings.count, transferCodings.count) <= ContentDecoder.codingLimit else {
            innermost = DecoderStage(refusing: .tooManyCodings(limit: ContentDecoder.codingLimit))
            return
        }
        // B16.53: what was applied last is undone first, so each stage takes its input from the next coding's stage.
        var stage: DecoderStage?
        for coding in transferCodings.reversed() { stage = DecoderStage(coding, input: stage) }
        for coding in codings.reversed() { stage = DecoderStage(coding, input: stage) }
        guard let stage else { return nil }
        innermost = stage
    }

    /// A decoder for the value of Content-Encoding; nil where there is nothing to undo or a coding is not known: the
    /// bytes are then delivered untouched (B16.52, B16.54).
    package static func make(contentEncoding: String, libraries: CodingLibraries = .system) -> ContentDecoder? {
        guard let codings = codings(contentEncoding, libraries) else { return nil }
        return ContentDecoder(codings)
    }

    /// A decoder for what has to be undone before a response's body is content: transfer codings below the chunks
    /// (B16.48), then, if `decodesContent`, the content codings.
    ///
    /// Nil where there is nothing to undo.
    package static func make(for head: ResponseHead, decodesContent: Bool = true) -> ContentDecoder? {
        // Measured: most responses have no such field, and looking for both by name cost each a thousand instructions.
        guard head.fields.mayNameCodings else { return nil }
        let transferCodings = head.transferCodings
        guard decodesContent, let contentCodings = contentCodings(of: head) else {
            return ContentDecoder([], thenTransfer: transferCodings)
        }
        return ContentDecoder(contentCodings, thenTransfer: transferCodings)
    }

    /// Decodes from `input` at `offset` into `output` and returns how many bytes it wrote.
    ///
    /// To be called again while `hasMore` or `offset` has not reached the input's end. What was decoded before a fault
    /// is returned first, and the next call or `finish` throws (B16.55).
    package mutating func decode(
        _ input: RawSpan, offset: inout Int, into output: UnsafeMutableRawBufferPointer
    ) throws(WireError) -> Int {
        let start = offset
        var refills = ContentDecoder.refillsPerCall
        let produced = input.withUnsafeBytes {
            innermost.decode($0, offset: &offset, into: output, refills: &refills)
        }
        hasMore = produced == output.count || refills == 0
        guard let failure = innermost.failure else { return produced }
        if produced == 0 { throw failure }
        // Leaves the caller a reason to come back for the error.
        if offset == input.byteCount, offset > start { offset -= 1 }
        return produced
    }

    /// The body is over: throws if the content is incomplete or wrong; a body without bytes is neither (B16.58).
    package func finish() throws(WireError) {
        if let error = innermost.finish() { throw error }
    }

    // MARK: Heads

    /// Whether something has to be undone before the body of a response with this head is content, also
    /// where none follows (B5.58).
    package static func decodesContent(of head: ResponseHead) -> Bool {
        head.fields.mayNameCodings && contentCodings(of: head)?.isEmpty == false
    }

    /// The content codings to undo, in the order applied; nil where there are none, or one is not known.
    private static func contentCodings(of head: ResponseHead) -> [ContentCoding]? {
        guard !isPart(head), let value = head.fields.combined(.contentEncoding) else { return nil }
        return codings(value, .system)
    }

    /// The codings a Content-Encoding value names, in the order applied; nil if one is not known.
    private static func codings(_ value: String, _ libraries: CodingLibraries) -> [ContentCoding]? {
        value.withUTF8Bytes { bytes in
            var codings: [ContentCoding] = []
            var members = ListMembers(bytes)
            while let member = members.next() {
                if member.isEmpty || member.equalsIgnoringCase("identity") { continue }
                guard let coding = ContentCoding(contentCoding: member, libraries) else { return nil }
                codings.append(coding)
            }
            return codings
        }
    }

    /// B16.61: a part of a coded representation cannot be decoded by itself, so a 206 must say that it has the whole.
    private static func isPart(_ head: ResponseHead) -> Bool {
        guard head.status == 206 else { return false }
        guard let range = head.fields.first(.contentRange) else { return true }
        return range.withUTF8Bytes { bytes in
            let start = "bytes 0-".utf8.count
            let slash = bytes.firstIndex(of: UInt8(ascii: "/")) ?? bytes.count
            guard bytes.part(0, start).equalsIgnoringCase("bytes 0-"), let last = bytes.part(start, slash).decimal,
                let total = bytes.part(slash + 1, bytes.count).decimal
            else { return true }
            return last != total - 1
        }
    }

    /// A coding below another can come to nothing: two kilobytes of empty gzip members in gzip in gzip are hours of
    /// work without a byte of output. So much is done at a time (a megabyte between two codings).
    private static var refillsPerCall: Int { 64 }

    /// Each coding can multiply what it is given; honest servers apply one or two.
    private static var codingLimit: Int { 4 }
}
