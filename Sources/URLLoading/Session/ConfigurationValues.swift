// The settings of a session as plain values; the class of Apple's API is a face of this struct.
//
// Must not know: what the engine makes of a setting (that is `SessionSettings`).

import Foundation
import URLLoadingPolicy

/// Everything a configuration holds, with the values that Apple documents as defaults (B1.9).
struct ConfigurationValues: Sendable {
    var identifier: String?
    var requestCachePolicy: NSURLRequest.CachePolicy = .useProtocolCachePolicy
    var timeoutIntervalForRequest: TimeInterval = 60
    var timeoutIntervalForResource: TimeInterval = 604_800
    var networkServiceType: NSURLRequest.NetworkServiceType = .default
    var allowsCellularAccess = true
    var allowsExpensiveNetworkAccess = true
    var allowsConstrainedNetworkAccess = true
    var allowsUltraConstrainedNetworkAccess = false
    var requiresDNSSECValidation = false
    var waitsForConnectivity = false
    var tlsMinimum: tls_protocol_version_t = .TLSv12
    var tlsMaximum: tls_protocol_version_t = .TLSv13
    var httpShouldUsePipelining = false
    var httpShouldSetCookies = true
    var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy = .onlyFromMainDocumentDomain
    var httpCookieStorage: HTTPCookieStorage? = .shared
    var additionalHeaders = AdditionalHeaders(dictionary: nil)
    var httpMaximumConnectionsPerHost = 6
    /// How old a connection may be that is to serve a new request.
    var maximumConnectionLifetime: TimeInterval?
    /// How long a connection may be on its way.
    var timeoutIntervalForConnection: TimeInterval?
    /// After which silence the system asks whether its peer is there.
    var connectionProbeInterval: TimeInterval?
    /// How many threads send and receive.
    var engineShards = 1
    var shouldUseExtendedBackgroundIdleMode = false
    var multipathServiceType: URLSessionConfiguration.MultipathServiceType = .none
    var usesClassicLoadingMode = true
    var enablesEarlyData = false
    var hostOverrides: [String: String] = [:]
    /// The resolver that is asked for the addresses of all other names; nil for the system.
    var hostResolver: URLSessionConfiguration.HostResolver?
    var connectionProxyDictionary = ProxyDictionary(dictionary: nil)
    var proxyConfigurations: [ProxyConfiguration] = []
    var proxyResolver: URLSessionConfiguration.ProxyResolver?
    var usesProxyEnvironment = true
    /// The variables that count in place of this process's, where it acts for another.
    var proxyEnvironment: [String: String]?
    var unixSocketPath: String?
    var localAddress: String?
    var networkInterface: String?
    /// The most bytes that a compressed body may come to.
    var maximumDecodedBytes: Int64?
    /// The most bytes that each of its own may come to.
    var maximumDecodedRatio: Int64?
    /// Which loads are tried again.
    var retryPolicy: URLSession.RetryPolicy?
    var retryBudget = URLSession.RetryBudget()
    /// The interceptors that see the requests and answers of async calls, the outermost first.
    var interceptors: [any URLSession.Interceptor] = []
    /// What is called at each step of loads.
    var traceHooks: SharedHooks?
    var serverTrustEvaluation: URLSessionConfiguration.ServerTrustEvaluation = .system
    /// Whether delegates have a say in which servers are believed.
    var asksDelegatesAboutServers = true
    var clientIdentities: URLSessionConfiguration.ClientIdentities = .none
    var urlCredentialStorage: URLCredentialStorage? = .shared
    /// Whether what was accepted of a task goes out unasked with its own requests only.
    var keepsProofsApart = false
    /// The credentials for servers that need not ask, by URL.
    var basicCredentialsSentAhead: [URL: URLCredential] = [:]
    /// Whether credentials go ahead over http, too.
    var dangerouslySendsBasicAheadInClear = false
    /// The hosts that are shown the user's Kerberos ticket without a question.
    var negotiateHosts: Set<String> = []
    var urlCache: URLCache? = .shared
    /// Whether the configuration began as one that leaves nothing behind (B7.88).
    var isEphemeral = false
    /// By which the age of what is stored is reckoned.
    var wallClock: @Sendable () -> WallTime = { .now }
    /// Makes the queue of a session that gets none.
    var makeDelegateQueue: @Sendable () -> OperationQueue = { OperationQueue() }
    var appTransportSecurity: URLSessionConfiguration.AppTransportSecurity?
    var tlsKeyLogFile: URL?
    var honorsEarliestBeginDate = false
    /// The classes that may carry loads, in this order; the built-in ones stand for themselves.
    var protocolClasses: [URLProtocol.Type]? = BuiltInProtocol.all
    /// Answers in place of servers, before anything else.
    var mock: URLSession.Mock?
    var resumableUploads = URLSessionConfiguration.ResumableUploads.ofFiles
    /// When HTTP/2 is spoken.
    var http2 = URLSessionConfiguration.HTTP2Use.ofEnvironment
    /// Whether web sockets offer permessage-deflate.
    var compressesWebSocketMessages = false
    /// Where the files of downloads are made, and looked for where one goes on; nil for the
    /// directory for temporary files.
    var downloadFolder: String?
    var uploadPatience = ResumableUploadMachine.Patience()
    var isDiscretionary = false
    var sharedContainerIdentifier: String?
    var sessionSendsLaunchEvents = true
    /// What only background sessions have.
    var background = BackgroundChoices()
}

/// What is ours of a background session's settings.
struct BackgroundChoices: Sendable {
    /// The program that carries transfers on; nil for the one beside this program, or on the path.
    var helper: URL?
    var usesHelper = true
    /// The command line that is run when events wait; empty for none.
    var eventHook: [String] = []
    /// How long a helper may be silent when it is greeted. Picked by feel: a busy machine takes seconds.
    var helperPatience = Duration.seconds(30)
    /// Where the folders of all identifiers are, in place of the user's.
    var stateDirectory: URL?
}

/// The dictionary of `httpAdditionalHeaders`, carried across threads.
///
/// Unchecked because `Any` may be anything; the dictionary is a value that is never changed in place, and what it
/// holds is only read, as text.
struct AdditionalHeaders: @unchecked Sendable {
    let dictionary: [AnyHashable: Any]?

    /// The fields as text, sorted by name. Names and values may be `String` or `NSString`, values also numbers;
    /// an entry of another type, or with a line break in it, is left out (B5.6).
    var fields: [RequestFieldTable.Field] {
        var table = RequestFieldTable()
        var texts: [String: String] = [:]
        for (key, value) in dictionary ?? [:] {
            if let name = Self.name(key.base), let value = Self.text(value) { texts[name] = value }
        }
        table.replaceAll(with: texts)
        return table.fields
    }

    private static func name(_ value: Any) -> String? {
        switch value {
        case let text as String: text
        case let text as NSString: String(describing: text)
        default: nil
        }
    }

    private static func text(_ value: Any) -> String? {
        switch value {
        case let number as NSNumber: number.stringValue
        case let text as Substring: String(text)
        case let number as any FixedWidthInteger: "\(number)"
        default: name(value)
        }
    }
}
