// The version in a start line. Only major version 1 is spoken here (B16.17), so the minor digit is all there is to
// keep. RFC 9112 §2.3.

/// A version of HTTP whose major number is 1.
package struct HTTPVersion: Sendable, Equatable {
    /// The minor number, one digit: 0 for HTTP/1.0, 1 for HTTP/1.1.
    package let minor: Int

    /// Makes a version; numbers beyond one digit become the nearest digit.
    package init(minor: Int) { self.minor = min(max(minor, 0), 9) }

    /// The version HTTP/1.0.
    package static var http10: HTTPVersion { HTTPVersion(minor: 0) }

    /// The version HTTP/1.1.
    package static var http11: HTTPVersion { HTTPVersion(minor: 1) }

    /// Whether connections persist unless a side says `close` (RFC 9112 §9.3); higher minors count as 1.1.
    package var persistsByDefault: Bool { minor >= 1 }
}
