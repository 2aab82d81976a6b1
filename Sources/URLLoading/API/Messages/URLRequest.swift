// A request as applications write it: a value with copy-on-write storage.
//
// Must not know: sessions and their defaults; how a request looks on the wire (that is `RequestBuilder`).

import Foundation
import URLLoadingWire

/// A request to load a URL.
public struct URLRequest: Sendable {
    /// The reference type that this value bridges to.
    public typealias ReferenceType = NSURLRequest
    /// How a cache may take part in a load.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// What kind of traffic a request causes.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    /// The causes of a request: the program or its user.
    public typealias Attribution = NSURLRequest.Attribution

    private var storage: RequestStorage

    /// Makes a GET request whose time-out is the session's.
    public init(url: URL) {
        self.init(RequestValues(url: url.absoluteURL))
    }

    /// Makes a GET request with a cache policy, whose time-out is the session's.
    public init(url: URL, cachePolicy: URLRequest.CachePolicy) {
        self.init(RequestValues(url: url.absoluteURL, cachePolicy: cachePolicy))
    }

    /// Makes a GET request with a time-out of its own, which wins over the session's (B6.4).
    public init(
        url: URL, cachePolicy: URLRequest.CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        self.init(
            RequestValues(url: url.absoluteURL, cachePolicy: cachePolicy, explicitTimeout: timeoutInterval))
    }

    init(_ values: RequestValues) {
        storage = RequestStorage(values)
    }

    init(sharing storage: RequestStorage) {
        self.storage = storage
    }

    /// Everything the request says.
    var values: RequestValues {
        _read { yield storage.values }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = RequestStorage(storage.values) }
            yield &storage.values
        }
    }
}

extension URLRequest {
    /// The URL; initialisers make it absolute, an assignment keeps its base (B5.9).
    public var url: URL? {
        get { values.url }
        set { values.url = newValue }
    }

    /// How a cache may take part; the default policy stands for the session's (B7.24).
    public var cachePolicy: URLRequest.CachePolicy {
        get { values.cachePolicy }
        set { values.cachePolicy = newValue }
    }

    /// Longest time in seconds without a byte moving; a value of 0 or less counts as not set (B6.7).
    public var timeoutInterval: TimeInterval {
        get { values.timeoutInterval }
        set { values.explicitTimeout = newValue }
    }

    /// The first party, for cookie policies.
    public var mainDocumentURL: URL? {
        get { values.mainDocumentURL }
        set { values.mainDocumentURL = newValue }
    }

    /// What kind of traffic this is; stored, without effect on Linux (B16.15).
    public var networkServiceType: URLRequest.NetworkServiceType {
        get { values.networkServiceType }
        set { values.networkServiceType = newValue }
    }

