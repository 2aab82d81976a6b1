// The API of URLSessionConfiguration, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import Testing
import URLLoading

@Suite("The API of URLSessionConfiguration")
struct UrlsessionconfigurationSurface {
    @Test("URLSessionConfiguration.MultipathServiceType: raw values")
    func urlSessionConfigurationMultipathServiceTypeRawValues() {
        let cases: [(URLSessionConfiguration.MultipathServiceType, Int)] = [
            (URLSessionConfiguration.MultipathServiceType.none, 0),
            (URLSessionConfiguration.MultipathServiceType.handover, 1),
            (URLSessionConfiguration.MultipathServiceType.interactive, 2),
            (URLSessionConfiguration.MultipathServiceType.aggregate, 3),
        ]
        for (one, rawValue) in cases {
            #expect(one.rawValue == rawValue)
            #expect(URLSessionConfiguration.MultipathServiceType(rawValue: rawValue) == one)
        }
    }
}

/// Overrides everything that is open in `URLSessionConfiguration` by what does the same.
/// Safe to share: it has no state of its own.
class OverridingURLSessionConfiguration: URLSessionConfiguration, @unchecked Sendable {
    override class var `default`: URLSessionConfiguration { super.`default` }

    override class var ephemeral: URLSessionConfiguration { super.ephemeral }

    override class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        super.background(withIdentifier: identifier)
    }

    @available(*, deprecated)
    override class func backgroundSessionConfiguration(_ identifier: String) -> URLSessionConfiguration {
        super.backgroundSessionConfiguration(identifier)
    }

    override func copy(with zone: NSZone?) -> Any { super.copy(with: zone) }

    override var identifier: String? { super.identifier }

    override var requestCachePolicy: NSURLRequest.CachePolicy {
        get { super.requestCachePolicy }
        set { super.requestCachePolicy = newValue }
    }

    override var timeoutIntervalForRequest: TimeInterval {
        get { super.timeoutIntervalForRequest }
        set { super.timeoutIntervalForRequest = newValue }
    }

    override var timeoutIntervalForResource: TimeInterval {
        get { super.timeoutIntervalForResource }
        set { super.timeoutIntervalForResource = newValue }
    }

    override var networkServiceType: NSURLRequest.NetworkServiceType {
        get { super.networkServiceType }
        set { super.networkServiceType = newValue }
    }

    override var allowsCellularAccess: Bool {
        get { super.allowsCellularAccess }
        set { super.allowsCellularAccess = newValue }
    }

    override var allowsExpensiveNetworkAccess: Bool {
        get { super.allowsExpensiveNetworkAccess }
        set { super.allowsExpensiveNetworkAccess = newValue }
    }

    override var allowsConstrainedNetworkAccess: Bool {
        get { super.allowsConstrainedNetworkAccess }
        set { super.allowsConstrainedNetworkAccess = newValue }
    }

    override var allowsUltraConstrainedNetworkAccess: Bool {
        get { super.allowsUltraConstrainedNetworkAccess }
        set { super.allowsUltraConstrainedNetworkAccess = newValue }
    }

    override var requiresDNSSECValidation: Bool {
        get { super.requiresDNSSECValidation }
        set { super.requiresDNSSECValidation = newValue }
    }

    override var waitsForConnectivity: Bool {
        get { super.waitsForConnectivity }
        set { super.waitsForConnectivity = newValue }
    }

    override var isDiscretionary: Bool {
        get { super.isDiscretionary }
        set { super.isDiscretionary = newValue }
    }

    override var sharedContainerIdentifier: String? {
        get { super.sharedContainerIdentifier }
        set { super.sharedContainerIdentifier = newValue }
    }

    override var sessionSendsLaunchEvents: Bool {
        get { super.sessionSendsLaunchEvents }
        set { super.sessionSendsLaunchEvents = newValue }
    }

    override var connectionProxyDictionary: [AnyHashable: Any]? {
        get { super.connectionProxyDictionary }
        set { super.connectionProxyDictionary = newValue }
    }

    override var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { super.tlsMinimumSupportedProtocolVersion }
        set { super.tlsMinimumSupportedProtocolVersion = newValue }
    }

    override var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
        get { super.tlsMaximumSupportedProtocolVersion }
        set { super.tlsMaximumSupportedProtocolVersion = newValue }
    }

    @available(*, deprecated)
    override var tlsMinimumSupportedProtocol: SSLProtocol {
        get { super.tlsMinimumSupportedProtocol }
        set { super.tlsMinimumSupportedProtocol = newValue }
    }

    @available(*, deprecated)
    override var tlsMaximumSupportedProtocol: SSLProtocol {
        get { super.tlsMaximumSupportedProtocol }
        set { super.tlsMaximumSupportedProtocol = newValue }
    }

    override var httpShouldUsePipelining: Bool {
        get { super.httpShouldUsePipelining }
        set { super.httpShouldUsePipelining = newValue }
    }

    override var httpShouldSetCookies: Bool {
        get { super.httpShouldSetCookies }
        set { super.httpShouldSetCookies = newValue }
    }

    override var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { super.httpCookieAcceptPolicy }
        set { super.httpCookieAcceptPolicy = newValue }
    }

    override var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { super.httpAdditionalHeaders }
        set { super.httpAdditionalHeaders = newValue }
    }

    override var httpMaximumConnectionsPerHost: Int {
        get { super.httpMaximumConnectionsPerHost }
        set { super.httpMaximumConnectionsPerHost = newValue }
    }

    override var httpCookieStorage: HTTPCookieStorage? {
        get { super.httpCookieStorage }
        set { super.httpCookieStorage = newValue }
    }

    override var urlCredentialStorage: URLCredentialStorage? {
        get { super.urlCredentialStorage }
        set { super.urlCredentialStorage = newValue }
    }

    override var urlCache: URLCache? {
        get { super.urlCache }
        set { super.urlCache = newValue }
    }

    override var shouldUseExtendedBackgroundIdleMode: Bool {
        get { super.shouldUseExtendedBackgroundIdleMode }
        set { super.shouldUseExtendedBackgroundIdleMode = newValue }
    }

    override var protocolClasses: [AnyClass]? {
        get { super.protocolClasses }
        set { super.protocolClasses = newValue }
    }

    override var multipathServiceType: URLSessionConfiguration.MultipathServiceType {
        get { super.multipathServiceType }
        set { super.multipathServiceType = newValue }
    }

    override var usesClassicLoadingMode: Bool {
        get { super.usesClassicLoadingMode }
        set { super.usesClassicLoadingMode = newValue }
    }

    override var enablesEarlyData: Bool {
        get { super.enablesEarlyData }
        set { super.enablesEarlyData = newValue }
    }
}

