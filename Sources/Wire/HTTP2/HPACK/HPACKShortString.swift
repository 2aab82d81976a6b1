// A string of a header block that can be read at once: its length is a single byte, and all of it
// has come. RFC 7541 §5.2.

/// Where such a string lies in a fragment of a block.
struct HPACKShortString {
    let start: Int
    let end: Int
    let isHuffman: Bool

    /// The string whose length is at an offset; nil if it is no such string.
    @inline(__always)
    init?(_ bytes: RawSpan, at offset: Int) {
        guard offset < bytes.byteCount else { return nil }
        let first = bytes.byte(at: offset)
        let length = Int(first & 0x7F)
        guard length < 0x7F, length < bytes.byteCount &- offset else { return nil }
        start = offset &+ 1
        end = start &+ length
        isHuffman = first & 0x80 != 0
    }

    /// How many bytes it decodes to at most.
    @inline(__always)
    var longest: Int { isHuffman ? (end &- start) &* 8 / HuffmanCode.shortest : end &- start }
}
