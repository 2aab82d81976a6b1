// What a process that uses passwords writes: never one of them, whatever goes wrong.

import Foundation
import LoopbackServer
import TestSupport
import Testing

@Suite("fetch: secrets")
struct SecretTests {
    private static let password = "Tr0ub4dor"
    private static let key = "Basic " + Data("me:\(password)".utf8).base64EncodedString()

    /// Lets in who has the password.
    private static func door(_ request: ServerRequest) -> ServerResponse {
        guard request.fields.first(.authorization) == key else {
            return .text("denied", status: 401).adding("WWW-Authenticate", "Basic realm=\"r\"")
        }
        return request.path == "/broken" ? .script([.text("SSH-2.0\r\n\r\n"), .close]) : .text("inside")
    }

    @Test("B17.57, B2.104: no password is written, on success, on refusal, behind a redirect, in an error")
    func nothingWritten() async throws {
        let server = try LoopbackServer.start(router: Self.door)
        let strict = try LoopbackServer.start(router: { request in
            // Whoever comes from elsewhere must not show what he has.
            request.fields.contains(.authorization) ? .text(request.fields.first(.authorization) ?? "") : .text("open")
        })
        let target = strict.url("/")
        let leading = try LoopbackServer.start(router: { request in
            request.fields.first(.authorization) == Self.key
                ? ServerResponse.status(302).adding("Location", target) : Self.door(request)
        })
        let proxy = try LoopbackProxy.start { $0.authorization = "Basic none" }
        func naming(_ url: String) -> String {
            url.replacingOccurrences(of: "://", with: "://me:\(Self.password)@")
        }
        let proxyURL = "http://me:\(Self.password)@127.0.0.1:\(proxy.port)"
        let runs: [([String], output: String?)] = [
            (["-v", naming(server.url("/"))], "inside"),
            (["-v", naming(server.url("/")).replacingOccurrences(of: "me:", with: "you:")], "denied"),
            (["-v", naming(leading.url("/"))], "open"),
            (["-v", naming(server.url("/broken"))], nil),
            (["-v", naming("http://127.0.0.1:1/")], nil),
            (["-v", naming("ftp://127.0.0.1/")], nil),
            (["-v", "-x", proxyURL, "https://127.0.0.1:1/"], nil),
            (["-v", "-x", proxyURL.replacingOccurrences(of: "http:", with: "socks5:"), "https://127.0.0.1:1/"], nil),
            (["-v", "-x", proxyURL, server.url("/")], nil),
        ]
        for (arguments, output) in runs {
            let run = try await FetchRun.run(arguments)
            if let output { #expect(run.output == output) }
            let written = run.output + run.complaints
            #expect(!written.contains(Self.password) && !written.contains(Self.key.dropFirst("Basic ".count)))
        }
        await server.stop()
        await strict.stop()
        await leading.stop()
        await proxy.stop()
    }
}
