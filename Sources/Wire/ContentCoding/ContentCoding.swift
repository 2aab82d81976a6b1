// The codings a body can be under and that can be undone here: RFC 9110 §8.4.1. `br` is not among them (B16.51).

/// A coding that an `Inflater` undoes.
package enum ContentCoding: Sendable, Equatable {
    /// RFC 1952; also called x-gzip.
    case gzip
    /// RFC 1950, and RFC 1951 as faulty servers send it.
    case deflate

    /// The coding of that name, nil for a name that is not known.
    init?(_ name: UnsafeRawBufferPointer) {
        if name.equalsIgnoringCase("gzip") || name.equalsIgnoringCase("x-gzip") {
            self = .gzip
        } else if name.equalsIgnoringCase("deflate") {
            self = .deflate
        } else {
            return nil
        }
    }
}
