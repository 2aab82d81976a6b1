// The fields behind the body of a response, and the wish for them. Those of a request belong to its `AsyncBody`.
//
// Ours; Apple's API does not show trailers.

import Foundation
import URLLoadingWire

extension HTTPURLResponse {
    /// Ours: the fields that came behind the body, such as a checksum or a status that the server could not know before
    /// (RFC 9110 §6.5). Names are shown as in `allHeaderFields`, of which these fields are no part.
    ///
    /// They are there when the body is complete: when `data(for:)` returns, when an iteration over `bytes(for:)` has
    /// ended, in `urlSession(_:task:didCompleteWithError:)`. Before, and where the server has sent none, this is empty.
    /// Some servers send trailers only to clients that have asked for them by `URLRequest.acceptsTrailers`. Trailers
    /// are neither cached nor archived, and the library acts on none of them.
    public var trailerFields: [String: String] { HeaderNames.dictionary(arrivedTrailers) }

    /// Ours: the value of a field behind the body; the case of the name does not matter.
    public func value(forHTTPTrailerField field: String) -> String? { arrivedTrailers.combined(FieldName(field)) }
}

extension URLRequest {
    /// Whether the server is told that trailers are understood, by the field `TE: trailers`. Ours.
    ///
    /// Trailers that come are there in any case (`HTTPURLResponse.trailerFields`); some servers send
    /// them only where this is set.
    public var acceptsTrailers: Bool {
        get { values.acceptsTrailers }
        set { values.acceptsTrailers = newValue }
    }
}
