// Our end of connections, and other places than the name says: local addresses, interfaces, UNIX-domain sockets.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Where connections come from and go to")
struct WhereToConnectTests {
    @Test("A local address is the one that the server sees")
    func localAddress() async throws {
        let server = try LoopbackServer.start { .text($0.remoteAddress?.host ?? "") }
        let live = LiveEngine { $0.localAddress = SocketAddress(literal: "127.0.0.7", port: 0) }
        let answer = try await live.get(server, scheme: .http)
        #expect(answer.text == "127.0.0.7")
        #expect(answer.outcome.timelines.last?.localAddress?.host == "127.0.0.7")
        await server.stop()
    }

    @Test("A local address that is not this machine's, or of another family, fails the connect with its reason")
    func unusableAddress() async throws {
        let server = try LoopbackServer.start { _ in .text("x") }
        // EADDRNOTAVAIL, EAFNOSUPPORT.
        for (literal, errno) in [("203.0.113.1", 99), ("::1", 97)] as [(String, Int32)] {
            let live = LiveEngine { $0.localAddress = SocketAddress(literal: literal, port: 0) }
            let answer = try await live.get(server, scheme: .http)
            guard case .connect(_, let failures)? = answer.error else {
                Issue.record("\(String(describing: answer.error))")
                continue
            }
            #expect(failures.map(\.error) == [SystemError(errno: errno, call: "bind")])
        }
        await server.stop()
    }

    @Test("A local address counts for every connection of the engine, and for the records")
    func everyConnection() throws {
        let rig = EngineRig { $0.localAddress = SocketAddress(literal: "10.0.0.7", port: 0) }
        rig.serve("host.test", [.receiveHead, .respond("hello")])
        rig.serveProxy([.receiveHead, .respond("by proxy")])
        for route in [Route.direct(), .proxied(try testProxy())] {
            let journal = rig.submit(route: route)
            rig.settle()
            #expect(try #require(journal.outcome?.timelines.last).localAddress?.host == "10.0.0.7")
        }
        rig.expectClean()
    }

    @Test("An interface carries the connection; one that is not there is named in the error")
    func interface() async throws {
        let server = try LoopbackServer.start { _ in .text("x") }
        let answer = try await LiveEngine { $0.interface = "lo" }.get(server, scheme: .http)
        #expect(answer.text == "x")
        let lost = try await LiveEngine { $0.interface = "nosuch0" }.get(server, scheme: .http)
        guard case .connect(_, let failures)? = lost.error, let failure = failures.first else {
            Issue.record("\(String(describing: lost.error))")
            return
        }
        // ENODEV.
        #expect(failure.error.errno == 19 && "\(failure.error)".contains("nosuch0"))
        await server.stop()
    }

    @Test("A UNIX-domain socket takes the place of name and port, for http and https, whatever is bound")
    func unixSocket() async throws {
        let path = "/tmp/urlloading-where-\(UInt64.random(in: 0 ... .max)).sock"
        let server = try LoopbackServer.start(.init(unixPath: path)) { .text($0.head.fields.first(.host) ?? "") }
        let live = LiveEngine {
            $0.localAddress = SocketAddress(literal: "127.0.0.7", port: 0)
            $0.interface = "lo"
        }
        let answer = try await live.get(
            server, host: "nowhere.invalid", scheme: .http, route: .direct(overridePath: path))
        #expect(answer.text.hasPrefix("nowhere.invalid"))
        await server.stop()
    }
}
