// A program's own resolver of host names, seen by the program and by servers.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@testable import URLLoading

@Suite("Resolvers of hosts")
struct HostResolverTests {
    private typealias Addresses = URLSessionConfiguration.HostAddresses

    /// The error that a test's resolver throws.
    private struct NoIdea: Error {}

    /// Another, which says what is wrong.
    private struct NotRegistered: LocalizedError {
        var errorDescription: String? { "It is not in the registry" }
    }

    /// The hosts that the resolver was asked about.
    private let asked = Guarded<[String]>([])

    private func session(
        _ change: (URLSessionConfiguration) -> Void = { _ in },
        _ answer: @escaping @Sendable (String) async throws -> Addresses
    ) -> URLSession {
        .made { [asked] in
            $0.hostResolver = { host in
                asked.change { $0.append(host) }
                return try await answer(host)
            }
            change($0)
        }
    }

    /// A server that tells the Host field, and closes each connection.
    private func withHost<R>(_ body: (LoopbackServer) async throws -> R) async throws -> R {
        try await withServer(router: { .text($0.fields.first(.host) ?? "").closing() }, body)
    }

    @Test(
        "B16.78: a resolver's address is connected to, the request names its host, and the answer is kept as long as it says"
    )
    func asks() async throws {
        try await withHost { server in
            let lasting = session { _ in Addresses(["127.0.0.1"], timeToLive: 60) }
            for _ in 0..<3 {
                let load = try await Load(server.at("/", host: "Shop.test"), in: lasting)
                #expect(load.text.lowercased() == "shop.test:\(server.port)")
            }
            #expect(asked.value == ["shop.test"])
            // Another session has a table of its own.
            let passing = session { _ in Addresses(["127.0.0.1"], timeToLive: 0) }
            for _ in 0..<3 { _ = try await Load(server.at("/", host: "shop.test"), in: passing) }
            #expect(asked.value.count == 4)
        }
    }

    @Test("B16.78: a time to live is at most a day; negative ones and NaN are zero")
    func times() throws {
        for (seconds, expected) in [
            (0.5, Duration.milliseconds(500)), (0, .zero), (-1, .zero), (.nan, .zero), (-.infinity, .zero),
            (.infinity, .seconds(86_400)), (1e300, .seconds(86_400)), (.leastNonzeroMagnitude, .zero),
        ] {
            let answer = ProgramNameService.answer(Addresses(["10.0.0.1"], timeToLive: seconds), for: "a.test")
            #expect(answer.lifetime == expected, "\(seconds)")
        }
    }

