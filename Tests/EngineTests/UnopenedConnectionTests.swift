// What is recorded of a connection that a request did not get: as much as there was of it.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Records of connections that were not opened")
struct UnopenedConnectionTests {
    /// An engine whose host is looked up in one second, and dialled as it is told.
    private func makeRig(port: Int = 80, _ behaviour: MemoryNetwork.Behaviour) -> EngineRig {
        let rig = EngineRig { $0.localAddress = SocketAddress(literal: "10.0.0.7", port: 0) }
        rig.network.setName("host.test", .addresses(["10.0.0.1"], delay: .seconds(1)))
        rig.network.setAddress("10.0.0.1:\(port)", behaviour)
        return rig
    }

    /// A server that does this with each connection, two seconds after it was dialled.
    private func makeRig(port: Int, _ script: [ScriptedPeer.Step]) -> EngineRig {
        let rig = makeRig(port: port, .hang)
        rig.network.setAddress(
            "10.0.0.1:\(port)",
            .accept(delay: .seconds(2)) { [unowned rig] in rig.keep($0, ScriptedPeer($0, on: rig.reactor, script)) })
        return rig
    }

    /// The steps' times in seconds since the request was taken up.
    private struct Times: Equatable {
        var lookup: [Duration?] = [nil, nil]
        var connect: [Duration?] = [nil, nil]
        var secure: [Duration?] = [nil, nil]

        static let looked: [Duration?] = [.zero, .seconds(1)]
    }

    private func times(of timeline: Timeline) -> Times {
        func since(_ instant: ContinuousClock.Instant?) -> Duration? {
            instant.map { timeline.fetchStart.duration(to: $0) }
        }
        return Times(
            lookup: [since(timeline.lookupStart), since(timeline.lookupEnd)],
            connect: [since(timeline.connectStart), since(timeline.connectEnd)],
            secure: [since(timeline.secureStart), since(timeline.secureEnd)])
    }

    @Test("B12.7, B12.9: a look-up that fails has begun, and nothing behind it has")
    func noSuchHost() throws {
        let rig = makeRig(.hang)
        rig.network.setName("host.test", .fails(.noSuchHost, delay: .seconds(1)))
        let journal = rig.submit()
        rig.advance(.seconds(2))
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(times(of: timeline) == Times(lookup: [.zero, nil]))
        rig.expectClean()
    }

    @Test("B12.7, B12.10, B12.20: where nobody listens the look-up is over, and the connecting has begun")
    func refused() throws {
        let rig = makeRig(.fail(errno: ECONNREFUSED, delay: .seconds(2)))
        let journal = rig.submit()
        rig.advance(.seconds(4))
        #expect(journal.error != nil)
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(times(of: timeline) == Times(lookup: Times.looked, connect: [.seconds(1), nil]))
        #expect(timeline.localAddress == nil && timeline.remoteAddress == nil)
        rig.expectClean()
    }

    @Test("B12.7: a request that runs out of time, or is cancelled, while it is dialled for", arguments: [false, true])
    func endsMeanwhile(isCancelled: Bool) throws {
        let rig = makeRig(.hang)
        let journal = rig.submit(idleTimeout: .seconds(10))
        rig.advance(.seconds(5))
        if isCancelled { journal.handle?.cancel() }
        rig.advance(.seconds(6))
        #expect(journal.error != nil)
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(times(of: timeline) == Times(lookup: Times.looked, connect: [.seconds(1), nil]))
        rig.expectClean()
    }

    @Test("B12.7: the time of a session's connections runs out")
    func connectionTime() throws {
        let rig = EngineRig { $0.connectionTimeout = .seconds(3) }
        rig.network.setName("host.test", .addresses(["10.0.0.1"]))
        rig.network.setAddress("10.0.0.1:80", .hang)
        let journal = rig.submit()
        rig.advance(.seconds(4))
        guard case .connectionTimeout? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(times(of: timeline) == Times(lookup: [.zero, .zero], connect: [.zero, nil]))
        rig.expectClean()
    }

    @Test(
        "B12.7, B12.11, B12.20: where TLS fails, or takes too long, its end and the connection's are missing",
        arguments: [false, true])
    func noTLS(isSilent: Bool) throws {
        let rig = makeRig(port: 443, [isSilent ? .receiveEnd : .close])
        let journal = rig.submit(idleTimeout: .seconds(10), scheme: .https)
        rig.advance(.seconds(20))
        #expect(journal.error != nil)
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(
            times(of: timeline)
                == Times(lookup: Times.looked, connect: [.seconds(1), nil], secure: [.seconds(3), nil]))
        #expect(timeline.localAddress?.host == "10.0.0.7" && timeline.remoteAddress?.host == "10.0.0.1")
        #expect(timeline.tls == nil)
        rig.expectClean()
    }

    @Test("B12.7, B12.17, B12.20: a proxy that refuses, and one that says nothing", arguments: [false, true])
    func proxy(isSilent: Bool) throws {
        let rig = EngineRig { $0.localAddress = SocketAddress(literal: "10.0.0.7", port: 0) }
        rig.serveProxy(isSilent ? [.receiveEnd] : [.receiveHead, .respond("no", status: "403 x"), .receiveEnd])
        let journal = rig.submit(idleTimeout: .seconds(10), scheme: .https, route: .proxied(try testProxy()))
        rig.advance(.seconds(11))
        #expect(journal.error != nil)
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(times(of: timeline) == Times(lookup: [.zero, .zero], connect: [.zero, nil]))
        #expect(timeline.usesProxy)
        #expect(timeline.localAddress?.host == "10.0.0.7" && timeline.remoteAddress?.host == "10.0.0.2")
        rig.expectClean()
    }

    @Test("B12.7: a SOCKS proxy's own look-up has not ended where that of its target has")
    func secondLookup() throws {
        let rig = makeRig(.hang)
        rig.network.setName("proxy.test", .hangs)
        let journal = rig.submit(idleTimeout: .seconds(10), route: .proxied(try testProxy(.socks4)))
        rig.advance(.seconds(20))
        #expect(journal.error != nil && rig.network.lookedUp == ["host.test", "proxy.test"])
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(times(of: timeline) == Times(lookup: [.zero, nil]))
        rig.expectClean()
    }

    @Test("B12.5, B12.7: of a request that lost a kept connection, and gets no other, both attempts are told")
    func afterReplay() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("one"), .receiveHead, .close])
        #expect(run(rig).text == "one")
        rig.network.setAddress("10.0.0.1:80", .fail(errno: ECONNREFUSED))
        let timelines = try #require(run(rig).outcome?.timelines)
        #expect(timelines.map(\.reused) == [true, false])
        #expect(timelines.map { times(of: $0) } == [Times(), Times(lookup: [.zero, .zero], connect: [.zero, nil])])
        rig.expectClean()
    }

    @Test("B12.12: a request that was suspended while it was dialled for has no date of that with a kept connection")
    func keptAfterAll() throws {
        let rig = makeRig(.hang)
        let journal = rig.submit()
        rig.advance(.seconds(2))
        journal.handle?.suspend()
        rig.settle()
        rig.serve("host.test", [.receiveHead, .respond("one"), .receiveHead, .respond("two")])
        #expect(run(rig).text == "one")
        journal.handle?.resume()
        rig.settle()
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(journal.text == "two" && timeline.reused && times(of: timeline) == Times())
        rig.expectClean()
    }

    private func run(_ rig: EngineRig) -> Journal {
        let journal = rig.submit()
        rig.settle()
        return journal
    }
}
