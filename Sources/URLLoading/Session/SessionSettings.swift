// What a session makes of its configuration, once: engine settings, default fields, time-outs.
//
// Must not know: tasks and delegates.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust
import URLLoadingWire

/// A session's settings in the form in which requests and the engine use them.
struct SessionSettings: Sendable {
    private let requestTimeout: Duration
    private let resourceTimeout: Duration?
    let cachePolicy: NSURLRequest.CachePolicy
    /// Nil in a session without a cache, whose requests then cost nothing more.
    let cache: SessionCache?
    let requiresDNSSECValidation: Bool
    let waitsForConnectivity: Bool
    let honorsEarliestBeginDate: Bool
    let resumableUploads: URLSessionConfiguration.ResumableUploads
    let uploadPatience: ResumableUploadMachine.Patience
    private let chosenDownloadFolder: String?
    private let overrides: HostOverrides
    let proxies: SessionProxies
    /// What `localAddress` says where it is no address.
    let unusableLocalAddress: String?
    let cookies: SessionCookies?
    /// Whether the storage of cookies or the cache is a class of the program's own, which is called like a delegate.
    let storesAreThePrograms: Bool
    let additionalFields: Fields
    /// Those of them that may be told to any server; nil where these are all (B4.27).
    let openAdditionalFields: Fields?
    let defaultFields: DefaultFields
    let engine: EngineConfiguration
    /// What compressed bodies may come to.
    let decoding: DecodingRules
    /// What web sockets offer about compression; nil for nothing (B15.10).
    let webSocketCompression: DeflateParameters?
    /// Where passwords are looked up and kept; nil for nowhere (B2.70).
    let credentialStorage: URLCredentialStorage?
    let authentication: SessionAuthentication
    let retries: SessionRetries
    /// Nil in a session without interceptors, whose calls then cost nothing more.
    let interceptors: SessionInterceptors?
    /// Nil in a session without hooks, whose tasks then cost nothing more.
    let traceHooks: SharedHooks?

    init(_ values: ConfigurationValues) {
        requestTimeout = Duration(
            clampedSeconds: values.timeoutIntervalForRequest > 0 ? values.timeoutIntervalForRequest : 60)
        resourceTimeout =
            values.timeoutIntervalForResource > 0 ? Duration(clampedSeconds: values.timeoutIntervalForResource) : nil
        cachePolicy = values.requestCachePolicy
        cache = SessionCache(values)
        requiresDNSSECValidation = values.requiresDNSSECValidation
        waitsForConnectivity = values.waitsForConnectivity
        honorsEarliestBeginDate = values.honorsEarliestBeginDate
        resumableUploads = values.resumableUploads
        retries = SessionRetries(values)
        interceptors = SessionInterceptors(values)
        traceHooks = values.traceHooks
        uploadPatience = values.uploadPatience
        chosenDownloadFolder = values.downloadFolder
        cookies = SessionCookies(values)
        decoding = DecodingRules(values)
        webSocketCompression =
            values.compressesWebSocketMessages ? DeflateParameters(clientWindow: .changeable) : nil
        storesAreThePrograms = !(cookies?.isPlain ?? true) || !(cache?.isPlain ?? true)
        var additional = Fields()
        var open = Fields()
        for field in values.additionalHeaders.fields {
            additional.append(field.name, field.value)
            if !RedirectRules.isCredential(field.name) { open.append(field.name, field.value) }
        }
        additionalFields = additional
        openAdditionalFields = open.count == additional.count ? nil : open
        defaultFields = DefaultFields(
            acceptLanguage: AcceptLanguage.ofEnvironment, userAgent: UserAgent.ofProcess)

        let places = Dictionary(
            values.hostOverrides.map { ($0.key.withHostsInASCII, $0.value.withHostsInASCII) }
        ) { first, _ in first }
        overrides = HostOverrides(places)

        credentialStorage = values.urlCredentialStorage
        let authentication = SessionAuthentication(
            tickets: TicketPlaces(values), given: CredentialsGivenAhead(values),
            keepsProofsApart: values.keepsProofsApart)
        self.authentication = authentication
        var engine = EngineConfiguration()
        engine.maximumConnectionsPerHost = values.httpMaximumConnectionsPerHost
        engine.maximumConnectionLifetime = values.maximumConnectionLifetime.map { Duration(clampedSeconds: $0) }
        engine.connectionTimeout = values.timeoutIntervalForConnection.flatMap(Self.positive)
        engine.connectionProbeInterval = values.connectionProbeInterval.flatMap(Self.positive)
        engine.shards = values.engineShards
        engine.protocols = values.http2.offer
        engine.minimumTLSVersion = TLSVersion(values.tlsMinimum)
        engine.maximumTLSVersion = TLSVersion(values.tlsMaximum)
        engine.keyLogFile = values.tlsKeyLogFile.map { $0.path(percentEncoded: false) }
        engine.trust = values.serverTrustEvaluation.evaluator
        engine.asksAboutServers = values.asksDelegatesAboutServers
        engine.identity = SessionIdentities(chosen: values.clientIdentities, storage: values.urlCredentialStorage)
        engine.transportSecurity = values.appTransportSecurity?.rules
        engine.tunnelProof = { authentication.tunnelProof(for: $0, target: $1) }
        engine.hostOverrides = places
        engine.names = values.hostResolver.map { LookupTable(ProgramNameService($0)) }
        engine.localAddress = values.localAddress.flatMap { SocketAddress(literal: $0, port: 0) }
        engine.interface = values.networkInterface
        engine.connectionObserver = values.traceHooks.map { hooks in
            let teller = ConnectionTeller(hooks)
            return { teller.tell($1, ofShard: $0) }
        }
        engine.connectUserAgent = defaultFields.userAgent
        self.engine = engine
        proxies = SessionProxies(values)
        unusableLocalAddress = engine.localAddress == nil ? values.localAddress : nil
    }

