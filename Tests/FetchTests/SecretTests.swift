// What a process that uses passwords writes: never one of them, whatever goes wrong.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("fetch: secrets")
struct SecretTests {
    private static let password = "Tr0ub4dor"
    private static let key = "Basic " + Data("me:\(password)".utf8).base64EncodedString()

    /// A server that lets in requests with the password.
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
            // A request that comes from another server must not bring that server's password.
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

    @Test("B4.27: a password that was meant for TLS is not sent in clear, to the same host and port neither")
    func downgrade() async throws {
        let root = try CertificateFactory.root()
        let identity = try root.issue(.server(hosts: ["127.0.0.1"])).identity
        let secure = try LoopbackServer.start(.init(tls: .init(identity: identity))) { request in
            let target = "http://\(request.fields.first("Host") ?? "")/"
            return request.fields.first(.authorization) == Self.key
                ? ServerResponse.status(302).adding("Location", target) : Self.door(request)
        }
        // An attacker in between answers in the server's name.
        let between = try LoopbackProxy.start {
            $0.script = { ask in
                guard ask.kind == .forward else { return nil }
                return .text(
                    "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 4\r\n\r\nwho?")
            }
        }
        let anchor = try ScratchFile(root.certificate.pem)
        let logins = try ScratchFile("machine 127.0.0.1 login me password \(Self.password)\n")
        for login in [["-u", "me:\(Self.password)"], ["-s", "--netrc-file", logins.path]] {
            let run = try await FetchRun.run(
                login + ["-x", "127.0.0.1:\(between.port)", "--cacert", anchor.path, secure.url("/")])
            #expect(run.output == "who?", "\(run.complaints)")
        }
        let asks = between.asks.filter { $0.kind == .forward }
        #expect(asks.count == 2 && !asks.contains { $0.head?.fields.contains(.authorization) == true })
        await secure.stop()
        await between.stop()
    }

    @Test("B17.57: URLs in Location, Referer, messages, traces and archives have no user and no password")
    func urls() async throws {
        let place = try Workplace()
        let server = try LoopbackServer.start { request in
            let named = "//me:\(Self.password)@\(request.fields.first("Host") ?? "")/there"
            return request.path == "/moved"
                ? ServerResponse.status(302).adding("Location", "http:" + named).adding("Link", "<\(named)>; rel=next")
                : .text("there").adding("Content-Location", "http:" + named)
        }
        let referer = "-e http://me:\(Self.password)@other.test/x"
        let run = try await place.shell(
            "fetch -v --timing --har har -w '%{url_effective}' \(referer) \(server.url("/moved"))")
        #expect(run.exitCode == 0 && run.output == "there" + server.url("/there"), "\(run.complaints)")
        #expect(run.complaints.contains("< Location: http://***@") && run.complaints.contains("> Referer: http://***@"))
        #expect(!run.complaints.contains(Self.password) && place.text("har")?.contains("***@") == true)
        #expect(place.text("har")?.contains(Self.password) == false)
        let open = try await place.shell("fetch -s --har har --har-with-secrets \(referer) \(server.url("/moved"))")
        #expect(open.exitCode == 0 && place.text("har")?.contains(Self.password) == true)
        for mistake in [
            "me:\(Self.password)@127.0.0.1", "gopher://me:\(Self.password)@127.0.0.1/",
            "-x http://a:\(Self.password)@b:x http://a/",
        ] {
            let run = try await place.shell("fetch -w '%{errormsg}' \(mistake)")
            #expect(run.exitCode != 0 && !(run.complaints + run.output).contains(Self.password), "\(run.complaints)")
        }
        await server.stop()
    }
}
