// The reference form of a request, for code that came from Objective-C.
//
// Must not know: sessions and their defaults; how a request looks on the wire.

import Foundation

/// A request to load a URL, as a class.
open class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying {
    /// Shared with `URLRequest` values; never changed while there is another reference to it.
    var storage: RequestStorage

    /// Makes a GET request without URL.
    public override init() {
        storage = RequestStorage(RequestValues())
        super.init()
    }

    /// Makes a GET request whose time-out is the session's.
    public convenience init(url URL: URL) {
        self.init(sharing: RequestStorage(RequestValues(url: URL.absoluteURL)))
    }

    /// Makes a GET request with a time-out of its own, which wins over the session's (B6.4).
    public init(url URL: URL, cachePolicy: NSURLRequest.CachePolicy, timeoutInterval: TimeInterval) {
        storage = RequestStorage(
            RequestValues(url: URL.absoluteURL, cachePolicy: cachePolicy, explicitTimeout: timeoutInterval))
    }

    // Convenience, so that every designated initialiser is public: otherwise subclasses in other modules would not
    // inherit `init(url:)`.
    convenience init(sharing storage: RequestStorage) {
        self.init()
        self.storage = storage
    }

    /// Reads a request from an archive; body streams are not archived (B5.38).
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        storage = RequestStorage(RequestValues(coder: coder))
    }

    /// Writes the request to a keyed archive; body streams are left out (B5.38).
    open func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        storage.values.encode(with: coder)
    }

    /// Requests can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Gives an immutable request; a mutable one is copied.
    open func copy(with zone: NSZone? = nil) -> Any {
        NSURLRequest(sharing: storage)
    }

    /// Gives an independent mutable request.
    open func mutableCopy(with zone: NSZone? = nil) -> Any {
        NSMutableURLRequest(sharing: storage)
    }

    open override func copy() -> Any { copy(with: nil) }

    open override func mutableCopy() -> Any { mutableCopy(with: nil) }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSURLRequest else { return false }
        return storage === other.storage || storage.values == other.storage.values
    }

    open override var hash: Int { storage.values.hashValue }

    /// The class, the place in memory and the URL, without a password (B17.57).
    open override var description: String {
        "\(ErrorText.name(of: self)) { URL: \(ErrorText.shown(url)) }"
    }

    /// The URL.
    open var url: URL? { storage.values.url }

    /// How a cache may take part.
    open var cachePolicy: NSURLRequest.CachePolicy { storage.values.cachePolicy }

    /// Longest time in seconds without a byte moving.
    open var timeoutInterval: TimeInterval { storage.values.timeoutInterval }

    /// The first party, for cookie policies.
    open var mainDocumentURL: URL? { storage.values.mainDocumentURL }

    /// What kind of traffic this is; stored, without effect on Linux.
    open var networkServiceType: NSURLRequest.NetworkServiceType { storage.values.networkServiceType }

    /// Stored, without effect on Linux.
    open var allowsCellularAccess: Bool { storage.values.allowsCellularAccess }

    /// Stored, without effect on Linux.
    open var allowsExpensiveNetworkAccess: Bool { storage.values.allowsExpensiveNetworkAccess }

    /// Stored, without effect on Linux.
    open var allowsConstrainedNetworkAccess: Bool { storage.values.allowsConstrainedNetworkAccess }

    /// Stored, without effect on Linux.
    open var allowsUltraConstrainedNetworkAccess: Bool { storage.values.allowsUltraConstrainedNetworkAccess }

    /// Stored, without effect: HTTP/3 is not spoken.
    open var assumesHTTP3Capable: Bool { storage.values.assumesHTTP3Capable }

    /// Whether the program or its user caused the request; stored, without effect.
    open var attribution: NSURLRequest.Attribution { storage.values.attribution }

    /// Whether the name must be looked up with DNSSEC; see `URLRequest.requiresDNSSECValidation`.
    open var requiresDNSSECValidation: Bool { storage.values.requiresDNSSECValidation }

    /// Stored, without effect: looked-up names are never kept on disk.
    open var allowsPersistentDNS: Bool { storage.values.allowsPersistentDNS }

    /// The partition of the cookies that belong to this request; stored.
    open var cookiePartitionIdentifier: String? { storage.values.cookiePartitionIdentifier }

    /// The method.
    open var httpMethod: String? { storage.values.method }

    /// All header fields, or `nil` when none were ever set (B5.71).
    open var allHTTPHeaderFields: [String: String]? { storage.values.fields.dictionary }

    /// A field's value; the case of the name does not matter.
    @discardableResult
    open func value(forHTTPHeaderField field: String) -> String? { storage.values.fields.value(field) }

    /// The content.
    open var httpBody: Data? { storage.values.httpBody }

    /// The content as a stream.
    open var httpBodyStream: InputStream? { storage.values.httpBodyStream }

    /// Whether cookies are sent and stored for this request.
    open var httpShouldHandleCookies: Bool { storage.values.httpShouldHandleCookies }

    /// Permission to pipeline; stored, requests are never pipelined.
    open var httpShouldUsePipelining: Bool { storage.values.httpShouldUsePipelining }
}

extension NSURLRequest {
    /// How a cache may take part in a load.
    public enum CachePolicy: UInt, Sendable {
        /// The rules of HTTP.
        case useProtocolCachePolicy = 0
        /// No stored response is used.
        case reloadIgnoringLocalCacheData = 1
        /// A stored response is used, however old; otherwise the resource is loaded.
        case returnCacheDataElseLoad = 2
        /// A stored response is used, however old; otherwise the load fails.
        case returnCacheDataDontLoad = 3
        /// No stored response is used, here or on the way.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// A stored response is used once the server has confirmed it.
        case reloadRevalidatingCacheData = 5

        /// The former name of `reloadIgnoringLocalCacheData`.
        public static var reloadIgnoringCacheData: NSURLRequest.CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// What kind of traffic a request causes.
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic.
        case `default` = 0
        /// Voice over IP control traffic.
        @available(*, deprecated, message: "Not used any more")
        case voip = 1
        /// Video.
        case video = 2
        /// Background transfers.
        case background = 3
        /// Voice.
        case voice = 4
        /// Data that the user waits for.
        case responsiveData = 6
        /// Streamed audio and video.
        case avStreaming = 8
        /// Interactive audio and video.
        case responsiveAV = 9
        /// Call signalling.
        case callSignaling = 11
    }

    /// The causes of a request: the program or its user.
    public enum Attribution: UInt, Sendable {
        /// The program.
        case developer = 0
        /// The person using it.
        case user = 1
    }
}
