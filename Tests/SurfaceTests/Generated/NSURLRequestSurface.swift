// The API of NSURLRequest, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of NSURLRequest")
struct NsurlrequestSurface {
    @Test("NSURLRequest.CachePolicy: raw values")
    func nsurlRequestCachePolicyRawValues() {
        let cases: [(NSURLRequest.CachePolicy, UInt)] = [
            (NSURLRequest.CachePolicy.useProtocolCachePolicy, 0),
            (NSURLRequest.CachePolicy.reloadIgnoringLocalCacheData, 1),
            (NSURLRequest.CachePolicy.returnCacheDataElseLoad, 2),
            (NSURLRequest.CachePolicy.returnCacheDataDontLoad, 3),
            (NSURLRequest.CachePolicy.reloadIgnoringLocalAndRemoteCacheData, 4),
            (NSURLRequest.CachePolicy.reloadRevalidatingCacheData, 5),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(NSURLRequest.CachePolicy(rawValue: rawValue) == one)
        }
    }

    @Test("NSURLRequest.NetworkServiceType: raw values")
    @available(*, deprecated)
    func nsurlRequestNetworkServiceTypeRawValues() {
        let cases: [(NSURLRequest.NetworkServiceType, UInt)] = [
            (NSURLRequest.NetworkServiceType.`default`, 0), (NSURLRequest.NetworkServiceType.voip, 1),
            (NSURLRequest.NetworkServiceType.video, 2), (NSURLRequest.NetworkServiceType.background, 3),
            (NSURLRequest.NetworkServiceType.voice, 4), (NSURLRequest.NetworkServiceType.responsiveData, 6),
            (NSURLRequest.NetworkServiceType.avStreaming, 8), (NSURLRequest.NetworkServiceType.responsiveAV, 9),
            (NSURLRequest.NetworkServiceType.callSignaling, 11),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(NSURLRequest.NetworkServiceType(rawValue: rawValue) == one)
        }
    }

    @Test("NSURLRequest.Attribution: raw values")
    func nsurlRequestAttributionRawValues() {
        let cases: [(NSURLRequest.Attribution, UInt)] = [
            (NSURLRequest.Attribution.developer, 0), (NSURLRequest.Attribution.user, 1),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(NSURLRequest.Attribution(rawValue: rawValue) == one)
        }
    }
}

/// Names the API of `NSURLRequest.CachePolicy`.
private func nsurlRequestCachePolicyMembers() {
    let _: any Sendable.Type = NSURLRequest.CachePolicy.self
    let _: NSURLRequest.CachePolicy = NSURLRequest.CachePolicy.reloadIgnoringCacheData
}

/// Names the API of `NSURLRequest.NetworkServiceType`.
private func nsurlRequestNetworkServiceTypeMembers() {
    let _: any Sendable.Type = NSURLRequest.NetworkServiceType.self
}

/// Names the API of `NSURLRequest.Attribution`.
private func nsurlRequestAttributionMembers() {
    let _: any Sendable.Type = NSURLRequest.Attribution.self
}

/// Overrides everything that is open in `NSURLRequest` by what does the same.
class OverridingNSURLRequest: NSURLRequest {
    override class var supportsSecureCoding: Bool { super.supportsSecureCoding }

    override func encode(with coder: NSCoder) { super.encode(with: coder) }

    override func copy(with zone: NSZone?) -> Any { super.copy(with: zone) }

    override func mutableCopy(with zone: NSZone?) -> Any { super.mutableCopy(with: zone) }

    override var url: URL? { super.url }

    override var cachePolicy: NSURLRequest.CachePolicy { super.cachePolicy }

    override var timeoutInterval: TimeInterval { super.timeoutInterval }

    override var mainDocumentURL: URL? { super.mainDocumentURL }

    override var networkServiceType: NSURLRequest.NetworkServiceType { super.networkServiceType }

    override var allowsCellularAccess: Bool { super.allowsCellularAccess }

    override var allowsExpensiveNetworkAccess: Bool { super.allowsExpensiveNetworkAccess }

