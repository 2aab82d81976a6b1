// What a session is told at its making. A session takes a copy, so later changes reach no running session (B1.3).

import Foundation
import Synchronization
import URLLoadingPolicy

/// The settings of sessions.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    // Safe to share: everything is behind this Mutex (B1.12).
    private let storage: Mutex<ConfigurationValues>

    /// Makes a configuration with default values.
    @available(*, deprecated, message: "Use URLSessionConfiguration.default or another class property")
    public override init() {
        storage = Mutex(.registered)
        super.init()
    }

    init(_ values: ConfigurationValues) {
        storage = Mutex(values)
        super.init()
    }

    /// A new configuration with default values, each time.
    open class var `default`: URLSessionConfiguration {
        URLSessionConfiguration(.registered)
    }

    /// A new configuration whose sessions write nothing to disk, each time.
    open class var ephemeral: URLSessionConfiguration {
        var values = ConfigurationValues.registered
        values.urlCredentialStorage = URLCredentialStorage()
        values.httpCookieStorage = HTTPCookieStorage()
        values.urlCache = URLCache()
        values.isEphemeral = true
        return URLSessionConfiguration(values)
    }

    /// A new configuration for a background session, whose transfers go on when the program has ended, and are met
    /// again by the session that is made with the same identifier (B10.1). docs/background.md tells how.
    ///
    /// The identifier is the program's own: programs with another process name may use the same.
    @discardableResult
    open class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        var values = ConfigurationValues()
        values.identifier = identifier
        // B7.23, B10.27.
        values.urlCache = nil
        // B6.22.
        values.honorsEarliestBeginDate = true
        return URLSessionConfiguration(values)
    }

    /// The older name of `background(withIdentifier:)`.
    @available(*, deprecated, renamed: "background(withIdentifier:)")
    @discardableResult
    open class func backgroundSessionConfiguration(_ identifier: String) -> URLSessionConfiguration {
        background(withIdentifier: identifier)
    }

    /// Gives an independent configuration (B1.4).
    open func copy(with zone: NSZone? = nil) -> Any {
        URLSessionConfiguration(values)
    }

    open override func copy() -> Any { copy(with: nil) }

    /// Everything at once, as a session takes it.
    var values: ConfigurationValues { storage.withLock { $0 } }

    func value<T: Sendable>(_ path: KeyPath<ConfigurationValues, T> & Sendable) -> T {
        storage.withLock { $0[keyPath: path] }
    }

    // Order: the value of before goes when the lock is free, since an object of the program's may use its configuration
    // in its deinit.
    func assign<T: Sendable>(_ path: WritableKeyPath<ConfigurationValues, T> & Sendable, _ value: T) {
        storage.letGo { values in
            defer { values[keyPath: path] = value }
            return values[keyPath: path]
        }
    }

    /// The name of a background session; `nil` for sessions of other kinds.
    open var identifier: String? { value(\.identifier) }

    /// Whether the time of transfers is left to the system (B10.12); of background sessions only. There is no such
    /// system on Linux: these transfers come after the others of their session.
    open var isDiscretionary: Bool {
        get { value(\.isDiscretionary) }
        set { assign(\.isDiscretionary, newValue) }
    }

    /// The container of an application's group, which Apple's extensions must name. Stored, without effect: there are
    /// neither containers nor extensions on Linux, so that no task fails for want of it (B10.24).
    open var sharedContainerIdentifier: String? {
        get { value(\.sharedContainerIdentifier) }
        set { assign(\.sharedContainerIdentifier, newValue) }
    }

    /// Whether a program is started when a background session has something to tell and its own program does not run
    /// (B10.13): on Linux the command of `backgroundEventHook` is run. Without a command the setting has no effect.
    open var sessionSendsLaunchEvents: Bool {
        get { value(\.sessionSendsLaunchEvents) }
        set { assign(\.sessionSendsLaunchEvents, newValue) }
    }

    /// How the cache takes part in loads of requests that keep the default policy (B7.24).
    open var requestCachePolicy: NSURLRequest.CachePolicy {
        get { value(\.requestCachePolicy) }
        set { assign(\.requestCachePolicy, newValue) }
    }

    /// Longest time in seconds without a byte moving (B6.1); a time-out set on the request wins.
    open var timeoutIntervalForRequest: TimeInterval {
        get { value(\.timeoutIntervalForRequest) }
        set { assign(\.timeoutIntervalForRequest, newValue) }
    }

    /// Longest time in seconds for a whole transfer (B6.5); 0 or less means no limit (B6.7).
    open var timeoutIntervalForResource: TimeInterval {
        get { value(\.timeoutIntervalForResource) }
        set { assign(\.timeoutIntervalForResource, newValue) }
    }

    /// Whether tasks wait when there is no way to their host, instead of failing with
    /// `URLError.notConnectedToInternet` (B6.15). They go on as soon as the machine's network changes; the resource
    /// time-out runs meanwhile.
    open var waitsForConnectivity: Bool {
        get { value(\.waitsForConnectivity) }
        set { assign(\.waitsForConnectivity, newValue) }
    }

    /// What kind of traffic the session causes; stored, without effect on Linux (B16.15).
    open var networkServiceType: NSURLRequest.NetworkServiceType {
        get { value(\.networkServiceType) }
        set { assign(\.networkServiceType, newValue) }
    }

    /// Stored, without effect: no network counts as cellular on Linux (B6.21).
    open var allowsCellularAccess: Bool {
        get { value(\.allowsCellularAccess) }
        set { assign(\.allowsCellularAccess, newValue) }
    }

    /// Stored, without effect: no network counts as expensive on Linux (B6.21).
    open var allowsExpensiveNetworkAccess: Bool {
        get { value(\.allowsExpensiveNetworkAccess) }
        set { assign(\.allowsExpensiveNetworkAccess, newValue) }
    }

    /// Stored, without effect: no network counts as constrained on Linux (B6.21).
    open var allowsConstrainedNetworkAccess: Bool {
        get { value(\.allowsConstrainedNetworkAccess) }
        set { assign(\.allowsConstrainedNetworkAccess, newValue) }
    }

    /// Stored, without effect: no network counts as ultra-constrained on Linux (B6.21).
    open var allowsUltraConstrainedNetworkAccess: Bool {
        get { value(\.allowsUltraConstrainedNetworkAccess) }
        set { assign(\.allowsUltraConstrainedNetworkAccess, newValue) }
    }

    /// Whether names must be looked up with DNSSEC; see `URLRequest.requiresDNSSECValidation`.
    open var requiresDNSSECValidation: Bool {
        get { value(\.requiresDNSSECValidation) }
        set { assign(\.requiresDNSSECValidation, newValue) }
    }

    /// The lowest TLS version offered, TLS 1.2 unless set. A DTLS version counts as the TLS version it belongs to.
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { value(\.tlsMinimum) }
        set { assign(\.tlsMinimum, newValue) }
    }

    /// The highest TLS version offered. A DTLS version counts as the TLS version it belongs to.
    open var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
        get { value(\.tlsMaximum) }
        set { assign(\.tlsMaximum, newValue) }
    }

    /// The older view of `tlsMinimumSupportedProtocolVersion`; a value that names no single version is ignored.
    @available(*, deprecated, renamed: "tlsMinimumSupportedProtocolVersion")
    open var tlsMinimumSupportedProtocol: SSLProtocol {
        get { SSLProtocol(value(\.tlsMinimum)) }
        set { if let version = newValue.version { assign(\.tlsMinimum, version) } }
    }

    /// The older view of `tlsMaximumSupportedProtocolVersion`; a value that names no single version is ignored.
    @available(*, deprecated, renamed: "tlsMaximumSupportedProtocolVersion")
    open var tlsMaximumSupportedProtocol: SSLProtocol {
        get { SSLProtocol(value(\.tlsMaximum)) }
        set { if let version = newValue.version { assign(\.tlsMaximum, version) } }
    }

    /// Where credentials are looked up: the shared storage unless set, one of its own in ephemeral configurations;
    /// nil looks nothing up (B2.70). A copy of the configuration has the same storage.
    open var urlCredentialStorage: URLCredentialStorage? {
        get { value(\.urlCredentialStorage) }
        set { assign(\.urlCredentialStorage, newValue) }
    }

    /// The cache that data tasks ask and fill: the shared one unless set, one of its own in memory in ephemeral
    /// configurations; nil caches nothing (B7.10, B7.22). A copy of the configuration has the same cache.
    open var urlCache: URLCache? {
        get { value(\.urlCache) }
        set { assign(\.urlCache, newValue) }
    }

    /// Which proxies loads go through, under the keys `kCFNetworkProxies…` as `CFString` or `String`; nil, the default,
    /// means the variables of the environment, an empty dictionary no proxy (B13.4). docs/proxies.md tells the keys.
    open var connectionProxyDictionary: [AnyHashable: Any]? {
        get { value(\.connectionProxyDictionary).dictionary }
        set { assign(\.connectionProxyDictionary, ProxyDictionary(dictionary: newValue)) }
    }

    /// Whether cookies of the storage are sent, and those of answers kept in it (B8.43); a request can keep out of it
    /// with `httpShouldHandleCookies`.
    open var httpShouldSetCookies: Bool {
        get { value(\.httpShouldSetCookies) }
        set { assign(\.httpShouldSetCookies, newValue) }
    }

    /// Whose cookies are kept; wins over the policy of the storage (B8.42).
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { value(\.httpCookieAcceptPolicy) }
        set { assign(\.httpCookieAcceptPolicy, newValue) }
    }

    /// Where cookies are kept: the shared storage unless set, one of its own in ephemeral configurations; nil handles
    /// no cookies (B8.45). A copy of the configuration has the same storage.
    open var httpCookieStorage: HTTPCookieStorage? {
        get { value(\.httpCookieStorage) }
        set { assign(\.httpCookieStorage, newValue) }
    }

    /// Classes that may carry loads, asked in this order and before what is built in (B14.31). At first the classes
    /// that are registered with `URLProtocol` and the built-in ones, which carry what no other class takes, listed or
    /// not (B14.32). What is no subclass of `URLProtocol` is left out.
    open var protocolClasses: [AnyClass]? {
        get { value(\.protocolClasses) }
        set { assign(\.protocolClasses, newValue.map { $0.compactMap { $0 as? URLProtocol.Type } }) }
    }

    /// Permission to pipeline; stored, requests are never pipelined (B16.8).
    open var httpShouldUsePipelining: Bool {
        get { value(\.httpShouldUsePipelining) }
        set { assign(\.httpShouldUsePipelining, newValue) }
    }

    /// Fields added to every request that has no field of that name (B5.14). `Authorization`, `Cookie`, `X-API-Key` and
    /// other secrets among them go to the origin of a task's first request only, wherever redirects lead (B4.27).
    open var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { value(\.additionalHeaders).dictionary }
        set { assign(\.additionalHeaders, AdditionalHeaders(dictionary: newValue)) }
    }

    /// Most simultaneous connections per host (B16.1); values below 1 count as 1.
    open var httpMaximumConnectionsPerHost: Int {
        get { value(\.httpMaximumConnectionsPerHost) }
        set { assign(\.httpMaximumConnectionsPerHost, newValue) }
    }

    /// Stored, without effect on Linux.
    open var shouldUseExtendedBackgroundIdleMode: Bool {
        get { value(\.shouldUseExtendedBackgroundIdleMode) }
        set { assign(\.shouldUseExtendedBackgroundIdleMode, newValue) }
    }

    /// Stored, without effect: connections use one path on Linux.
    open var multipathServiceType: URLSessionConfiguration.MultipathServiceType {
        get { value(\.multipathServiceType) }
        set { assign(\.multipathServiceType, newValue) }
    }

    /// Stored, without effect: there is one way of loading.
    open var usesClassicLoadingMode: Bool {
        get { value(\.usesClassicLoadingMode) }
        set { assign(\.usesClassicLoadingMode, newValue) }
    }

    /// Permission to send early data; stored, no byte of a request leaves before the handshake has ended.
    open var enablesEarlyData: Bool {
        get { value(\.enablesEarlyData) }
        set { assign(\.enablesEarlyData, newValue) }
    }

    /// How several network paths are used together; without effect on Linux.
    public enum MultipathServiceType: Int, Sendable {
        /// One path.
        case none = 0
        /// A second path takes over.
        case handover = 1
        /// The better path is used.
        case interactive = 2
        /// All paths together.
        case aggregate = 3
    }
}

extension URLSessionConfiguration {
    /// By which the age of what is stored is reckoned; tests let time pass.
    package var wallClock: @Sendable () -> WallTime {
        get { value(\.wallClock) }
        set { assign(\.wallClock, newValue) }
    }

    /// Whether no task goes out unasked with what was accepted of another; the older classes share a session (B2.109).
    package var keepsProofsApart: Bool {
        get { value(\.keepsProofsApart) }
        set { assign(\.keepsProofsApart, newValue) }
    }

    /// Makes the delegate queue of a session that gets none; a simulation has queues without threads.
    package var makeDelegateQueue: @Sendable () -> OperationQueue {
        get { value(\.makeDelegateQueue) }
        set { assign(\.makeDelegateQueue, newValue) }
    }

    /// Proxies in the order in which they are considered: the first that is for the host is used, and hosts that none
    /// is for are reached without one. Wins over `connectionProxyDictionary` and the environment where it is not empty.
    public var proxyConfigurations: [ProxyConfiguration] {
        get { value(\.proxyConfigurations) }
        set { assign(\.proxyConfigurations, newValue) }
    }
}
