// The servers, proxies and certificates of a running case.
//
// Must not know: drivers and results.

import Foundation
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

/// What a case plays on; `stop` takes it down.
struct Stage {
    let words: KnownWords
    let board: AnswerBoard
    private(set) var servers: [String: LoopbackServer] = [:]
    private(set) var proxies: [String: LoopbackProxy] = [:]

    /// Makes certificates, starts servers, hands them their answers.
    init(for conformanceCase: ConformanceCase) throws {
        let board = AnswerBoard()
        let now = Int64(Date().timeIntervalSince1970)
        var certificates = Certificates()
        var answers: [AnswerLine] = []
        for action in conformanceCase.steps.map(\.action) {
            if case .certificate(let line) = action { try certificates.make(line, now: now) }
            if case .declareServer(let line) = action {
                servers[line.name] = try Self.server(line, board, certificates)
            }
            if case .declareProxy(let line) = action { proxies[line.name] = try Self.proxy(line, certificates) }
            if case .answer(let line) = action { answers.append(line) }
            if case .serverSteps(let more) = action, var answer = answers.popLast(),
                case .webSocket(let styles, let fields, let steps) = answer.content
            {
                answer.content = .webSocket(styles: styles, fields: fields, steps: steps + more)
                answers.append(answer)
            }
        }
        if conformanceCase.usesServer, servers["a"] == nil {
            servers["a"] = try Self.server(DeclarationLine(name: "a", settings: []), board, certificates)
        }
        let ports = servers.mapValues(\.port).merging(proxies.mapValues(\.port)) { $1 }
        words = KnownWords(ports: ports, certificates: certificates, now: now)
        self.board = board
        board.begin(answers, words: words)
    }

    /// Ends everything.
    func stop() async {
        board.openAll()
        for server in servers.values { await server.stop() }
        for proxy in proxies.values { await proxy.stop() }
    }

    /// A server by its name.
    func server(_ name: String) throws(CaseFailure) -> LoopbackServer {
        guard let server = servers[name] else { throw CaseFailure("there is no server \(name)") }
        return server
    }

    private static func server(
        _ line: DeclarationLine, _ board: AnswerBoard, _ certificates: Certificates
    ) throws -> LoopbackServer {
        var settings = try settings(line)
        let address = settings.removeValue(forKey: "address") ?? "127.0.0.1"
        let tls = try tls(&settings, certificates)
        if let name = settings.keys.min() { throw CaseFailure("a server has no setting \(name)") }
        let name = line.name
        return try LoopbackServer.start(.init(host: address, tls: tls)) { board.answer($0, at: name) }
    }

    private static func proxy(_ line: DeclarationLine, _ certificates: Certificates) throws -> LoopbackProxy {
        var settings = try settings(line)
        let tls = try tls(&settings, certificates)
        let proxy = try LoopbackProxy.start { options in
            options.tls = tls
            options.authorization = settings.removeValue(forKey: "authorization")
            if let challenge = settings.removeValue(forKey: "challenge") { options.challenge = challenge }
            if let user = settings.removeValue(forKey: "user") {
                options.socksCredentials = (user, settings.removeValue(forKey: "password") ?? "")
            }
            if let answer = settings.removeValue(forKey: "answer") {
                options.script = { _ in .text(answer, thenClose: true) }
            }
        }
        if let name = settings.keys.min() { throw CaseFailure("a proxy has no setting \(name)") }
        return proxy
    }

    private static func tls(_ settings: inout [String: String], _ certificates: Certificates) throws -> ServerTLS? {
        guard let name = settings.removeValue(forKey: "tls") else { return nil }
        let leaf = try certificates.named(name)
        var identity = leaf.identity
        if let chain = settings.removeValue(forKey: "chain") {
            let shown = chain == "none" ? [] : chain.split(separator: ",").map(String.init)
            identity = try leaf.identity(showing: shown.map { try certificates.named($0).certificate })
        }
        var tls = ServerTLS(identity: identity)
        if let version = settings.removeValue(forKey: "min") { tls.minimum = try Self.version(version) }
        if let version = settings.removeValue(forKey: "max") { tls.maximum = try Self.version(version) }
        if let protocols = settings.removeValue(forKey: "selects") { tls.alpnSelectedWithoutOffer = protocols }
        if let tickets = settings.removeValue(forKey: "tickets") { tls.tickets = Int(tickets) ?? 2 }
        for (word, mode) in [("requires", ServerTLS.ClientAuthentication.required), ("asks", .optional)] {
            guard let authority = settings.removeValue(forKey: word) else { continue }
            tls.clientAuthentication = mode
            tls.clientAuthorities = [try certificates.named(authority).certificate]
        }
        if let staple = settings.removeValue(forKey: "staple") {
            let words = staple.split(separator: " ").map(String.init)
            let answers: [String: OCSPAnswer] = ["good": .good, "revoked": .revoked, "unknown": .unknown]
            guard words.count == 2, let answer = answers[words[0]] else {
                throw CaseFailure("staple is an answer and who gives it")
            }
            tls.stapledResponse = try certificates.named(words[1]).ocspResponse(about: leaf.certificate, answer)
        }
        return tls
    }

    private static func version(_ text: String) throws(CaseFailure) -> TLSVersion {
        switch text {
        case "1.2": return .v12
        case "1.3": return .v13
        default: throw CaseFailure("\(text) is no version of TLS that servers speak")
        }
    }

    private static func settings(_ line: DeclarationLine) throws(CaseFailure) -> [String: String] {
        var settings: [String: String] = [:]
        for setting in line.settings {
            guard let value = setting.value else { throw CaseFailure("a setting has a value") }
            settings[setting.name] = String(decoding: value.plainBytes, as: UTF8.self)
        }
        return settings
    }
}
