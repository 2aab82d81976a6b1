// Runs drivers against servers that reply with anything, over HTTP/1.1 and HTTP/2, with TLS and without, as they are
// and through a network that spoils what it carries, and looks at one thing: every command is answered, and the driver
// lives until its input ends.
//
// Must not know: what a good answer would have been.

import Foundation
import Synchronization
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport

/// Feeds drivers with replies of all sorts.
final class DriverFuzz: Sendable {
    /// What has happened so far.
    struct Tally: Sendable {
        var commands = 0
        var replies = 0
        /// How requests ended, by the names of errors; `answer` where there was none.
        var ends: [String: Int] = [:]
        var failures: [String] = []
        var residentKiB: [Int] = []
    }

    private let program: String
    private let seed: UInt64
    private let tally = Mutex(Tally())

    init(driver: String, seed: UInt64) {
        program = driver
        self.seed = seed
    }

    /// Runs for so long, with so many drivers at once.
    func run(seconds: Int, jobs: Int) async throws -> Tally {
        let stage = try FuzzStage(seed: seed) { [self] in
            tally.withLock { tally in
                tally.replies += 1
                return tally.replies
            }
        }
        let end = ContinuousClock.now + .seconds(seconds)
        await withTaskGroup { group in
            for job in 0..<jobs { group.addTask { await self.work(job, stage, until: end) } }
        }
        await stage.stop()
        return tally.withLock(\.self)
    }

    private func work(_ job: Int, _ stage: FuzzStage, until end: ContinuousClock.Instant) async {
        var round = 0
        do {
            let driver = try DriverProcess(program)
            while ContinuousClock.now < end, driver.isRunning {
                round += 1
                let commands = FuzzCommands(
                    seed: seed, of: job << 32 + round, places: stage.places, proxyPorts: stage.ports)
                await batch("s\(round)", driver, commands)
            }
            tally.withLock { $0.residentKiB.append(driver.residentKiB) }
            await expect("hello", [:], of: driver)
            driver.closeInput()
            let status = await driver.exitStatus()
            if status != 0 {
                fail("the driver ended with \(status.map { "status \($0)" } ?? "a signal"), round \(round)")
            }
        } catch {
            fail("the driver could not be started: \(error)")
        }
    }

    /// A session with many requests at once, and some that cancel them.
    private func batch(_ session: String, _ driver: DriverProcess, _ commands: FuzzCommands) async {
        var commands = commands
        let name: [JSONMember] = [JSONMember(name: "session", value: .string(session))]
        await expect(
            "session.open", .object(name + [JSONMember(name: "config", value: commands.configuration())]), of: driver)
        let requests = (0..<16).map { _ in (commands.request(in: session), commands.chance(5)) }
        await withTaskGroup { group in
            for (request, isCancelled) in requests {
                group.addTask { [self] in
                    let id = driver.send("request", request)
                    if isCancelled { driver.send("cancel", ["target": .integer(id)]) }
                    await expect(id, "request \(Checks.describe(request))", of: driver)
                }
            }
            // A session may end in the middle.
            if commands.chance(10) {
                group.addTask { [self] in await expect("session.close", .object(name), of: driver) }
            }
        }
        for op in ["cookies.list", "cache.usage", "session.close"] {
            await expect(op, .object(name), of: driver, mayBeRefused: true)
        }
    }

    private func expect(_ op: String, _ members: JSONValue, of driver: DriverProcess, mayBeRefused: Bool = false) async
    {
        await expect(driver.send(op, members), op, of: driver, mayBeRefused: mayBeRefused || op == "session.close")
    }