/// Names the API of `URLSessionConfiguration`.
private func urlSessionConfigurationMembers(of one: URLSessionConfiguration) {
    let _: any (NSCopying & NSObject & Sendable).Type = URLSessionConfiguration.self
    let _: URLSessionConfiguration = URLSessionConfiguration.`default`
    let _: URLSessionConfiguration = URLSessionConfiguration.ephemeral
    let _: (String) -> URLSessionConfiguration = URLSessionConfiguration.background(withIdentifier:)
    let _: (NSZone?) -> Any = one.copy(with:)
    let _: KeyPath<URLSessionConfiguration, String?> = \.identifier
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, NSURLRequest.CachePolicy> = \.requestCachePolicy
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, TimeInterval> = \.timeoutIntervalForRequest
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, TimeInterval> = \.timeoutIntervalForResource
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, NSURLRequest.NetworkServiceType> = \.networkServiceType
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.allowsCellularAccess
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.allowsExpensiveNetworkAccess
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.allowsConstrainedNetworkAccess
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.allowsUltraConstrainedNetworkAccess
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.requiresDNSSECValidation
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.waitsForConnectivity
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.isDiscretionary
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, String?> = \.sharedContainerIdentifier
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.sessionSendsLaunchEvents
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, [AnyHashable: Any]?> = \.connectionProxyDictionary
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, [ProxyConfiguration]> = \.proxyConfigurations
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, tls_protocol_version_t> =
        \.tlsMinimumSupportedProtocolVersion
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, tls_protocol_version_t> =
        \.tlsMaximumSupportedProtocolVersion
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.httpShouldUsePipelining
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.httpShouldSetCookies
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, HTTPCookie.AcceptPolicy> = \.httpCookieAcceptPolicy
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, [AnyHashable: Any]?> = \.httpAdditionalHeaders
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Int> = \.httpMaximumConnectionsPerHost
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, HTTPCookieStorage?> = \.httpCookieStorage
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, URLCredentialStorage?> = \.urlCredentialStorage
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, URLCache?> = \.urlCache
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.shouldUseExtendedBackgroundIdleMode
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, [AnyClass]?> = \.protocolClasses
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, URLSessionConfiguration.MultipathServiceType> =
        \.multipathServiceType
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.usesClassicLoadingMode
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, Bool> = \.enablesEarlyData
}

/// Names, as far as it is deprecated, the API of `URLSessionConfiguration`.
@available(*, deprecated)
private func urlSessionConfigurationDeprecatedmembers() {
    let _: (String) -> URLSessionConfiguration = URLSessionConfiguration.backgroundSessionConfiguration(_:)
    let _: () -> URLSessionConfiguration = URLSessionConfiguration.init
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, SSLProtocol> = \.tlsMinimumSupportedProtocol
    let _: ReferenceWritableKeyPath<URLSessionConfiguration, SSLProtocol> = \.tlsMaximumSupportedProtocol
}

/// Names the API of `URLSessionConfiguration.MultipathServiceType`.
private func urlSessionConfigurationMultipathServiceTypeMembers() {
    let _: any Sendable.Type = URLSessionConfiguration.MultipathServiceType.self
}
