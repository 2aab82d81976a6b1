// Trust, TLS versions and names. Driver protocol, section 3.

import LoopbackServer
import TLS
import Testing
import conformance_driver

@Suite("Driver and TLS")
struct TLSTests {
    @Test("Anchors, any certificate, or the system's roots decide")
    func trust() async throws {
        let (root, identity) = try CertificateFactory.server("api.example.test")
        let options = LoopbackServer.Options(tls: ServerTLS(identity: identity))
        try await withDriver(options, router: { _ in .text("ok") }) { driver, server in
            let resolve: JSONValue = ["api.example.test": "127.0.0.1", "other.example.test": "127.0.0.1"]
            let anchors: JSONValue = ["mode": "anchors", "anchors_pem": [.string(root.pem)]]
            try await driver.open("anchors", ["resolve": resolve, "trust": anchors])
            try await driver.open("any", ["resolve": resolve, "trust": ["mode": "accept_any"]])
            try await driver.open("system", ["resolve": resolve])
            let cases: [(session: String, host: String, error: JSONValue?)] = [
                ("anchors", "api.example.test", nil), ("anchors", "other.example.test", "serverCertificateUntrusted"),
                ("any", "other.example.test", nil), ("system", "api.example.test", "serverCertificateUntrusted"),
            ]
            for (session, host, error) in cases {
                let result = try await driver.result(driver.get(server.url(host: host), session: session))
                #expect(result.errorName == error, "\(session) \(host)")
            }
        }
    }

    @Test(
        "TLS versions are limited, and the one agreed on is told", arguments: [(TLSVersion.v12, "1.2"), (.v13, "1.3")])
    func versions(version: TLSVersion, name: String) async throws {
        let (_, identity) = try CertificateFactory.server("127.0.0.1")
        let options = LoopbackServer.Options(tls: ServerTLS(identity: identity))
        try await withDriver(options, router: { _ in .text("ok") }) { driver, server in
            let tls: JSONValue = ["min": .string(name), "max": .string(name)]
            try await driver.open("a", ["trust": ["mode": "accept_any"], "tls": tls])
            let result = try await driver.result(driver.get(server.url()))
            let transaction = result["metrics"]?["transactions"]?.elements.first
            #expect(transaction?["tls_version"] == .string(name))
            #expect(transaction?["ms"]?["tls"]?.number != nil)
        }
    }

    @Test("Without a version in common nothing is loaded")
    func noVersionInCommon() async throws {
        let (_, identity) = try CertificateFactory.server("127.0.0.1")
        let options = LoopbackServer.Options(tls: ServerTLS(identity: identity, minimum: .v13))
        try await withDriver(options, router: { _ in .text("ok") }) { driver, server in
            try await driver.open("a", ["trust": ["mode": "accept_any"], "tls": ["max": "1.2"]])
            #expect(try await driver.result(driver.get(server.url())).errorName == "secureConnectionFailed")
        }
    }
}