    override var allowsConstrainedNetworkAccess: Bool { super.allowsConstrainedNetworkAccess }

    override var allowsUltraConstrainedNetworkAccess: Bool { super.allowsUltraConstrainedNetworkAccess }

    override var assumesHTTP3Capable: Bool { super.assumesHTTP3Capable }

    override var attribution: NSURLRequest.Attribution { super.attribution }

    override var requiresDNSSECValidation: Bool { super.requiresDNSSECValidation }

    override var allowsPersistentDNS: Bool { super.allowsPersistentDNS }

    override var cookiePartitionIdentifier: String? { super.cookiePartitionIdentifier }

    override var allHTTPHeaderFields: [String: String]? { super.allHTTPHeaderFields }

    override var httpBody: Data? { super.httpBody }

    override var httpBodyStream: InputStream? { super.httpBodyStream }

    override var httpShouldHandleCookies: Bool { super.httpShouldHandleCookies }

    override var httpShouldUsePipelining: Bool { super.httpShouldUsePipelining }

    override var httpMethod: String? { super.httpMethod }

    override func value(forHTTPHeaderField field: String) -> String? { super.value(forHTTPHeaderField: field) }
}

/// Names the API of `NSURLRequest`.
private func nsurlRequestMembers(of one: NSURLRequest) {
    let _: any (NSCopying & NSMutableCopying & NSObject & NSSecureCoding).Type = NSURLRequest.self
    let _: Bool = NSURLRequest.supportsSecureCoding
    let _: (URL) -> NSURLRequest = NSURLRequest.init(url:)
    let _: (URL, NSURLRequest.CachePolicy, TimeInterval) -> NSURLRequest = NSURLRequest.init(
        url:cachePolicy:timeoutInterval:)
    let _: (NSCoder) -> NSURLRequest? = NSURLRequest.init(coder:)
    let _: (NSCoder) -> Void = one.encode(with:)
    let _: (NSZone?) -> Any = one.copy(with:)
    let _: (NSZone?) -> Any = one.mutableCopy(with:)
    let _: KeyPath<NSURLRequest, URL?> = \.url
    let _: KeyPath<NSURLRequest, NSURLRequest.CachePolicy> = \.cachePolicy
    let _: KeyPath<NSURLRequest, TimeInterval> = \.timeoutInterval
    let _: KeyPath<NSURLRequest, URL?> = \.mainDocumentURL
    let _: KeyPath<NSURLRequest, NSURLRequest.NetworkServiceType> = \.networkServiceType
    let _: KeyPath<NSURLRequest, Bool> = \.allowsCellularAccess
    let _: KeyPath<NSURLRequest, Bool> = \.allowsExpensiveNetworkAccess
    let _: KeyPath<NSURLRequest, Bool> = \.allowsConstrainedNetworkAccess
    let _: KeyPath<NSURLRequest, Bool> = \.allowsUltraConstrainedNetworkAccess
    let _: KeyPath<NSURLRequest, Bool> = \.assumesHTTP3Capable
    let _: KeyPath<NSURLRequest, NSURLRequest.Attribution> = \.attribution
    let _: KeyPath<NSURLRequest, Bool> = \.requiresDNSSECValidation
    let _: KeyPath<NSURLRequest, Bool> = \.allowsPersistentDNS
    let _: KeyPath<NSURLRequest, String?> = \.cookiePartitionIdentifier
    let _: KeyPath<NSURLRequest, [String: String]?> = \.allHTTPHeaderFields
    let _: KeyPath<NSURLRequest, Data?> = \.httpBody
    let _: KeyPath<NSURLRequest, InputStream?> = \.httpBodyStream
    let _: KeyPath<NSURLRequest, Bool> = \.httpShouldHandleCookies
    let _: KeyPath<NSURLRequest, Bool> = \.httpShouldUsePipelining
    let _: KeyPath<NSURLRequest, String?> = \.httpMethod
    let _: (String) -> String? = one.value(forHTTPHeaderField:)
}
