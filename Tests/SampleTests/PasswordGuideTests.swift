// The code of docs/authentication.md and docs/proxies.md: it is that of the samples, and does what the documents say.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6

@Suite("The guides to passwords and to proxies", .timeLimit(.minutes(5)))
struct PasswordGuideTests {
    /// Lets in "me" with "secret".
    private static let key = "Basic " + Data("me:secret".utf8).base64EncodedString()

    private func door() throws -> LoopbackServer {
        try LoopbackServer.start { request in
            guard request.fields.first(.authorization) == Self.key else {
                return .text("denied", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
            }
            return .text("inside")
        }
    }

    private func text(_ session: URLSession, _ url: String) async throws -> String {
        defer { session.invalidateAndCancel() }
        return String(decoding: try await session.data(from: try #require(URL(string: url))).0, as: UTF8.self)
    }

    @Test("The delegate gives the password once", arguments: LanguageMode.allCases)
    func delegate(mode: LanguageMode) async throws {
        let server = try door()
        for (secret, text) in [("secret", "inside"), ("wrong", "denied")] {
            let delegate =
                switch mode {
                case .swift5: URLLoadingSamplesSwift5.passwordDelegate(secret: secret)
                case .swift6: URLLoadingSamplesSwift6.passwordDelegate(secret: secret)
                }
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            #expect(try await self.text(session, server.url()) == text)
        }
        #expect(server.stats.requests == 4)
        await server.stop()
    }

    @Test("Permanent credentials are found again in the file", arguments: LanguageMode.allCases)
    func file(mode: LanguageMode) async throws {
        let server = try door()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        func configuration() throws -> URLSessionConfiguration {
            switch mode {
            case .swift5: try URLLoadingSamplesSwift5.configurationKeepingCredentials(in: file)
            case .swift6: try URLLoadingSamplesSwift6.configurationKeepingCredentials(in: file)
            }
        }
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: server.port, protocol: "http", realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        try configuration().urlCredentialStorage?.setDefaultCredential(
            URLCredential(user: "me", password: "secret", persistence: .permanent), for: space)
        #expect(try await text(URLSession(configuration: configuration()), server.url()) == "inside")
        await server.stop()
    }

    /// A server behind a proxy that knows every name as this machine.
    private func withProxy(
        _ change: (inout LoopbackProxy.Options) -> Void = { _ in },
        _ body: (LoopbackServer, LoopbackProxy) async throws -> Void
    ) async throws {
        let server = try LoopbackServer.start { .text("for \($0.fields.first("Host") ?? "nobody")") }
        let proxy = try LoopbackProxy.start(change)
        do {
            try await body(server, proxy)
        } catch {
            await server.stop()
            await proxy.stop()
            throw error
        }
        await server.stop()
        await proxy.stop()
    }

    @Test("The dictionary names one proxy for both schemes", arguments: LanguageMode.allCases)
    func dictionary(mode: LanguageMode) async throws {
        for scheme in ["http", "https"] {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["proxy.example": "127.0.0.1"]
            switch mode {
            case .swift5: URLLoadingSamplesSwift5.useProxyDictionary(in: configuration)
            case .swift6: URLLoadingSamplesSwift6.useProxyDictionary(in: configuration)
            }
            // The guide's port is not this test's: what is looked for is the name of the proxy in the error.
            configuration.connectionProxyDictionary?[kCFNetworkProxiesHTTPPort] = 1
            configuration.connectionProxyDictionary?[kCFNetworkProxiesHTTPSPort] = 1
            let error = await #expect(throws: URLError.self) {
                try await text(URLSession(configuration: configuration), "\(scheme)://origin.test/")
            }
            #expect(error?.code == .cannotConnectToHost)
            #expect(error?.localizedDescription.contains("proxy.example:1") == true)
        }
    }

    @Test("The configuration with a password is for its domain", arguments: LanguageMode.allCases)
    func configuration(mode: LanguageMode) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        switch mode {
        case .swift5: URLLoadingSamplesSwift5.useProxyConfiguration(secret: "secret", in: configuration)
        case .swift6: URLLoadingSamplesSwift6.useProxyConfiguration(secret: "secret", in: configuration)
        }
        #expect(configuration.proxyConfigurations.map { "\($0)" } == ["http://proxy.example:3128"])
        #expect(configuration.proxyConfigurations.map(\.matchDomains) == [["corp.example"]])
        let server = try LoopbackServer.start { _ in .text("direct") }
        #expect(try await text(URLSession(configuration: configuration), server.url()) == "direct")
        await server.stop()
    }

    @Test("The resolver does what the script says", arguments: LanguageMode.allCases)
    func script(mode: LanguageMode) async throws {
        try await withProxy { server, proxy in
            let url = server.url("/", host: "origin.test")
            for (answer, asks) in [("PROXY 127.0.0.1:1; PROXY 127.0.0.1:\(proxy.port)", 1), ("nonsense", 1)] {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.hostOverrides = ["origin.test": "127.0.0.1"]
                let evaluate: @Sendable (URL) async throws -> String = { _ in answer }
                switch mode {
                case .swift5: URLLoadingSamplesSwift5.useScript(evaluate, in: configuration)
                case .swift6: URLLoadingSamplesSwift6.useScript(evaluate, in: configuration)
                }
                let text = try await text(URLSession(configuration: configuration), url)
                #expect(text == "for origin.test:\(server.port)")
                #expect(proxy.asks.count == asks)
            }
        }
    }

    @Test("The request names the daemon's socket", arguments: LanguageMode.allCases)
    func daemon(mode: LanguageMode) throws {
        let request =
            switch mode {
            case .swift5: try URLLoadingSamplesSwift5.requestToDaemon()
            case .swift6: try URLLoadingSamplesSwift6.requestToDaemon()
            }
        #expect(request.unixSocketPath == "/run/docker.sock")
        #expect(request.url?.absoluteString == "http://localhost/v1.43/containers/json")
    }
}
