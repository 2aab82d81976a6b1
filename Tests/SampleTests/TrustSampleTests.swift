// The samples of pinning, own anchors and client certificates, against a server, in either language mode.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6
import URLLoadingTrust

@Suite("Samples of trust")
struct TrustSampleTests {
    private static let root = Result { try CertificateFactory.root("Sample Root") }
    private static let intermediate = Result { try root.get().issue(.authority("Sample Intermediate")) }
    private static let server = Result { try intermediate.get().issue(.server("localhost")) }

    private enum Outcome: Equatable {
        case loaded(String)
        case failed(URLError.Code)
    }

    /// What a delegate lets come from a server. A refused server has seen no request.
    private func load(
        from identity: Identity, delegate: any URLSessionDelegate, trustsRoot: Bool = true,
        clientsNeedCertificates: Bool = false
    ) async throws -> Outcome {
        let root = try Self.root.get().certificate
        var tls = ServerTLS(identity: identity)
        if clientsNeedCertificates {
            tls.clientAuthentication = .required
            tls.clientAuthorities = [root]
        }
        let server = try LoopbackServer.start(LoopbackServer.Options(tls: tls)) { _ in .text("hello") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.hostOverrides = ["localhost": "127.0.0.1"]
        // Stands for a root that the machine trusts.
        if trustsRoot { configuration.serverTrustEvaluation = .anchors(pem: root.pem) }
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let result: Outcome
        do {
            let url = try #require(URL(string: server.url("/", host: "localhost")))
            let (data, _) = try await session.data(from: url)
            result = .loaded(String(decoding: data, as: UTF8.self))
        } catch let error as URLError {
            result = .failed(error.code)
            #expect(server.stats.requests == 0, "no byte of the request left")
        }
        await server.stop()
        return result
    }

    private func pinner(_ certificates: [Certificate], _ mode: LanguageMode) -> any URLSessionDelegate {
        let pins = certificates.map { Data($0.der) }
        switch mode {
        case .swift5: return URLLoadingSamplesSwift5.CertificatePinner(pinned: pins)
        case .swift6: return URLLoadingSamplesSwift6.CertificatePinner(pinned: pins)
        }
    }

    @Test(
        "A pinned certificate is accepted, another one and a pinned but untrusted one are not",
        arguments: LanguageMode.allCases)
    func certificatePinning(mode: LanguageMode) async throws {
        let server = try Self.server.get()
        let backup = try CertificateFactory.root("Backup").certificate
        let right = pinner([backup, server.certificate], mode)
        #expect(try await load(from: server.identity, delegate: right) == .loaded("hello"))
        #expect(try await load(from: server.identity, delegate: pinner([backup], mode)) == .failed(.cancelled))
        #expect(try await load(from: server.identity, delegate: right, trustsRoot: false) == .failed(.cancelled))
        let renewed = try Self.intermediate.get().issue(.server("localhost"), forKeyOf: server)
        #expect(try await load(from: renewed.identity, delegate: right) == .failed(.cancelled))
    }

    @Test("The older functions pin as well")
    @available(*, deprecated)
    func oldStyle() async throws {
        let server = try Self.server.get()
        let other = try Self.intermediate.get().issue(.server("localhost"))
        let pinner = URLLoadingSamplesSwift5.OldStylePinner(certificate: NSData(data: Data(server.certificate.der)))
        #expect(try await load(from: server.identity, delegate: pinner) == .loaded("hello"))
        #expect(try await load(from: other.identity, delegate: pinner) == .failed(.cancelled))
        #expect(try await load(from: server.identity, delegate: pinner, trustsRoot: false) == .failed(.cancelled))
    }

    @Test(
        "A pinned key is accepted anywhere in the chain and in a renewed certificate, others are not",
        arguments: LanguageMode.allCases)
    func keyPinning(mode: LanguageMode) async throws {
        func pinner(_ certificate: Certificate) throws -> any URLSessionDelegate {
            let face = try #require(SecCertificateCreateWithData(nil, Data(certificate.der) as CFData))
            let key = try #require(SecCertificateCopyKey(face))
            let pin = try #require(SecKeyCopyExternalRepresentation(key, nil) as Data?).base64EncodedString()
            switch mode {
            case .swift5: return URLLoadingSamplesSwift5.KeyPinner(base64Keys: [pin])
            case .swift6: return URLLoadingSamplesSwift6.KeyPinner(base64Keys: [pin])
            }
        }
        let server = try Self.server.get()
        let (root, intermediate) = (try Self.root.get(), try Self.intermediate.get())
        for certificate in [server.certificate, intermediate.certificate, root.certificate] {
            #expect(try await load(from: server.identity, delegate: pinner(certificate)) == .loaded("hello"))
        }
        let renewed = try intermediate.issue(.server("localhost"), forKeyOf: server)
        #expect(try await load(from: renewed.identity, delegate: pinner(server.certificate)) == .loaded("hello"))
        let stranger = try CertificateFactory.root("Stranger").certificate
        #expect(try await load(from: server.identity, delegate: pinner(stranger)) == .failed(.cancelled))
        let sent = try server.identity(showing: [intermediate.certificate, stranger])
        #expect(try await load(from: sent, delegate: pinner(stranger)) == .failed(.cancelled), "merely sent along")
        #expect(
            try await load(from: server.identity, delegate: pinner(server.certificate), trustsRoot: false)
                == .failed(.cancelled))
    }

