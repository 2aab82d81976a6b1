// The API of HTTPURLResponse, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `HTTPURLResponse` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingHTTPURLResponse: HTTPURLResponse, @unchecked Sendable {
    override var statusCode: Int { super.statusCode }

    override var allHeaderFields: [AnyHashable: Any] { super.allHeaderFields }

    override func value(forHTTPHeaderField field: String) -> String? { super.value(forHTTPHeaderField: field) }

    override func encode(with coder: NSCoder) { super.encode(with: coder) }

    override class func localizedString(forStatusCode statusCode: Int) -> String {
        super.localizedString(forStatusCode: statusCode)
    }
}

/// Names the API of `HTTPURLResponse`.
private func httpurlResponseMembers(of one: HTTPURLResponse) {
    let _: any (Sendable & URLResponse).Type = HTTPURLResponse.self
    let _: () -> HTTPURLResponse = HTTPURLResponse.init
    let _: (URL, Int, String?, [String: String]?) -> HTTPURLResponse? = HTTPURLResponse.init(
        url:statusCode:httpVersion:headerFields:)
    let _: KeyPath<HTTPURLResponse, Int> = \.statusCode
    let _: KeyPath<HTTPURLResponse, [AnyHashable: Any]> = \.allHeaderFields
    let _: (String) -> String? = one.value(forHTTPHeaderField:)
    let _: (NSCoder) -> HTTPURLResponse? = HTTPURLResponse.init(coder:)
    let _: (NSCoder) -> Void = one.encode(with:)
    let _: (Int) -> String = HTTPURLResponse.localizedString(forStatusCode:)
}