    /// Stored, without effect: no network counts as cellular on Linux (B6.21).
    public var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess }
        set { values.allowsCellularAccess = newValue }
    }

    /// Stored, without effect: no network counts as expensive on Linux (B6.21).
    public var allowsExpensiveNetworkAccess: Bool {
        get { values.allowsExpensiveNetworkAccess }
        set { values.allowsExpensiveNetworkAccess = newValue }
    }

    /// Stored, without effect: no network counts as constrained on Linux (B6.21).
    public var allowsConstrainedNetworkAccess: Bool {
        get { values.allowsConstrainedNetworkAccess }
        set { values.allowsConstrainedNetworkAccess = newValue }
    }

    /// Stored, without effect: no network counts as ultra-constrained on Linux (B6.21).
    public var allowsUltraConstrainedNetworkAccess: Bool {
        get { values.allowsUltraConstrainedNetworkAccess }
        set { values.allowsUltraConstrainedNetworkAccess = newValue }
    }

    /// Stored, without effect: HTTP/3 is not spoken (B16.67).
    public var assumesHTTP3Capable: Bool {
        get { values.assumesHTTP3Capable }
        set { values.assumesHTTP3Capable = newValue }
    }

    /// Whether the program or its user caused the request; stored, without effect.
    public var attribution: URLRequest.Attribution {
        get { values.attribution }
        set { values.attribution = newValue }
    }

    /// Whether the name must be looked up with DNSSEC. The system's resolver cannot tell on Linux, so a load that
    /// needs a look-up fails with `URLError.dnsLookupFailed` rather than going on without the proof.
    public var requiresDNSSECValidation: Bool {
        get { values.requiresDNSSECValidation }
        set { values.requiresDNSSECValidation = newValue }
    }

    /// Stored, without effect: looked-up names are never kept on disk.
    public var allowsPersistentDNS: Bool {
        get { values.allowsPersistentDNS }
        set { values.allowsPersistentDNS = newValue }
    }

    /// The partition of the cookies that belong to this request; stored.
    public var cookiePartitionIdentifier: String? {
        get { values.cookiePartitionIdentifier }
        set { values.cookiePartitionIdentifier = newValue }
    }

    /// The method; `nil` resets it to GET. GET, HEAD, POST, PUT, DELETE and CONNECT are upper-cased (B5.2).
    public var httpMethod: String? {
        get { values.method }
        set { values.setMethod(newValue) }
    }

    /// All header fields; an assignment replaces them (B5.5). `nil` until some were set; empty, and not `nil`, when all
    /// are gone (B5.71).
    public var allHTTPHeaderFields: [String: String]? {
        get { values.fields.dictionary }
        set { values.fields.replaceAll(with: newValue) }
    }

    /// A field's value; the case of the name does not matter.
    public func value(forHTTPHeaderField field: String) -> String? {
        values.fields.value(field)
    }

    /// Sets or, with `nil`, removes a field. A value with a line break or NUL is refused (B5.6).
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        values.fields.set(value, for: field)
    }

    /// Appends to a field after a comma. A value with a line break or NUL is refused (B5.6).
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        values.fields.add(value, for: field)
    }

    /// The content; setting it clears `httpBodyStream` (B5.8).
    public var httpBody: Data? {
        get { values.httpBody }
        set { values.httpBody = newValue }
    }

    /// The content as an unopened stream; setting it clears `httpBody` (B5.8).
    public var httpBodyStream: InputStream? {
        get { values.httpBodyStream }
        set { values.httpBodyStream = newValue }
    }

    /// Whether cookies are sent and stored for this request.
    public var httpShouldHandleCookies: Bool {
        get { values.httpShouldHandleCookies }
        set { values.httpShouldHandleCookies = newValue }
    }

    /// Permission to pipeline; stored, requests are never pipelined (B16.8).
    public var httpShouldUsePipelining: Bool {
        get { values.httpShouldUsePipelining }
        set { values.httpShouldUsePipelining = newValue }
    }
}

extension URLRequest {
    /// The request with the fields as they were sent, the loader's own included; the same where nothing was sent.
    func showing(_ sent: Fields?) -> URLRequest {
        guard let sent else { return self }
        var request = self
        request.values.fields = RequestFieldTable(sent)
        return request
    }
}

extension URLRequest: Hashable {
    /// Compares URL, main document, method, fields, body and flags (B5.11).
    public static func == (lhs: URLRequest, rhs: URLRequest) -> Bool {
        lhs.storage === rhs.storage || lhs.values == rhs.values
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        values.hash(into: &hasher)
    }
}

extension URLRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL as text, without a password (B17.57).
    public var description: String {
        guard let url else { return "url: nil" }
        return url.password(percentEncoded: true) == nil ? "\(url)" : ErrorText.withoutPassword(url)
    }

    /// The URL as text, without a password.
    public var debugDescription: String { description }

    /// The parts of the request, for `dump`.
    public var customMirror: Mirror {
        let children: [(label: String?, value: Any)] = [
            ("url", url as Any), ("cachePolicy", cachePolicy), ("timeoutInterval", timeoutInterval),
            ("mainDocumentURL", mainDocumentURL as Any), ("networkServiceType", networkServiceType),
            ("allowsCellularAccess", allowsCellularAccess), ("httpMethod", httpMethod as Any),
            ("allHTTPHeaderFields", allHTTPHeaderFields as Any), ("httpBody", httpBody as Any),
            ("httpBodyStream", httpBodyStream as Any), ("httpShouldHandleCookies", httpShouldHandleCookies),
            ("httpShouldUsePipelining", httpShouldUsePipelining),
        ]
        return Mirror(self, children: children, displayStyle: .struct)
    }
}

extension URLRequest: ReferenceConvertible {}

// Stated by itself: without this the compiler does not accept `request as NSURLRequest` on Linux.
extension URLRequest: _ObjectiveCBridgeable {
    /// The reference type that this value bridges to.
    public typealias _ObjectiveCType = NSURLRequest

    /// Gives the reference type that shares this value's storage.
    public func _bridgeToObjectiveC() -> NSURLRequest {
        NSURLRequest(sharing: storage)
    }

    /// Makes a value from a reference.
    public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) {
        result = URLRequest(sharing: source.storage)
    }

    /// Makes a value from a reference; never fails.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) -> Bool {
        result = URLRequest(sharing: source.storage)
        return true
    }

    /// Makes a value from a reference; a missing one gives a request without URL.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        source.map { URLRequest(sharing: $0.storage) } ?? URLRequest(RequestValues())
    }
}
