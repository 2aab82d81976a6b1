// Plain http through HTTP proxies: absolute targets, shared connections, and what a proxy does wrong.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("Requests that a proxy forwards")
struct ForwardingTests {
    @Test("B13.13, B5.22: the target is absolute, Host the origin's, and only the proxy is looked up and connected to")
    func absoluteForm() throws {
        let rig = EngineRig()
        let proxy = rig.serveProxy([.receiveHead, .respond("hello")])
        let journal = rig.submit(target: "/a?b=c", route: .proxied(try testProxy()))
        rig.settle()
        #expect(journal.text == "hello")
        #expect(proxy.texts == ["GET http://host.test/a?b=c HTTP/1.1\r\nHost: host.test\r\n\r\n"])
        #expect(rig.network.lookedUp == ["proxy.test"] && rig.network.dialled == ["10.0.0.2:3128"])
        let timeline = try #require(journal.outcome?.timelines.last)
        #expect(timeline.usesProxy && timeline.remoteAddress?.description == "10.0.0.2:3128")
        rig.expectClean()
    }

    @Test("B12.17: without a proxy a record says so")
    func direct() throws {
        let rig = EngineRig()
        rig.serve("host.test", [.receiveHead, .respond("hello")])
        let journal = rig.submit()
        rig.settle()
        #expect(try #require(journal.outcome?.timelines.last).usesProxy == false)
        rig.expectClean()
    }

    @Test("B13.13: OPTIONS for the whole server has a target without a path; what is absolute already stays")
    func otherTargets() throws {
        for (method, target, expected) in [
            ("OPTIONS", "*", "OPTIONS http://host.test HTTP/1.1"),
            ("GET", "ftp://files.test/x", "GET ftp://files.test/x HTTP/1.1"),
        ] {
            let rig = EngineRig()
            let proxy = rig.serveProxy([.receiveHead, .respond("x")])
            rig.submit(method, target: target, route: .proxied(try testProxy()))
            rig.settle()
            #expect(proxy.texts.first?.hasPrefix(expected + "\r\n") == true)
            rig.expectClean()
        }
    }