    @Test("B16.78: addresses that come twice count once, and of thousands the first 64 count")
    func many() throws {
        let doubled = ProgramNameService.answer(
            Addresses(["::1", "10.0.0.1", "0:0:0:0:0:0:0:1", "10.0.0.1", "10.0.0.2"], timeToLive: 1), for: "a.test")
        #expect(try doubled.result.get().map(\.description) == ["[::1]:0", "10.0.0.1:0", "10.0.0.2:0"])
        let thousands = (0..<70_000).map { "10.\($0 >> 16).\($0 >> 8 & 255).\($0 & 255)" }
        let answer = ProgramNameService.answer(Addresses(thousands, timeToLive: 1), for: "a.test")
        let found = try answer.result.get()
        #expect(
            found.count == 64 && found.first?.description == "10.0.0.0:0" && found.last?.description == "10.0.0.63:0")
    }

    @Test(
        "B16.79: no address, or a text that is not an address, is cannotFindHost",
        arguments: [
            [], [""], ["shop.test"], ["127.0.0.1:80"], ["[::1]"], ["[::1]:443"], ["127.1"], ["127.0.0.1", "nonsense"],
            ["127.0.0.1\0"], [" 127.0.0.1"], ["/tmp/socket"], [String(repeating: "9", count: 100_000)],
        ])
    func useless(addresses: [String]) async throws {
        let session = session { _ in Addresses(addresses, timeToLive: 60) }
        for _ in 0..<2 {
            let load = try await Load(#require(URL(string: "http://shop.test/")), in: session)
            #expect(load.code == .cannotFindHost && load.underlying?.domain == URLLoadingErrorDomain.resolver)
            #expect(load.message.contains("hostResolver") && load.message.utf8.count < 1_000)
        }
        #expect(asked.value.count == 2, "a failure is not kept")
    }

    @Test(
        "B16.79: what a resolver throws is the underlying error of cannotFindHost, or of dnsLookupFailed where it throws that"
    )
    func throwing() async throws {
        let url = try #require(URL(string: "http://shop.test/"))
        let load = await Load(url, in: session { _ in throw NoIdea() })
        #expect(load.code == .cannotFindHost)
        #expect(load.error?.userInfo[NSUnderlyingErrorKey] is NoIdea && load.message.contains("NoIdea"))
        #expect(load.error?.failingURL == url)
        let other = await Load(url, in: session { _ in throw URLError(.dnsLookupFailed) })
        #expect(other.code == .dnsLookupFailed)
        #expect((other.error?.userInfo[NSUnderlyingErrorKey] as? URLError)?.code == .dnsLookupFailed)
        let own = await Load(url, in: session { _ in throw CancellationError() })
        #expect(own.code == .cannotFindHost && own.error?.userInfo[NSUnderlyingErrorKey] is CancellationError)
    }

    @Test("B16.79: the text has the words of what a resolver throws, where it has some of its own")
    func words() async throws {
        let url = try #require(URL(string: "http://shop.test/"))
        let registry = await Load(url, in: session { _ in throw NotRegistered() })
        #expect(registry.message.contains("It is not in the registry") && !registry.message.contains("hostResolver"))
        let told = URLError(.dnsLookupFailed, userInfo: [NSLocalizedDescriptionKey: "The registry is down"])
        let service = await Load(url, in: session { _ in throw told })
        #expect(service.message.contains("The registry is down") && !service.message.contains("Error Domain"))
        let mute = await Load(url, in: session { _ in throw URLError(.cannotFindHost) })
        #expect(mute.message.contains("hostResolver did not find it") && !mute.message.contains("Error Domain"))
    }

    @Test("B16.78: addresses, names under localhost and overrides are not asked for")
    func unasked() async throws {
        try await withHost { server in
            let session = session {
                $0.hostOverrides = ["set.test": "127.0.0.1"]
            } _: { _ in
                throw NoIdea()
            }
            for host in ["127.0.0.1", "localhost", "a.localhost", "set.test"] {
                let load = try await Load(server.at("/", host: host), in: session)
                #expect(load.text == "\(host):\(server.port)", "\(host)")
            }
            #expect(asked.value.isEmpty)
        }
    }

    @Test("B16.78: loads that wait for one host share a question, which ends with the last of them")
    func shared() async throws {
        let (begun, cancelled) = (Signal(), Signal())
        let session = session { _ in
            begun.fire()
            await untilCancelled(cancelled)
            throw NoIdea()
        }
        let url = try #require(URL(string: "http://shop.test/"))
        let loads = (0..<5).map { _ in Task { await Load(url, in: session) } }
        await begun.wait()
        for load in loads { load.cancel() }
        for load in loads { #expect(await load.value.code == .cancelled) }
        await cancelled.wait()
        #expect(asked.value == ["shop.test"])
    }

    @Test("B16.78: a resolver that never answers is bounded by the request's time-out, and its task is cancelled")
    func never() async throws {
        let cancelled = Signal()
        let session = session {
            $0.timeoutIntervalForRequest = 0.2
        } _: { _ in
            await untilCancelled(cancelled)
            throw NoIdea()
        }
        let load = try await Load(#require(URL(string: "http://shop.test/")), in: session)
        #expect(load.code == .timedOut)
        await cancelled.wait()
    }

    @Test("B16.78: the certificate must be for the URL's host, whatever the resolver says")
    func trust() async throws {
        let (root, identity) = try CertificateFactory.server("shop.test")
        try await withServer(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("secret") }) { server in
            for (host, isBelieved) in [("other.test", false), ("shop.test", true)] {
                let session = session {
                    $0.serverTrustEvaluation = .anchors(pem: root.pem)
                } _: { _ in
                    Addresses(["127.0.0.1"], timeToLive: 60)
                }
                let load = try await Load(server.at("/", host: host), in: session)
                #expect((load.text == "secret") == isBelieved, "\(host)")
                #expect(isBelieved || load.code == .serverCertificateUntrusted, "\(host)")
            }
        }
    }
}
