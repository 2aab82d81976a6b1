// Carries out commands. Sessions are opened and requests are started in the order of the lines; nothing waits for
// anything, answers come when they come. Driver protocol, sections 1 to 8.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// The driver: takes lines, on one thread, and gives answers.
final class Driver: Sendable {
    struct State {
        var sessions: [String: DriverSession] = [:]
        var webSockets: [String: DriverWebSocket] = [:]
        var loads: [Int64: any Load] = [:]
    }

    let state = Mutex(State())
    private let outbox: Outbox
    private let open = DispatchGroup()

    init(outbox: Outbox) {
        self.outbox = outbox
    }

    /// Carries out a line.
    func carryOut(_ line: [UInt8]) {
        switch Command.read(line) {
        case .success(let command): carryOut(command, Reply(id: command.id, outbox: outbox, open: open))
        case .failure(let unreadable): refuseLine(unreadable.reason, id: unreadable.id)
        }
    }

    /// Answers a line that is no command.
    func refuseLine(_ reason: String, id: Int64?) {
        Reply(id: id, outbox: outbox, open: open).refuse(.badCommand(reason))
    }

    /// Cancels everything and returns when everything is answered and written, or the time is over.
    ///
    /// Five seconds is what the protocol gives. Answers that have not come after 3.5 of them will hardly come; those
    /// that have come are not given up as long as the runner takes them. A runner that reads no more is left before the
    /// five seconds are over; one that reads slowly, or a machine that lets neither it nor us run, gets more time,
    /// since a line that is lost is worse than one that is late.
    func end() {
        let start = DispatchTime.now()
        let sessions = state.withLock { state in
            defer { state.sessions = [:] }
            return Array(state.sessions.values)
        }
        for session in sessions {
            open.enter()
            session.close { [open] in open.leave() }
        }
        _ = open.wait(timeout: start + .milliseconds(3500))
        Scratch.removeAll()
        outbox.flush(untilStuckAt: start + .milliseconds(4500), latest: start + .seconds(30))
    }

    private func carryOut(_ command: Command, _ reply: Reply) {
        do throws(Refusal) {
            switch command.op {
            case "hello": try hello(command.members, reply)
            case "session.open": try openSession(command.members, reply)
            case "session.close": try closeSession(command.members, reply)
            case "request": try request(command, reply)
            case "cancel": try cancel(command.members, reply)
            case "cookies.store": try storeCookies(command.members, reply)
            case "cookies.header": try cookieHeader(command.members, reply)
            case "cookies.list": try listCookies(command.members, reply)
            case "cookies.clear": try clearCookies(command.members, reply)
            case "cache.clear": try clearCache(command.members, reply)
            case "cache.usage": try cacheUsage(command.members, reply)
            case "trust.evaluate": try evaluate(command.members, reply)
            case "ws.open": try openWebSocket(command.members, reply)
            case "ws.send": try sendOnWebSocket(command.members, reply)
            case "ws.receive": try receiveOnWebSocket(command.members, reply)
            case "ws.ping": try pingOnWebSocket(command.members, reply)
            case "ws.close": try closeWebSocket(command.members, reply)
            case "ws.echo": try echoWebSocket(command.members, reply)
            default: throw .unsupported(command.op)
            }
        } catch {
            reply.refuse(error)
        }
    }

    private func hello(_ members: Members, _ reply: Reply) throws(Refusal) {
        try members.finish()
        let ops = [
            "hello", "session.open", "session.close", "request", "cancel", "cookies.store", "cookies.header",
            "cookies.list", "cookies.clear", "cache.clear", "cache.usage", "trust.evaluate", "ws.open", "ws.send",
            "ws.receive", "ws.ping", "ws.close", "ws.echo",
        ]
        reply.succeed([
            "protocol": 1, "name": "URLLoading", "version": .string(URLSession.libraryVersion),
            "ops": .array(ops.map(JSONValue.string)),
            "config": .array(SessionPlan.keys.map(JSONValue.string)),
            "options": .array(RequestOptions.keys.map(JSONValue.string)),
        ])
    }

    // MARK: Sessions

