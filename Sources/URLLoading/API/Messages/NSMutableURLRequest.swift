// The mutable reference form of a request. Each setter copies the storage first if it is shared.

import Foundation

/// A request to load a URL, as a class whose parts can be set.
open class NSMutableURLRequest: NSURLRequest {
    /// Makes a GET request without URL.
    public override init() {
        super.init()
    }

    /// Makes a GET request with a time-out of its own.
    public override init(url URL: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        super.init(url: URL, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    /// Reads a request from an archive.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
    }

    private var values: RequestValues {
        get { storage.values }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = RequestStorage(storage.values) }
            yield &storage.values
        }
    }

    open override var url: URL? {
        get { values.url }
        set { values.url = newValue }
    }

    open override var cachePolicy: NSURLRequest.CachePolicy {
        get { values.cachePolicy }
        set { values.cachePolicy = newValue }
    }

    open override var timeoutInterval: TimeInterval {
        get { values.timeoutInterval }
        set { values.explicitTimeout = newValue }
    }

    open override var mainDocumentURL: URL? {
        get { values.mainDocumentURL }
        set { values.mainDocumentURL = newValue }
    }

    open override var networkServiceType: NSURLRequest.NetworkServiceType {
        get { values.networkServiceType }
        set { values.networkServiceType = newValue }
    }

    open override var allowsCellularAccess: Bool {
        get { values.allowsCellularAccess }
        set { values.allowsCellularAccess = newValue }
    }

    open override var allowsExpensiveNetworkAccess: Bool {
        get { values.allowsExpensiveNetworkAccess }
        set { values.allowsExpensiveNetworkAccess = newValue }
    }

    open override var allowsConstrainedNetworkAccess: Bool {
        get { values.allowsConstrainedNetworkAccess }
        set { values.allowsConstrainedNetworkAccess = newValue }
    }

    open override var allowsUltraConstrainedNetworkAccess: Bool {
        get { values.allowsUltraConstrainedNetworkAccess }
        set { values.allowsUltraConstrainedNetworkAccess = newValue }
    }

    open override var assumesHTTP3Capable: Bool {
        get { values.assumesHTTP3Capable }
        set { values.assumesHTTP3Capable = newValue }
    }

    open override var attribution: NSURLRequest.Attribution {
        get { values.attribution }
        set { values.attribution = newValue }
    }

    open override var requiresDNSSECValidation: Bool {
        get { values.requiresDNSSECValidation }
        set { values.requiresDNSSECValidation = newValue }
    }

    open override var allowsPersistentDNS: Bool {
        get { values.allowsPersistentDNS }
        set { values.allowsPersistentDNS = newValue }
    }

    open override var cookiePartitionIdentifier: String? {
        get { values.cookiePartitionIdentifier }
        set { values.cookiePartitionIdentifier = newValue }
    }

    /// The method; GET, HEAD, POST, PUT, DELETE and CONNECT are upper-cased (B5.2).
    open override var httpMethod: String {
        get { values.method }
        set { values.setMethod(newValue) }
    }

    open override var allHTTPHeaderFields: [String: String]? {
        get { values.fields.dictionary }
        set { values.fields.replaceAll(with: newValue) }
    }

    /// Sets or, with `nil`, removes a field. A value with a line break or NUL is refused (B5.6).
    open func setValue(_ value: String?, forHTTPHeaderField field: String) {
        values.fields.set(value, for: field)
    }

    /// Appends to a field after a comma. A value with a line break or NUL is refused (B5.6).
    open func addValue(_ value: String, forHTTPHeaderField field: String) {
        values.fields.add(value, for: field)
    }

    open override var httpBody: Data? {
        get { values.httpBody }
        set { values.httpBody = newValue }
    }

    open override var httpBodyStream: InputStream? {
        get { values.httpBodyStream }
        set { values.httpBodyStream = newValue }
    }

    open override var httpShouldHandleCookies: Bool {
        get { values.httpShouldHandleCookies }
        set { values.httpShouldHandleCookies = newValue }
    }

    /// Changes what `URLProtocol` has attached.
    func changeProperties(_ change: (inout [String: Any]) -> Void) {
        var properties = values.properties ?? RequestProperties()
        change(&properties.values)
        values.properties = properties.values.isEmpty ? nil : properties
    }

    open override var httpShouldUsePipelining: Bool {
        get { values.httpShouldUsePipelining }
        set { values.httpShouldUsePipelining = newValue }
    }
}
