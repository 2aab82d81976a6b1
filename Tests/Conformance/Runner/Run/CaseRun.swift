// Runs one case: its steps in order, against a driver and a stage of its own.
//
// Must not know: other cases, and where results go.

import Foundation
import URLLoadingTestSupport

/// A case while it runs.
struct CaseRun {
    private let conformanceCase: ConformanceCase
    private let driver: DriverProcess
    let stage: Stage
    /// Tells its sessions from those of other cases in the same driver.
    private let number: Int
    private var sessions: Set<String> = []
    private var requests: [String: Int64] = [:]
    var result: JSONValue = .null
    private var looked = 0
    private var asked: [String: Int] = [:]
    private var lastReceived: AnswerBoard.Received?
    /// By servers, how many frames of HTTP/2 lie behind what was looked at.
    var seenFrames: [String: Int] = [:]

    /// Runs a case to its end; why it did not pass, or nil.
    static func failure(of conformanceCase: ConformanceCase, number: Int, _ driver: DriverProcess) async -> CaseFailure?
    {
        let stage: Stage
        do {
            stage = try Stage(for: conformanceCase)
        } catch {
            return failure(error)
        }
        var run = CaseRun(conformanceCase, number, driver, stage)
        let failure = await run.play()
        await stage.stop()
        return failure
    }

    private init(_ conformanceCase: ConformanceCase, _ number: Int, _ driver: DriverProcess, _ stage: Stage) {
        self.conformanceCase = conformanceCase
        self.number = number
        self.driver = driver
        self.stage = stage
    }

    private mutating func play() async -> CaseFailure? {
        var failure: CaseFailure?
        for step in conformanceCase.steps where failure == nil {
            do {
                try await carryOut(step.action)
            } catch {
                let caught = Self.failure(error)
                let reason = "line \(step.line): \(caught.reason)"
                failure = caught.isUnsupported ? CaseFailure(unsupported: reason) : CaseFailure(reason)
            }
        }
        stage.board.openAll()
        for name in sessions { _ = try? await driver.call("session.close", ["session": .string(driverName(name))]) }
        let problems = stage.board.problems + stage.faults + (await stage.board.endedWebSockets())
        if let problem = problems.first, failure?.isUnsupported != true {
            return CaseFailure([failure?.reason, problem].compactMap { $0 }.joined(separator: "; "))
        }
        return failure
    }

    private static func failure(_ error: any Error) -> CaseFailure {
        error as? CaseFailure ?? CaseFailure("\(error)")
    }

    private mutating func carryOut(_ action: Action) async throws {
        switch action {
        case .certificate, .declareServer, .declareProxy, .answer, .serverSteps, .http2Script, .http2Steps:
            break
        case .session(let name, let config):
            try await openSession(name, config)
        case .closeSession(let name):
            sessions.remove(name)
            _ = try await call("session.close", ["session": .string(driverName(name))])
        case .request(let line):
            try await request(line)
        case .finish(let label):
            result = try Self.result(of: await driver.answer(try id(label)))
        case .cancel(let label):
            _ = try await call("cancel", ["target": .integer(try id(label))])
        case .command(let op, let members):
            result = try await call(op, try await inSession(stage.words.json(members)))
        case .webSocket(let line):
            try await webSocket(line)
        case .storeCookie(let url, let field):
            let text = JSONValue.string(try stage.words.text(field))
            let members = try await inSession(["session": "s", "url": .string(url), "set_cookie": [text]])
            _ = try await call("cookies.store", members)
        case .open(let gate):
            stage.board.open(gate)
        case .until(let count, let name):
            _ = await (try stage.server(name)).wait { $0.requests >= count }
            // A server counts a request just before it asks the board, which is to know of it too.
            while stage.board.received(at: name) < count { await Task.yield() }
        case .result(let line):
            try Checks.result(result, is: line, stage.words)
        case .member(let path, let test):
            try Checks.member(path, of: result, is: test, stage.words)
        case .sends(let url, let value):
            let answer = try await call(
                "cookies.header", try await inSession(["session": "s", "url": .string(url)]))
            guard answer["value"] ?? .null == .text(value) else {
                throw CaseFailure("the Cookie field is \(Checks.describe(answer["value"])), not \(value ?? "absent")")
            }
        case .received(let line):
            let received = stage.board.received
            lastReceived = looked < received.count ? received[looked] : nil
            looked += 1
            try Checks.received(lastReceived, is: line, stage.words)
        case .receivedNothing:
            let received = stage.board.received
            guard received.count <= looked else {
                let request = received[looked].request
                throw CaseFailure("\(request.method) \(request.target) was received")
            }
        case .proof(let line):
            try checkProof(line)
        case .connections(let count, let name):
            let accepted = try stage.server(name).stats.connectionsAccepted
            guard accepted == count else { throw CaseFailure("\(accepted) connections were opened, not \(count)") }
        case .asked(let line):
            try checkAsk(line)
        case .receivedHTTP2(let line):
            try await receivedHTTP2(line)
        }
    }

    // MARK: What the client does

    func driverName(_ name: String) -> String { "\(number).\(name)" }

