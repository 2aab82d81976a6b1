import Testing
import URLLoadingPolicy

@testable import URLLoadingEngine

@Suite struct CertificateSeekerTests {
    @Test("B2.108: a server and a proxy that listen on a socket are known by that, and not by their names")
    func seekers() throws {
        let far = Route.proxied(try #require(ProxyServer(kind: .https, host: "proxy.test")))
        let near = Route.proxied(try #require(ProxyServer(kind: .https, path: "/run/proxy")))
        #expect(Route.direct().certificateSeeker(isProxy: false) == .server)
        #expect(Route.direct(overridePath: "/run/server").certificateSeeker(isProxy: false) == .socket)
        #expect(far.certificateSeeker(isProxy: true) == .proxy)
        #expect(near.certificateSeeker(isProxy: true) == .socket)
        #expect(far.certificateSeeker(isProxy: false) == .server, "what is behind the tunnel")
        #expect(near.certificateSeeker(isProxy: false) == .server)
    }
}
