// The API of URLResponse, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `URLResponse` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLResponse: URLResponse, @unchecked Sendable {
    override var url: URL? { super.url }

    override var mimeType: String? { super.mimeType }

    override var expectedContentLength: Int64 { super.expectedContentLength }

    override var textEncodingName: String? { super.textEncodingName }

    override var suggestedFilename: String? { super.suggestedFilename }

    override class var supportsSecureCoding: Bool { super.supportsSecureCoding }

    override func encode(with coder: NSCoder) { super.encode(with: coder) }

    override func copy(with zone: NSZone?) -> Any { super.copy(with: zone) }
}

/// Names the API of `URLResponse`.
private func urlResponseMembers(of one: URLResponse) {
    let _: any (NSCopying & NSObject & NSSecureCoding & Sendable).Type = URLResponse.self
    let _: () -> URLResponse = URLResponse.init
    let _: (URL, String?, Int, String?) -> URLResponse = URLResponse.init(
        url:mimeType:expectedContentLength:textEncodingName:)
    let _: KeyPath<URLResponse, URL?> = \.url
    let _: KeyPath<URLResponse, String?> = \.mimeType
    let _: KeyPath<URLResponse, Int64> = \.expectedContentLength
    let _: KeyPath<URLResponse, String?> = \.textEncodingName
    let _: KeyPath<URLResponse, String?> = \.suggestedFilename
    let _: Bool = URLResponse.supportsSecureCoding
    let _: (NSCoder) -> URLResponse? = URLResponse.init(coder:)
    let _: (NSCoder) -> Void = one.encode(with:)
    let _: (NSZone?) -> Any = one.copy(with:)
}
