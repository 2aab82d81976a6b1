// The head of a response as the server has sent it. Apple's API has neither the version nor the order of fields.

import Foundation
import URLLoadingWire

extension HTTPURLResponse {
    /// Ours: the status line, such as `HTTP/1.1 200 OK`, in the server's words, or `HTTP/2 200`, where there are none.
    /// Of a response that did not come from a server now, because it was made by hand or kept in a cache, the version
    /// is 1.1 and the words are the usual ones.
    public var statusLine: String { firstLine }

    /// Ours: the fields in the order and the spelling in which they came, those of one name each by itself. Of a
    /// response that was made by hand, in the order of their names.
    public var receivedFields: [(name: String, value: String)] {
        let fields = arrivedFields
        return (0..<fields.count).map { (fields.name(at: $0), fields.value(at: $0)) }
    }
}
