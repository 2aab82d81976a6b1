import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Engines of several shards, on one virtual loop and an in-memory network.
@Suite struct ShardTests {
    private let answers: [ScriptedPeer.Step] = [
        .receiveHead, .respond("first"), .receiveHead, .respond("second"), .receiveEnd, .close,
    ]

    @Test("B16.71: a host's limit and the order of its requests hold in its shard; a shard without hosts is never made")
    func limits() throws {
        let rig = ShardRig { $0.maximumConnectionsPerHost = 1 }
        let hosts = [rig.host(in: 1), rig.host(in: 3)]
        for host in hosts { rig.serve(host, answers) }
        let loads = try (0..<4).map { try rig.submit(hosts[$0 % 2]) }
        rig.settle()
        #expect(loads.map { rig.journal($0)?.text } == ["first", "first", "second", "second"])
        #expect(loads.map { ShardRules.shard(of: $0.id) } == [1, 3, 1, 3])
        #expect(rig.network.dialled.count == 2 && rig.shardsMade == 2)
        rig.expectClean()
    }

    @Test("Idle connections of all shards are closed")
    func idle() throws {
        let rig = ShardRig()
        let hosts = (0..<4).map { rig.host(in: $0) }
        for host in hosts { rig.serve(host, answers) }
        for host in hosts { _ = try rig.submit(host) }
        rig.settle()
        #expect(rig.network.streams.open == 8)
        rig.engine?.renewConnections()
        rig.settle()
        #expect(rig.network.streams.open == 0)
        rig.expectClean()
    }