    private func openSession(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let name = try members.requiredString("session")
        let plan = try SessionPlan(members.object("config"))
        try members.finish()
        guard state.withLock({ $0.sessions[name] == nil }) else {
            throw .badCommand("session.open: session \(name) is open")
        }
        let session = DriverSession(plan)
        state.withLock { $0.sessions[name] = session }
        reply.succeed()
    }

    private func closeSession(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let name = try members.requiredString("session")
        try members.finish()
        let closed = state.withLock { state in
            state.webSockets = state.webSockets.filter { $0.value.session != name }
            return state.sessions.removeValue(forKey: name)
        }
        guard let session = closed else { throw .badCommand("session.close: session \(name) is not open") }
        session.close { reply.succeed() }
    }

    // MARK: Requests

    private func request(_ command: Command, _ reply: Reply) throws(Refusal) {
        let id = command.id
        let plan = try RequestPlan(command.members)
        guard let session = state.withLock({ $0.sessions[plan.session] }) else {
            throw .badCommand("request: session \(plan.session) is not open")
        }
        guard state.withLock({ $0.loads[id] == nil }) else {
            throw .badCommand("request: \(id) is the number of a request in progress")
        }
        guard let url = URL(string: plan.url) else {
            var record = TransferRecord(mostBodyBytes: 0, keepsChunks: plan.options.reportsChunks)
            record.error = .badURL
            return reply.succeed(record.result)
        }
        let redirects = plan.options.redirects ?? session.redirects
        let transfer = Transfer(
            options: plan.options, redirects: redirects, answers: session.makeAnswers(),
            // From here on it cannot be cancelled any more.
            whenEnded: { [self] in state.withLock { _ = $0.loads.removeValue(forKey: id) } },
            completion: { reply.succeed($0.result) })
        let load = session.load(plan, from: url, reportingTo: transfer)
        state.withLock { $0.loads[id] = load }
        load.resume()
        guard let milliseconds = plan.options.cancelAfterMilliseconds else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak load] in
            load?.cancel()
        }
    }

    private func cancel(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        guard let target = try members.integer("target") else { throw .badCommand("cancel: target is missing") }
        try members.finish()
        let load = state.withLock { $0.loads[target] }
        load?.cancel()
        reply.succeed(["found": .bool(load != nil)])
    }

    // MARK: Cookies

    private func storeCookies(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let jar = try jar(&members)
        let url = try members.requiredString("url")
        guard let fields = try members.strings("set_cookie") else {
            throw .badCommand("cookies.store: set_cookie is missing")
        }
        try members.finish()
        try jar.store(fields, from: url)
        reply.succeed()
    }

    private func cookieHeader(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let jar = try jar(&members)
        let url = try members.requiredString("url")
        try members.finish()
        reply.succeed(["value": .text(try jar.field(for: url))])
    }

    private func listCookies(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let jar = try jar(&members)
        try members.finish()
        reply.succeed(["cookies": .array(jar.list)])
    }

    private func clearCookies(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let jar = try jar(&members)
        try members.finish()
        jar.clear()
        reply.succeed()
    }

    /// The cookies of the session that a command names.
    private func jar(_ members: inout Members) throws(Refusal) -> DriverCookies { try session(&members).cookies }

    /// The session that a command names.
    private func session(_ members: inout Members) throws(Refusal) -> DriverSession {
        let name = try members.requiredString("session")
        guard let session = state.withLock({ $0.sessions[name] }) else {
            throw .badCommand("session \(name) is not open")
        }
        return session
    }

    // MARK: Cache

    private func clearCache(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let cache = try session(&members).cache
        try members.finish()
        cache?.removeAllCachedResponses()
        reply.succeed()
    }

    private func cacheUsage(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let cache = try session(&members).cache
        try members.finish()
        reply.succeed([
            "memory_bytes": .integer(Int64(cache?.currentMemoryUsage ?? 0)),
            "disk_bytes": .integer(Int64(cache?.currentDiskUsage ?? 0)),
        ])
    }

    // MARK: Trust

    private func evaluate(_ members: Members, _ reply: Reply) throws(Refusal) {
        let evaluation = try TrustEvaluation(members)
        DispatchQueue.global().async { reply.succeed(evaluation.result()) }
    }
}
