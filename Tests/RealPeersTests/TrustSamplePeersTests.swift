// The samples of pinning, own anchors and client certificates, against servers that others have written.

import Foundation
import Testing
import URLLoading
import URLLoadingSamplesSwift6

@Suite("Trust, against nginx and openssl s_server")
struct TrustSamplePeersTests {
    /// The DER bytes of the first certificate of a PEM text.
    private func bytes(_ pem: String) throws -> Data {
        let lines = pem.split(separator: "\n").drop { !$0.hasPrefix("-----BEGIN") }.dropFirst()
        return try #require(Data(base64Encoded: lines.prefix { !$0.hasPrefix("-----END") }.joined()))
    }

    private func load(_ url: URL, anchor: String?, _ delegate: any URLSessionDelegate) async throws -> String {
        let configuration = URLSessionConfiguration.ephemeral
        if let anchor { configuration.serverTrustEvaluation = .anchors(pem: anchor) }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        return String(decoding: try await session.data(from: url).0, as: UTF8.self)
    }

    /// Loads with the right pins and anchors, and with wrong ones.
    private func checkServerTrust(_ url: URL, _ directory: PeerDirectory) async throws {
        let root = try bytes(directory.anchor)
        let leaf = try bytes(String(contentsOfFile: directory.path + "/certificate.pem", encoding: .utf8))
        let other = try bytes(String(contentsOfFile: directory.path + "/clients.pem", encoding: .utf8))
        func key(_ certificate: Data) throws -> String {
            let face = try #require(SecCertificateCreateWithData(nil, certificate as CFData))
            let key = try #require(SecCertificateCopyKey(face))
            return try #require(SecKeyCopyExternalRepresentation(key, nil) as Data?).base64EncodedString()
        }
        let anchor = directory.anchor
        _ = try await load(url, anchor: anchor, CertificatePinner(pinned: [leaf]))
        for pinned in [leaf, root] { _ = try await load(url, anchor: anchor, KeyPinner(base64Keys: [key(pinned)])) }
        _ = try await load(url, anchor: nil, AnchoredTrust(anchors: [root]))
        let refusing: [(String?, any URLSessionDelegate)] = [
            (anchor, CertificatePinner(pinned: [other])), (anchor, KeyPinner(base64Keys: [try key(other)])),
            (nil, CertificatePinner(pinned: [leaf])), (nil, AnchoredTrust(anchors: [other])),
        ]
        for (anchor, delegate) in refusing {
            let error = await #expect(throws: URLError.self) { try await load(url, anchor: anchor, delegate) }
            #expect(error?.code == .cancelled)
        }
    }

    @Test(
        "nginx, by certificate, by key and by own anchors, under TLS 1.2 and 1.3",
        .enabled(if: Peers.nginx != nil, "nginx is not installed"))
    func nginxServerTrust() async throws {
        let nginx = try await Nginx()
        for port in [nginx.tls12, nginx.tls13] {
            try await checkServerTrust(nginx.url("https", port, "/hello"), nginx.directory)
        }
    }

    @Test(
        "nginx is shown a client's certificate, and answers with its name",
        .enabled(if: Peers.nginx != nil, "nginx is not installed"))
    func nginxClient() async throws {
        let nginx = try await Nginx()
        for port in nginx.forClients {
            let client = try ClientIdentity(file: nginx.directory.clientFile, passphrase: "secret")
            let who = try await load(nginx.url("https", port, "/who"), anchor: nginx.directory.anchor, client)
            #expect(who == "CN=somebody")
        }
    }

    @Test(
        "openssl s_server, by certificate, by key, by own anchors, and with a client's certificate",
        .enabled(if: Peers.openssl != nil, "openssl is not installed"), arguments: ["-tls1_2", "-tls1_3"])
    func openssl(version: String) async throws {
        let server = try await OpenSSLServer(version)
        let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
        try await checkServerTrust(url, server.directory)
        let asking = try await OpenSSLServer(version, forClients: true)
        let client = try ClientIdentity(file: asking.directory.clientFile, passphrase: "secret")
        let askingURL = try #require(URL(string: "https://127.0.0.1:\(asking.port)/"))
        let page = try await load(askingURL, anchor: asking.directory.anchor, client)
        #expect(page.contains("CN = somebody") || page.contains("CN=somebody"))
    }
}
