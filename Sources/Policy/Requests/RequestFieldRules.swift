// Which fields a request is sent with: the application's, the session's additional ones and the loader's own, in that
// order of right. Behaviour B5.6, B5.7, B5.12 to B5.16, B5.21, B5.26 to B5.33. It must not know `URLRequest`,
// cookies, the environment or how a head is written; Content-Length and Transfer-Encoding are made of the framing
// when the head is encoded.

import URLLoadingWire

/// What is known about a request's body before it is sent.
package enum RequestBodyLength: Sendable, Equatable {
    /// There is none.
    case none
    /// Data or a file of that many bytes; zero is as good as none (B5.31).
    case known(Int64)
    /// A stream that ends when it ends.
    case stream

    /// Whether something is sent.
    package var hasContent: Bool { self != .none && self != .known(0) }
}

/// Values for the fields a request gets when the program has not set them (B5.16); nil leaves the field out.
package struct DefaultFields: Sendable, Equatable {
    /// Any type will do.
    package var accept: String? = "*/*"
    /// The user's languages (B5.17).
    package var acceptLanguage: String?
    /// The codings that are undone (B5.18).
    package var acceptEncoding: String? = CodingLibraries.system.acceptEncoding
    /// The name of the program that asks (B5.20).
    package var userAgent: String?

    /// Makes defaults.
    package init(acceptLanguage: String? = nil, userAgent: String? = nil) {
        self.acceptLanguage = acceptLanguage
        self.userAgent = userAgent
    }

    /// The codings for a request with these fields: none for a part, since a part of what is coded
    /// cannot be decoded (B5.18).
    package func acceptEncoding(besides fields: Fields) -> String? {
        acceptEncoding != nil && fields.contains(.range) ? "identity" : acceptEncoding
    }
}

/// Decides about the fields of a request.
package enum RequestFieldRules {
    /// The fields of a request, Host first (B5.21), then the application's in their order, then what was missing.
    package static func fields(
        application: Fields, additional: Fields = Fields(), defaults: DefaultFields, method: String, origin: Origin,
        body: RequestBodyLength
    ) -> Fields {
        var fields = Fields()
        // A usual head without cookies stays below 512 bytes.
        fields.reserve(fields: application.count + additional.count + 7, bytes: 512)
        let host = (application.first(.host) ?? additional.first(.host)).flatMap(unfolded) ?? ""
        fields.append(.host, host.isEmpty ? origin.hostField : host)
        append(application, to: &fields) { _ in true }
        // B5.14: only the request's own names keep an additional field out, so it may come twice itself.
        append(additional, to: &fields) { !application.contains(FieldName($0)) }
        // RFC 9110 §10.1.1: what has no content must not wait for leave to send it.
        if !body.hasContent, fields.hasToken(.expect, "100-continue") { fields.removeAll(.expect) }
        add(.accept, defaults.accept, to: &fields)
        add(.acceptLanguage, defaults.acceptLanguage, to: &fields)
        add(.acceptEncoding, defaults.acceptEncoding(besides: fields), to: &fields)
        add(.userAgent, defaults.userAgent, to: &fields)
        if method == "POST", body.hasContent { add(.contentType, "application/x-www-form-urlencoded", to: &fields) }
        add(.connection, "keep-alive", to: &fields)
        return fields
    }

    /// Whether a field that the application set is sent: its name is a token (B5.7) and it is not one of those that
    /// the loader decides about (B5.13).
    package static func isSent(_ name: String) -> Bool {
        Tokens.isToken(name) && !ASCII.contains(loaderFields, name)
    }

    /// Whether a field can stand behind a body (RFC 9110 §6.5.1): its name is a token, and the receiver can do without
    /// it until then.
    package static func isTrailer(_ name: String) -> Bool {
        isSent(name) && !ASCII.contains(headFields, name)
    }

    /// The value as it is sent, a folded line made one line (B5.6); nil when it holds line ends or NUL otherwise.
    package static func unfolded(_ value: String) -> String? {
        let bytes = value.utf8
        guard bytes.contains(where: { $0 == 13 || $0 == 10 || $0 == 0 }) else { return value }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == 13 {
                // RFC 9112 §5.2: CRLF and the white space after it stand for one space.
                guard rest.popFirst() == 10, let first = rest.first, Tokens.isWhitespace(first) else { return nil }
                rest = rest.drop(while: Tokens.isWhitespace)
                while let last = result.last, Tokens.isWhitespace(last) { result.removeLast() }
                if !result.isEmpty, !rest.isEmpty { result.append(32) }
            } else if byte == 10 || byte == 0 {
                return nil
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// How a body is delimited (B5.26 to B5.30); the application's Content-Length counts for streams only.
    package static func framing(method: String, body: RequestBodyLength, applicationLength: String?) -> BodyFraming {
        switch body {
        case .none, .known(0): expectsContent(method) ? .length(0) : .none
        case .known(let count): .length(count)
        case .stream: applicationLength.flatMap { ASCII.decimal($0.utf8) }.map { .length($0) } ?? .chunked
        }
    }

    /// Whether the request fails before connecting, with −1103: GET with a body (B5.33).
    package static func isRefused(method: String, body: RequestBodyLength) -> Bool {
        method == "GET" && body.hasContent
    }

    /// RFC 9110 §8.6: a method that is defined with content says that there is none (B5.30).
    private static func expectsContent(_ method: String) -> Bool {
        method == "POST" || method == "PUT" || method == "PATCH"
    }

    private static func append(_ source: Fields, to fields: inout Fields, where isWanted: (String) -> Bool) {
        let hasConnection = source.contains(.connection)
        for index in 0..<source.count {
            let name = source.name(at: index)
            guard isWanted(name), isSent(name), let value = unfolded(source.value(at: index)) else { continue }
            // Meant for the next hop only; without Connection the next hop would not know that (H3.4).
            if hasConnection, source.hasToken(.connection, name) { continue }
            fields.append(name, value)
        }
    }

    private static func add(_ name: FieldName, _ value: String?, to fields: inout Fields) {
        if let value, !fields.contains(name) { fields.append(name, value) }
    }

    /// Fields about how a message is handled, what its body is and which user it is from.
    private static let headFields = [
        "Authorization", "Cache-Control", "Content-Encoding", "Content-Range", "Content-Type", "Cookie", "Expect",
        "If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Max-Forwards", "Pragma",
        "Range", "Set-Cookie",
    ]

    /// Connection-specific or computed (B5.13); Host is here since it is put first by itself.
    private static let loaderFields = [
        "Host", "Content-Length", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding",
        "Upgrade", "Proxy-Authorization",
    ]
}