    /// A time that is longer than none.
    private static func positive(_ seconds: TimeInterval) -> Duration? {
        seconds > 0 ? Duration(clampedSeconds: seconds) : nil
    }

    /// The socket that a request goes through, in the place of its host; nil for the network.
    func socket(of request: URLRequest) -> String? { request.values.unixSocketPath ?? proxies.socketPath }

    /// What the session's cache keeps answers to a request under; nil for what nothing is kept of. B7.103: a URL says
    /// nothing about the server behind a socket.
    func cacheKey(of request: URLRequest) -> CacheKey? { socket(of: request) == nil ? request.cacheKey : nil }

    /// How a cache may take part in a request: as the request says, or else as the session does (B7.24).
    func cachePolicy(of request: URLRequest) -> NSURLRequest.CachePolicy {
        let own = request.values.cachePolicy
        return own == .useProtocolCachePolicy ? cachePolicy : own
    }

    /// Where the files of downloads are: B9.4, the directory of `TMPDIR` at this moment, unless another was chosen.
    var downloadFolder: String { chosenDownloadFolder ?? FileManager.default.temporaryDirectory.path }

    /// Whether what a download has written is to be found by others before it ends.
    var tracksDownloads: Bool { chosenDownloadFolder != nil }

    /// The evaluator that judges servers where no delegate does.
    var evaluator: any TrustEvaluator { engine.trust }

    /// Whether a host's addresses are set, so that nothing is looked up.
    func overrides(_ host: String, port: Int) -> Bool {
        if case .addresses? = overrides.place(of: host, port: port) { true } else { false }
    }

    /// The longest wait without a byte moving: the request's if it has one (B6.3, B6.4, B6.7).
    func idleTimeout(_ request: URLRequest) -> Duration {
        if let explicit = request.values.explicitTimeout, explicit > 0 { return Duration(clampedSeconds: explicit) }
        return requestTimeout
    }

    /// When a transfer that begins now must have ended, as `LoopClock` counts time; `nil` for no limit (B6.5, B6.7).
    func resourceDeadline(from start: Duration) -> Duration? {
        resourceTimeout.map { start + $0 }
    }
}

extension Duration {
    /// A duration of at most a hundred years, whatever the number: infinity and NaN are numbers too.
    init(clampedSeconds seconds: TimeInterval) {
        let limit: TimeInterval = 3_153_600_000
        self = .seconds(seconds.isNaN ? limit : min(max(seconds, 0), limit))
    }
}

extension TLSVersion {
    /// The version for the engine; a DTLS version counts as the TLS version it was made from (RFC 6347 §1).
    init(_ version: tls_protocol_version_t) {
        self =
            switch version {
            case .TLSv10: .v10
            case .TLSv11, .DTLSv10: .v11
            case .TLSv12, .DTLSv12: .v12
            case .TLSv13: .v13
            }
    }
}
