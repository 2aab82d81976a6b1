// What `session.open` asks for, as settings of the package. A key that cannot be honoured refuses the command; one that
// asks for the absence of something that does not exist yet is honoured. Driver protocol, section 3.

import Foundation
import URLLoading

/// What happens to redirects.
enum RedirectPolicy: Sendable {
    case follow
    /// The redirect itself is the response.
    case stop

    static let words: [String: RedirectPolicy] = ["follow": .follow, "stop": .stop]
}

/// The settings of a session.
struct SessionPlan {
    let configuration: URLSessionConfiguration
    let redirects: RedirectPolicy
    /// What the delegates of tasks say about servers.
    let trustAnswer: TrustAnswer?
    /// A directory that is the session's alone, if it needs one.
    let scratch: URL?
    /// The entries that answer challenges.
    let credentials: [CredentialPlan]

    /// The keys that are honoured.
    static let keys = [
        "cache", "cookies", "timeout_ms", "resource_timeout_ms", "max_connections_per_host", "redirects", "headers",
        "resolve", "trust", "client_identity", "tls", "credentials", "proxy", "http2",
    ]

    /// Reads the value of `config`.
    init(_ members: consuming Members) throws(Refusal) {
        var members = members
        let configuration = URLSessionConfiguration.ephemeral
        // Credentials come from the entries of `credentials` alone, each once.
        configuration.urlCredentialStorage = nil
        if let seconds = try members.timeout("timeout_ms") { configuration.timeoutIntervalForRequest = seconds }
        // 0 is no limit; the package's own default is a week.
        configuration.timeoutIntervalForResource = try members.timeout("resource_timeout_ms") ?? 0
        if let number = try members.integer("max_connections_per_host") {
            guard number > 0 else { throw .badCommand("config: max_connections_per_host is not above 0") }
            configuration.httpMaximumConnectionsPerHost = Int(clamping: number)
        }
        configuration.http2 = try members.word("http2", Self.http2) ?? .offered
        let fields = try members.fields("headers")
        if !fields.isEmpty { configuration.httpAdditionalHeaders = Self.dictionary(fields) }
        if let overrides = try Self.overrides(members.object("resolve")) { configuration.hostOverrides = overrides }
        let trust: TrustPlan?
        if let value = members.take("trust") { trust = try TrustPlan(Members(value, of: "trust")) } else { trust = nil }
        if let trust { configuration.serverTrustEvaluation = trust.evaluation }
        trustAnswer = trust?.answer
        if let value = members.take("client_identity") {
            configuration.clientIdentities = .allHosts(
                try Self.identity(Members(value, of: "client_identity")))
        }
        try Self.setVersions(members.object("tls"), of: configuration)
        redirects = try members.word("redirects", RedirectPolicy.words) ?? .follow
        if try members.bool("cookies") == false { configuration.httpCookieStorage = nil }
        (configuration.urlCache, scratch) = try Self.cache(members.object("cache"))
        credentials = try CredentialPlan.list(members.array("credentials"))
        // An empty dictionary is no proxy, whatever the environment says.
        configuration.connectionProxyDictionary = [:]
        if let value = members.take("proxy") {
            configuration.connectionProxyDictionary = try ProxyPlan(Members(value, of: "proxy")).dictionary
        }
        try members.finish()
        self.configuration = configuration
    }

    /// Fields that come more than once are joined: a dictionary holds a name once (RFC 9110 §5.2).
    private static func dictionary(_ fields: [(name: String, value: String)]) -> [AnyHashable: Any] {
        var request = URLRequest(url: URL(fileURLWithPath: "/"))
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        return request.allHTTPHeaderFields ?? [:]
    }

    private static func overrides(_ members: Members) throws(Refusal) -> [String: String]? {
        var members = members
        var overrides: [String: String] = [:]
        for name in members.names { overrides[name] = try members.requiredString(name) }
        return overrides.isEmpty ? nil : overrides
    }

    private static func identity(
        _ members: Members
    ) throws(Refusal) -> URLSessionConfiguration.ClientIdentity {
        var members = members
        let (chain, key) = (try members.requiredString("chain_pem"), try members.requiredString("key_pem"))
        try members.finish()
        do {
            return try .pem(certificates: chain, key: key)
        } catch {
            throw .badCommand("client_identity: \(error.localizedDescription)")
        }
    }

    /// Nothing is cached unless that is asked for. The package's own place for caches is shared by all programs of this
    /// name, so a cache on disk without a directory gets a fresh one, which is told.
    private static func cache(_ members: Members) throws(Refusal) -> (URLCache?, scratch: URL?) {
        var members = members
        guard !members.names.isEmpty else { return (nil, nil) }
        let (memory, disk) = (try members.count("memory_bytes") ?? 0, try members.count("disk_bytes") ?? 0)
        let directory = try members.string("directory").map { URL(filePath: $0, directoryHint: .isDirectory) }
        try members.finish()
        let scratch = disk > 0 && directory == nil ? Scratch.place() : nil
        let cache = URLCache(
            memoryCapacity: Int(clamping: memory), diskCapacity: Int(clamping: disk), directory: directory ?? scratch)
        return (cache, scratch)
    }

    private static func setVersions(_ members: Members, of configuration: URLSessionConfiguration) throws(Refusal) {
        var members = members
        let (minimum, maximum) = (try members.word("min", versions), try members.word("max", versions))
        try members.finish()
        if let minimum { configuration.tlsMinimumSupportedProtocolVersion = minimum }
        if let maximum { configuration.tlsMaximumSupportedProtocolVersion = maximum }
        // One that is given alone is not to contradict the other's default, which the runner does not know.
        let (lowest, highest) = (
            configuration.tlsMinimumSupportedProtocolVersion, configuration.tlsMaximumSupportedProtocolVersion
        )
        guard lowest.rawValue > highest.rawValue else { return }
        if minimum == nil { configuration.tlsMinimumSupportedProtocolVersion = highest }
        if maximum == nil { configuration.tlsMaximumSupportedProtocolVersion = lowest }
    }

    private static let http2: [String: URLSessionConfiguration.HTTP2Use] = [
        "auto": .offered, "off": .off, "prior_knowledge": .priorKnowledge,
    ]

    private static let versions: [String: tls_protocol_version_t] = [
        "1.0": .TLSv10, "1.1": .TLSv11, "1.2": .TLSv12, "1.3": .TLSv13,
    ]
}
