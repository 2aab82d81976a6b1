// The answers of a case's servers, and what they have received. A server takes the first answer that fits a request
// and has not been used; a request that no answer fits is answered by 599 and fails the case.
//
// Must not know: drivers and results.

import Foundation
import Synchronization
import URLLoadingLoopbackServer
import URLLoadingWire

/// What the servers of a case do, shared by them.
final class AnswerBoard: Sendable {
    /// A request that a server has received.
    struct Received: Sendable {
        let server: String
        let request: ServerRequest
    }

    private struct State {
        var answers: [AnswerLine] = []
        var scripts: [HTTP2ScriptLine] = []
        var words: KnownWords?
        var gates: [String: ServerGate] = [:]
        var received: [Received] = []
        var problems: [String] = []
    }

    private let state = Mutex(State())
    private let webSockets = WebSocketRecord()

    /// Waits until the web sockets have gone; what was not as the case has it on them.
    func endedWebSockets() async -> [String] {
        guard let record = await webSockets.wait(until: { $0.ended == $0.agreements.count }) else { return [] }
        return record.problems + record.faults.map(\.description)
    }

    /// Sets the answers, and what is done on connections of HTTP/2; no client comes before.
    func begin(_ answers: [AnswerLine], scripts: [HTTP2ScriptLine], words: KnownWords) {
        state.withLock { state in
            state.answers = answers
            state.scripts = scripts
            state.words = words
        }
    }

    /// What has been received until now, in order.
    var received: [Received] { state.withLock { $0.received } }

    /// How many of them at a server.
    func received(at server: String) -> Int { state.withLock { $0.received.count { $0.server == server } } }

    /// What went wrong at the servers.
    var problems: [String] { state.withLock { $0.problems } }

    /// Opens a gate.
    func open(_ name: String) { gate(name).open() }

    /// Opens all gates, so that nothing waits any more.
    func openAll() {
        let gates = state.withLock { Array($0.gates.values) }
        for gate in gates { gate.open() }
    }

    /// Answers a request, on a server's loop.
    func answer(_ request: ServerRequest, at server: String) -> ServerResponse {
        let (answer, words) = state.withLock { state in
            state.received.append(Received(server: server, request: request))
            let index = state.answers.firstIndex { Self.fits($0, request, server) }
            guard let index else { return (AnswerLine?.none, state.words) }
            let answer = state.answers[index]
            if !answer.isForAll { state.answers.remove(at: index) }
            return (answer, state.words)
        }
        guard let answer, let words else {
            return problem("no answer is left for \(request.method) \(request.target) at \(server)")
        }
        do {
            return try response(answer, words)
        } catch {
            return problem("answer \(answer.number): \((error as? CaseFailure)?.reason ?? "\(error)")")
        }
    }

    /// What is done on a connection of HTTP/2 that begins, on a server's loop.
    func script(ofConnection number: Int, at server: String) -> HTTP2Script? {
        let (script, words) = state.withLock { state in
            let scripts = state.scripts.filter { $0.server == server }
            return (scripts.first { $0.connection == number } ?? scripts.first { $0.connection == nil }, state.words)
        }
        guard let script, let words else { return nil }
        do {
            let steps = try HTTP2Steps(words: words, gate: gate).steps(script.steps)
            return script.isAlone ? .instead(steps) : .beside(steps)
        } catch {
            note("a script of HTTP/2: \((error as? CaseFailure)?.reason ?? "\(error)")")
            return nil
        }
    }

    private func problem(_ text: String) -> ServerResponse {
        note(text)
        return .text(text, status: 599)
    }

    private func note(_ problem: String) { state.withLock { $0.problems.append(problem) } }

    private static func fits(_ answer: AnswerLine, _ request: ServerRequest, _ server: String) -> Bool {
        (answer.method ?? request.method) == request.method && (answer.server ?? server) == server
            && (answer.target ?? request.target) == request.target
    }

    private func response(_ answer: AnswerLine, _ words: KnownWords) throws -> ServerResponse {
        switch answer.content {
        case .raw(let text):
            return .script(try steps(text, words))
        case .webSocket(let styles, let fields, let steps):
            let script = WebSocketScript(words: words, gate: gate)
            return .webSocket(try script.route(styles, fields, steps, record: webSockets))
        case .http2(let steps):
            return ServerResponse(body: .http2(try HTTP2Steps(words: words, gate: gate).steps(steps)))
        case .response(let status, let style, let fields, let body):
            var response = ServerResponse(status: status)
            for field in fields {
                guard let value = field.value else { throw CaseFailure("an answer has no !\(field.name)") }
                response.fields.append(field.name, try words.text(value))
            }
            response.body = .bytes(try body.map(words.bytes) ?? Array("answer \(answer.number)".utf8))
            if style.contains("chunked") { response.framing = .chunked }
            if style.contains("until-close") { response.framing = .untilClose }
            response.closesConnection = style.contains("closing")
            return response
        }
    }

    /// Bytes with what is done between them.
    private func steps(_ text: CaseText, _ words: KnownWords) throws -> [ScriptStep] {
        var steps: [ScriptStep] = []
        var (isBytewise, hasEnd) = (false, false)
        func send(_ bytes: [UInt8]) { steps.append(isBytewise ? .sendOneByteAtATime(bytes) : .send(bytes)) }
        for part in text.parts {
            switch part {
            case .bytes(let bytes): send(bytes)
            case .words(let group):
                switch group[0] {
                case "bytewise": isBytewise = true
                case "whole": isBytewise = false
                case "until" where group.count == 2: steps.append(.wait(gate(group[1])))
                case "pause" where group.count == 2: steps.append(.delay(.milliseconds(Int64(group[1]) ?? 0)))
                case "request": steps.append(.waitForRequest)
                case "client-closes": steps.append(.waitForClose)
                case "half-close": steps.append(.halfClose)
                case "close-notify": steps.append(.closeNotify)
                case "close": (steps, hasEnd) = (steps + [.close], true)
                case "drop": (steps, hasEnd) = (steps + [.drop], true)
                case "reset": (steps, hasEnd) = (steps + [.reset], true)
                default: send(try words.bytes(CaseText(words: group)))
                }
            }
        }
        guard !hasEnd || steps.last?.isEnd == true else { throw CaseFailure("something follows the connection's end") }
        return steps
    }

    private func gate(_ name: String) -> ServerGate {
        state.withLock { state in
            if let gate = state.gates[name] { return gate }
            let gate = ServerGate()
            state.gates[name] = gate
            return gate
        }
    }
}

extension CaseText {
    /// One group of words.
    fileprivate init(words: [String]) {
        parts = [.words(words)]
    }
}

extension ScriptStep {
    fileprivate var isEnd: Bool {
        switch self {
        case .close, .drop, .reset: true
        case .send, .sendOneByteAtATime, .sendGenerated, .sendGeneratedChunks, .delay, .wait, .waitForRequest,
            .waitForClose, .halfClose, .closeNotify:
            false
        }
    }
}
