// Which protocol is spoken. Driver protocol, section 3.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Driver and HTTP/2")
struct HTTP2Tests {
    /// What a transaction's metrics call the protocol.
    private func spoken(
        _ driver: DriverProcess, _ url: String, _ config: JSONValue, session: String
    ) async throws -> JSONValue? {
        try await driver.open(session, config)
        let result = try await driver.result(driver.get(url, session: session))
        #expect(result["error"] == .null)
        return result["metrics"]?["transactions"]?.elements.first?["protocol"]
    }

    @Test("H1.14: over TLS the server chooses, unless HTTP/2 is off")
    func negotiated() async throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1")
        var options = LoopbackServer.Options(tls: ServerTLS(identity: identity))
        options.http2 = .offered
        let trust: JSONValue = ["mode": "anchors", "anchors_pem": [.string(root.pem)]]
        try await withDriver(options, router: { _ in .text("ok") }) { driver, server in
            let url = server.url()
            let a = try await spoken(driver, url, ["trust": trust], session: "a")
            #expect(a == "h2")
            let b = try await spoken(driver, url, ["trust": trust, "http2": "auto"], session: "b")
            #expect(b == "h2")
            let c = try await spoken(driver, url, ["trust": trust, "http2": "off"], session: "c")
            #expect(c == "http/1.1")
        }
    }

    @Test("H1.4, H1.14: without TLS it is spoken by prior knowledge only")
    func priorKnowledge() async throws {
        var options = LoopbackServer.Options()
        options.http2 = .offered
        try await withDriver(options, router: { _ in .text("ok") }) { driver, server in
            let url = server.url()
            let a = try await spoken(driver, url, [:], session: "a")
            #expect(a == "http/1.1")
            let b = try await spoken(driver, url, ["http2": "prior_knowledge"], session: "b")
            #expect(b == "h2")
        }
    }
}
