// The head of a request as a value: what a client hands to `RequestEncoder` and a server gets from `RequestDecoder`.
// It does not know URLs: the target is the text of the request line. RFC 9112 §3.

/// The request line and the fields of a request.
package struct RequestHead: Sendable, Equatable {
    /// The method, a token; case matters.
    package var method: String
    /// The request target as it stands in the request line.
    package var target: String
    /// The version of the message.
    package var version: HTTPVersion
    /// The fields in order.
    package var fields: Fields

    /// Makes a head; whether its parts may be sent is checked when it is encoded.
    package init(method: String, target: String, version: HTTPVersion = .http11, fields: Fields = Fields()) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }
}
