// What Apple's API does not have of a response: its head as the server has sent it, with the version and the order of fields, and
// the fields behind its body.

import Foundation
import URLLoadingWire

extension HTTPURLResponse {
    /// Ours: the status line, such as `HTTP/1.1 200 OK`, in the server's words, or `HTTP/2 200`, where there are none. Of a
    /// response that did not come from a server now, because it was made by hand or kept in a cache, the version is 1.1 and the
    /// words are the usual ones.
    public var statusLine: String { firstLine }

    /// Ours: the fields in the order and the spelling in which they came, those of one name each by itself. Of a response
    /// that was made by hand, in the order of their names.
    public var receivedFields: [(name: String, value: String)] {
        let fields = arrivedFields
        return (0..<fields.count).map { (fields.name(at: $0), fields.value(at: $0)) }
    }

    /// Ours: the fields that came behind the body, such as a checksum or a status that the server could not know before
    /// (RFC 9110 §6.5). Names are shown as in `allHeaderFields`, of which these fields are no part.
    ///
    /// They are there when the body is complete: when `data(for:)` returns, when an iteration over `bytes(for:)` has ended, in
    /// `urlSession(_:task:didCompleteWithError:)`. Before, and where the server has sent none, this is empty. Some servers send
    /// trailers only to clients that have asked for them by `URLRequest.acceptsTrailers`. Trailers are neither cached nor archived, and the
    /// library acts on none of them.
    public var trailerFields: [String: String] { HeaderNames.dictionary(arrivedTrailers) }

    /// Ours: the value of a field behind the body; the case of the name does not matter.
    public func value(forHTTPTrailerField field: String) -> String? { arrivedTrailers.combined(FieldName(field)) }
}
