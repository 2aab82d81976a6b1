// A field name as the program writes it: equal to every other spelling of itself (RFC 9110 §5.1: names are
// case-insensitive). It knows the names the layers above ask for, and nothing about where fields are kept.

/// The name of a field; compares without regard to case, keeps its spelling.
package struct FieldName: Sendable {
    /// The name as it was given.
    package let spelling: String

    /// Makes a name; whether it is a token is checked when a message is encoded.
    @inlinable
    package init(_ spelling: String) { self.spelling = spelling }

    /// Calls `body` with the spelling's bytes.
    @inline(__always)
    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        spelling.withUTF8Bytes(body)
    }
}

extension FieldName: Hashable {
    /// Whether both are spellings of one name.
    package static func == (left: FieldName, right: FieldName) -> Bool {
        left.withBytes { leftBytes in right.withBytes { leftBytes.equalsIgnoringCase($0) } }
    }

    /// Hashes the name without regard to case.
    package func hash(into hasher: inout Hasher) {
        for byte in spelling.utf8 { hasher.combine(ASCII.lowercased(byte)) }
    }
}

extension FieldName: ExpressibleByStringLiteral, CustomStringConvertible {
    /// Makes a name from a literal.
    @inlinable
    package init(stringLiteral spelling: String) { self.spelling = spelling }

    /// The name as it was given.
    package var description: String { spelling }
}

// Computed, not stored: a literal costs nothing, a global of this type would cost a once-check at every use.
extension FieldName {
    /// The name `Accept`.
    package static var accept: FieldName { "Accept" }
    /// The name `Accept-Encoding`.
    package static var acceptEncoding: FieldName { "Accept-Encoding" }
    /// The name `Accept-Language`.
    package static var acceptLanguage: FieldName { "Accept-Language" }
    /// The name `Accept-Ranges`.
    package static var acceptRanges: FieldName { "Accept-Ranges" }
    /// The name `Age`.
    package static var age: FieldName { "Age" }
    /// The name `Authentication-Info`.
    package static var authenticationInfo: FieldName { "Authentication-Info" }
    /// The name `Authorization`.
    package static var authorization: FieldName { "Authorization" }
    /// The name `Cache-Control`.
    package static var cacheControl: FieldName { "Cache-Control" }
    /// The name `Connection`.
    package static var connection: FieldName { "Connection" }
    /// The name `Content-Disposition`.
    package static var contentDisposition: FieldName { "Content-Disposition" }
    /// The name `Content-Encoding`.
    package static var contentEncoding: FieldName { "Content-Encoding" }
    /// The name `Content-Length`.
    package static var contentLength: FieldName { "Content-Length" }
    /// The name `Content-Location`.
    package static var contentLocation: FieldName { "Content-Location" }
    /// The name `Content-Range`.
    package static var contentRange: FieldName { "Content-Range" }
    /// The name `Content-Type`.
    package static var contentType: FieldName { "Content-Type" }
    /// The name `Cookie`.
    package static var cookie: FieldName { "Cookie" }
    /// The name `Date`.
    package static var date: FieldName { "Date" }
    /// The name `ETag`.
    package static var eTag: FieldName { "ETag" }
    /// The name `Expect`.
    package static var expect: FieldName { "Expect" }
    /// The name `Expires`.
    package static var expires: FieldName { "Expires" }
    /// The name `Host`.
    package static var host: FieldName { "Host" }
    /// The name `If-Modified-Since`.
    package static var ifModifiedSince: FieldName { "If-Modified-Since" }
    /// The name `If-None-Match`.
    package static var ifNoneMatch: FieldName { "If-None-Match" }
    /// The name `If-Range`.
    package static var ifRange: FieldName { "If-Range" }
    /// The name `Keep-Alive`.
    package static var keepAlive: FieldName { "Keep-Alive" }
    /// The name `Last-Modified`.
    package static var lastModified: FieldName { "Last-Modified" }
    /// The name `Location`.
    package static var location: FieldName { "Location" }
    /// The name `Pragma`.
    package static var pragma: FieldName { "Pragma" }
    /// The name `Proxy-Authenticate`.
    package static var proxyAuthenticate: FieldName { "Proxy-Authenticate" }
    /// The name `Proxy-Authentication-Info`.
    package static var proxyAuthenticationInfo: FieldName { "Proxy-Authentication-Info" }
    /// The name `Proxy-Authorization`.
    package static var proxyAuthorization: FieldName { "Proxy-Authorization" }
    /// The name `Range`.
    package static var range: FieldName { "Range" }
    /// The name `Referer`.
    package static var referer: FieldName { "Referer" }
    /// The name `Retry-After`.
    package static var retryAfter: FieldName { "Retry-After" }
    /// The name `Sec-WebSocket-Accept`.
    package static var secWebSocketAccept: FieldName { "Sec-WebSocket-Accept" }
    /// The name `Sec-WebSocket-Extensions`.
    package static var secWebSocketExtensions: FieldName { "Sec-WebSocket-Extensions" }
    /// The name `Sec-WebSocket-Key`.
    package static var secWebSocketKey: FieldName { "Sec-WebSocket-Key" }
    /// The name `Sec-WebSocket-Protocol`.
    package static var secWebSocketProtocol: FieldName { "Sec-WebSocket-Protocol" }
    /// The name `Sec-WebSocket-Version`.
    package static var secWebSocketVersion: FieldName { "Sec-WebSocket-Version" }
    /// The name `Server`.
    package static var server: FieldName { "Server" }
    /// The name `Set-Cookie`.
    package static var setCookie: FieldName { "Set-Cookie" }
    /// The name `TE`.
    package static var te: FieldName { "TE" }
    /// The name `Trailer`.
    package static var trailer: FieldName { "Trailer" }
    /// The name `Transfer-Encoding`.
    package static var transferEncoding: FieldName { "Transfer-Encoding" }
    /// The name `Upgrade`.
    package static var upgrade: FieldName { "Upgrade" }
    /// The name `User-Agent`.
    package static var userAgent: FieldName { "User-Agent" }
    /// The name `Vary`.
    package static var vary: FieldName { "Vary" }
    /// The name `WWW-Authenticate`.
    package static var wwwAuthenticate: FieldName { "WWW-Authenticate" }
}