    private mutating func openSession(_ name: String, _ config: JSONValue) async throws {
        sessions.insert(name)
        var config = try stage.words.json(config)
        if case .object(var members) = config, !conformanceCase.hosts.isEmpty,
            !members.contains(where: { $0.name == "resolve" })
        {
            let hosts = conformanceCase.hosts.sorted().map { JSONMember(name: $0, value: "127.0.0.1") }
            members.append(JSONMember(name: "resolve", value: .object(hosts)))
            config = .object(members)
        }
        _ = try await call("session.open", ["session": .string(driverName(name)), "config": config])
    }

    mutating func useSession(_ name: String) async throws -> JSONValue {
        if !sessions.contains(name) { try await openSession(name, [:]) }
        return .string(driverName(name))
    }

    /// Members with the names of the session and of a web socket as the driver knows them.
    private mutating func inSession(_ members: JSONValue) async throws -> JSONValue {
        guard case .object(var list) = members else { return members }
        for (index, member) in list.enumerated() {
            guard case .string(let name) = member.value else { continue }
            if member.name == "session" { list[index] = JSONMember(name: "session", value: try await useSession(name)) }
            if member.name == "ws" { list[index] = JSONMember(name: "ws", value: .string(driverName(name))) }
        }
        return .object(list)
    }

    private mutating func request(_ line: RequestLine) async throws {
        let words = stage.words
        var url = try words.text(line.url)
        if url.hasPrefix("/") { url = try stage.server("a").url(url) }
        var members: [JSONMember] = [
            JSONMember(name: "session", value: try await useSession(line.session ?? "s")),
            JSONMember(name: "method", value: .string(line.method)),
            JSONMember(name: "url", value: .string(url)),
        ]
        let fields = try line.fields.map { field -> JSONValue in
            [.string(field.name), .string(try field.value.map(words.text) ?? "")]
        }
        if !fields.isEmpty { members.append(JSONMember(name: "headers", value: .array(fields))) }
        var options = line.options
        if let body = line.body {
            if let index = options.firstIndex(where: { $0.name == "stream" }) {
                options.remove(at: index)
                let pieces = try Self.pieces(body).map { ["base64": .base64(Data(try words.bytes($0)))] as JSONValue }
                options.append(JSONMember(name: "body_stream", value: .array(pieces)))
            } else {
                members.append(JSONMember(name: "body_base64", value: .base64(Data(try words.bytes(body)))))
            }
        }
        if !options.isEmpty { members.append(JSONMember(name: "options", value: .object(options))) }
        let id = driver.send("request", .object(members))
        if let label = line.label {
            requests[label] = id
        } else {
            result = try Self.result(of: await driver.answer(id))
        }
    }

    /// A body cut at {piece}.
    private static func pieces(_ body: CaseText) -> [CaseText] {
        body.parts.split { $0 == .words(["piece"]) }.map { CaseText(parts: Array($0)) }
    }

    private func id(_ label: String) throws(CaseFailure) -> Int64 {
        guard let id = requests[label] else { throw CaseFailure("no request \(label) was started") }
        return id
    }

    func call(_ op: String, _ members: JSONValue) async throws -> JSONValue {
        try Self.result(of: try await driver.call(op, members))
    }

    private static func result(of answer: JSONValue) throws(CaseFailure) -> JSONValue {
        if answer["ok"] == true, let result = answer["result"] { return result }
        let detail = "\(Checks.describe(answer["problem"])) \(Checks.describe(answer["detail"]))"
        throw answer["problem"] == "unsupported" ? CaseFailure(unsupported: detail) : CaseFailure(detail)
    }

    // MARK: What is expected

    private func checkProof(_ line: ProofLine) throws {
        guard let request = lastReceived?.request else { throw CaseFailure("a proof is that of a request looked at") }
        guard let value = request.fields.first(.init(line.field)) else {
            throw CaseFailure("the request has no \(line.field)")
        }
        let proof = try DigestProof(value)
        try proof.verify(
            user: stage.words.text(line.user), password: stage.words.text(line.password), method: request.method,
            target: request.target, body: request.body)
        try Checks.fields(line.parameters, stage.words) { name in
            if name.hasPrefix("quoted ") {
                return proof.quoted.contains(String(name.dropFirst(7))) ? ["yes"] : ["no"]
            }
            return proof.parameters[name].map { [$0] } ?? []
        }
    }

    private mutating func checkAsk(_ line: ProxyAskLine) throws {
        guard let proxy = stage.proxies[line.proxy] else { throw CaseFailure("there is no proxy \(line.proxy)") }
        let (asks, next) = (proxy.asks, asked[line.proxy, default: 0])
        if line.kind == "nothing" {
            guard asks.count <= next else { throw CaseFailure("it was asked for \(asks[next].target)") }
            return
        }
        guard next < asks.count else { throw CaseFailure("the proxy was not asked") }
        asked[line.proxy] = next + 1
        let (ask, target) = (asks[next], try stage.words.text(line.target))
        guard "\(ask.kind)" == line.kind, ask.target == target else {
            throw CaseFailure("the proxy was asked by \(ask.kind) for \(ask.target)")
        }
        try Checks.fields(line.fields, stage.words) { ask.head?.fields.values(.init($0)) ?? [] }
    }
}

extension CaseText {
    /// Text of these parts.
    fileprivate init(parts: [Part]) {
        self.parts = parts
    }
}
