// The API of CachedURLResponse, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `CachedURLResponse` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingCachedURLResponse: CachedURLResponse, @unchecked Sendable {
    override var response: URLResponse { super.response }

    override var data: Data { super.data }

    override var userInfo: [AnyHashable: Any]? { super.userInfo }

    override var storagePolicy: URLCache.StoragePolicy { super.storagePolicy }

    override class var supportsSecureCoding: Bool { super.supportsSecureCoding }

    override func encode(with coder: NSCoder) { super.encode(with: coder) }

    override func copy(with zone: NSZone?) -> Any { super.copy(with: zone) }
}

/// Names the API of `CachedURLResponse`.
private func cachedURLResponseMembers(of one: CachedURLResponse) {
    let _: any (NSCopying & NSObject & NSSecureCoding & Sendable).Type = CachedURLResponse.self
    let _: (URLResponse, Data) -> CachedURLResponse = CachedURLResponse.init(response:data:)
    let _: (URLResponse, Data, [AnyHashable: Any]?, URLCache.StoragePolicy) -> CachedURLResponse = CachedURLResponse
        .init(response:data:userInfo:storagePolicy:)
    let _: KeyPath<CachedURLResponse, URLResponse> = \.response
    let _: KeyPath<CachedURLResponse, Data> = \.data
    let _: KeyPath<CachedURLResponse, [AnyHashable: Any]?> = \.userInfo
    let _: KeyPath<CachedURLResponse, URLCache.StoragePolicy> = \.storagePolicy
    let _: Bool = CachedURLResponse.supportsSecureCoding
    let _: (NSCoder) -> CachedURLResponse? = CachedURLResponse.init(coder:)
    let _: (NSCoder) -> Void = one.encode(with:)
    let _: (NSZone?) -> Any = one.copy(with:)
}
