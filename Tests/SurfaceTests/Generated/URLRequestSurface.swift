// The API of URLRequest, written by Scripts/surface-tests from Tests/api-surface.txt.

import Foundation
import URLLoading

/// Names the API of `URLRequest`.
private func urlRequestMembers(of one: URLRequest) {
    let _:
        any (
            CustomDebugStringConvertible & CustomReflectable & CustomStringConvertible & Equatable & Hashable
                & ReferenceConvertible & Sendable
        ).Type = URLRequest.self
    let _: NSURLRequest.Type = URLRequest.ReferenceType.self
    let _: NSURLRequest.CachePolicy.Type = URLRequest.CachePolicy.self
    let _: NSURLRequest.NetworkServiceType.Type = URLRequest.NetworkServiceType.self
    let _: NSURLRequest.Attribution.Type = URLRequest.Attribution.self
    let _: (URL) -> URLRequest = URLRequest.init(url:)
    let _: (URL, URLRequest.CachePolicy) -> URLRequest = URLRequest.init(url:cachePolicy:)
    let _: (URL, URLRequest.CachePolicy, TimeInterval) -> URLRequest = URLRequest.init(url:cachePolicy:timeoutInterval:)
    let _: WritableKeyPath<URLRequest, URL?> = \.url
    let _: WritableKeyPath<URLRequest, URLRequest.CachePolicy> = \.cachePolicy
    let _: WritableKeyPath<URLRequest, TimeInterval> = \.timeoutInterval
    let _: WritableKeyPath<URLRequest, URL?> = \.mainDocumentURL
    let _: WritableKeyPath<URLRequest, URLRequest.NetworkServiceType> = \.networkServiceType
    let _: WritableKeyPath<URLRequest, Bool> = \.allowsCellularAccess
    let _: WritableKeyPath<URLRequest, Bool> = \.allowsExpensiveNetworkAccess
    let _: WritableKeyPath<URLRequest, Bool> = \.allowsConstrainedNetworkAccess
    let _: WritableKeyPath<URLRequest, Bool> = \.allowsUltraConstrainedNetworkAccess
    let _: WritableKeyPath<URLRequest, Bool> = \.assumesHTTP3Capable
    let _: WritableKeyPath<URLRequest, URLRequest.Attribution> = \.attribution
    let _: WritableKeyPath<URLRequest, Bool> = \.requiresDNSSECValidation
    let _: WritableKeyPath<URLRequest, Bool> = \.allowsPersistentDNS
    let _: WritableKeyPath<URLRequest, String?> = \.cookiePartitionIdentifier
    let _: WritableKeyPath<URLRequest, String?> = \.httpMethod
    let _: WritableKeyPath<URLRequest, [String: String]?> = \.allHTTPHeaderFields
    let _: (String) -> String? = one.value(forHTTPHeaderField:)
    let _: (String?, String) -> Void = {
        var one = one; return one.setValue($0, forHTTPHeaderField: $1)
    }
    let _: (String, String) -> Void = {
        var one = one; return one.addValue($0, forHTTPHeaderField: $1)
    }
    let _: WritableKeyPath<URLRequest, Data?> = \.httpBody
    let _: WritableKeyPath<URLRequest, InputStream?> = \.httpBodyStream
    let _: WritableKeyPath<URLRequest, Bool> = \.httpShouldHandleCookies
    let _: WritableKeyPath<URLRequest, Bool> = \.httpShouldUsePipelining
    let _: (inout Hasher) -> Void = one.hash(into:)
    let _: (URLRequest, URLRequest) -> Bool = (==)
    let _: KeyPath<URLRequest, String> = \.description
    let _: KeyPath<URLRequest, String> = \.debugDescription
    let _: KeyPath<URLRequest, Mirror> = \.customMirror
}
