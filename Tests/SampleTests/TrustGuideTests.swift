// The recipes of docs/trust.md: each lets in the servers that it is for, and no others.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6
import URLLoadingTLS
import URLLoadingTrust

@Suite("The guide to trust", .timeLimit(.minutes(5)))
struct TrustGuideTests {
    private struct Place {
        let root: IssuedCertificate
        let leaf: IssuedCertificate
        let server: LoopbackServer

        /// The code with which a load from a host ends; nil where it succeeds.
        func code(_ host: String, _ change: (URLSessionConfiguration) throws -> Void) async throws -> URLError.Code? {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = [
                "localhost": "127.0.0.1", "api.corp.example": "127.0.0.1", "printer.corp.example": "127.0.0.1",
                "elsewhere.example": "127.0.0.1", "old.corp.example": "127.0.0.1",
            ]
            try change(configuration)
            let session = URLSession(configuration: configuration)
            defer { session.invalidateAndCancel() }
            do {
                _ = try await session.data(from: try #require(URL(string: server.url("/", host: host))))
                return nil
            } catch let error as URLError {
                return error.code
            }
        }
    }

    private func withPlace(
        _ change: (inout ServerTLS) throws -> Void = { _ in }, _ body: (Place) async throws -> Void
    ) async throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(
            .server("localhost", "127.0.0.1", "api.corp.example", "elsewhere.example", "old.corp.example"))
        var tls = ServerTLS(identity: leaf.identity)
        try change(&tls)
        let server = try LoopbackServer.start(.init(tls: tls)) { _ in .text("hello") }
        do {
            try await body(Place(root: root, leaf: leaf, server: server))
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Runs with the certificate in a file.
    private func withFile(_ pem: String, _ body: (URL) async throws -> Void) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).pem")
        try Data(pem.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await body(file)
    }

    @Test("My development server", arguments: LanguageMode.allCases)
    func developmentServer(mode: LanguageMode) async throws {
        try await withPlace { place in
            try await withFile(place.root.certificate.pem) { file in
                func code(_ host: String) async throws -> URLError.Code? {
                    try await place.code(host) {
                        switch mode {
                        case .swift5: try URLLoadingSamplesSwift5.trustDevelopmentServer(file, in: $0)
                        case .swift6: try URLLoadingSamplesSwift6.trustDevelopmentServer(file, in: $0)
                        }
                    }
                }
                let codes = (
                    try await code("localhost"), try await code("127.0.0.1"), try await code("elsewhere.example")
                )
                #expect(codes == (nil, nil, .serverCertificateUntrusted))
            }
        }
    }

    @Test("Our own authority", arguments: LanguageMode.allCases)
    func authority(mode: LanguageMode) async throws {
        try await withPlace { place in
            try await withFile(place.root.certificate.pem) { file in
                func code(_ host: String) async throws -> URLError.Code? {
                    try await place.code(host) {
                        switch mode {
                        case .swift5: try URLLoadingSamplesSwift5.trustOurAuthority(file, in: $0)
                        case .swift6: try URLLoadingSamplesSwift6.trustOurAuthority(file, in: $0)
                        }
                    }
                }
                let codes = (try await code("api.corp.example"), try await code("elsewhere.example"))
                #expect(codes == (nil, .serverCertificateUntrusted))
            }
        }
    }

    @Test("Pin our key", arguments: LanguageMode.allCases)
    func pin(mode: LanguageMode) async throws {
        try await withPlace { place in
            func pin(_ certificate: Certificate) -> String { Data(certificate.spkiSHA256).base64EncodedString() }
            let (own, pem) = (pin(place.leaf.certificate), place.root.certificate.pem)
            let reserve = pin(try CertificateFactory.root("Safe").certificate)
            let cases: [(current: String, authority: String?, code: URLError.Code?)] = [
                (own, pem, nil), (reserve, pem, .serverCertificateUntrusted), (own, nil, .serverCertificateUntrusted),
            ]
            for (current, authority, wanted) in cases {
                let code = try await place.code("api.corp.example") {
                    switch (mode, authority) {
                    case (.swift5, nil): URLLoadingSamplesSwift5.pinOurKey(current, reserve: reserve, in: $0)
                    case (.swift6, nil): URLLoadingSamplesSwift6.pinOurKey(current, reserve: reserve, in: $0)
                    case (.swift5, let authority?):
                        URLLoadingSamplesSwift5.pinOurKey(current, reserve: reserve, below: authority, in: $0)
                    case (.swift6, let authority?):
                        URLLoadingSamplesSwift6.pinOurKey(current, reserve: reserve, below: authority, in: $0)
                    }
                }
                #expect(code == wanted)
            }
        }
    }

    @Test("Client certificate", arguments: LanguageMode.allCases)
    func clientCertificate(mode: LanguageMode) async throws {
        let clients = try CertificateFactory.root("Clients")
        let client = try clients.issue(.client("somebody"))
        try await withPlace {
            $0.clientAuthentication = .required
            $0.clientAuthorities = [clients.certificate]
        } _: { place in
            let key = try client.identity.keyPEM(encryptedWith: "open")
            func code(_ host: String) async throws -> URLError.Code? {
                try await place.code(host) {
                    $0.serverTrustEvaluation = .anchors(pem: place.root.certificate.pem)
                    switch mode {
                    case .swift5:
                        try URLLoadingSamplesSwift5.showOurCertificate(
                            client.certificate.pem, key: key, passphrase: "open", in: $0)
                    case .swift6:
                        try URLLoadingSamplesSwift6.showOurCertificate(
                            client.certificate.pem, key: key, passphrase: "open", in: $0)
                    }
                }
            }
            #expect(try await code("api.corp.example") == nil)
            #expect(try await code("elsewhere.example") == .clientCertificateRequired)
        }
    }

    @Test("One odd host", arguments: LanguageMode.allCases)
    func oddHost(mode: LanguageMode) async throws {
        let odd = try CertificateFactory.selfSigned(.server("nobody.example"))
        try await withPlace {
            $0.identity = odd.identity
        } _: { place in
            try await withFile(odd.certificate.pem) { file in
                func code(_ host: String) async throws -> URLError.Code? {
                    try await place.code(host) {
                        switch mode {
                        case .swift5: try URLLoadingSamplesSwift5.trustOddHost(file, in: $0)
                        case .swift6: try URLLoadingSamplesSwift6.trustOddHost(file, in: $0)
                        }
                    }
                }
                let codes = (try await code("printer.corp.example"), try await code("elsewhere.example"))
                #expect(codes == (nil, .serverCertificateUntrusted))
            }
        }
    }

    @Test("Nothing without TLS", arguments: LanguageMode.allCases)
    func demandTLS(mode: LanguageMode) async throws {
        let server = try LoopbackServer.start { _ in .text("hello") }
        let place = Place(root: try CertificateFactory.root(), leaf: try CertificateFactory.root(), server: server)
        func code(_ host: String) async throws -> URLError.Code? {
            try await place.code(host) {
                switch mode {
                case .swift5: try URLLoadingSamplesSwift5.demandTLS(in: $0)
                case .swift6: try URLLoadingSamplesSwift6.demandTLS(in: $0)
                }
            }
        }
        #expect(try await code("old.corp.example") == nil)
        #expect(try await code("api.corp.example") == .appTransportSecurityRequiresSecureConnection)
        await server.stop()
    }
}
