// Chains without a connection. Driver protocol, section 7.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("Driver and chains")
struct TrustTests {
    private let root = Result { try CertificateFactory.root("Driver Root") }
    private let intermediate: Result<IssuedCertificate, any Error>
    private let leaf: Result<IssuedCertificate, any Error>

    init() {
        let above = Result { [root] in try root.get().issue(.authority("Driver Intermediate")) }
        intermediate = above
        leaf = Result { try above.get().issue(.server(hosts: ["api.example.test", "192.0.2.7"])) }
    }

    /// The command for the usual chain; members replace those that are there.
    private func evaluate(_ changes: [String: JSONValue] = [:]) async throws -> JSONValue {
        var members: [String: JSONValue] = try [
            "chain_pem": .array(leaf.get().chain.certificates.map { .string($0.pem) }),
            "anchors_pem": [.string(root.get().certificate.pem)], "host": "api.example.test",
        ]
        members.merge(changes) { $1 }
        return try await DriverProcess().result(
            "trust.evaluate", .object(members.map { JSONMember(name: $0.key, value: $0.value) }))
    }

    private static func pem(_ list: RevocationList) -> String {
        let text = Data(list.der).base64EncodedString(options: .lineLength64Characters)
        return "-----BEGIN X509 CRL-----\n\(text)\n-----END X509 CRL-----\n"
    }

    @Test("A chain to an anchor is trusted, for its names and without a name")
    func trusted() async throws {
        #expect(try await evaluate() == ["trusted": true])
        for host in ["API.example.test.", "192.0.2.7", nil] as [String?] {
            #expect(try await evaluate(["host": host.map { .string($0) } ?? .null])["trusted"] == true)
        }
        #expect(try await evaluate(["at_ms": .null, "max_depth": .null, "crls_pem": []])["trusted"] == true)
    }

    @Test("The order behind the leaf does not count")
    func order() async throws {
        let (root, certificates) = try (root.get().certificate, leaf.get().chain.certificates)
        let chain = [certificates[0], root] + certificates.dropFirst()
        #expect(try await evaluate(["chain_pem": .array(chain.map { .string($0.pem) })])["trusted"] == true)
    }

    @Test("Another name, another root, no intermediate: untrusted, with the reason in words")
    func untrusted() async throws {
        let other = try CertificateFactory.root("Other Root").certificate
        let cases: [([String: JSONValue], String)] = [
            (["host": "other.example.test"], "is not valid for \"other.example.test\""),
            (["host": "192.0.2.8"], "is not valid for \"192.0.2.8\""),
            (["anchors_pem": [.string(other.pem)]], "does not lead to a trusted root"),
            (["anchors_pem": []], "does not lead to a trusted root"),
            (["chain_pem": [.string(try leaf.get().certificate.pem)]], "does not lead to a trusted root"),
        ]
        for (changes, reason) in cases {
            let result = try await evaluate(changes)
            #expect(result["trusted"] == false)
            #expect(result["error"] == "serverCertificateUntrusted")
            #expect(result["detail"]?.text?.contains(reason) == true, "\(result)")
        }
    }

    @Test("The time of the check can be chosen")
    func time() async throws {
        // B3.28: an anchor's own dates do not count. All were made one after the other, and the machine may
        // have taken seconds over it.
        let chain = try [leaf.get().certificate, intermediate.get().certificate]
        let start = try #require(chain.compactMap(\.notBefore).max())
        let end = try #require(chain.compactMap(\.notAfter).min())
        #expect(try await evaluate(["at_ms": .integer(end * 1000 + 999)])["trusted"] == true)
        #expect(try await evaluate(["at_ms": .integer(end * 1000 + 1000)])["trusted"] == false)
        let early = try await evaluate(["at_ms": .integer(start * 1000 - 1)])
        #expect(early["trusted"] == false)
        for time in [Int64.min, -1, .max] { #expect(try await evaluate(["at_ms": .integer(time)])["trusted"] == false) }
    }

    @Test("Revocation lists are looked at")
    func revoked() async throws {
        let (above, leaf) = try (intermediate.get(), leaf.get().certificate)
        let (full, empty) = try (above.revocationList(revoking: [leaf]), above.revocationList(revoking: []))
        #expect(try await evaluate(["crls_pem": [.string(Self.pem(full))]])["trusted"] == false)
        #expect(try await evaluate(["crls_pem": [.string(Self.pem(empty))]])["trusted"] == true)
        #expect(try await evaluate(["crls_pem": ["nonsense"]])["trusted"] == false)
    }

    @Test("The depth is the number of certificates between leaf and anchor")
    func depth() async throws {
        #expect(try await evaluate(["max_depth": 0])["trusted"] == false)
        #expect(try await evaluate(["max_depth": 1])["trusted"] == true)
        #expect(try await evaluate(["max_depth": .integer(.max)])["trusted"] == true)
    }

    @Test("What is no certificate is not trusted")
    func unreadable() async throws {
        let broken = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
        for chain in [[.string(broken)], ["nonsense"]] as [JSONValue] {
            let result = try await evaluate(["chain_pem": chain])
            #expect(result["trusted"] == false)
            #expect(result["error"] == "secureConnectionFailed")
        }
        // A handshake ends at such a certificate, even where no path needs it.
        let whole = try leaf.get().chain.certificates.map { JSONValue.string($0.pem) }
        let chain = JSONValue.array(whole + [.string(broken)])
        #expect(try await evaluate(["chain_pem": chain])["trusted"] == false)
    }

    @Test("Anchors are read as a session's: text is passed over; a block that is no certificate leaves none trusted")
    func unreadableAnchors() async throws {
        let broken: JSONValue = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
        let good = JSONValue.string(try root.get().certificate.pem)
        #expect(try await evaluate(["anchors_pem": ["nonsense", good]])["trusted"] == true)
        for anchors in [[good, broken], ["nonsense"]] as [JSONValue] {
            let result = try await evaluate(["anchors_pem": anchors])
            #expect(result["trusted"] == false)
            #expect(result["error"] == "serverCertificateUntrusted")
        }
    }

    @Test("Commands that are none are refused")
    func refused() async throws {
        let driver = try DriverProcess()
        for (members, problem) in [
            ([:], "bad_command"), (["chain_pem": []], "bad_command"), (["chain_pem": "x"], "bad_command"),
            (["chain_pem": ["x"], "max_depth": -1], "bad_command"),
            (["chain_pem": ["x"], "at_ms": "now"], "bad_command"),
            (["chain_pem": ["x"], "nonsense": 1], "unsupported"),
        ] as [(JSONValue, JSONValue)] {
            #expect(try await driver.call("trust.evaluate", members)["problem"] == problem)
        }
    }
}