    @Test("Servers below own anchors are trusted, and no others", arguments: LanguageMode.allCases)
    func anchors(mode: LanguageMode) async throws {
        func delegate(_ certificates: [Certificate]) -> any URLSessionDelegate {
            let anchors = certificates.map { Data($0.der) }
            switch mode {
            case .swift5: return URLLoadingSamplesSwift5.AnchoredTrust(anchors: anchors)
            case .swift6: return URLLoadingSamplesSwift6.AnchoredTrust(anchors: anchors)
            }
        }
        let (root, server) = (try Self.root.get().certificate, try Self.server.get())
        #expect(
            try await load(from: server.identity, delegate: delegate([root]), trustsRoot: false) == .loaded("hello"))
        #expect(try await load(from: server.identity, delegate: delegate([])) == .failed(.cancelled))
        let own = try CertificateFactory.selfSigned(.server("localhost"))
        #expect(
            try await load(from: own.identity, delegate: delegate([own.certificate]), trustsRoot: false)
                == .loaded("hello"))
        #expect(
            try await load(from: own.identity, delegate: delegate([root]), trustsRoot: false) == .failed(.cancelled))
        let elsewhere = try Self.intermediate.get().issue(.server("elsewhere.test"))
        #expect(try await load(from: elsewhere.identity, delegate: delegate([root])) == .failed(.cancelled))
    }

    @Test("A client certificate from a PKCS #12 file is shown to a server that asks", arguments: LanguageMode.allCases)
    func clientCertificate(mode: LanguageMode) async throws {
        let client = try Self.intermediate.get().issue(.client("somebody"))
        let file = Data(try client.pkcs12(passphrase: "secret"))
        let delegate: any URLSessionDelegate
        switch mode {
        case .swift5:
            delegate = try URLLoadingSamplesSwift5.ClientIdentity(file: file, passphrase: "secret")
            #expect(throws: URLLoadingSamplesSwift5.ClientIdentity.ImportFailure.wrongPassphrase) {
                try URLLoadingSamplesSwift5.ClientIdentity(file: file, passphrase: "wrong")
            }
        case .swift6:
            delegate = try URLLoadingSamplesSwift6.ClientIdentity(file: file, passphrase: "secret")
            #expect(throws: URLLoadingSamplesSwift6.ClientIdentity.ImportFailure.wrongPassphrase) {
                try URLLoadingSamplesSwift6.ClientIdentity(file: file, passphrase: "wrong")
            }
        }
        let server = try Self.server.get()
        #expect(
            try await load(from: server.identity, delegate: delegate, clientsNeedCertificates: true)
                == .loaded("hello"))
        let without = try await load(from: server.identity, delegate: Silent(), clientsNeedCertificates: true)
        #expect(without == .failed(.clientCertificateRequired))
    }
}

/// Answers nothing.
private final class Silent: NSObject, URLSessionDelegate {}