    @Test("B13.14: the fields go as they are, Proxy-Authorization among them, and Proxy-Connection is not added")
    func fields() throws {
        let rig = EngineRig()
        let proxy = rig.serveProxy([.receiveHead, .respond("x")])
        rig.submit(fields: [("Proxy-Authorization", "Basic eA==")], route: .proxied(try testProxy()))
        rig.settle()
        #expect(
            proxy.texts
                == ["GET http://host.test/ HTTP/1.1\r\nHost: host.test\r\nProxy-Authorization: Basic eA==\r\n\r\n"])
        rig.expectClean()
    }

    @Test("B13.13, B13.33: requests to all origins share the connections to their proxy")
    func shared() throws {
        let rig = EngineRig()
        let script: [ScriptedPeer.Step] = (0..<3).flatMap { [.receiveHead, .respond("answer \($0)")] }
        let proxy = rig.serveProxy(script)
        let route = Route.proxied(try testProxy())
        let texts = ["one.test", "two.test", "one.test"].map { host in
            let journal = rig.submit(host: host, route: route)
            rig.settle()
            return journal.text
        }
        #expect(texts == ["answer 0", "answer 1", "answer 2"])
        #expect(rig.network.dialled.count == 1 && proxy.peers.count == 1)
        rig.expectClean()
    }

    @Test("B13.33: a request that goes straight to its origin does not use a proxy's connection, nor another proxy's")
    func notShared() throws {
        let rig = EngineRig()
        rig.serveProxy([.receiveHead, .respond("by proxy"), .receiveEnd])
        rig.serveProxy("other.test", address: "10.0.0.3", [{ _, _ in [.receiveHead, .respond("by the other")] }])
        rig.serve("host.test", [.receiveHead, .respond("direct")])
        let other = try #require(ProxyServer(kind: .http, host: "other.test", port: 3128))
        let texts = [Route.proxied(try testProxy()), .direct(), .proxied(other)].map { route in
            let journal = rig.submit(route: route)
            rig.settle()
            return journal.text
        }
        #expect(texts == ["by proxy", "direct", "by the other"])
        #expect(rig.network.dialled == ["10.0.0.2:3128", "10.0.0.1:80", "10.0.0.3:3128"])
        rig.expectClean()
    }

    @Test("B2.100, B2.102: 407 to a plain request is delivered like any other answer")
    func unauthorized() throws {
        let rig = EngineRig()
        rig.serveProxy([.receiveHead, .askForLogin])
        let journal = rig.submit(answers: true, route: .proxied(try testProxy()))
        rig.settle()
        #expect(journal.head?.status == 407 && journal.text == "login" && journal.questions.isEmpty)
        rig.expectClean()
    }

    @Test("B13.18, B17.15: a proxy that cannot be reached is named in the error; so is one without an address")
    func unreachable() throws {
        let rig = EngineRig()
        rig.network.setName("proxy.test", .addresses(["10.0.0.8", "10.0.0.9"]))
        let refused = rig.submit(route: .proxied(try testProxy()))
        rig.settle()
        guard case .unreachable(let failures)? = refused.proxyFailure else {
            Issue.record("\(String(describing: refused.error))")
            return
        }
        #expect(failures.map(\.error.errno) == [111, 111])
        #expect(rig.network.forgotten == ["proxy.test"])
        #expect(refused.error?.description.contains("http://proxy.test:3128") == true)

        rig.network.setName("proxy.test", .fails(.noSuchHost))
        let unknown = rig.submit(route: .proxied(try testProxy()))
        rig.settle()
        guard case .lookup(let failure)? = unknown.proxyFailure else {
            Issue.record("\(String(describing: unknown.error))")
            return
        }
        #expect(failure.host == "proxy.test" && failure.reason == .noSuchHost)
        rig.expectClean()
    }

    @Test("A proxy on a UNIX-domain socket is connected to there; where the path is too long the proxy is unreachable")
    func unixSocket() throws {
        let rig = EngineRig()
        rig.network.setAddress(
            "/run/proxy.sock",
            .accept { [unowned rig] stream in
                rig.keep(stream, ScriptedPeer(stream, on: rig.reactor, [.receiveHead, .respond("hello")]))
            })
        let proxy = try #require(ProxyServer(kind: .http, path: "/run/proxy.sock"))
        let journal = rig.submit(route: .proxied(proxy))
        rig.settle()
        #expect(journal.text == "hello" && rig.network.lookedUp.isEmpty)
        let long = try #require(ProxyServer(kind: .http, path: "/" + String(repeating: "x", count: 200)))
        let lost = rig.submit(route: .proxied(long))
        rig.settle()
        guard case .unreachable(let failures)? = lost.proxyFailure else {
            Issue.record("\(String(describing: lost.error))")
            return
        }
        #expect(failures.map(\.error.errno) == [ENAMETOOLONG])
        rig.expectClean()
    }

    @Test("B13.21: a proxy's certificates are asked about as the proxy's, and its TLS carries the requests as they are")
    func throughTLS() throws {
        // The default evaluation reads its roots from files, on other threads than the rig's.
        let rig = EngineRig { $0.trust = AnchorsEvaluator(anchors: []) }
        let end = try TunnelEnd("proxy.test")
        rig.network.serve("proxy.test", address: "10.0.0.2", port: 443) { [unowned rig] stream in
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret"
            guard let peer = try? TLSPeer(stream, context: end.context, answer: answer) else { return stream.close() }
            rig.keep(stream, peer)
        }
        let proxy = try testProxy(.https, port: 443)
        let journal = rig.submit(answers: true, route: .proxied(proxy))
        rig.settle()
        guard case .peer(let question)? = journal.questions.last else {
            Issue.record("there was no question")
            return
        }
        #expect(question.proxy == proxy && question.origin.host == "proxy.test" && question.origin.port == 443)
        question.answer(.accept)
        rig.settle()
        #expect(journal.text == "secret")
        #expect(try #require(journal.outcome?.timelines.last).tls == nil, "the origin's connection is not encrypted")

        let unbelieved = rig.submit(host: "other.test", fields: [("Connection", "close")], route: .proxied(proxy))
        rig.settle()
        #expect(unbelieved.text == "secret", "the connection that was believed serves it")
        let refused = rig.submit(host: "other.test", route: .proxied(proxy))
        rig.settle()
        guard case .tls(.untrusted)? = refused.proxyFailure else {
            Issue.record("\(String(describing: refused.error))")
            return
        }
        rig.expectClean()
    }

    @Test("B6.26: a request on a connection to the proxy that died idle is sent again, with its absolute target")
    func replay() throws {
        let rig = EngineRig()
        let proxy = rig.serveProxy(
            "proxy.test",
            [
                { _, _ in [.receiveHead, .respond("first"), .receiveHead, .close] },
                { _, _ in [.receiveHead, .respond("again")] },
            ])
        let route = Route.proxied(try testProxy())
        rig.submit(route: route)
        rig.settle()
        let journal = rig.submit(target: "/b", route: route)
        rig.settle()
        #expect(journal.text == "again")
        #expect(proxy.texts.last?.hasPrefix("GET http://host.test/b HTTP/1.1\r\n") == true)
        rig.expectClean()
    }
}
