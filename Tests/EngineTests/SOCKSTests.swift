// Tunnels through SOCKS proxies: where names are looked up, passwords, and further addresses of a host.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("Tunnels by SOCKS")
struct SOCKSTests {
    private static let open5: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    private static let open4: [UInt8] = [0, 90, 0, 0, 0, 0, 0, 0]
    private static let name = Array("host.test".utf8)

    /// A proxy without passwords that says this to a request of so many bytes, and then is the server.
    private func script5(_ count: Int, _ reply: [UInt8] = open5) -> [ScriptedPeer.Step] {
        [.receive(count: 3), .send([5, 0]), .receive(count: count), .send(reply), .receiveHead, .respond("hello")]
    }

    @Test("B13.24, B13.26: socks5h sends the name, and looks nothing up but the proxy")
    func namesThere() throws {
        let rig = EngineRig()
        let proxy = rig.serveProxy(port: 1080, script5(4 + 10 + 2))
        let journal = rig.submit(route: .proxied(try testProxy(.socks5h, port: 1080)))
        rig.settle()
        #expect(journal.text == "hello")
        let request: [UInt8] = [5, 1, 0, 5, 1, 0, 3, 9] + Self.name + [0, 80]
        #expect(proxy.peers.first?.received.starts(with: request) == true)
        #expect(
            proxy.peers.first?.received.dropFirst(request.count).elementsEqual(
                "GET / HTTP/1.1\r\nHost: host.test\r\n\r\n".utf8) == true, "no absolute form in a tunnel")
        #expect(rig.network.lookedUp == ["proxy.test"])
        #expect(try #require(journal.outcome?.timelines.last).usesProxy)
        rig.expectClean()
    }

    @Test("B13.24, B13.26: socks5 looks the name up here and sends the address, IPv6 too")
    func namesHere() throws {
        for (address, encoded) in [
            ("192.0.2.9", [1, 192, 0, 2, 9]),
            ("2001:db8::9", [4, 0x20, 1, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [9]),
        ] as [(String, [UInt8])] {
            let rig = EngineRig()
            rig.network.setName("host.test", .addresses([address]))
            let proxy = rig.serveProxy(port: 1080, script5(3 + encoded.count + 2))
            let journal = rig.submit(route: .proxied(try testProxy(.socks5, port: 1080)))
            rig.settle()
            #expect(journal.text == "hello")
            #expect(proxy.peers.first?.received.starts(with: [5, 1, 0, 5, 1, 0] + encoded + [0, 80]) == true)
            #expect(rig.network.lookedUp == ["host.test", "proxy.test"])
            rig.expectClean()
        }
    }

    @Test("B13.22, B13.23: SOCKS4 sends the address and the user, SOCKS4A the name")
    func version4() throws {
        for (kind, request) in [
            (.socks4, [4, 1, 0, 80, 192, 0, 2, 9, 109, 101, 0]),
            (.socks4a, [4, 1, 0, 80, 0, 0, 0, 1, 109, 101, 0] + Self.name + [0]),
        ] as [(ProxyServer.Kind, [UInt8])] {
            let rig = EngineRig()
            rig.network.setName("host.test", .addresses(["2001:db8::9", "192.0.2.9"]))
            let proxy = rig.serveProxy(
                port: 1080, [.receive(count: request.count), .send(Self.open4), .receiveHead, .respond("hello")])
            let journal = rig.submit(route: .proxied(try testProxy(kind, ("me", "unused"), port: 1080)))
            rig.settle()
            #expect(journal.text == "hello")
            #expect(proxy.peers.first?.received.starts(with: request) == true)
            rig.expectClean()
        }
    }

    @Test("B13.22: a host with IPv6 addresses only is out of SOCKS4's reach, and an IPv6 literal out of SOCKS4A's")
    func inexpressible() throws {
        for (kind, host) in [(ProxyServer.Kind.socks4, "host.test"), (.socks4, "[::1]"), (.socks4a, "[::1]")] {
            let rig = EngineRig()
            rig.network.setName("host.test", .addresses(["2001:db8::9"]))
            rig.serveProxy(port: 1080, [.receiveEnd])
            let journal = rig.submit(host: host, route: .proxied(try testProxy(kind, port: 1080)))
            rig.settle()
            guard case .socks(.unsendableTarget)? = journal.proxyFailure else {
                Issue.record("\(String(describing: journal.error))")
                continue
            }
            #expect(rig.network.dialled.isEmpty)
            rig.expectClean()
        }
    }

    @Test("B13.26: a name that cannot be looked up here is the origin's failure, not the proxy's")
    func unknownName() throws {
        let rig = EngineRig()
        rig.serveProxy(port: 1080, [.receiveEnd])
        let journal = rig.submit(route: .proxied(try testProxy(.socks5, port: 1080)))
        rig.settle()
        guard case .nameLookup(let failure)? = journal.error else {
            Issue.record("\(String(describing: journal.error))")
            return
        }
        #expect(failure.host == "host.test")
        rig.expectClean()
    }

    @Test("B13.25, B16.11: an address that the proxy cannot reach is followed by the host's next, on a new connection")
    func nextAddress() throws {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["2001:db8::9", "192.0.2.9"]))
        rig.serveProxy(
            "proxy.test", port: 1080,
            [
                { _, _ in [.receive(count: 3), .send([5, 0]), .receive(count: 22), .send([5, 4]), .close] },
                { [self] _, _ in script5(10) },
            ])
        let journal = rig.submit(route: .proxied(try testProxy(.socks5, port: 1080)))
        rig.settle()
        #expect(journal.text == "hello" && rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("B13.25, B13.27: a refusal is told with its reply")
    func refused() throws {
        for (kind, script, expected) in [
            (.socks5h, [.receive(count: 3), .send([5, 0]), .receive(count: 16), .send([5, 5]), .close], .reply(5)),
            (.socks5h, [.receive(count: 3), .send("HTTP/1.1 400 x\r\n\r\n"), .close], .malformed),
            (.socks4a, [.receive(count: 19), .send([0, 91, 0, 0, 0, 0, 0, 0]), .close], .rejected(code: 91)),
        ] as [(ProxyServer.Kind, [ScriptedPeer.Step], SOCKSFailure)] {
            let rig = EngineRig()
            rig.serveProxy(port: 1080, script)
            let journal = rig.submit(answers: true, route: .proxied(try testProxy(kind, port: 1080)))
            rig.settle()
            guard case .socks(let failure)? = journal.proxyFailure else {
                Issue.record("\(String(describing: journal.error))")
                continue
            }
            #expect(failure == expected && journal.questions.isEmpty)
            rig.expectClean()
        }
    }

    @Test("B13.19: a SOCKS proxy that closes in place of an answer is told as such")
    func closed() throws {
        for script in [[.close], [.receive(count: 3), .close], [.receive(count: 3), .send([5]), .close]]
            as [[ScriptedPeer.Step]]
        {
            let rig = EngineRig()
            rig.serveProxy(port: 1080, script)
            let journal = rig.submit(route: .proxied(try testProxy(.socks5h, port: 1080)))
            rig.settle()
            guard case .closed? = journal.proxyFailure else {
                Issue.record("\(String(describing: journal.error))")
                continue
            }
            rig.expectClean()
        }
    }

    // MARK: Passwords

    @Test("B13.24: the configured user and password are sent where they are wanted")
    func password() throws {
        let rig = EngineRig()
        let proxy = rig.serveProxy(
            port: 1080,
            [
                .receive(count: 4), .send([5, 2]), .receive(count: 9), .send([1, 0]), .receive(count: 16),
                .send(Self.open5), .receiveHead, .respond("hello"),
            ])
        let journal = rig.submit(route: .proxied(try testProxy(.socks5h, ("me", "1234"), port: 1080)))
        rig.settle()
        #expect(journal.text == "hello")
        #expect(
            proxy.peers.first?.received.starts(with: [5, 2, 0, 2, 1, 2, 109, 101, 4, 49, 50, 51, 52, 5, 1]) == true)
        rig.expectClean()
    }

    @Test("B13.28: a missing password is asked for, and so is another after a wrong one; each has a new connection")
    func asked() throws {
        let wrong: [ScriptedPeer.Step] = [
            .receive(count: 4), .send([5, 2]), .receive(count: 5), .send([1, 1]), .close,
        ]
        let right: [ScriptedPeer.Step] = [
            .receive(count: 4), .send([5, 2]), .receive(count: 7), .send([1, 0]), .receive(count: 16),
            .send(Self.open5), .receiveHead, .respond("hello"),
        ]
        let rig = EngineRig()
        rig.serveProxy(
            "proxy.test", port: 1080,
            [{ _, _ in [.receive(count: 3), .send([5, 255]), .close] }, { _, _ in wrong }, { _, _ in right }])
        let journal = rig.submit(
            idleTimeout: .seconds(10), answers: true, route: .proxied(try testProxy(.socks5h, port: 1080)))
        rig.settle()
        for password in ["a", "abc"] {
            let question = try #require(journal.proxyQuestion)
            guard case .socksPassword = question.demand else {
                Issue.record("\(question.demand)")
                return
            }
            #expect(question.isFirst == (password == "a"))
            rig.advance(.seconds(60))
            question.answer(.password(user: "u", password: password))
            rig.settle()
        }
        #expect(journal.questions.count == 2 && journal.text == "hello" && rig.network.dialled.count == 3)
        rig.expectClean()
    }

    @Test("B2.67, B13.28: a SOCKS proxy that opens the tunnel without a look at the password has not accepted it")
    func unchecked() throws {
        for (script, isChecked) in [
            ([.receive(count: 4), .send([5, 0])], false),
            ([.receive(count: 4), .send([5, 2]), .receive(count: 5), .send([1, 0])], true),
        ] as [([ScriptedPeer.Step], Bool)] {
            let rig = EngineRig()
            let opening: [ScriptedPeer.Step] = [
                .receive(count: 16), .send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]), .receiveHead, .respond("hello"),
            ]
            rig.serveProxy(
                "proxy.test", port: 1080,
                [{ _, _ in [.receive(count: 3), .send([5, 255]), .close] }, { _, _ in script + opening }])
            let journal = rig.submit(answers: true, route: .proxied(try testProxy(.socks5h, port: 1080)))
            rig.settle()
            let accepted = Guarded(false)
            let question = try #require(journal.proxyQuestion)
            question.answer(.password(user: "u", password: "p", accepted: { _, _ in accepted.value = true }))
            rig.settle()
            #expect(accepted.value == isChecked && journal.text == "hello")
            rig.expectClean()
        }
    }

    @Test("B13.27: where no password is supplied the failure says what was wrong")
    func noPassword() throws {
        for (credentials, script, expected) in [
            (nil, [.receive(count: 3), .send([5, 255]), .close], .noAcceptableMethod),
            (
                ("u", "p"), [.receive(count: 4), .send([5, 2]), .receive(count: 5), .send([1, 9]), .close],
                .badCredentials
            ),
            (("", ""), [.receiveEnd], .unsendableCredentials),
        ] as [((String, String)?, [ScriptedPeer.Step], SOCKSFailure)] {
            for answers in [false, true] {
                let rig = EngineRig()
                rig.serveProxy(port: 1080, script)
                let proxy = try testProxy(.socks5h, credentials.map { (user: $0.0, password: $0.1) }, port: 1080)
                let journal = rig.submit(answers: answers, route: .proxied(proxy))
                rig.settle()
                if answers { try #require(journal.proxyQuestion).answer(.giveUp) }
                rig.settle()
                guard case .socks(let failure)? = journal.proxyFailure else {
                    Issue.record("\(String(describing: journal.error))")
                    continue
                }
                #expect(failure == expected)
                rig.expectClean()
            }
        }
    }

    @Test("B2.38: a password that is asked for can be cancelled, and so can the request")
    func cancelled() throws {
        for cancelsRequest in [false, true] {
            let rig = EngineRig()
            rig.serveProxy(port: 1080, [.receive(count: 3), .send([5, 255]), .close])
            let journal = rig.submit(answers: true, route: .proxied(try testProxy(.socks5h, port: 1080)))
            rig.settle()
            let question = try #require(journal.proxyQuestion)
            if cancelsRequest { journal.handle?.cancel() } else { question.answer(.cancel) }
            rig.settle()
            #expect(journal.ends == 1 && rig.core.counts == PoolCounts())
            question.answer(.password(user: "u", password: "p"))
            rig.settle()
            #expect(rig.network.dialled.count == 1)
            rig.expectClean()
        }
    }

    // MARK: Around the answers

    @Test("B13.29: answers one byte at a time, and the tunnel's first bytes together with the last answer")
    func splits() throws {
        let rig = EngineRig()
        rig.serveProxy(
            port: 1080,
            [
                .receive(count: 3), .sendInPieces([5, 0], size: 1), .receive(count: 16),
                .sendInPieces([5, 0, 0, 3, 2, 97, 98, 0, 1], size: 1), .receiveHead, .respond("hello"),
            ])
        let slow = rig.submit(route: .proxied(try testProxy(.socks5h, port: 1080)))
        rig.settle()
        #expect(slow.text == "hello")
        rig.expectClean()

        let quick = EngineRig()
        let early = Self.open5 + Array("HTTP/1.1 503 x\r\nContent-Length: 4\r\n\r\nbusy".utf8)
        quick.serveProxy(port: 1080, [.receive(count: 3), .send([5, 0]), .receive(count: 16), .send(early)])
        let journal = quick.submit(route: .proxied(try testProxy(.socks5h, port: 1080)))
        quick.settle()
        #expect(journal.head?.status == 503 && journal.text == "busy")
        quick.expectClean()
    }

    @Test("B13.33: a SOCKS tunnel serves its origin again, and no other")
    func reuse() throws {
        let rig = EngineRig()
        let script = script5(16) + [.receiveHead, .respond("hello")]
        rig.serveProxy(port: 1080, script)
        let route = Route.proxied(try testProxy(.socks5h, port: 1080))
        for host in ["host.test", "host.test", "more.test"] {
            let journal = rig.submit(host: host, route: route)
            rig.settle()
            #expect(journal.text == "hello")
        }
        #expect(rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("B6.15: a request that may wait does so when there is no way to the proxy")
    func waits() throws {
        let rig = EngineRig { $0.makeConnectivityMonitor = { _ in SilentMonitor() } }
        rig.network.setName("proxy.test", .addresses(["10.0.0.9"]))
        rig.network.setAddress("10.0.0.9:1080", .fail(errno: 101))
        let journal = rig.submit(
            waitsForConnectivity: true, route: .proxied(try testProxy(.socks5h, port: 1080)))
        rig.settle()
        #expect(journal.waits == 1 && !journal.hasEnded)
        rig.network.setAddress("10.0.0.9:1080", .fail(errno: 111))
        let refused = rig.submit(
            waitsForConnectivity: true, route: .proxied(try testProxy(.socks5h, port: 1080)))
        rig.settle()
        #expect(refused.waits == 0 && refused.hasEnded)
        journal.handle?.cancel()
        rig.settle()
        rig.expectClean()
    }
}

/// A network of which nothing new is heard.
private final class SilentMonitor: ConnectivityMonitor {
    var hasInterface: Bool { true }
    func start(_ changed: @escaping () -> Void) {}
    func stop() {}
}