    /// Waits for an answer, but not for ever; a driver that does not give one is ended.
    private func expect(_ id: Int64, _ what: String, of driver: DriverProcess, mayBeRefused: Bool = false) async {
        tally.withLock { $0.commands += 1 }
        let answer = await withTaskGroup(of: JSONValue?.self) { group in
            group.addTask { try? await driver.answer(id) }
            group.addTask {
                do { try await Task.sleep(for: Self.patience) } catch { return nil }
                driver.end()
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let answer else { return fail("no answer to \(id): \(what)") }
        guard answer["ok"] == true, let result = answer["result"] else {
            // The session may be closed already.
            let isExpected = answer["problem"] == "bad_command" && (mayBeRefused || what.hasPrefix("request"))
            if !isExpected { fail("refused: \(what): \(Checks.describe(answer))") }
            return
        }
        guard what.hasPrefix("request") else { return }
        guard result["body_length"] != nil, result["redirects"] != nil else {
            return fail("an answer without its members: \(Checks.describe(answer))")
        }
        var end = "answer"
        if case .string(let name)? = result["error"]?["name"] { end = name }
        tally.withLock { $0.ends[end, default: 0] += 1 }
    }

    private func fail(_ text: String) {
        tally.withLock { if $0.failures.count < 50 { $0.failures.append(text) } }
    }

    private static let patience = Duration.seconds(30)
}

extension DriverFuzz.Tally {
    /// What is printed at the end.
    var text: String {
        var lines = ["\(commands) commands answered, \(replies) replies sent"]
        for (name, count) in ends.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            lines.append("  \(name): \(count)")
        }
        lines.append("memory of the drivers at the end: " + residentKiB.map { "\($0) KiB" }.joined(separator: ", "))
        lines += failures
        lines.append(failures.isEmpty ? "every command was answered, and every driver lived" : "FAILED")
        return lines.joined(separator: "\n")
    }
}

/// The servers that reply with anything.
struct FuzzStage: Sendable {
    private let servers: [LoopbackServer]
    private let networks: [FaultProxy]
    /// Where they are, as beginnings of URLs.
    let places: [String]
    var ports: [Int] { [servers[0].port, servers[2].port] }

    /// `next` numbers the replies.
    init(seed: UInt64, next: @escaping @Sendable () -> Int) throws {
        let steps: @Sendable () -> [ScriptStep] = {
            var mutator = ReplyMutator(seed: seed, of: next())
            return mutator.steps()
        }
        let identity = try CertificateFactory.server("127.0.0.1").identity
        var options = LoopbackServer.Options()
        let plain = try LoopbackServer.start(options) { _ in .script(steps()) }
        options.tls = ServerTLS(identity: identity)
        let secure = try LoopbackServer.start(options) { _ in .script(steps()) }
        // One that does not wait to be asked.
        options = LoopbackServer.Options()
        options.greeting = { _ in steps() + [.close] }
        let hasty = try LoopbackServer.start(options) { _ in .script(steps()) }
        let framing = try Self.framingServers(ServerTLS(identity: identity), seed: seed, next: next)
        servers = [plain, secure, hasty] + framing
        networks = try ([plain, secure] + framing).map { server in
            try FaultProxy.start(before: server.port) { options in
                options.plan = { number in
                    var random = SeededRandom(seed: seed, of: number)
                    return .random(of: Fault.Kind.allCases, percentUntouched: 0, using: &random)
                }
            }
        }
        let framed = zip(framing, networks.dropFirst(2)).flatMap { server, network in
            let scheme = server === framing.first ? "http" : "https"
            return [server.port, network.port].map { "\(scheme)://127.0.0.1:\($0)" }
        }
        places =
            [
                "http://127.0.0.1:\(plain.port)", "https://127.0.0.1:\(secure.port)", "http://127.0.0.1:\(hasty.port)",
                "https://127.0.0.1:\(hasty.port)", "http://127.0.0.1:\(networks[0].port)",
                "https://127.0.0.1:\(networks[1].port)", "ftp://127.0.0.1:\(hasty.port)",
            ] + framed
    }

    /// Servers that speak HTTP/2 only: one without TLS, for clients that know that before, one with it, and one that
    /// says nothing but its own.
    private static func framingServers(
        _ tls: ServerTLS, seed: UInt64, next: @escaping @Sendable () -> Int
    ) throws -> [LoopbackServer] {
        let router: LoopbackServer.Router = { request in
            var mutator = FrameMutator(seed: seed, of: next())
            return .http2(mutator.steps(on: request.stream ?? 1))
        }
        var options = LoopbackServer.Options()
        options.http2 = .required
        let plain = try LoopbackServer.start(options, router: router)
        options.tls = tls
        let secure = try LoopbackServer.start(options, router: router)
        options.http2.script = { _ in
            var mutator = FrameMutator(seed: seed, of: next())
            return .instead(mutator.connection())
        }
        let alone = try LoopbackServer.start(options, router: router)
        return [plain, secure, alone]
    }

    func stop() async {
        for network in networks { await network.stop() }
        for server in servers { await server.stop() }
    }
}
