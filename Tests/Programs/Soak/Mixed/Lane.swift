// A way from the load to a server, with its own session: in one protocol, with or without TLS, with or without a bad
// network in between. What may happen on it is judged in +Judgement.

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

/// How one request ended.
struct Ending: Sendable {
    var body = Data()
    var response: URLResponse?
    var error: (any Error)?
    /// Our ports of the connections that it used; nil where there was none, or it is not known.
    var ports: [Int?] = []
    /// The protocols that it was carried by.
    var protocols: [String] = []

    var status: Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }
    var code: URLError.Code? { (error as? URLError)?.code }
}

/// A way to the server.
final class Lane: Sendable {
    /// What is between client and server.
    enum Kind: String, CaseIterable {
        case plain, secure
        /// http through a network that delays and ends.
        case rough
        /// https through a network that does everything.
        case roughSecure = "rough secure"
        /// http through a network that changes bytes, which neither end can notice.
        case dirty

        /// How many exercises of a hundred take this way.
        var share: Int {
            switch self {
            case .plain, .secure: 20
            case .rough, .roughSecure: 25
            case .dirty: 10
            }
        }

        var isSecure: Bool { self == .secure || self == .roughSecure }

        var faults: [Fault.Kind] {
            switch self {
            case .plain, .secure: []
            case .rough: Fault.Kind.allCases.filter { !$0.changesBytes }
            case .roughSecure, .dirty: Fault.Kind.allCases
            }
        }
    }

    let kind: Kind
    let ledger: Ledger
    let session: URLSession
    let proxy: FaultProxy?
    private let whims: ServerWhims
    private let server: LoopbackServer
    /// Another origin, to which the server sends on.
    private let otherServer: LoopbackServer
    private let base: String
    private let rootPEM: String?

    init(_ kind: Kind, seed: UInt64, ledger: Ledger) throws {
        self.kind = kind
        self.ledger = ledger
        whims = ServerWhims(kind, seed: seed)
        var options = LoopbackServer.Options()
        options.http2 = whims.http2
        options.earlyRouter = whims.refusal
        if kind.isSecure {
            let (root, identity) = try CertificateFactory.server("127.0.0.1")
            options.tls = ServerTLS(identity: identity)
            rootPEM = root.pem
        } else {
            rootPEM = nil
        }
        server = try LoopbackServer.start(options, router: SoakServer.answer)
        var others = LoopbackServer.Options()
        others.http2 = .offered
        otherServer = try LoopbackServer.start(others, router: Self.told)
        if kind.faults.isEmpty {
            proxy = nil
        } else {
            proxy = try FaultProxy.start(before: server.port) { options in
                options.plan = { number in
                    var random = SeededRandom(seed: seed, of: number)
                    return .random(of: kind.faults, using: &random)
                }
                // Or an answer of which the books have a part only would be called wrong.
                options.keptBytes = kind == .dirty ? 4 * SoakServer.longestBody : 0
                options.keepsOnlyChanged = true
                // Connections of HTTP/2 are fewer, and each has carried more.
                options.keptConnections = kind == .dirty ? (ledger.spoken == .http2 ? 16 : 64) : 4096
            }
        }
        base = "\(kind.isSecure ? "https" : "http")://127.0.0.1:\(proxy?.port ?? server.port)"
        session = URLSession(configuration: Self.configuration(kind, ledger.spoken, rootPEM))
    }

    /// A session of the same settings, which the caller ends.
    func anotherSession() -> URLSession { URLSession(configuration: configuration) }

    /// The settings of such a session.
    var configuration: URLSessionConfiguration { Self.configuration(kind, ledger.spoken, rootPEM) }

    /// What its server has seen, and what came over it.
    var seen: (statistics: ServerStatistics, whims: ServerWhims.Counts) { (server.stats, whims.counts) }

    /// Where the other origin is.
    var strangerPort: Int { otherServer.port }

    /// A request for a place on the server.
    func request(_ place: String) throws -> URLRequest {
        guard let url = URL(string: base + place) else { throw URLError(.badURL) }
        return URLRequest(url: url)
    }

    /// Ends everything; when this returns nothing is left.
    func stop() async {
        session.invalidateAndCancel()
        await proxy?.stop()
        await server.stop()
        await otherServer.stop()
    }

    private static func configuration(
        _ kind: Kind, _ spoken: LaneProtocol, _ rootPEM: String?
    ) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.http2 = spoken.http2Use(isSecure: kind.isSecure)
        // What is kept on purpose is no leak.
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 12
        // A length that was changed on the way makes either side wait for what never comes. Nothing else may take so
        // long: no fault delays by more than a fraction of a second, but a busy machine may stand still for some, and
        // under a sanitizer for many.
        let isSpoilt = kind.faults.contains(where: \.changesBytes)
        configuration.timeoutIntervalForRequest = isSpoilt && !Sanitizer.isActive ? 20 : 60
        configuration.connectionProxyDictionary = [:]
        if let rootPEM { configuration.serverTrustEvaluation = .anchors(pem: rootPEM) }
        return configuration
    }
}
