// FTP transfers on a virtual clock and an in-memory network: where the data connection goes, time-outs, pauses, and
// that nothing is left.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite struct FTPRigTests {
    /// Handles and journals of one rig; both sides run on the test's thread, one after the other.
    private final class Box: Sendable {
        nonisolated(unsafe) var journal: FTPJournal?
    }

    private func submit(
        _ rig: EngineRig, _ path: String = "/f", idle: Duration? = .seconds(60), resource: Duration? = nil,
        pausesAfter: Int? = nil, routes: [Route] = [.direct()], isProtected: Bool = false, storing body: [UInt8]? = nil
    ) throws -> FTPJournal {
        let server = try #require(Origin(scheme: .http, host: "host.test", port: 21))
        let job = FTPJob(
            path: try FTPPath(percentEncoded: path), purpose: body == nil ? .retrieve : .store,
            credential: PasswordCredential(user: "u", password: "p"), isProtected: isProtected)
        let box = Box()
        _ = rig.core.submit(
            ftp: FTPRequest(
                server: server, routes: routes, job: job, body: body.map { RequestBody.bytes($0) } ?? RequestBody.none,
                bodyLength: body.map { Int64($0.count) }, idleTimeout: idle,
                resourceDeadline: resource.map { rig.reactor.elapsed + $0 }
            ) { handle, _ in
                let journal = FTPJournal(handle, pausesAfter: pausesAfter)
                box.journal = journal
                return journal
            })
        defer { box.journal = nil }
        return try #require(box.journal)
    }

    /// A control connection that offers this port, and then says these things.
    private func control(_ passive: String, then more: [ScriptedPeer.Step]) -> [ScriptedPeer.Step] {
        [
            .send("220 hi\r\n"), .receiveThrough(Array("USER u\r\n".utf8)), .send("230 in\r\n"),
            .receiveThrough(Array("TYPE I\r\n".utf8)), .send("200 ok\r\n"),
            .receiveThrough(Array("SIZE f\r\n".utf8)), .send("213 4\r\n"),
            .receiveThrough(Array("EPSV\r\n".utf8)), .send(passive),
        ] + more
    }

    private func serve(_ rig: EngineRig, port: Int, _ script: [ScriptedPeer.Step]) {
        rig.network.serve("host.test", address: "10.0.0.1", port: port) { stream in
            rig.keep(stream, ScriptedPeer(stream, on: rig.reactor, script))
        }
    }

    @Test("B14.22: data is fetched where the control connection leads, whatever the reply says") func address() throws {
        let rig = EngineRig()
        serve(
            rig, port: 21,
            control(
                "500 what\r\n",
                then: [
                    .receiveThrough(Array("PASV\r\n".utf8)), .send("227 (10,9,9,9,0,77)\r\n"),
                    .receiveThrough(Array("RETR f\r\n".utf8)), .send("150 go\r\n226 done\r\n"), .receiveEnd,
                ]))
        serve(rig, port: 77, [.send("data"), .close])
        let journal = try submit(rig)
        rig.settle()
        #expect(journal.answer.error == nil)
        #expect(journal.answer.text == "data")
        #expect(rig.network.dialled == ["10.0.0.1:21", "10.0.0.1:77"])
        #expect(journal.ends == 1)
        rig.expectClean()
    }

    @Test("B2.105, B3.74: a server that refuses behind its handshake, for want of a certificate, says so")
    func refusedBehindHandshake() throws {
        let end = try TunnelEnd(clients: .required)
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: [end.root]) }
        rig.network.serve("host.test", address: "10.0.0.1", port: 21) { [unowned rig] stream in
            let script: [ScriptedPeer.Step] = [
                .send("220 hi\r\n"), .receiveThrough(Array("AUTH TLS\r\n".utf8)), .send("234 go\r\n"),
                .tunnelTLS(rig, stream, end.context),
            ]
            rig.keep(stream, ScriptedPeer(stream, on: rig.reactor, script))
        }
        let journal = try submit(rig, isProtected: true)
        rig.settle()
        guard case .tls(.clientCertificateRequired, "host.test") = journal.answer.error else {
            Issue.record("\(String(describing: journal.answer.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B13.25, B16.11: where a SOCKS proxy cannot reach the server's first address it is asked for the next")
    func nextAddress() throws {
        let rig = EngineRig()
        rig.network.setName("host.test", .addresses(["2001:db8::9", "192.0.2.9"]))
        rig.serveProxy(
            port: 1080,
            [
                { _, _ in [.receive(count: 3), .send([5, 0]), .receive(count: 22), .send([5, 4]), .close] },
                { _, _ in
                    [
                        .receive(count: 3), .send([5, 0]), .receive(count: 10), .send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
                        .send("421 full\r\n"), .receiveEnd,
                    ]
                },
            ])
        let journal = try submit(rig, routes: [.proxied(try testProxy(.socks5, port: 1080))])
        rig.settle()
        #expect(journal.answer.failure == .serviceUnavailable)
        #expect(rig.network.dialled.count == 2)
        rig.expectClean()
    }

    @Test("An HTTP proxy, or one on a UNIX-domain socket, cannot carry FTP, and nothing is dialled")
    func noWay() throws {
        let proxies = [
            try testProxy(.http), try testProxy(.https), ProxyServer(kind: .socks5, path: "/run/proxy.sock"),
        ]
        for proxy in proxies {
            let rig = EngineRig()
            let journal = try submit(rig, routes: [.proxied(try #require(proxy))])
            #expect(journal.ends == 0, "told later")
            rig.settle()
            guard case .proxy(let failure) = journal.answer.error, case .unreachable(let tried) = failure.reason else {
                Issue.record("\(String(describing: journal.answer.error))")
                continue
            }
            #expect(tried.isEmpty && rig.network.dialled.isEmpty && journal.ends == 1)
            rig.expectClean()
        }
    }

    @Test(
        "When a way fails, or is silent too long, the next is tried, and the data connection uses the way that was found"
    )
    func ways() throws {
        let rig = EngineRig()
        rig.network.setName("proxy.test", .addresses(["10.0.0.2"]))
        rig.network.setAddress("10.0.0.2:1080", .hang)
        serve(
            rig, port: 21,
            control(
                "229 (|||77|)\r\n",
                then: [
                    .receiveThrough(Array("RETR f\r\n".utf8)), .send("150 go\r\n226 done\r\n"), .receiveEnd,
                ]))
        serve(rig, port: 77, [.send("data"), .close])
        let refusing = Route.proxied(try testProxy(.socks5h, port: 1081))
        let silent = Route.proxied(try testProxy(.socks5h, port: 1080))
        let journal = try submit(
            rig, idle: .seconds(5), routes: [.proxied(try testProxy(.http)), refusing, silent, .direct()])
        rig.advance(.seconds(4))
        #expect(rig.network.dialled == ["10.0.0.2:1081", "10.0.0.2:1080"] && journal.ends == 0)
        rig.advance(.seconds(1))
        #expect(journal.answer.error == nil && journal.answer.text == "data")
        #expect(rig.network.dialled.suffix(2) == ["10.0.0.1:21", "10.0.0.1:77"])
        #expect(journal.ends == 1)
        rig.expectClean()
    }

    @Test("When all ways fail the last one's failure counts; each has the idle time for itself")
    func noWayAtAll() throws {
        let rig = EngineRig()
        rig.network.setName("proxy.test", .addresses(["10.0.0.2"]))
        rig.network.setName("host.test", .addresses(["10.0.0.1"]))
        rig.network.setAddress("10.0.0.2:1080", .hang)
        rig.network.setAddress("10.0.0.1:21", .hang)
        let silent = Route.proxied(try testProxy(.socks5h, port: 1080))
        let journal = try submit(rig, idle: .seconds(5), routes: [silent, .direct()])
        rig.advance(.seconds(9))
        #expect(journal.ends == 0)
        rig.advance(.seconds(1))
        guard case .idleTimeout(_, .connecting, _) = journal.answer.error else {
            Issue.record("\(String(describing: journal.answer.error))")
            return
        }
        #expect(rig.network.dialled == ["10.0.0.2:1080", "10.0.0.1:21"] && journal.ends == 1)
        rig.expectClean()
    }

    @Test(
        "B6.42: a file that is stored lives while what the system has taken of it reaches the server, and no longer",
        arguments: [false, true])
    func slowLine(isStuck: Bool) throws {
        let rig = EngineRig()
        serve(
            rig, port: 21,
            [
                .send("220 hi\r\n"), .receiveThrough(Array("USER u\r\n".utf8)), .send("230 in\r\n"),
                .receiveThrough(Array("TYPE I\r\n".utf8)), .send("200 ok\r\n"),
                .receiveThrough(Array("EPSV\r\n".utf8)), .send("229 (|||77|)\r\n"),
                .receiveThrough(Array("STOR f\r\n".utf8)), .send("150 go\r\n"), .delay(.seconds(30)),
                .send("226 done\r\n"), .receiveEnd,
            ])
        serve(rig, port: 77, [.receiveEnd])
        let journal = try submit(rig, idle: .seconds(10), storing: [UInt8](repeating: 1, count: 20_000))
        rig.advance(.seconds(1))
        // Asked after 10 s, and then 9 s after the time before.
        for left in [18_000, 12_000, 6_000, 0] {
            rig.servers[1].told = Delivery(unacknowledged: isStuck ? 18_000 : left, age: .seconds(1))
            rig.advance(.seconds(9))
        }
        #expect(journal.ends == 1 && journal.answer.sent == 20_000)
        if isStuck {
            guard case .idleTimeout("host.test", .waitingForResponse, .seconds(10)) = journal.answer.error else {
                Issue.record("\(String(describing: journal.answer.error))")
                return
            }
        } else {
            #expect(journal.answer.error == nil)
        }
        rig.expectClean()
    }

    @Test("B6.1: a silent server ends the transfer at its idle time-out, wherever it stands", arguments: [0, 1, 2])
    func idle(place: Int) throws {
        let rig = EngineRig()
        let silent: [ScriptedPeer.Step] = [.receiveEnd]
        let begun = control(
            "229 (|||77|)\r\n", then: [.receiveThrough(Array("RETR f\r\n".utf8)), .send("150 go\r\n"), .receiveEnd])
        serve(rig, port: 77, [.send("da"), .receiveEnd])
        serve(rig, port: 21, place == 0 ? silent : begun)
        if place == 1 { rig.network.setAddress("10.0.0.1:77", .hang) }
        let journal = try submit(rig, idle: .seconds(5))
        rig.settle()
        rig.advance(.seconds(4))
        #expect(journal.ends == 0)
        rig.advance(.seconds(2))
        guard case .idleTimeout("host.test", _, _) = journal.answer.error else {
            Issue.record("\(String(describing: journal.answer.error))")
            return
        }
        #expect(journal.ends == 1)
        rig.expectClean()
    }

    @Test("B6.5: the resource time ends an FTP transfer, whatever moves") func resource() throws {
        let rig = EngineRig()
        serve(
            rig, port: 21,
            [
                .send("220-\r\n"), .sendInPieces(Array(repeating: 10, count: 100), size: 1, pause: .seconds(1)),
                .receiveEnd,
            ])
        let journal = try submit(rig, idle: .seconds(5), resource: .seconds(20))
        rig.settle()
        for _ in 0..<25 { rig.advance(.seconds(1)) }
        guard case .resourceTimeout = journal.answer.error else {
            Issue.record("\(String(describing: journal.answer.error))")
            return
        }
        rig.expectClean()
    }

    @Test("A receiver that is full stops the data and the idle time until it asks for more") func pause() throws {
        let rig = EngineRig()
        rig.network.capacity = 1000
        serve(
            rig, port: 21,
            control(
                "229 (|||77|)\r\n",
                then: [.receiveThrough(Array("RETR f\r\n".utf8)), .send("150 go\r\n226 done\r\n"), .receiveEnd]))
        serve(rig, port: 77, [.send(Array(repeating: 65, count: 5000)), .close])
        let journal = try submit(rig, idle: .seconds(5), pausesAfter: 1)
        rig.settle()
        #expect(journal.answer.body.count <= 1000)
        rig.advance(.seconds(30))
        #expect(journal.ends == 0)
        for _ in 0..<20 where journal.ends == 0 {
            journal.handle.resumeReading()
            rig.settle()
        }
        #expect(journal.answer.error == nil)
        #expect(journal.answer.body.count == 5000)
        rig.expectClean()
    }

    @Test("B1.39: a suspended transfer neither reads nor times out") func suspension() throws {
        let rig = EngineRig()
        serve(
            rig, port: 21,
            control(
                "229 (|||77|)\r\n", then: [.receiveThrough(Array("RETR f\r\n".utf8)), .send("150 go\r\n"), .receiveEnd])
        )
        serve(rig, port: 77, [.delay(.seconds(1)), .send("data"), .close])
        let journal = try submit(rig, idle: .seconds(5))
        rig.settle()
        journal.handle.suspend()
        rig.settle()
        rig.advance(.seconds(60))
        #expect(journal.answer.body.isEmpty)
        #expect(journal.ends == 0)
        journal.handle.resume()
        rig.settle()
        #expect(journal.answer.text == "data")
        journal.handle.cancel()
        rig.settle()
        guard case .cancelled = journal.answer.error else {
            Issue.record("\(String(describing: journal.answer.error))")
            return
        }
        rig.expectClean()
    }

    @Test("FTP has the errors of HTTP for names that are not found and for addresses that refuse")
    func nowhere() throws {
        let rig = EngineRig()
        let unknown = try submit(rig)
        rig.settle()
        guard case .nameLookup = unknown.answer.error else {
            Issue.record("\(String(describing: unknown.answer.error))")
            return
        }
        rig.network.setName("host.test", .addresses(["10.0.0.1"]))
        let refused = try submit(rig)
        rig.settle()
        guard case .connect("host.test", _) = refused.answer.error else {
            Issue.record("\(String(describing: refused.answer.error))")
            return
        }
        rig.expectClean()
    }

    @Test("An engine that is shut down ends its transfers") func shutDown() throws {
        let rig = EngineRig()
        serve(rig, port: 21, [.receiveEnd])
        let journal = try submit(rig)
        rig.settle()
        rig.core.shutDown(immediately: true)
        rig.settle()
        guard case .cancelled = journal.answer.error else {
            Issue.record("\(String(describing: journal.answer.error))")
            return
        }
        rig.expectClean()
    }
}