    @Test("Cancelling waiting requests cancels those of all shards, and none that has a connection")
    func waiting() throws {
        let rig = ShardRig { $0.maximumConnectionsPerHost = 1 }
        let hosts = [rig.host(in: 0), rig.host(in: 2)]
        for host in hosts {
            rig.serve(host, [.receiveHead, .delay(.seconds(1)), .respond("late"), .receiveEnd, .close])
        }
        let first = try hosts.map { try rig.submit($0) }
        let second = try hosts.map { try rig.submit($0) }
        rig.settle()
        rig.engine?.cancelWaiting()
        rig.settle()
        for load in second { #expect(rig.isCancelled(load)) }
        for load in first { #expect(rig.journal(load)?.hasEnded == false) }
        rig.advance(.seconds(1))
        for load in first { #expect(rig.journal(load)?.text == "late") }
        rig.expectClean()
    }

    @Test("A shut engine ends its loads in every shard, and begins no more in any shard, used or not")
    func shutDown() throws {
        let rig = ShardRig()
        let hosts = [rig.host(in: 1), rig.host(in: 2)]
        for host in hosts { rig.serve(host, [.receiveHead, .receiveEnd, .close]) }
        let loads = try hosts.map { try rig.submit($0) }
        rig.settle()
        rig.engine?.shutDown(immediately: true)
        rig.settle()
        for load in loads { #expect(rig.isCancelled(load)) }
        let late = try [rig.submit(hosts[0]), rig.submit(rig.host(in: 3))]
        rig.settle()
        for load in late { #expect(rig.isCancelled(load)) }
        #expect(rig.shardsMade == 2)
        rig.expectClean()
    }

    @Test("An engine that is shut while its first load is on the way ends with it")
    func shutBeforeTheFirst() throws {
        let rig = ShardRig()
        let host = rig.host(in: 2)
        rig.serve(host, answers)
        let load = try rig.submit(host)
        rig.engine?.shutDown(immediately: false)
        rig.settle()
        #expect(rig.journal(load)?.text == "first")
        #expect(rig.network.streams.open == 0)
        rig.expectClean()
    }

    @Test("Loads are suspended, resumed and cancelled where they are")
    func steering() throws {
        let rig = ShardRig()
        let hosts = [rig.host(in: 0), rig.host(in: 1), rig.host(in: 3)]
        for host in hosts {
            rig.serve(host, [.receiveHead, .delay(.seconds(1)), .respond("late"), .receiveEnd, .close])
        }
        let loads = try hosts.map { try rig.submit($0) }
        rig.settle()
        loads[1].suspend()
        loads[2].cancel()
        rig.advance(.seconds(2))
        #expect(rig.journal(loads[0])?.text == "late")
        #expect(rig.journal(loads[1])?.hasEnded == false)
        #expect(rig.isCancelled(loads[2]))
        loads[1].resume()
        rig.settle()
        #expect(rig.journal(loads[1])?.text == "late")
        rig.expectClean()
    }

    @Test(
        "A kept connection is given up where it is, also where the next request goes another way",
        arguments: [true, false])
    func kept(_ goesElsewhere: Bool) throws {
        let rig = ShardRig()
        let hosts = [rig.host(in: 3), rig.host(in: 1)]
        rig.serve(hosts[0], [.receiveHead, .respond("no", status: "401 Unauthorized"), .receiveEnd, .close])
        rig.serve(hosts[1], answers)
        let first = try rig.submit(hosts[0], demand: .pause)
        rig.settle()
        first.keepConnection()
        first.resumeReading()
        rig.settle()
        #expect(rig.journal(first)?.text == "no" && rig.network.streams.open == 2)
        if goesElsewhere {
            let second = try rig.submit(hosts[1], continues: first.id)
            rig.settle()
            #expect(rig.journal(second)?.text == "first" && rig.network.streams.open == 2)
        } else {
            rig.engine?.abandonKept(after: first.id)
            rig.settle()
            #expect(rig.network.streams.open == 0)
        }
        rig.expectClean()
    }

    @Test("A number that no shard has given means nothing")
    func foreignNumber() {
        let rig = ShardRig()
        rig.engine?.abandonKept(after: ShardRules.firstNumber(of: 63))
        rig.engine?.abandonKept(after: -1)
        rig.settle()
        #expect(rig.shardsMade == 0)
        rig.expectClean()
    }
}

/// An engine of four shards.
private final class ShardRig {
    let reactor = Reactor(virtualTime: ())
    let network: MemoryNetwork
    private(set) var engine: Engine?
    private let shared = Shared()

    /// What the engine's closures need; all on the test's thread.
    private final class Shared: Sendable {
        nonisolated(unsafe) var network: MemoryNetwork?
        nonisolated(unsafe) var shardsMade = 0
        nonisolated(unsafe) var journals: [LoadID: Journal] = [:]
        nonisolated(unsafe) var peers: [ScriptedPeer] = []
    }

    init(configure: (inout EngineConfiguration) -> Void = { _ in }) {
        network = MemoryNetwork(reactor: reactor)
        shared.network = network
        var configuration = EngineConfiguration()
        configuration.shards = 4
        configure(&configuration)
        configuration.makeNetwork = { [shared] reactor in
            shared.shardsMade += 1
            let network = shared.network ?? MemoryNetwork(reactor: reactor)
            return (network.makeDialer(), network.makeResolver())
        }
        engine = Engine(configuration: configuration, loops: [reactor.loop])
    }

    /// How many shards have been made.
    var shardsMade: Int { shared.shardsMade }

    /// A host that belongs to this shard.
    func host(in shard: Int) -> String {
        let names = (0..<1_000).lazy.map { "h\($0).test" }
        let name = names.first {
            Origin(scheme: .http, host: $0).map { ShardRules.shard(of: $0, among: 4) } == shard
        }
        return name ?? "none.test"
    }

    /// Every connection to the host plays this script.
    func serve(_ host: String, _ script: [ScriptedPeer.Step]) {
        network.serve(host, address: "10.0.0.\(served)") { [shared, reactor] in
            shared.peers.append(ScriptedPeer($0, on: reactor, script))
        }
        served += 1
    }

    private var served = 1

    func submit(
        _ host: String, continues: LoadID? = nil, demand: ReceiverDemand = .more
    ) throws -> TransactionHandle {
        let origin = try #require(Origin(scheme: .http, host: host))
        var head = RequestHead(method: "GET", target: "/")
        head.fields.append("Host", origin.hostField)
        var request = TransactionRequest(origin: origin, head: head, idleTimeout: nil) { [shared] handle, _ in
            let journal = Journal(handle: handle)
            journal.demand = { $0 == 0 ? demand : .more }
            shared.journals[handle.id] = journal
            return journal
        }
        request.continues = continues
        return try #require(engine).submit(request)
    }

    func journal(_ load: TransactionHandle) -> Journal? { shared.journals[load.id] }

    func isCancelled(_ load: TransactionHandle) -> Bool {
        if case .cancelled? = journal(load)?.error { true } else { false }
    }

    func settle() { reactor.runPending() }

    func advance(_ duration: Duration) { reactor.advance(by: duration) }

    /// Lets the engine go and checks that nothing is left.
    func expectClean(sourceLocation: SourceLocation = #_sourceLocation) {
        engine = nil
        settle()
        #expect(network.streams.open == 0, "open streams", sourceLocation: sourceLocation)
        for journal in shared.journals.values {
            #expect(journal.ends == 1, "each load ends exactly once", sourceLocation: sourceLocation)
        }
        shared.journals = [:]
        shared.peers = []
        shared.network = nil
        reactor.tearDown()
    }
}
