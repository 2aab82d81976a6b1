// fetch and proxies: what its options and the environment do. The environment is that of a process of its own, as a
// session reads it.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch and proxies")
struct ProxyTests {
    private func run(
        _ arguments: String..., environment: [String: String?] = [:]
    ) async throws -> FetchRun {
        try await FetchRun.run(arguments, changing: environment)
    }

    /// A server that tells the Host field, and a proxy to which every name is this machine.
    private func site(
        _ change: (inout LoopbackProxy.Options) -> Void = { _ in }
    ) throws -> (server: LoopbackServer, proxy: LoopbackProxy) {
        (
            try LoopbackServer.start { .text("for \($0.fields.first("Host") ?? "nobody")") },
            try LoopbackProxy.start(change)
        )
    }

    @Test(
        "B13.1 (the user's settings are the environment here), B13.2, B13.3: its proxies are used, by lower case first"
    )
    func environment() async throws {
        let (server, proxy) = try site()
        let url = server.url("/", host: "origin.test")
        let text = "for origin.test:\(server.port)"
        let there = "http://127.0.0.1:\(proxy.port)"
        #expect(try await run(url, environment: ["http_proxy": there]).output == text)
        #expect(try await run(url, environment: ["http_proxy": there, "HTTP_PROXY": "127.0.0.1:1"]).output == text)
        #expect(try await run(url, environment: ["all_proxy": "socks5h://127.0.0.1:\(proxy.port)"]).output == text)
        #expect(try await run(url, environment: ["ALL_PROXY": there]).output == text)
        #expect(try await run(url, environment: ["https_proxy": there, "HTTP_PROXY": there]).exitCode == 6)
        #expect(try await run(url, environment: ["http_proxy": "127.0.0.1:1"]).exitCode == 7)
        #expect(proxy.asks.map(\.kind) == [.forward, .forward, .socks5, .forward])
        await server.stop()
        await proxy.stop()
    }

    @Test("B13.9, B13.11: no_proxy goes past them, and this machine is nothing special")
    func exceptions() async throws {
        let (server, proxy) = try site()
        let there = "http://127.0.0.1:\(proxy.port)"
        let url = server.url("/")
        _ = try await run(url, environment: ["http_proxy": there])
        #expect(proxy.asks.count == 1, "B13.11")
        for exceptions in ["127.0.0.1", "localhost, 127.0.0.0/8", "*", "127.0.0.1:\(server.port)"] {
            #expect(try await run(url, environment: ["http_proxy": there, "no_proxy": exceptions]).exitCode == 0)
            #expect(try await run(url, environment: ["http_proxy": there, "NO_PROXY": exceptions]).exitCode == 0)
        }
        #expect(try await run("--noproxy", "*", url, environment: ["http_proxy": there]).exitCode == 0)
        #expect(proxy.asks.count == 1)
        await server.stop()
        await proxy.stop()
    }

    @Test("--noproxy is for its own group: those behind --next have the environment's exceptions, by either spelling")
    func exceptionsOfGroups() async throws {
        let (server, proxy) = try site()
        let there = "http://127.0.0.1:\(proxy.port)"
        let url = server.url("/")
        let past = try await run("-s", "--noproxy", "*", url, "--next", url, environment: ["http_proxy": there])
        #expect(past.exitCode == 0 && proxy.asks.count == 1)
        for name in ["no_proxy", "NO_PROXY"] {
            let before = proxy.asks.count
            let environment: [String: String?] = ["http_proxy": there, name: "127.0.0.1"]
            for exceptions in ["other.test", ""] {
                let both = try await run("-s", "--noproxy", exceptions, url, "--next", url, environment: environment)
                #expect(both.exitCode == 0, "\(name) and \(exceptions)")
            }
            #expect(proxy.asks.count == before + 2, "\(name)")
        }
        await server.stop()
        await proxy.stop()
    }

    @Test("--proxy, --proxy-user and --noproxy")
    func options() async throws {
        let (server, proxy) = try site { $0.socksCredentials = ("me", "secret") }
        let url = server.url("/", host: "origin.test")
        let text = "for origin.test:\(server.port)"
        let dead: [String: String?] = ["http_proxy": "127.0.0.1:1"]
        #expect(try await run("--proxy", "127.0.0.1:\(proxy.port)", url, environment: dead).output == text)
        let socks = "socks5h://127.0.0.1:\(proxy.port)"
        #expect(try await run("-x", socks, "-U", "me:secret", url).output == text)
        let verbose = try await run("-v", "-x", socks, "-U", "me:secret", url)
        #expect(verbose.complaints.contains("the proxy 127.0.0.1 port \(proxy.port)"))
        #expect(!verbose.complaints.contains("secret"))
        let wrong = try await run("-x", "socks5h://me:wrong@127.0.0.1:\(proxy.port)", url)
        #expect(wrong.exitCode == 97 && !wrong.complaints.contains("wrong"))
        #expect(try await run("--proxy=", server.url("/"), environment: dead).exitCode == 0)
        #expect(try await run("-x", "127.0.0.1:1", "--noproxy", "127.0.0.1", server.url("/")).exitCode == 0)
        await server.stop()
        await proxy.stop()
    }

    @Test("A proxy that refuses ends with 97, one that is not there with 7")
    func refused() async throws {
        let (server, proxy) = try site {
            $0.script = { _ in .text("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n") }
        }
        let refused = try await run("-x", "127.0.0.1:\(proxy.port)", "https://origin.test/")
        #expect(refused.exitCode == 97 && refused.complaints.contains("status 403"))
        #expect(try await run("-x", "127.0.0.1:1", "https://origin.test/").exitCode == 7)
        await server.stop()
        await proxy.stop()
    }

    @Test("--unix-socket and --interface")
    func places() async throws {
        let (server, proxy) = try site()
        #expect(try await run("--interface", "127.0.0.7", server.url("/")).exitCode == 0)
        #expect(try await run("--unix-socket", "/nowhere/socket", server.url("/")).exitCode == 7)
        await server.stop()
        await proxy.stop()
    }

    @Test("Options that are not understood are complained about")
    func usage() async throws {
        for (arguments, complaint) in [
            (["--proxy", "ftp://x", "http://a/"], "--proxy needs a URL"),
            (["--proxy-user", "a:b", "http://a/"], "needs --proxy"),
            (["-U", ":b", "http://a/"], "--proxy-user needs a user"), (["--unix-socket"], "--unix-socket needs a path"),
            (["--interface"], "--interface needs"), (["--noproxy"], "--noproxy needs"),
        ] {
            let run = try await FetchRun.run(arguments)
            #expect(run.exitCode == 2 && run.complaints.contains(complaint), "\(run.complaints)")
        }
    }
}
