// Sessions whose hosts are spread over several loops: a program sees what it sees with one loop.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

@Suite("Sessions of several shards")
struct ShardedSessionTests {
    /// Three hosts in each of four shards.
    private static let hosts: [String] = (0..<4).flatMap { shard in
        (0..<1_000).lazy.map { "h\($0).test" }.filter { name in
            Origin(scheme: .http, host: name).map { ShardRules.shard(of: $0, among: 4) } == shard
        }.prefix(3)
    }

    /// One host in each of four shards.
    private static var distant: [String] { stride(from: 0, to: hosts.count, by: 3).map { hosts[$0] } }

    private func configuration(_ shards: Int = 4) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.hostOverrides = ["*": "127.0.0.1"]
        configuration.connectionProxyDictionary = [:]
        configuration.engineShards = shards
        return configuration
    }

    /// What connections each host was asked on.
    private final class Visitors: Sendable {
        private let seen = Guarded<[Substring: Set<Int>]>([:])

        func note(_ request: ServerRequest) {
            seen.withLock { _ = $0[request.path.dropFirst(), default: []].insert(request.connection) }
        }

        var connections: [Substring: Set<Int>] { seen.withLock { $0 } }
    }

    @Test("B16.71, B16.1: all hosts are asked side by side, each within its limit and on connections of its own")
    func manyHosts() async throws {
        let visitors = Visitors()
        try await withServer(
            router: {
                visitors.note($0)
                return .text($0.target)
            }
        ) { server in
            let configuration = configuration()
            configuration.httpMaximumConnectionsPerHost = 2
            let session = URLSession(configuration: configuration)
            let answers = try await withThrowingTaskGroup(of: (String, String).self) { group in
                for host in Self.hosts {
                    let url = try server.at("/\(host)", host: host)
                    for _ in 0..<16 { group.addTask { ("/\(host)", await Load(url, in: session).text) } }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == Self.hosts.count * 16 && answers.allSatisfy { $0.0 == $0.1 })
            let connections = visitors.connections
            #expect(connections.count == Self.hosts.count && connections.values.allSatisfy { $0.count <= 2 })
            #expect(Set(connections.values.joined()).count == connections.values.map(\.count).reduce(0, +))
            session.invalidateAndCancel()
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    // Numbers that are too large are tested in `ShardRulesTests`: here each loop would keep a thread
    // to the end of the process.
    @Test("B16.71: numbers below one count as one", arguments: [Int.min, -1, 0])
    func oddNumbers(_ number: Int) async throws {
        try await withServer(router: { .text($0.target) }) { server in
            let session = URLSession(configuration: configuration(number))
            for host in Self.distant {
                let load = try await Load(server.at("/x", host: host), in: session)
                #expect(load.text == "/x")
            }
            #expect(session.configuration.engineShards == number)
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B16.71, B4.2: the delegate hears of a task that is redirected from host to host as with one shard",
        arguments: [1, 4])
    func redirects(_ shards: Int) async throws {
        let hosts = Self.distant
        let port = Guarded(0)
        let router: LoopbackServer.Router = { request in
            guard let place = Int(request.path.dropFirst()), place < hosts.count else { return .text("here") }
            let next = place + 1 < hosts.count ? "http://\(hosts[place + 1]):\(port.value)/\(place + 1)" : "/end"
            return ServerResponse.text("moved", status: 302).adding("Location", next)
        }
        try await withServer(router: router) { server in
            port.value = server.port
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: configuration(shards), delegate: delegate, delegateQueue: nil)
            session.dataTask(with: try server.at("/0", host: hosts[0])).resume()
            await delegate.transcript.completed.wait()
            #expect(
                delegate.transcript.calls == [
                    "created 1", "redirect 302 GET /1", "redirect 302 GET /2", "redirect 302 GET /3",
                    "redirect 302 GET /end", "response 200", "data", "metrics 5", "complete nil",
                ])
            #expect(delegate.transcript.body == "here")
            let quiet = try await Load(server.at("/0", host: hosts[0]), in: session)
            #expect(quiet.text == "here")
            session.invalidateAndCancel()
        }
    }

    @Test("B16.71: a task is suspended, resumed and cancelled in the shard of its hop", arguments: [true, false])
    func steering(_ cancels: Bool) async throws {
        let hosts = Self.distant
        let (port, gate, arrived) = (Guarded(0), ServerGate(), Signal())
        let router: LoopbackServer.Router = { request in
            switch request.path {
            case "/start":
                let place = "http://\(hosts[2]):\(port.value)/end"
                return ServerResponse.text("moved", status: 302).adding("Location", place)
            case "/end":
                arrived.fire()
                return .slow([.init("here", when: gate)])
            default: return .text("quick")
            }
        }
        try await withServer(router: router) { server in
            port.value = server.port
            let session = URLSession(configuration: configuration())
            let (result, ended) = (Guarded(""), Signal())
            let task = session.dataTask(with: try server.at("/start", host: hosts[1])) { data, _, error in
                result.value = error.map { Transcript.text($0) } ?? String(decoding: data ?? Data(), as: UTF8.self)
                ended.fire()
            }
            task.resume()
            await arrived.wait()
            task.suspend()
            // Order: this load reaches the shard's loop after the suspension, and is over before the gate opens.
            let neighbour = try await Load(server.at("/", host: Self.hosts[7]), in: session)
            gate.open()
            let distant = try await Load(server.at("/", host: hosts[3]), in: session)
            #expect(neighbour.text == "quick" && distant.text == "quick" && task.state == .suspended)
            if cancels { task.cancel() } else { task.resume() }
            await ended.wait()
            #expect(result.value == (cancels ? "-999" : "here"))
            session.invalidateAndCancel()
        }
    }

    @Test("B16.71, B1.15: a session that is cancelled ends its tasks in all shards, and all their connections")
    func cancelledSession() async throws {
        let count = Self.hosts.count
        let (gate, arrived) = (ServerGate(), Signal())
        let router: LoopbackServer.Router = { _ in
            arrived.fire()
            return .slow([.init("never", when: gate)])
        }
        try await withServer(router: router) { server in
            let configuration = configuration()
            configuration.httpMaximumConnectionsPerHost = 1
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            // The second one waits for the connection of the first, or shares it.
            for host in Self.hosts {
                for _ in 0..<2 { session.dataTask(with: try server.at("/", host: host)).resume() }
            }
            await arrived.wait(times: count)
            session.invalidateAndCancel()
            await delegate.transcript.invalidated.wait()
            let calls = delegate.transcript.calls
            #expect(calls.count { $0 == "complete -999" } == 2 * count && calls.last == "invalid nil")
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    @Test("B16.71, B1.15, B1.26: a session ends after the last task of all shards; flush closes what is idle in all")
    func endedSession() async throws {
        let (gate, arrived) = (ServerGate(), Signal())
        let router: LoopbackServer.Router = { request in
            guard request.path == "/slow" else { return .text("quick") }
            arrived.fire()
            return .slow([.init("slow", when: gate)])
        }
        try await withServer(router: router) { server in
            let delegate = RecordingDelegate()
            let session = URLSession(configuration: configuration(), delegate: delegate, delegateQueue: nil)
            for host in Self.distant { _ = try await Load(server.at("/", host: host), in: session) }
            #expect(server.stats.connectionsOpen == 4)
            await session.flush()
            await server.wait { $0.connectionsOpen == 0 }

            let before = delegate.transcript.calls.count { $0 == "complete nil" }
            for host in Self.distant { session.dataTask(with: try server.at("/slow", host: host)).resume() }
            await arrived.wait(times: 4)
            session.finishTasksAndInvalidate()
            gate.open()
            await delegate.transcript.invalidated.wait()
            let calls = delegate.transcript.calls
            #expect(calls.count { $0 == "complete nil" } == before + 4 && calls.last == "invalid nil")
            await server.wait { $0.connectionsOpen == 0 }
        }
    }

    @Test("B16.71, H2.1: over HTTP/2 each host has a connection of its own, in one shard")
    func http2() async throws {
        let visitors = Visitors()
        try await withHTTP2Session(
            .offered, hosts: Self.hosts, session: { $0.engineShards = 4 },
            router: {
                visitors.note($0)
                return .text($0.target)
            }
        ) { server, session in
            for host in Self.hosts { _ = try await Load(server.at("/\(host)", host: host), in: session) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for host in Self.hosts {
                    let url = try server.at("/\(host)", host: host)
                    for _ in 0..<16 {
                        group.addTask {
                            let load = await Load(url, in: session)
                            #expect(load.text == "/\(host)")
                        }
                    }
                }
                try await group.waitForAll()
            }
            let connections = visitors.connections
            #expect(connections.count == Self.hosts.count && connections.values.allSatisfy { $0.count == 1 })
            #expect(server.stats.http2Connections == Self.hosts.count)
        }
    }
}
