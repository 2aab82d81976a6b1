// The API of NSMutableURLRequest, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Overrides everything that is open in `NSMutableURLRequest` by what does the same.
class OverridingNSMutableURLRequest: NSMutableURLRequest {
    override var url: URL? {
        get { super.url }
        set { super.url = newValue }
    }

    override var cachePolicy: NSURLRequest.CachePolicy {
        get { super.cachePolicy }
        set { super.cachePolicy = newValue }
    }

    override var timeoutInterval: TimeInterval {
        get { super.timeoutInterval }
        set { super.timeoutInterval = newValue }
    }

    override var mainDocumentURL: URL? {
        get { super.mainDocumentURL }
        set { super.mainDocumentURL = newValue }
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

    override var assumesHTTP3Capable: Bool {
        get { super.assumesHTTP3Capable }
        set { super.assumesHTTP3Capable = newValue }
    }

    override var attribution: NSURLRequest.Attribution {
        get { super.attribution }
        set { super.attribution = newValue }
    }

    override var requiresDNSSECValidation: Bool {
        get { super.requiresDNSSECValidation }
        set { super.requiresDNSSECValidation = newValue }
    }

    override var allowsPersistentDNS: Bool {
        get { super.allowsPersistentDNS }
        set { super.allowsPersistentDNS = newValue }
    }

    override var cookiePartitionIdentifier: String? {
        get { super.cookiePartitionIdentifier }
        set { super.cookiePartitionIdentifier = newValue }
    }

    override var allHTTPHeaderFields: [String: String]? {
        get { super.allHTTPHeaderFields }
        set { super.allHTTPHeaderFields = newValue }
    }

    override var httpBody: Data? {
        get { super.httpBody }
        set { super.httpBody = newValue }
    }

    override var httpBodyStream: InputStream? {
        get { super.httpBodyStream }
        set { super.httpBodyStream = newValue }
    }

    override var httpShouldHandleCookies: Bool {
        get { super.httpShouldHandleCookies }
        set { super.httpShouldHandleCookies = newValue }
    }

    override var httpShouldUsePipelining: Bool {
        get { super.httpShouldUsePipelining }
        set { super.httpShouldUsePipelining = newValue }
    }

    override var httpMethod: String {
        get { super.httpMethod }
        set { super.httpMethod = newValue }
    }

    override func setValue(_ value: String?, forHTTPHeaderField field: String) {
        super.setValue(value, forHTTPHeaderField: field)
    }

    override func addValue(_ value: String, forHTTPHeaderField field: String) {
        super.addValue(value, forHTTPHeaderField: field)
    }
}

/// Names the API of `NSMutableURLRequest`.
private func nsMutableURLRequestMembers(of one: NSMutableURLRequest) {
    let _: NSURLRequest.Type = NSMutableURLRequest.self
    let _: () -> NSMutableURLRequest = NSMutableURLRequest.init
    let _: (NSCoder) -> NSMutableURLRequest? = NSMutableURLRequest.init(coder:)
    let _: (URL, NSURLRequest.CachePolicy, TimeInterval) -> NSMutableURLRequest = NSMutableURLRequest.init(
        url:cachePolicy:timeoutInterval:)
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, URL?> = \.url
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, NSURLRequest.CachePolicy> = \.cachePolicy
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, TimeInterval> = \.timeoutInterval
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, URL?> = \.mainDocumentURL
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, NSURLRequest.NetworkServiceType> = \.networkServiceType
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.allowsCellularAccess
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.allowsExpensiveNetworkAccess
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.allowsConstrainedNetworkAccess
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.allowsUltraConstrainedNetworkAccess
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.assumesHTTP3Capable
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, NSURLRequest.Attribution> = \.attribution
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.requiresDNSSECValidation
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.allowsPersistentDNS
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, String?> = \.cookiePartitionIdentifier
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, [String: String]?> = \.allHTTPHeaderFields
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Data?> = \.httpBody
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, InputStream?> = \.httpBodyStream
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.httpShouldHandleCookies
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, Bool> = \.httpShouldUsePipelining
    let _: ReferenceWritableKeyPath<NSMutableURLRequest, String> = \.httpMethod
    let _: (String?, String) -> Void = one.setValue(_:forHTTPHeaderField:)
    let _: (String, String) -> Void = one.addValue(_:forHTTPHeaderField:)
}
