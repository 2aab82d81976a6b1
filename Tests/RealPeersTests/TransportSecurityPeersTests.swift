// What App Transport Security offers in a handshake, against a server that can be told what to take.

import Foundation
import Testing
import URLLoading

@Suite("App Transport Security, against openssl s_server")
struct TransportSecurityPeersTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let options: [String]
        let code: URLError.Code?

        var testDescription: String { options.joined(separator: " ") }
    }

    private static let cases = [
        Case(options: ["-tls1_2", "ECDHE-ECDSA-AES128-GCM-SHA256"], code: nil),
        Case(options: ["-tls1_2", "ECDHE-ECDSA-AES256-SHA384"], code: nil),
        Case(options: ["-tls1_2", "ECDHE-ECDSA-CHACHA20-POLY1305"], code: .secureConnectionFailed),
        Case(options: ["-tls1_3", "TLS_AES_256_GCM_SHA384"], code: nil),
        Case(options: ["-tls1_3", "TLS_CHACHA20_POLY1305_SHA256"], code: .secureConnectionFailed),
    ]

    @Test(
        "B3.76, B3.78: AES only, and −1200 where a server has nothing else; without a policy all of them are served",
        .enabled(if: Peers.openssl != nil, "openssl is not installed"), arguments: cases)
    private func ciphers(_ example: Case) async throws {
        let name = example.options[0] == "-tls1_3" ? "-ciphersuites" : "-cipher"
        let server = try await OpenSSLServer(example.options[0], name, example.options[1])
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        #expect(await end(of: url, server, nil) == nil)
        #expect(await end(of: url, server, .init()) == example.code)
    }

    private func end(
        of url: URL, _ server: OpenSSLServer, _ policy: URLSessionConfiguration.AppTransportSecurity?
    ) async -> URLError.Code? {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = .anchors(pem: server.directory.anchor)
        configuration.appTransportSecurity = policy
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        do {
            _ = try await session.data(from: url)
            return nil
        } catch {
            return (error as? URLError)?.code ?? .unknown
        }
    }
}
