// The codings a body can be under and that can be undone here: RFC 9110 §8.4.1, RFC 7932, RFC 8878.

/// A coding that a `CodingDecoder` undoes.
package enum ContentCoding: Sendable, Equatable {
    /// RFC 1952; also called x-gzip.
    case gzip
    /// RFC 1950, and RFC 1951 as faulty servers send it.
    case deflate
    /// RFC 7932, called br.
    case brotli(BrotliLibrary)
    /// RFC 8878, called zstd.
    case zstandard(ZstandardLibrary)

    /// The coding that a transfer coding of that name is; nil for a name that is not known. Only the codings that are
    /// also transfer codings are (RFC 9112 §7.2).
    init?(transferCoding name: UnsafeRawBufferPointer) {
        if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
            self = .gzip
        } else if name.equalsIgnoringCase("deflate") {
            self = .deflate
        } else {
            return nil
        }
    }

    /// The content coding of that name; nil for a name that is not known, or whose decoder is not
    /// among `libraries` (B16.51).
    init?(contentCoding name: UnsafeRawBufferPointer, _ libraries: CodingLibraries) {
        if let coding = ContentCoding(transferCoding: name) {
            self = coding
        } else if name.equalsIgnoringCase("br"), let brotli = libraries.brotli {
            self = .brotli(brotli)
        } else if name.equalsIgnoringCase("zstd"), let zstandard = libraries.zstandard {
            self = .zstandard(zstandard)
        } else {
            return nil
        }
    }
}
