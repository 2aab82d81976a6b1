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
    /// What has come over HTTP/2, by the servers that speak it.
    private(set) var records: [String: HTTP2Record] = [:]

    /// Makes certificates, starts servers, hands them their answers.
    init(for conformanceCase: ConformanceCase) throws {
        let board = AnswerBoard()
        let now = Int64(Date().timeIntervalSince1970)
        var certificates = Certificates()
        var script = StageScript()
        for action in conformanceCase.steps.map(\.action) {
            script.take(action)
            if case .certificate(let line) = action { try certificates.make(line, now: now) }
            if case .declareServer(let line) = action {
                guard servers[line.name] == nil else { throw CaseFailure("there are two servers \(line.name)") }
                (servers[line.name], records[line.name]) = try Self.server(line, board, certificates)
            }
            if case .declareProxy(let line) = action { proxies[line.name] = try Self.proxy(line, certificates) }
        }
        if conformanceCase.usesServer, servers["a"] == nil {
            (servers["a"], _) = try Self.server(DeclarationLine(name: "a", settings: []), board, certificates)
        }
        let ports = servers.mapValues(\.port).merging(proxies.mapValues(\.port)) { $1 }
        words = KnownWords(ports: ports, certificates: certificates, now: now)
        self.board = board
        board.begin(script.answers, scripts: script.scripts, words: words)
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
    ) throws -> (LoopbackServer, HTTP2Record?) {
        var settings = try settings(line)
        let (name, address) = (line.name, settings.removeValue(forKey: "address") ?? "127.0.0.1")
        var options = LoopbackServer.Options(host: address, tls: try tls(&settings, certificates))
        var record: HTTP2Record?
        if let http2 = try http2(&settings) {
            record = HTTP2Record()
            options.http2 = http2
            options.http2.record = record
            options.http2.script = { board.script(ofConnection: $0, at: name) }
        }
        if let name = settings.keys.min() { throw CaseFailure("a server has no setting \(name)") }
        return (try LoopbackServer.start(options) { board.answer($0, at: name) }, record)
    }

    private static func http2(_ settings: inout [String: String]) throws(CaseFailure) -> ServerHTTP2? {
        guard let word = settings.removeValue(forKey: "http2") else { return nil }
        let uses: [String: ServerHTTP2.Use] = ["off": .off, "offered": .offered, "required": .required]
        guard let use = uses[word] else { throw CaseFailure("http2 is off, offered or required") }
        var http2 = ServerHTTP2(use)
        if let number = try number("streams", &settings) { http2.settings.maximumConcurrentStreams = number }
        if let number = try number("window", &settings) { http2.settings.initialWindowSize = number }
        if let number = try number("frame", &settings) { http2.settings.maximumFrameSize = number }
        if let number = try number("list", &settings) { http2.settings.maximumHeaderListSize = number }
        if let number = try number("connection-window", &settings) { http2.connectionWindow = number }
        return http2
    }

    private static func number(_ name: String, _ settings: inout [String: String]) throws(CaseFailure) -> UInt32? {
        guard let text = settings.removeValue(forKey: name) else { return nil }
        guard let number = UInt32(text) else { throw CaseFailure("\(name) is a number") }
        return number
    }

    /// What a server that speaks HTTP/2 has received.
    func record(of name: String) throws(CaseFailure) -> HTTP2Record {
        guard let record = records[name] else { throw CaseFailure("there is no server \(name) that speaks HTTP/2") }
        return record
    }

    /// The rules of HTTP/2 that the client has broken, as far as a server has judged it.
    var faults: [String] {
        records.values.flatMap { $0.contents.faults.map { "the client has broken a rule of HTTP/2. \($0)" } }
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
