// Failures of proxies, as programs see them: code, error underneath, failing URL and text (behaviour 13, 17).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Errors of proxies")
struct ProxyErrorTests {
    /// The error of a load through a proxy that a URL names.
    private func error(_ site: ProxiedSite, _ url: URL, through proxy: String) async throws -> URLError {
        let configuration = try #require(ProxyConfiguration(url: proxy))
        let session = site.session { $0.proxyConfigurations = [configuration] }
        let error = try #require(await session.failure(url))
        let all = "\(error) \(error.localizedDescription) \(error.userInfo)"
        #expect(!all.contains("secret"), "no credentials in errors")
        #expect(error.failingURL == url, "B17.56")
        return error
    }

    @Test(
        "B13.18: an HTTP proxy that is not there: −1004, with 306 for http and 310 for https",
        arguments: [
            (false, "kCFErrorDomainCFNetwork 306"), (true, "kCFErrorDomainCFNetwork 310"),
        ])
    func unreachable(tls: Bool, cause: String) async throws {
        try await ProxiedSite.run(tls: tls) { site in
            let error = try await error(site, site.url(), through: "http://me:secret@127.0.0.1:1")
            #expect(error.code == .cannotConnectToHost && error.cause == cause)
            #expect(error.localizedDescription.contains("the proxy http://127.0.0.1:1"))
            let inner = (error.userInfo[NSUnderlyingErrorKey] as? NSError)?.userInfo[NSUnderlyingErrorKey]
            #expect((inner as? POSIXError)?.code == .ECONNREFUSED)
        }
    }

    @Test("B13.18: a SOCKS proxy that is not there: −1004, and the system's error underneath")
    func unreachableSOCKS() async throws {
        try await ProxiedSite.run { site in
            let error = try await error(site, site.url(), through: "socks5h://me:secret@127.0.0.1:1")
            #expect(error.code == .cannotConnectToHost)
            #expect((error.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code == .ECONNREFUSED)
            #expect(error.localizedDescription.contains("the proxy socks5h://127.0.0.1:1"))
        }
    }

    @Test("B13.18: a proxy whose name has no address: −1003")
    func noSuchProxy() async throws {
        try await ProxiedSite.run { site in
            let error = try await error(site, site.url(), through: "no-such-proxy.invalid:8080")
            // Where no name server answers, the error is about the look-up.
            #expect([.cannotFindHost, .dnsLookupFailed, .notConnectedToInternet].contains(error.code))
            #expect(error.localizedDescription.contains("no-such-proxy.invalid"))
        }
    }

    @Test(
        "B13.17: a refused CONNECT: −1004, with 311 and the status underneath, and nothing of the proxy's page",
        arguments: [403, 502, 503])
    func refused(status: Int) async throws {
        let page = "HTTP/1.1 \(status) No\r\nContent-Length: 10\r\nContent-Type: text/html\r\n\r\nproxy page"
        try await ProxiedSite.run(tls: true, proxy: { $0.script = { _ in .text(page) } }) { site in
            let error = try await error(site, site.url(), through: site.proxyURL)
            #expect(error.code == .cannotConnectToHost && error.cause == "kCFErrorDomainCFNetwork 311")
            let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(cause?.userInfo[URLLoadingErrorDomain.proxyStatusKey] as? Int == status)
            #expect(error.localizedDescription.contains("\(status)"))
            #expect(!"\(error.userInfo)".contains("proxy page"))
        }
    }

    @Test("B13.17: garbage in place of an answer to CONNECT: −1004, with 311 underneath")
    func garbage() async throws {
        try await ProxiedSite.run(
            tls: true, proxy: { $0.script = { _ in .text("SSH-2.0-OpenSSH_9.2\r\n\r\n", thenClose: true) } }
        ) { site in
            let error = try await error(site, site.url(), through: site.proxyURL)
            #expect(error.code == .cannotConnectToHost && error.cause == "kCFErrorDomainCFNetwork 311")
        }
    }

    @Test("B13.19: a proxy that closes in place of answering CONNECT: −1005")
    func closed() async throws {
        try await ProxiedSite.run(tls: true, proxy: { $0.script = { _ in .close } }) { site in
            let error = try await error(site, site.url(), through: site.proxyURL)
            #expect(error.code == .networkConnectionLost)
            #expect(error.localizedDescription.contains("he proxy \(site.proxyURL)"))
        }
    }

    @Test("B2.102, B17.25: CONNECT is answered with 407 and there is no credential: −1013, with 311 underneath")
    func unauthenticated() async throws {
        try await ProxiedSite.run(tls: true, proxy: { $0.authorization = "Basic bWU6c2VjcmV0" }) { site in
            let error = try await error(site, site.url(), through: site.proxyURL)
            #expect(error.code == .userAuthenticationRequired && error.cause == "kCFErrorDomainCFNetwork 311")
            #expect(error.localizedDescription.contains("wants credentials, and was given none that it accepts"))
            #expect(site.server.stats.connectionsAccepted == 0)
        }
    }

