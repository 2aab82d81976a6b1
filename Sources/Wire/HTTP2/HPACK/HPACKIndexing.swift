// Which fields enter the table. What is a secret that can be guessed piece by piece never does, and a proxy that passes
// it on must not put it into a table either. What differs from one message to the next is not worth the place it would
// take from others. H3.8, RFC 7541 §6.2, §7.1.3.

/// How a field is written that no table has.
enum HPACKIndexing {
    /// It enters the table.
    case indexed
    /// It stays out of the table.
    case plain
    /// It stays out of every table on its way.
    case never

    /// The way of a field, whose name has that static index or 0.
    @inline(__always)
    init(nameIndex: Int, value: UnsafeRawBufferPointer) {
        switch nameIndex {
        // :path: with a query it is a question that is asked once.
        case 4: self = value.contains(UInt8(ascii: "?")) ? .plain : .indexed
        // authorization, proxy-authorization
        case 23, 49: self = .never
        // cookie
        case 32: self = value.count < HPACKIndexing.guessableCookieBytes ? .never : .indexed
        // age, content-length, content-range, etag, if-match, if-modified-since, if-none-match, if-range,
        // if-unmodified-since, last-modified, location, range, set-cookie
        case 21, 28, 30, 34, 39...44, 46, 50, 55: self = .plain
        default: self = .indexed
        }
    }

    /// H3.8: shorter cookies can be found out by trying.
    private static var guessableCookieBytes: Int { 20 }
}
