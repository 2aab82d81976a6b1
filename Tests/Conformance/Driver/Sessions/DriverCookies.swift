// The cookies of a session, as the runner sets and sees them. Driver protocol, section 5.

import Foundation
import URLLoading
import URLLoadingPolicy
import URLLoadingTestSupport

/// The storage of a session; one without has no cookies.
struct DriverCookies: Sendable {
    private let storage: HTTPCookieStorage?

    init(_ storage: HTTPCookieStorage?) {
        self.storage = storage
    }

    /// Takes Set-Cookie fields of a response from a URL, each by itself.
    func store(_ fields: [String], from text: String) throws(Refusal) {
        let place = try place(text)
        _ = storage?.store.receive(fields: fields.map(\.utf8), from: CookieContext(place))
    }

    /// The Cookie field of a request to a URL.
    func field(for text: String) throws(Refusal) -> String? {
        storage?.store.field(for: CookieContext(try place(text)))
    }

    /// Everything that has not ended.
    var list: [JSONValue] { (storage?.cookies ?? []).map(Self.value) }

    func clear() { storage?.removeCookies(since: .distantPast) }

    private func place(_ text: String) throws(Refusal) -> CookiePlace {
        guard let place = URL(string: text).flatMap({ CookiePlace($0) }) else {
            throw .badCommand("url is not a URL with a host")
        }
        return place
    }

    private static func value(_ cookie: HTTPCookie) -> JSONValue {
        var members = [
            JSONMember(name: "name", value: .string(cookie.name)),
            JSONMember(name: "value", value: .string(cookie.value)),
            JSONMember(name: "domain", value: .string(cookie.domain)),
            JSONMember(name: "path", value: .string(cookie.path)),
            JSONMember(name: "secure", value: .bool(cookie.isSecure)),
            JSONMember(name: "http_only", value: .bool(cookie.isHTTPOnly)),
            JSONMember(name: "host_only", value: .bool(!cookie.domain.hasPrefix("."))),
        ]
        if let policy = cookie.sameSitePolicy {
            members.append(JSONMember(name: "same_site", value: .string(policy.rawValue)))
        }
        // A date that no number of milliseconds can tell is left out.
        let seconds = cookie.expiresDate?.timeIntervalSince1970
        if let milliseconds = seconds.flatMap({ Int64(exactly: ($0 * 1000).rounded()) }) {
            members.append(JSONMember(name: "expires_ms", value: .integer(milliseconds)))
        }
        return .object(members)
    }
}
