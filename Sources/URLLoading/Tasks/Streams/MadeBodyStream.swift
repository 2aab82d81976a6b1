// The streams that the library itself makes bodies of. A loader can ask them for more than what
// Foundation's streams know.

import Foundation

/// A stream of the library's own.
class MadeBodyStream: InputStream {
    /// How long it is, where that is known.
    var byteCount: Int64? { nil }

    /// The names of the fields that come behind it.
    var trailerNames: [String] { [] }

    /// Whether there can be another one with the same bytes, however far this one has been read.
    var isRenewable: Bool { false }

    /// Another stream with the same bytes, from the beginning; nil where there is none.
    func renewed() -> MadeBodyStream? { nil }
}

extension RequestValues {
    /// The body, where it is a stream of the library's own.
    var madeStream: MadeBodyStream? { httpBodyStream as? MadeBodyStream }

    /// The body in a stream that begins anew, where it can be had again.
    var renewedStream: MadeBodyStream? { madeStream?.renewed() }
}
