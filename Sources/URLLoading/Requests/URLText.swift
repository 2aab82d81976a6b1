// Reads an http URL as text. Taking it apart through `URL` costs a string per part and decodes what must stay as it is.
//
// Foundation has turned Unicode host names into A-labels already (B16.69), but for those that are percent-encoded.
// RFC 3986 §3, RFC 9110 §4.2.

import Foundation
import URLLoadingPolicy

/// The parts of an http URL's text.
struct URLText {
    private let text: String
    private let schemeEnd: String.Index
    private let authorityEnd: String.Index

    /// Fails with −1002 for a URL of another scheme and with −1000 for one without authority (B17.11, B17.13).
    init(_ url: URL) throws(URLError) {
        text = url.absoluteString
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: 0x3A), Scheme(String(text[..<colon])) != nil else {
            throw LoadFailure.unsupportedURL(
                url,
                url.scheme == nil
                    ? "The URL has no scheme, such as https, and no host." : "The URL's scheme is not http or https.")
        }
        schemeEnd = colon
        let rest = text[bytes.index(after: colon)...]
        guard rest.utf8.starts(with: "//".utf8) else { throw LoadFailure.badURL(url, "The URL has no host.") }
        let authority = rest.utf8.dropFirst(2)
        authorityEnd = authority.firstIndex(where: Self.endsAuthority) ?? text.endIndex
    }

    /// Whether a byte is the first behind an authority: `/`, `?` or `#` (RFC 3986 §3.2).
    static func endsAuthority(_ byte: UInt8) -> Bool {
        byte == 0x2F || byte == 0x3F || byte == 0x23
    }

    var prefix: Substring { text[..<authorityEnd] }

    /// The request target.
    var target: String {
        var rest = String(text[authorityEnd...])
        return rest.withUTF8 { Self.target($0) }
    }

    /// The request target made of what stands behind the authority: path and query as they are, no fragment (B5.22).
    static func target(_ rest: UnsafeBufferPointer<UInt8>) -> String {
        let end = rest.firstIndex(of: 0x23) ?? rest.endIndex
        if end == 0 { return "/" }
        let target = String(decoding: UnsafeBufferPointer(rebasing: rest[..<end]), as: UTF8.self)
        return rest[0] == 0x3F ? "/" + target : target
    }

    var hasUserInformation: Bool { authority.utf8.contains(0x40) }

    func origin(of url: URL) throws(URLError) -> Origin {
        var hostAndPort = authority
        if let at = hostAndPort.utf8.lastIndex(of: 0x40) {
            hostAndPort = hostAndPort[hostAndPort.utf8.index(after: at)...]
        }
        let bracket = hostAndPort.utf8.lastIndex(of: 0x5D) ?? hostAndPort.startIndex
        var host = hostAndPort
        var port: Int?
        if let colon = hostAndPort[bracket...].utf8.lastIndex(of: 0x3A) {
            host = hostAndPort[..<colon]
            let digits = hostAndPort[hostAndPort.utf8.index(after: colon)...]
            if !digits.isEmpty {
                guard digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(digits), number <= 65535
                else { throw LoadFailure.badURL(url, "The URL's port is not a number from 0 to 65535.") }
                port = number
            }
        }
        guard !host.isEmpty else { throw LoadFailure.badURL(url, "The URL has no host.") }
        let scheme = String(text[..<schemeEnd])
        guard
            let origin = Origin(scheme: scheme, host: String(host), port: port)
                ?? Self.converted(host).flatMap({ Origin(scheme: scheme, host: $0, port: port) })
        else {
            throw LoadFailure.badURL(url, "The URL's host is not a usable name or address.")
        }
        return origin
    }

    /// A name that is written in percent-encoded UTF-8 (RFC 3986 §3.2.2), in ASCII as one that is written out (B16.69).
    private static func converted(_ host: Substring) -> String? {
        guard let name = host.removingPercentEncoding, name.utf8.contains(where: { $0 >= 0x80 }) else { return nil }
        return name.hostInASCII
    }

    private var authority: Substring {
        let start = text.utf8.index(schemeEnd, offsetBy: 3, limitedBy: authorityEnd) ?? authorityEnd
        return text[start..<authorityEnd]
    }
}
