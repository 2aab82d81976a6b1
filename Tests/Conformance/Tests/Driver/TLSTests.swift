// Trust, TLS versions and names. Driver protocol, section 3.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

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

    @Test("Anchors come with conditions: no host, a time, revocation")
    func conditions() async throws {
        let root = try CertificateFactory.root("Driver Root")
        let leaf = try root.issue(.server("api.example.test"))
        let full = Self.pem(try root.revocationList(revoking: [leaf.certificate]))
        let empty = Self.pem(try root.revocationList(revoking: []))
        let end = try #require(leaf.certificate.notAfter)
        let cases: [([String: JSONValue], String, JSONValue?)] = [
            ([:], "other.example.test", "serverCertificateUntrusted"),
            (["check_host": false], "other.example.test", nil), (["check_host": true], "api.example.test", nil),
            (["at_ms": .integer(end * 1000)], "api.example.test", nil),
            (["at_ms": .integer(end * 1000 + 1000)], "api.example.test", "serverCertificateUntrusted"),
            (["crls_pem": [full]], "api.example.test", "serverCertificateUntrusted"),
            (["crls_pem": [full], "check_revocation": "none"], "api.example.test", nil),
            (["crls_pem": [empty], "check_revocation": "hard"], "api.example.test", nil),
            (["check_revocation": "hard"], "api.example.test", "serverCertificateUntrusted"),
            (["check_revocation": "soft"], "api.example.test", nil),
        ]
        try await withDriver(.init(tls: ServerTLS(identity: leaf.identity)), router: { _ in .text("ok") }) {
            driver, server in
            for (number, (members, host, error)) in cases.enumerated() {
                var trust: [String: JSONValue] = [
                    "mode": "anchors", "anchors_pem": [.string(root.certificate.pem)],
                ]
                trust.merge(members) { $1 }
                let result = try await load(
                    "s\(number)", .object(trust.map { .init(name: $0, value: $1) }), host, driver, server)
                #expect(result.errorName == error, "\(members)")
            }
        }
    }

    @Test("Pins come on top of anchors, or of the system's")
    func pins() async throws {
        let (root, identity) = try CertificateFactory.server("api.example.test")
        let leaf = identity.chain.leaf
        let stranger = try CertificateFactory.root("Stranger").certificate
        func key(_ certificate: Certificate) -> JSONValue { .base64(Data(certificate.spkiSHA256)) }
        let anchors: JSONValue = [.string(root.pem)]
        let cases: [(JSONValue, JSONValue?)] = [
            (["mode": "pin_keys", "anchors_pem": anchors, "pins_sha256": [key(leaf), key(stranger)]], nil),
            (
                ["mode": "pin_keys", "anchors_pem": anchors, "pins_sha256": [key(stranger)]],
                "serverCertificateUntrusted"
            ),
            (["mode": "pin_keys", "pins_sha256": [key(leaf)]], "serverCertificateUntrusted"),
            (["mode": "pin_certificates", "anchors_pem": anchors, "pins_pem": [.string(leaf.pem)]], nil),
            (
                ["mode": "pin_certificates", "anchors_pem": anchors, "pins_pem": [.string(stranger.pem)]],
                "serverCertificateUntrusted"
            ),
        ]
        try await withDriver(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("ok") }) {
            driver, server in
            for (number, (trust, error)) in cases.enumerated() {
                let result = try await load("s\(number)", trust, "api.example.test", driver, server)
                #expect(result.errorName == error, "\(trust)")
            }
        }
    }

    @Test(
        "A delegate's answer takes the evaluation's place",
        arguments: [
            ("use", nil), ("cancel", "cancelled"), ("default", "serverCertificateUntrusted"),
            ("reject", "serverCertificateUntrusted"),
        ] as [(String, JSONValue?)])
    func ask(answer: String, error: JSONValue?) async throws {
        let (_, identity) = try CertificateFactory.server("api.example.test")
        try await withDriver(.init(tls: ServerTLS(identity: identity)), router: { _ in .text("ok") }) {
            driver, server in
            let trust: JSONValue = ["mode": "ask", "answer": .string(answer)]
            let result = try await load("a", trust, "api.example.test", driver, server)
            #expect(result.errorName == error)
            let asked: JSONValue = [
                "method": "NSURLAuthenticationMethodServerTrust", "host": "api.example.test",
                "port": .integer(Int64(server.port)), "realm": .null, "proxy": false, "previous_failures": 0,
            ]
            #expect(result["challenges"] == [asked])
        }
    }

    @Test("The delegate of a web socket answers about servers too")
    func askForWebSocket() async throws {
        let (_, identity) = try CertificateFactory.server("127.0.0.1")
        try await withDriver(.init(tls: ServerTLS(identity: identity)), router: { _ in .webSocket() }) {
            driver, server in
            for (answer, error) in [("use", nil), ("cancel", "cancelled")] as [(String, JSONValue?)] {
                try await driver.open(answer, ["trust": ["mode": "ask", "answer": .string(answer)]])
                let url = server.url().replacingOccurrences(of: "https:", with: "wss:")
                let opened = try await driver.result(
                    "ws.open", ["session": .string(answer), "ws": .string(answer), "url": .string(url)])
                #expect(opened.errorName == error)
            }
        }
    }

    @Test("A server that demands a certificate is shown the session's")
    func clientIdentity() async throws {
        let clients = try CertificateFactory.root("Clients")
        let client = try clients.issue(.client("somebody")).identity
        let (_, identity) = try CertificateFactory.server("api.example.test")
        let tls = ServerTLS(
            identity: identity, clientAuthentication: .required, clientAuthorities: [clients.certificate])
        try await withDriver(.init(tls: tls), router: { _ in .text("ok") }) { driver, server in
            let any: JSONValue = ["mode": "accept_any"]
            let shown: JSONValue = [
                "chain_pem": .string(client.chain.certificates.map(\.pem).joined()), "key_pem": .string(client.keyPEM),
            ]
            try await driver.open("with", ["trust": any, "client_identity": shown])
            try await driver.open("without", ["trust": any])
            #expect(try await driver.result(driver.get(server.url(), session: "with")).errorName == nil)
            let refused = try await driver.result(driver.get(server.url(), session: "without"))
            #expect(refused.errorName == "clientCertificateRequired")
        }
    }

    private func load(
        _ session: String, _ trust: JSONValue, _ host: String, _ driver: DriverProcess, _ server: LoopbackServer
    ) async throws -> JSONValue {
        let resolve: JSONValue = ["api.example.test": "127.0.0.1", "other.example.test": "127.0.0.1"]
        try await driver.open(session, ["resolve": resolve, "trust": trust])
        return try await driver.result(driver.get(server.url(host: host), session: session))
    }

    private static func pem(_ list: RevocationList) -> JSONValue {
        let text = Data(list.der).base64EncodedString(options: .lineLength64Characters)
        return .string("-----BEGIN X509 CRL-----\n\(text)\n-----END X509 CRL-----\n")
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

    @Test("A limit that is given alone does not contradict the other's default")
    func oldVersionAlone() async throws {
        let (_, identity) = try CertificateFactory.server("127.0.0.1")
        let tls = ServerTLS(identity: identity, minimum: .v10, maximum: .v11)
        try await withDriver(.init(tls: tls), router: { _ in .text("ok") }) { driver, server in
            try await driver.open("a", ["trust": ["mode": "accept_any"], "tls": ["max": "1.1"]])
            let result = try await driver.result(driver.get(server.url()))
            #expect(result["metrics"]?["transactions"]?.elements.first?["tls_version"] == "1.1", "\(result)")
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