    @Test("B2.102: a 407 to a plain request is the answer")
    func plain407() async throws {
        try await ProxiedSite.run(proxy: { $0.authorization = "Basic bWU6c2VjcmV0" }) { site in
            let session = site.session()
            let (_, response) = try await session.data(from: site.url())
            #expect((response as? HTTPURLResponse)?.statusCode == 407)
            session.invalidateAndCancel()
            #expect(site.server.stats.connectionsAccepted == 0)
        }
    }

    @Test(
        "B13.27: refusals of SOCKS proxies have CFNetwork's codes; without a usable credential it is −1013 (B17.25)",
        arguments: [
            ("socks4a", [0, 91, 0, 0, 0, 0, 0, 0], URLError.Code.cannotConnectToHost, 110),
            ("socks4a", [0, 92, 0, 0, 0, 0, 0, 0], .cannotConnectToHost, 111),
            ("socks4a", [0, 93, 0, 0, 0, 0, 0, 0], .cannotConnectToHost, 112),
            ("socks4a", [0, 99, 0, 0, 0, 0, 0, 0], .cannotConnectToHost, 113),
            ("socks5h", [5, 5, 0, 1, 0, 0, 0, 0, 0, 0], .cannotConnectToHost, 120),
        ] as [(String, [UInt8], URLError.Code, Int)])
    func socks(scheme: String, answer: [UInt8], code: URLError.Code, cause: Int) async throws {
        try await ProxiedSite.run(proxy: { $0.script = { _ in .send(answer) } }) { site in
            let error = try await error(site, site.url(), through: "\(scheme)://127.0.0.1:\(site.proxy.port)")
            #expect(error.code == code && error.cause == "kCFErrorDomainCFNetwork \(cause)")
            #expect(error.localizedDescription.contains("he proxy \(scheme)://127.0.0.1:\(site.proxy.port)"))
        }
    }

    @Test(
        "B13.27: SOCKS5 with a wrong password, and with none: −1013, with 122 and 124 underneath",
        arguments: [
            ("me:secret-wrong@", 122), ("", 124),
        ])
    func socksPassword(userInformation: String, cause: Int) async throws {
        try await ProxiedSite.run(proxy: { $0.socksCredentials = ("me", "secret") }) { site in
            let error = try await error(
                site, site.url(), through: "socks5h://\(userInformation)127.0.0.1:\(site.proxy.port)")
            #expect(error.code == .userAuthenticationRequired && error.cause == "kCFErrorDomainCFNetwork \(cause)")
        }
    }

    @Test("B13.27: a SOCKS proxy that does not speak SOCKS: −1004, with 101 underneath")
    func notSOCKS() async throws {
        let answer = "HTTP/1.1 400 Bad Request\r\n\r\n"
        var options = LoopbackServer.Options()
        options.greeting = { _ in [.text(answer), .waitForClose] }
        let server = try LoopbackServer.start(options) { _ in .status(400) }
        try await ProxiedSite.run { site in
            let error = try await error(site, site.url(), through: "socks5h://127.0.0.1:\(server.port)")
            #expect(error.code == .cannotConnectToHost && error.cause == "kCFErrorDomainCFNetwork 101")
        }
        await server.stop()
    }

    @Test("B13.21: a TLS proxy whose certificate is not trusted: −1202, by the proxy's name")
    func untrustedProxy() async throws {
        let (_, identity) = try CertificateFactory.server("127.0.0.1")
        try await ProxiedSite.run(tls: true, proxy: { $0.tls = .init(identity: identity) }) { site in
            let error = try await error(site, site.url(), through: "https://127.0.0.1:\(site.proxy.port)")
            #expect(error.code == .serverCertificateUntrusted)
            #expect(error.localizedDescription.contains("the proxy https://127.0.0.1:\(site.proxy.port)"))
            #expect(error.failureURLPeerTrust != nil)
            #expect(site.proxy.asks.isEmpty)
        }
    }

    @Test(
        "B2.105, B13.31: a TLS proxy that refuses plain http for want of a certificate: −1206 with 306, or the next way"
    )
    func wantsCertificate() async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        try await ProxiedSite.run(proxy: { $0.tls = .init(identity: identity, clientAuthentication: .required) }) {
            site in
            var proxy = try #require(ProxyConfiguration(url: "https://127.0.0.1:\(site.proxy.port)"))
            func session() -> URLSession {
                site.session {
                    $0.proxyConfigurations = [proxy]
                    $0.serverTrustEvaluation = .anchors(pem: root.pem)
                }
            }
            let url = try site.server.at("/")
            let error = try #require(await session().failure(url))
            #expect(error.code == .clientCertificateRequired && error.cause == "kCFErrorDomainCFNetwork 306")
            #expect(error.localizedDescription.contains("the proxy https://127.0.0.1:\(site.proxy.port)"))
            proxy.allowFailover = true
            #expect(try await session().text(url) == "/ of 127.0.0.1:\(site.server.port)")
            #expect(site.proxy.asks.isEmpty)
        }
    }

    @Test("A proxy by TLS that speaks no TLS: −1200, with 310 underneath")
    func noTLS() async throws {
        try await ProxiedSite.run(tls: true) { site in
            let error = try await error(site, site.url(), through: "https://127.0.0.1:\(site.proxy.port)")
            #expect(error.code == .secureConnectionFailed && error.cause == "kCFErrorDomainCFNetwork 310")
        }
    }
}
