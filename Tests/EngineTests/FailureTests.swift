import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Each way to fail has its own error, and each error its facts.
@Suite struct FailureTests {
    @Test("B17.14: a name that does not exist")
    func unknownName() {
        let rig = EngineRig()
        let journal = rig.submit(host: "nowhere.test")
        rig.settle()
        guard case .nameLookup(let failure) = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(failure.reason == .noSuchHost)
        #expect(failure.host == "nowhere.test")
        rig.expectClean()
    }

    @Test("B16.11, B17.15: only when every address failed, with every reason in order")
    func everyAddressFails() {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["10.0.0.1", "fd00::1"]))
        rig.network.setAddress("10.0.0.1:80", .fail(errno: ECONNREFUSED))
        rig.network.setAddress("[fd00::1]:80", .fail(errno: ENETUNREACH))
        let journal = rig.submit()
        rig.settle()
        guard case .connect(let host, let failures) = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(host == "host.test")
        #expect(failures.map(\.error.errno) == [ENETUNREACH, ECONNREFUSED])
        rig.expectClean()
    }

    @Test(
        "B16.11: where a host has IPv6 addresses only and this machine has no IPv6 the text says so",
        arguments: [EADDRNOTAVAIL, EAFNOSUPPORT, ENETUNREACH])
    func wantOfIPv6(errno: Int32) throws {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["fd00::1"]))
        rig.network.setName("both.test", .addresses(["fd00::1", "10.0.0.1"]))
        for address in ["[fd00::1]:80", "10.0.0.1:80"] { rig.network.setAddress(address, .fail(errno: errno)) }
        func text(_ host: String) throws -> String {
            let journal = rig.submit(host: host)
            rig.settle()
            return "\(try #require(journal.error))"
        }
        let words = "of which only IPv6 addresses are known, and this machine cannot use them: [fd00::1]:80: connect: "
        #expect(try text("host.test").hasPrefix("No connection to host.test, " + words))
        // There is another family, or an address that is no name.
        #expect(try text("both.test").hasPrefix("No connection to both.test: [fd00::1]:80: "))
        #expect(try text("[fd00::1]").hasPrefix("No connection to fd00::1: [fd00::1]:80: "))
        let proxy = try #require(ProxyServer(kind: .http, host: "proxy.test", port: 3128))
        let address = try #require(SocketAddress(literal: "fd00::1", port: 3128))
        let failure = EngineError.ConnectFailure(address: address, error: SystemError(errno: errno, call: "connect"))
        let unreachable = EngineError.proxy(ProxyFailure(proxy, .unreachable([failure])))
        #expect("\(unreachable)".contains("\(proxy), of which only IPv6 addresses are known"))
        rig.expectClean()
    }

    @Test("B16.11: a refusal, or a host that is silent, is no want of IPv6", arguments: [ECONNREFUSED, EHOSTUNREACH])
    func noWantOfIPv6(errno: Int32) throws {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["fd00::1"]))
        rig.network.setAddress("[fd00::1]:80", .fail(errno: errno))
        let journal = rig.submit()
        rig.settle()
        #expect("\(try #require(journal.error))".hasPrefix("No connection to host.test: [fd00::1]:80: connect: "))
        rig.expectClean()
    }

    @Test("B16.10: IPv6 first, the next address after 250 ms, the first success wins and losers are closed")
    func happyEyeballs() {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["10.0.0.1", "fd00::1"]))
        rig.network.setAddress("[fd00::1]:80", .hang)
        rig.network.setAddress(
            "10.0.0.1:80",
            .accept { [reactor = rig.reactor] in
                ScriptedPeer($0, on: reactor, [.receiveHead, .respond("four"), .receiveEnd, .close])
            })
        let journal = rig.submit()
        rig.settle()
        #expect(rig.network.dialled == ["[fd00::1]:80"])
        rig.advance(.milliseconds(249))
        #expect(rig.network.dialled.count == 1)
        rig.advance(.milliseconds(1))
        #expect(rig.network.dialled == ["[fd00::1]:80", "10.0.0.1:80"])
        #expect(journal.text == "four")
        #expect(rig.network.cancelledDials == ["[fd00::1]:80"])
        rig.expectClean()
    }

    @Test("Running out of descriptors is told as such and the engine goes on")
    func shortage() {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["10.0.0.1"]))
        rig.network.setAddress("10.0.0.1:80", .fail(errno: EMFILE))
        let journal = rig.submit()
        rig.settle()
        guard case .localResource(let error) = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(error.errno == EMFILE)
        rig.serve("host.test", [.receiveHead, .respond("fine")])
        let next = rig.submit()
        rig.settle()
        #expect(next.text == "fine")
        rig.expectClean()
    }

    @Test(
        "B16.37, B16.38, B16.41: a cut is told apart from an end",
        arguments: [
            ("", WireError.closedBeforeResponse),
            ("HTTP/1.1 200 OK\r\nConte", .closedInHead),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", .closedInBody(received: 3, expected: 10)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", .closedInChunked(received: 2)),
        ])
    func cuts(bytes: String, expected: WireError) {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send(bytes), .close])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.wireError == expected)
        rig.expectClean()
    }

    @Test("B16.37: what came before the cut was delivered")
    func deliveredBeforeCut() {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), .close])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "abc")
        #expect(journal.head?.status == 200)
        rig.expectClean()
    }

    @Test("B16.40: a reset in the body is an error with its cause, also for close-delimited bodies")
    func reset() {
        for head in ["HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "HTTP/1.1 200 OK\r\n\r\nabc"] {
            let rig = EngineRig()
            rig.serve("host.test", [.receiveHead, .send(head), .delay(.milliseconds(1)), .reset])
            let journal = rig.submit()
            rig.advance(.seconds(1))
            guard case .connectionLost(let cause?, .receivingBody, 3, _) = journal.error else {
                Issue.record("\(String(describing: journal.error))")
                continue
            }
            #expect(cause.errno == ECONNRESET)
            #expect(journal.text == "abc")
            rig.expectClean()
        }
    }

    @Test(
        "B17.29: bytes that are not an HTTP/1 response are malformed, and nothing of them is delivered",
        arguments: [
            "SSH-2.0-OpenSSH_9\r\n", "HTTP/2.0 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "\u{15}\u{3}\u{3}\0\u{2}\u{2}(",
        ])
    func garbage(bytes: String) {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .send(bytes), .receiveEnd, .close])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.wireError?.kind == .malformedResponse)
        #expect(journal.head == nil)
        #expect(rig.core.counts.connections == 0)
        rig.expectClean()
    }

    @Test("A chunk that breaks in the middle ends the transfer after the data before it")
    func brokenChunk() {
        let rig = EngineRig()
        rig.serve(
            "host.test",
            [
                .receiveHead, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n"),
                .receiveEnd, .close,
            ])
        let journal = rig.submit()
        rig.settle()
        #expect(journal.text == "abc")
        #expect(journal.wireError?.kind == .malformedResponse)
        rig.expectClean()
    }

    @Test(
        "B16.11: a name none of whose addresses answers is looked up anew the next time; a literal has nothing to forget"
    )
    func forgetsUselessAddresses() {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["10.0.0.1", "10.0.0.2"]))
        let journals = [rig.submit(host: "host.test"), rig.submit(host: "10.0.0.3")]
        rig.advance(.seconds(1))
        for journal in journals {
            guard case .connect = journal.error else {
                Issue.record("\(String(describing: journal.error))")
                continue
            }
        }
        #expect(rig.network.forgotten == ["host.test"])
        #expect(rig.network.dialled == ["10.0.0.3:80", "10.0.0.1:80", "10.0.0.2:80"])
        rig.expectClean()
    }

    @Test("B16.80: a name whose addresses are silent until the time is over is looked up anew, whichever time that is")
    func forgetsSilentAddresses() {
        let limits: [(Duration?, Duration?, Duration?)] = [
            (.seconds(3), nil, nil), (nil, .seconds(3), nil), (nil, nil, .seconds(3)),
        ]
        for (idle, resource, limit) in limits {
            let rig = EngineRig { $0.connectionTimeout = limit }
            rig.network.setName("host.test", .addresses(["10.0.0.1", "10.0.0.2"]))
            rig.network.setAddress("10.0.0.1:80", .hang)
            rig.network.setAddress("10.0.0.2:80", .hang)
            let journal = rig.submit(idleTimeout: idle, resourceTimeout: resource)
            rig.advance(.milliseconds(2999))
            #expect(!journal.hasEnded && rig.network.forgotten.isEmpty)
            rig.advance(.seconds(1))
            #expect(journal.hasEnded && rig.network.forgotten == ["host.test"])
            rig.expectClean()
        }
    }

    @Test("B16.80: what a program cancels says nothing about addresses, nor does a short silence after a long look-up")
    func keepsAddresses() {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["10.0.0.1"]))
        rig.network.setName("slow.test", .addresses(["10.0.0.1"], delay: .milliseconds(2900)))
        rig.network.setAddress("10.0.0.1:80", .hang)
        let journal = rig.submit(idleTimeout: .seconds(9))
        let slow = rig.submit(host: "slow.test", idleTimeout: .seconds(3))
        rig.advance(.seconds(4))
        journal.handle?.cancel()
        rig.settle()
        #expect(journal.hasEnded && slow.hasEnded && rig.network.dialled.count == 2)
        #expect(rig.network.forgotten.isEmpty)
        rig.expectClean()
    }

    @Test("B16.80: a proxy whose addresses are silent is looked up anew")
    func forgetsSilentProxy() throws {
        let rig = EngineRig()
        rig.network.setName("proxy.test", .addresses(["10.0.0.8"]))
        rig.network.setAddress("10.0.0.8:3128", .hang)
        let journal = rig.submit(idleTimeout: .seconds(3), route: .proxied(try testProxy()))
        rig.advance(.seconds(4))
        #expect(journal.hasEnded && rig.network.forgotten == ["proxy.test"])
        rig.expectClean()
    }
}
