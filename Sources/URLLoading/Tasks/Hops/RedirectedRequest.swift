// The request that follows a redirect (behaviour chapter 4, RFC 9110 §15.4). The rules are `RedirectRules`; here they
// are applied to a `URLRequest`.

import Foundation
import URLLoadingPolicy
import URLLoadingWire

/// Makes the proposed request of a redirect.
enum RedirectedRequest {
    /// The next request, or `nil` when the response is no redirect that can be followed (B4.6, B4.17, B4.18).
    static func make(from request: URLRequest, response: ResponseHead) -> URLRequest? {
        guard RedirectRules.isRedirect(status: response.status), let asked = request.url,
            case let base = asked.overHTTP, let location = response.fields.reference(.location),
            let text = RedirectTarget.resolve(location: location, against: base.absoluteString),
            let target = URL(string: text)
        else { return nil }
        let change = RedirectRules.change(status: response.status, method: request.values.method)
        var values = request.values
        // B15.7.
        values.url = asked.isOfWebSocket ? target.overWebSocket : target
        values.setMethod(change.method)
        if !change.keepsBody { values.body = .none }
        guard let from = origin(of: base) else { return nil }
        let to = origin(of: asked.isOfWebSocket ? target.overHTTP : target)
        // B4.18: its host has no form in ASCII.
        if to == nil, target.scheme.flatMap({ Scheme($0) }) != nil { return nil }
        // A socket was named for one server only.
        if to != from { values.unixSocketPath = nil }
        let hop =
            to.map { RedirectRules.Hop(keepsBody: change.keepsBody, from: from, to: $0) }
            ?? RedirectRules.Hop(keepsBody: change.keepsBody, leavingHTTPFrom: from)
        values.fields.keep { RedirectRules.keepsField($0, over: hop) }
        return URLRequest(values)
    }

    /// The origin of an http URL.
    private static func origin(of url: URL) -> Origin? {
        try? URLText(url).origin(of: url)
    }

    /// Why a redirect must not be followed by itself, if so (B4.31); `handled` says whether the session has classes
    /// that may know other schemes than http.
    static func refusal(_ request: URLRequest, handled: Bool) -> URLError? {
        let scheme = request.url?.scheme ?? ""
        switch RedirectRules.verdict(onScheme: scheme) {
        case .follow: return nil
        case .onlyIfHandled where handled: return nil
        case .refuse, .onlyIfHandled:
            return LoadFailure.unsupportedURL(request.url, "A redirect to the scheme \"\(scheme)\" is not followed.")
        }
    }
}
