// The cookies that an attempt takes along on its way over redirects (B8.58). The program's storage is not there: what
// it had for the first request came as a field, and what redirects bring is known here.
//
// Must not know: journals, and what becomes of the cookies afterwards.

import Foundation
import URLLoadingPolicy
import URLLoadingWire

/// What redirects of one attempt have said about cookies.
struct AttemptCookies {
    private let store = CookieStore()
    /// The names of all that were set or removed: what the program's storage had under these is of no use any more.
    private var names: Set<ExactText> = []

    /// The request that a redirect leads to, with the cookies that fit there.
    mutating func followed(
        _ next: URLRequest, after response: HTTPURLResponse, from first: TransferRequest
    ) -> URLRequest {
        guard let there = next.url.flatMap({ CookiePlace($0) }), let place = response.url.flatMap({ CookiePlace($0) }),
            let here = URL(string: first.url).flatMap({ CookiePlace($0) })
        else { return next }
        // As for tasks of other sessions: the main document itself is loaded, by whatever redirects (B8.59).
        let isTopLevel = next.mainDocumentURL.map { $0 == URL(string: first.url) } ?? false
        func context(_ place: CookiePlace) -> CookieContext {
            CookieContext(
                place, mainDocument: next.mainDocumentURL, isTopLevel: isTopLevel, method: next.values.method)
        }
        // What the session's policy refuses takes no other cookie's place.
        if CookieRules.refusal(CookiePolicy(first.cookiePolicy), of: context(place)) == nil {
            let brought = store.read(response.arrivedFields.values(.setCookie).map(\.utf8), from: place)
            names.formUnion(brought.map { ExactText($0.name) })
            _ = store.receive(brought, from: context(place), policy: .always)
        }
        var cookies: [String] = []
        if first.flags & TransferRequest.cookiesFitEverywhere != 0, there.host == here.host,
            there.isSecure || !here.isSecure
        {
            let field = first.fields.first { $0.name.lowercased() == "cookie" }?.value ?? ""
            // By bytes: a character may have swallowed a sign that stands before what it is made of.
            cookies = field.utf8.split(separator: UInt8(ascii: ";"))
                .map { cookie in Substring(cookie.first == UInt8(ascii: " ") ? cookie.dropFirst() : cookie) }
                .filter { !names.contains(ExactText(String(Substring($0.utf8.prefix { $0 != UInt8(ascii: "=") })))) }
                .map { String($0) }
        }
        if let field = store.field(for: context(there)) { cookies.append(field) }
        var request = next
        request.setValue(cookies.isEmpty ? nil : cookies.joined(separator: "; "), forHTTPHeaderField: "Cookie")
        return request
    }
}
