// The contents of the error when a server was refused (behaviour 3.6).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite("Errors of refused certificates")
struct TrustErrorTests {
    /// How loading from a server with this identity fails, anchored at the shared root.
    private func failure(_ issued: IssuedCertificate) async throws -> URLError {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.hostOverrides = ["example.test": "127.0.0.1"]
        configuration.serverTrustEvaluation = .anchors(pem: try TrustSamples.root.get().certificate.pem)
        let session = URLSession(configuration: configuration)
        defer { session.invalidateAndCancel() }
        let options = LoopbackServer.Options(tls: ServerTLS(identity: issued.identity))
        return try await withServer(options, router: { _ in .text("secret") }) { server in
            let url = try server.at("/", host: "example.test")
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(server.stats.requests == 0, "no byte of the request left")
            return try #require(error)
        }
    }

    @Test("B3.69, B3.71: self-signed, unknown root, wrong host and expired are −1202")
    func untrusted() async throws {
        let stranger = try CertificateFactory.root("Stranger").issue(.server("example.test"))
        let other = try TrustSamples.intermediate.get().issue(.server("other.test"))
        for issued in [try TrustSamples.selfSigned.get(), stranger, other, try TrustSamples.expired.get()] {
            let error = try await failure(issued)
            #expect(error.code == .serverCertificateUntrusted)
            #expect((error as NSError).code == -1202)
        }
    }

    @Test("B3.71: −1204 when not yet valid is the only problem, −1202 when it is not (B3.72)")
    func notYetValid() async throws {
        let intermediate = try TrustSamples.intermediate.get()
        func early(_ host: String) throws -> IssuedCertificate {
            try intermediate.issue(
                .server(host).with {
                    $0.notBefore = 4_000_000_000; $0.notAfter = 4_100_000_000
                })
        }
        #expect(try await failure(early("example.test")).code == .serverCertificateNotYetValid)
        #expect(try await failure(early("other.test")).code == .serverCertificateUntrusted)
    }

    @Test(
        "B3.36, B3.72: a server whose authority has revoked its certificate is refused for that beside the system's roots"
    )
    func revoked() async throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(.server("localhost"))
        let response = try root.ocspResponse(about: leaf.certificate, .revoked)
        let tls = ServerTLS(identity: leaf.identity, stapledResponse: response)
        try await withServer(.init(tls: tls), router: { _ in .text("secret") }) { (server) async throws in
            let url = try server.at("/", host: "localhost")
            let end = await LoadEnd(url, judgedBy: .anchorsAndSystem(pem: root.certificate.pem))
            #expect(end.isRefused("revoked"), "\(end.error?.localizedDescription ?? "")")
            let cause = end.error?.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(cause?.code == URLLoadingErrorDomain.TrustCode.revoked.rawValue)
        }
    }

    @Test("B3.73: userInfo has the URL twice, the trust, the chain, a text with the host, a suggestion and the cause")
    func userInfo() async throws {
        let expired = try TrustSamples.expired.get()
        let error = try await failure(expired)
        let info = error.userInfo
        let url = try #require(info[NSURLErrorFailingURLErrorKey] as? URL)
        #expect(url.host == "example.test")
        #expect(info["NSErrorFailingURLStringKey"] as? String == url.absoluteString)
        let text = try #require(info[NSLocalizedDescriptionKey] as? String)
        #expect(text.contains("certificate for this server is invalid"))
        #expect(text.contains("example.test"))
        #expect(info[NSLocalizedRecoverySuggestionErrorKey] is String)
        let cause = try #require(info[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.code == URLLoadingErrorDomain.TrustCode.expired.rawValue)

        let chain = info["NSErrorPeerCertificateChainKey"] as? [SecCertificate]
        #expect(try chain == TrustSamples.faces(expired.chain.certificates))
        let trust = try #require(error.failureURLPeerTrust)
        #expect(info[NSURLErrorFailingURLPeerTrustErrorKey] as? SecTrust == trust)
    }

    @Test("B3.73: the trust in the error fails like the connection, and can be evaluated with other dates and policies")
    func trustInError() async throws {
        let trust = try #require(try await failure(TrustSamples.expired.get()).failureURLPeerTrust)
        #expect(failureCode(trust) == errSecCertificateExpired, "by the session's own anchors")
        SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: 1_050_000_000) as CFDate)
        #expect(failureCode(trust) == errSecCertificateNotValidYet, "of the intermediate")
        let other = try TrustSamples.intermediate.get().issue(.server("other.test"))
        let wrongHost = try #require(try await failure(other).failureURLPeerTrust)
        #expect(failureCode(wrongHost) == errSecHostNameMismatch)
        SecTrustSetPolicies(wrongHost, SecPolicyCreateBasicX509())
        #expect(failureCode(wrongHost) == 0)
    }

    @Test("B3.73: other errors have no trust")
    func otherErrors() {
        #expect(URLError(.timedOut).failureURLPeerTrust == nil)
        #expect(URLError(.timedOut, userInfo: [NSURLErrorFailingURLPeerTrustErrorKey: 1]).failureURLPeerTrust == nil)
    }
}
