// A way from the load to a server, with its own session: with or without TLS, with or without a bad network in between. It
// knows what may happen on it, and judges how requests ended.

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
        /// http through a network that changes bytes, which nobody can notice.
        case dirty

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
    private let server: LoopbackServer
    /// Another origin, to which the server sends on.
    private let otherServer: LoopbackServer
    private let base: String
    private let rootPEM: String?

    init(_ kind: Kind, seed: UInt64, ledger: Ledger) throws {
        self.kind = kind
        self.ledger = ledger
        var options = LoopbackServer.Options()
        if kind.isSecure {
            let (root, identity) = try CertificateFactory.server("127.0.0.1")
            options.tls = ServerTLS(identity: identity)
            rootPEM = root.pem
        } else {
            rootPEM = nil
        }
        server = try LoopbackServer.start(options, router: SoakServer.answer)
        otherServer = try LoopbackServer.start(.init(), router: Self.told)
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
                options.keptConnections = kind == .dirty ? 64 : 4096
            }
        }
        base = "\(kind.isSecure ? "https" : "http")://127.0.0.1:\(proxy?.port ?? server.port)"
        session = URLSession(configuration: Self.configuration(kind, rootPEM))
    }

    /// A session of the same settings, which whoever asks for it ends.
    func anotherSession() -> URLSession { URLSession(configuration: configuration) }

    /// The settings of such a session.
    var configuration: URLSessionConfiguration { Self.configuration(kind, rootPEM) }

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

    private static func configuration(_ kind: Kind, _ rootPEM: String?) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // What is kept on purpose is no leak.
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 12
        // A length that was changed on the way makes either side wait for what never comes. Nobody else may: no fault delays
        // by more than a fraction of a second, but a busy machine may stand still for some, and under a sanitizer for many.
        let isSpoilt = kind.faults.contains(where: \.changesBytes)
        configuration.timeoutIntervalForRequest = isSpoilt && !Sanitizer.isActive ? 20 : 60
        configuration.connectionProxyDictionary = [:]
        if let rootPEM { configuration.serverTrustEvaluation = .anchors(pem: rootPEM) }
        return configuration
    }

    // MARK: Judgement

    /// What a request should come to.
    struct Expectation: Sendable {
        var status = 200
        var body: [UInt8]
        var mayBeCancelled = false
        var mustTimeOut = false
    }

    /// Says whether a request ended as it may; true where its answer is right.
    @discardableResult
    func judge(_ ending: Ending, _ what: String, _ expected: Expectation, since start: ContinuousClock.Instant)
        -> Bool
    {
        let verdict = verdict(ending, expected, start)
        ledger.judge(what, kind.rawValue, verdict)
        if case .right = verdict { return true }
        return false
    }

    private func verdict(_ ending: Ending, _ expected: Expectation, _ start: ContinuousClock.Instant) -> Ledger.Verdict
    {
        let entries = ending.ports.map { $0.flatMap { proxy?.books.entry(clientPort: $0) } }
        if let error = ending.error {
            guard let code = ending.code else { return .wrong("not an URLError: \(error)") }
            if code == .cancelled, expected.mayBeCancelled { return .cancelled }
            if code == .timedOut, expected.mustTimeOut { return .right }
            // A handshake that failed has no port, and may be that of a connection which was dialled for another request.
            let isKnown = !entries.isEmpty && !entries.contains { $0 == nil }
            let isExplained =
                isKnown ? entries.contains { $0?.isHarmed == true } : proxy?.books.wasHarmed(since: start) == true
            let text = "\(code.rawValue) \((error as NSError).localizedDescription)"
            guard isExplained, code != .cancelled, code != .unknown else {
                return .unexplained("\(text); ports \(ending.ports), faults \(describe(entries))")
            }
            return .failed("\(code.rawValue)")
        }
        if expected.mustTimeOut { return .wrong("an answer in place of a time-out") }
        if ending.status == expected.status, ending.body == Data(expected.body) { return .right }
        if kind == .dirty,
            entries.contains(where: { $0.map { $0.isComplete && $0.delivered.contains(ending.body) } ?? false })
        {
            return .asDelivered
        }
        let same = zip(ending.body, expected.body).prefix { $0 == $1 }.count
        let text =
            "status \(ending.status), \(ending.body.count) bytes of \(expected.body.count), the same up to \(same)"
        return .wrong("\(text); ports \(ending.ports), faults \(describe(entries))")
    }

    private func describe(_ entries: [FaultBooks.Entry?]) -> String {
        func list(_ faults: [Fault], _ sign: String) -> [String] {
            faults.map { "\(sign)\($0.kind.rawValue) at \($0.position)" }
        }
        return entries.map { entry in
            entry.map { (list($0.toServer, "> ") + list($0.toClient, "< ")).joined(separator: ", ") } ?? "unknown"
        }.joined(separator: "; ")
    }
}

extension [UInt8] {
    /// Whether these bytes stand somewhere in it, one after the other.
    fileprivate func contains(_ bytes: Data) -> Bool {
        bytes.isEmpty || Data(self).range(of: bytes) != nil
    }
}
