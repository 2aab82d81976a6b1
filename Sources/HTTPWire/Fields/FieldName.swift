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
    /// `Accept`
    package static var accept: FieldName { "Accept" }
    /// `Accept-Encoding`
    package static var acceptEncoding: FieldName { "Accept-Encoding" }
    /// `Accept-Language`
    package static var acceptLanguage: FieldName { "Accept-Language" }
    /// `Accept-Ranges`
    package static var acceptRanges: FieldName { "Accept-Ranges" }
    /// `Age`
    package static var age: FieldName { "Age" }
    /// `Authorization`
    package static var authorization: FieldName { "Authorization" }
    /// `Cache-Control`
    package static var cacheControl: FieldName { "Cache-Control" }
    /// `Connection`
    package static var connection: FieldName { "Connection" }
    /// `Content-Disposition`
    package static var contentDisposition: FieldName { "Content-Disposition" }
    /// `Content-Encoding`
    package static var contentEncoding: FieldName { "Content-Encoding" }
    /// `Content-Length`
    package static var contentLength: FieldName { "Content-Length" }
    /// `Content-Location`
    package static var contentLocation: FieldName { "Content-Location" }
    /// `Content-Range`
    package static var contentRange: FieldName { "Content-Range" }
    /// `Content-Type`
    package static var contentType: FieldName { "Content-Type" }
    /// `Cookie`
    package static var cookie: FieldName { "Cookie" }
    /// `Date`
    package static var date: FieldName { "Date" }
    /// `ETag`
    package static var eTag: FieldName { "ETag" }
    /// `Expect`
    package static var expect: FieldName { "Expect" }
    /// `Expires`
    package static var expires: FieldName { "Expires" }
    /// `Host`
    package static var host: FieldName { "Host" }
    /// `If-Modified-Since`
    package static var ifModifiedSince: FieldName { "If-Modified-Since" }
    /// `If-None-Match`
    package static var ifNoneMatch: FieldName { "If-None-Match" }
    /// `If-Range`
    package static var ifRange: FieldName { "If-Range" }
    /// `Keep-Alive`
    package static var keepAlive: FieldName { "Keep-Alive" }
    /// `Last-Modified`
    package static var lastModified: FieldName { "Last-Modified" }
    /// `Location`
    package static var location: FieldName { "Location" }
    /// `Pragma`
    package static var pragma: FieldName { "Pragma" }
    /// `Proxy-Authenticate`
    package static var proxyAuthenticate: FieldName { "Proxy-Authenticate" }
    /// `Proxy-Authorization`
    package static var proxyAuthorization: FieldName { "Proxy-Authorization" }
    /// `Proxy-Connection`
    package static var proxyConnection: FieldName { "Proxy-Connection" }
    /// `Range`
    package static var range: FieldName { "Range" }
    /// `Referer`
    package static var referer: FieldName { "Referer" }
    /// `Retry-After`
    package static var retryAfter: FieldName { "Retry-After" }
    /// `Server`
    package static var server: FieldName { "Server" }
    /// `Set-Cookie`
    package static var setCookie: FieldName { "Set-Cookie" }
    /// `TE`
    package static var te: FieldName { "TE" }
    /// `Trailer`
    package static var trailer: FieldName { "Trailer" }
    /// `Transfer-Encoding`
    package static var transferEncoding: FieldName { "Transfer-Encoding" }
    /// `Upgrade`
    package static var upgrade: FieldName { "Upgrade" }
    /// `User-Agent`
    package static var userAgent: FieldName { "User-Agent" }
    /// `Vary`
    package static var vary: FieldName { "Vary" }
    /// `WWW-Authenticate`
    package static var wwwAuthenticate: FieldName { "WWW-Authenticate" }
}
