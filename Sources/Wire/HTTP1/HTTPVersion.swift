// The version of a message. A start line of HTTP/1 says it, and of its major version only the minor digit is kept
// (B16.17); messages of HTTP/2 do not carry one, as all of them are of the same. RFC 9112 §2.3, RFC 9113 §8.3.2.

/// A version of HTTP.
package struct HTTPVersion: Sendable, Equatable {
    /// Both digits: 10, 11, 20.
    private let number: Int

    /// The minor number, one digit: 0 for HTTP/1.0 and HTTP/2, 1 for HTTP/1.1.
    package var minor: Int { number % 10 }

    /// Makes a version whose major number is 1; numbers beyond one digit become the nearest digit.
    package init(minor: Int) { self.init(number: 10 + min(max(minor, 0), 9)) }

    private init(number: Int) { self.number = number }

    /// The version HTTP/1.0.
    package static var http10: HTTPVersion { HTTPVersion(minor: 0) }

    /// The version HTTP/1.1.
    package static var http11: HTTPVersion { HTTPVersion(minor: 1) }

    /// The version HTTP/2.
    package static var http2: HTTPVersion { HTTPVersion(number: 20) }

    /// Whether connections persist unless a side says `close` (RFC 9112 §9.3); higher versions count as 1.1.
    package var persistsByDefault: Bool { self != .http10 }
}
