// FTP transfers against a server on loopback: both directions, both address families, TLS, resumption, and servers that
// end or refuse at the wrong moment.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite struct FTPTransferTests {
    private static let large = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    private func server(_ change: (inout FTPServer.Options) -> Void = { _ in }) throws -> FTPServer {
        try FTPServer.start { options in
            options.files = [
                "/pub/hello.txt": Array("hello".utf8), "/pub/empty": [], "/pub/deep/a b": Array("spaced".utf8),
                "/large": Self.large,
            ]
            options.users = ["me": "secret"]
            change(&options)
        }
    }

    /// A server with TLS and an engine that believes it.
    private func protected(
        version: TLSVersion = .v13, _ change: (inout FTPServer.Options) -> Void = { _ in }
    ) throws -> (FTPServer, LiveEngine) {
        let (root, identity) = try CertificateFactory.server("host.test")
        var tls = TLSServerOptions(identity: identity)
        tls.maximum = version
        let server = try server {
            $0.tls = tls
            $0.requiresReuse = true
            change(&$0)
        }
        return (server, LiveEngine { $0.trust = AnchorsEvaluator(anchors: [root]) })
    }

    @Test("B14.20: a file comes whole, with its length before it, and anonymously where there are no credentials")
    func download() async throws {
        let server = try server()
        let answer = try await LiveEngine().ftp(server, "/pub/hello.txt")
        #expect(answer.error == nil)
        #expect(answer.text == "hello")
        #expect(answer.head == FTPHead(content: .file, size: 5))
        #expect(answer.refusals == [0])
        #expect(
            server.commands.prefix(7) == [
                "USER anonymous", "PASS anonymous@", "CWD pub", "TYPE I", "SIZE hello.txt", "EPSV", "RETR hello.txt",
            ])
    }

    @Test("Large files, empty ones, and names with escapes", arguments: ["/large", "/pub/empty", "/pub/deep/a%20b"])
    func files(path: String) async throws {
        let server = try server()
        let answer = try await LiveEngine().ftp(server, path)
        #expect(answer.error == nil)
        let name = path.replacing("%20", with: " ")
        #expect(answer.body == server.files[name])
    }

    @Test("B14.22: over IPv6 too; and by PASV, whose address is not connected to", arguments: ["127.0.0.1", "::1"])
    func families(host: String) async throws {
        let server = try server {
            $0.host = host
            $0.script = { $0.verb == "EPSV" && $0.argument.isEmpty && host == "127.0.0.1" ? .reply("502 no") : nil }
        }
        let answer = try await LiveEngine().ftp(server, "/pub/hello.txt", host: host)
        #expect(answer.error == nil)
        #expect(answer.text == "hello")
        #expect(server.commands.contains("PASV") == (host == "127.0.0.1"))
    }

    @Test("B14.24: a directory is listed, and cannot be loaded as a file") func listings() async throws {
        let server = try server()
        let listing = try await LiveEngine().ftp(server, "/pub/")
        #expect(listing.head?.content == .listing)
        #expect(listing.text.contains(" hello.txt\r\n") && listing.text.hasPrefix("drwx"))
        let names = try await LiveEngine().ftp(server, "/pub;type=d")
        #expect(names.text == "deep\r\nempty\r\nhello.txt\r\n")
        #expect(try await LiveEngine().ftp(server, "/pub").failure == .isDirectory)
        #expect(try await LiveEngine().ftp(server, "/pub/none").failure == .missing)
        #expect(try await LiveEngine().ftp(server, "/none/hello.txt").failure == .missing)
    }

    @Test("B14.21: the URL's credentials come first, then the receiver is asked; refused ones are an error")
    func credentials() async throws {
        let server = try server { $0.allowsAnonymous = false }
        let right = PasswordCredential(user: "me", password: "secret")
        let wrong = PasswordCredential(user: "me", password: "wrong")
        let engine = LiveEngine()
        let known = try await engine.ftp(server, "/pub/hello.txt") { $0.credential = right }
        #expect(known.text == "hello" && known.refusals.isEmpty)
        let asked = try await engine.ftp(server, "/pub/hello.txt", credentials: [right])
        #expect(asked.text == "hello" && asked.refusals == [0])
        let second = try await engine.ftp(server, "/pub/hello.txt", credentials: [right]) { $0.credential = wrong }
        #expect(second.text == "hello" && second.refusals == [1])
        let refused = try await engine.ftp(server, "/pub/hello.txt", credentials: [wrong, wrong])
        #expect(refused.failure == .loginRefused(code: 530) && refused.refusals == [0, 1, 2])
        let unanswered = try await engine.ftp(server, "/pub/hello.txt")
        #expect(unanswered.failure == .loginRefused(code: 530))
    }

    @Test("B14.21: a server that ends the connection with its refusal is connected to again")
    func reconnects() async throws {
        let server = try server {
            $0.script = { $0.verb == "PASS" && $0.connection == 1 ? .sendAndClose("530 no\r\n") : nil }
        }
        let right = PasswordCredential(user: "me", password: "secret")
        let answer = try await LiveEngine().ftp(server, "/pub/hello.txt", credentials: [right]) {
            $0.credential = right
        }
        // The connection may end before or after the answer; both are another connection or a refusal to use this one.
        #expect(answer.text == "hello")
    }

    @Test("B14.25: bytes, files and streams of unknown length are stored; so is nothing") func uploads() async throws {
        let server = try server()
        let engine = LiveEngine()
        let bytes = try await engine.ftp(server, "/pub/new", body: .bytes(Self.large), bodyLength: 3_000_000) {
            $0.purpose = .store
        }
        #expect(bytes.error == nil)
        #expect(bytes.sent == 3_000_000)
        #expect(bytes.head?.content == .nothing)
        #expect(server.files["/pub/new"] == Self.large)

        let file = try ScratchFile(count: 300_000)
        let stored = try await engine.ftp(server, "/file", body: .file(try file.open()), bodyLength: 300_000) {
            $0.purpose = .store
        }
        #expect(stored.error == nil)
        #expect(server.files["/file"] == file.bytes)

        let stream = try await engine.ftp(server, "/stream", body: .stream(ScriptedSource(texts: "one", "two"))) {
            $0.purpose = .store
        }
        #expect(stream.error == nil)
        #expect(server.files["/stream"] == Array("onetwo".utf8))

        let nothing = try await engine.ftp(server, "/nothing") { $0.purpose = .store }
        #expect(nothing.error == nil)
        #expect(server.files["/nothing"] == [])
    }

    @Test("B14.25: a refused upload, and one whose source fails, are errors") func failedUploads() async throws {
        let server = try server {
            $0.script = { ask in
                if ask.verb == "STOR", ask.argument == "full" {
                    var transfer = FTPServer.Transfer()
                    transfer.final = "552 no room"
                    return .transfer(transfer)
                }
                return ask.verb == "STOR" && ask.argument == "no" ? .reply("553 no") : nil
            }
        }
        let engine = LiveEngine()
        let refused = try await engine.ftp(server, "/no", body: .bytes(Array("x".utf8))) { $0.purpose = .store }
        #expect(refused.failure == .notPermitted(code: 553))
        let full = try await engine.ftp(server, "/full", body: .bytes(Array("x".utf8))) { $0.purpose = .store }
        #expect(full.failure == .unavailable(code: 552))
        let source = ScriptedSource([.bytes(Array("x".utf8)), .failed(FTPFailure.missing)])
        let failed = try await engine.ftp(server, "/failed", body: .stream(source)) { $0.purpose = .store }
        guard case .body(.source) = failed.error else {
            Issue.record("\(String(describing: failed.error))")
            return
        }
        #expect(source.isClosed)
    }

    @Test("A download continues where it ended, if the file has not changed") func resumption() async throws {
        let server = try server()
        let engine = LiveEngine()
        let first = try await engine.ftp(server, "/pub/hello.txt") { $0.asksDate = true }
        let state = try #require(first.head?.state)
        #expect(state == FTPFileState(size: 5, date: "20260102030405"))
        let rest = try await engine.ftp(server, "/pub/hello.txt") { $0.purpose = .resume(from: 2, of: state) }
        #expect(rest.error == nil)
        #expect(rest.head?.offset == 2)
        #expect(rest.text == "llo")
        let other = FTPFileState(size: 5, date: "20260102030406")
        let anew = try await engine.ftp(server, "/pub/hello.txt") { $0.purpose = .resume(from: 2, of: other) }
        #expect(anew.head?.offset == 0)
        #expect(anew.text == "hello")
    }

    /// How a transfer of "/pub/hello.txt" goes.
    private func load(_ change: @escaping @Sendable (inout FTPServer.Transfer) -> Void) async throws -> FTPAnswer {
        let server = try server {
            $0.script = { ask in
                guard ask.verb == "RETR" else { return nil }
                var transfer = FTPServer.Transfer()
                change(&transfer)
                return .transfer(transfer)
            }
        }
        return try await LiveEngine().ftp(server, "/pub/hello.txt")
    }

    @Test("A transfer that ends early, or not with 226, is an error and no short success")
    func shortEnds() async throws {
        #expect(try await load { $0.cutAfter = 3 }.failure == .truncated(received: 3, expected: 5))
        #expect(try await load { $0.final = "426 aborted" }.failure == .transferAborted(code: 426))
        #expect(try await load { $0.final = "451 disk" }.failure == .transferAborted(code: 451))
        #expect(try await load { $0.closesControl = true }.failure == .controlClosed)
        #expect(
            try await load {
                $0.cutAfter = 3
                $0.closesControl = true
            }.failure == .truncated(received: 3, expected: 5))
    }

    @Test(
        "Servers that refuse, end or talk nonsense at any step are errors",
        arguments: [
            ("USER", FTPServer.Answer.sendAndClose("421 busy\r\n"), FTPFailure.serviceUnavailable),
            ("TYPE", .reply("504 no"), .refused(verb: "TYPE", code: 504)),
            ("EPSV", .reply("229 (|||0|)"), .malformedAddress),
            ("RETR", .reply("425 no data connection"), .dataConnectionRefused),
            ("RETR", .reply("450 busy"), .unavailable(code: 450)),
            ("RETR", .close, .controlClosed),
            ("CWD", .close, .controlClosed),
            ("SIZE", .send("what?\r\n"), .malformedReply(.noReply)),
        ])
    func faults(verb: String, answer: FTPServer.Answer, failure: FTPFailure) async throws {
        let server = try server { $0.script = { $0.verb == verb ? answer : nil } }
        #expect(try await LiveEngine().ftp(server, "/pub/hello.txt").failure == failure)
    }

    @Test("A server that does not speak FTP, and a greeting that is a refusal, are errors")
    func greetings() async throws {
        for (greeting, failure) in [
            ("HTTP/1.1 400 Bad Request", FTPFailure.malformedReply(.noReply)), ("421 full", .serviceUnavailable),
            ("500 no", .refused(verb: "the connection", code: 500)),
        ] {
            let server = try server { $0.greeting = greeting }
            #expect(try await LiveEngine().ftp(server, "/pub/hello.txt").failure == failure)
        }
    }

    // MARK: TLS

    @Test(
        "B14.26: both connections are protected, the data connection by the session of the control connection",
        arguments: [TLSVersion.v12, .v13])
    func protection(version: TLSVersion) async throws {
        let (server, engine) = try protected(version: version)
        for path in ["/pub/hello.txt", "/large"] {
            let answer = try await engine.ftp(server, path) { $0.isProtected = true }
            #expect(answer.error == nil)
            #expect(answer.body == server.files[path])
        }
        let stored = try await engine.ftp(server, "/new", body: .bytes(Self.large)) {
            $0.isProtected = true
            $0.purpose = .store
        }
        #expect(stored.error == nil)
        #expect(server.files["/new"] == Self.large)
        #expect(!server.commands.contains("EPRT") && server.commands.contains("PROT P"))
    }

    @Test(
        "B14.26: a server that resumes no session gets the end of the data connection's handshake, too",
        arguments: [TLSVersion.v12, .v13])
    func unresumed(version: TLSVersion) async throws {
        let (server, engine) = try protected(version: version) {
            $0.tls?.tickets = 0
            $0.requiresReuse = false
        }
        let file = try await engine.ftp(server, "/pub/hello.txt") { $0.isProtected = true }
        #expect(file.error == nil && file.text == "hello")
        let listing = try await engine.ftp(server, "/pub/") { $0.isProtected = true }
        #expect(listing.error == nil && listing.text.contains(" hello.txt\r\n"))
        let stored = try await engine.ftp(server, "/new", body: .bytes(Self.large)) {
            $0.isProtected = true
            $0.purpose = .store
        }
        #expect(stored.error == nil && server.files["/new"] == Self.large)
    }

    @Test("H1.6: neither connection offers a protocol of HTTP's, for which servers end the handshake")
    func noProtocol() async throws {
        // As vsftpd does from 3.0.4 on.
        let (server, engine) = try protected { $0.tls?.alpn = ["ftp"] }
        let answer = try await engine.ftp(server, "/pub/hello.txt") { $0.isProtected = true }
        #expect(answer.error == nil && answer.text == "hello")
    }

    @Test("B14.26: the receiver is asked about the certificate once, and its answer decides")
    func trust() async throws {
        let (server, _) = try protected()
        let asks = Guarded(0)
        let accepted = try await LiveEngine().ftp(
            server, "/pub/hello.txt",
            hooks: FTPHooks(asked: { question in
                asks.withLock { $0 += 1 }
                if case .peer(let peer) = question { peer.answer(.accept) }
            })
        ) { $0.isProtected = true }
        #expect(accepted.text == "hello")
        #expect(asks.withLock(\.self) == 1)
        let cancelled = try await LiveEngine().ftp(
            server, "/pub/hello.txt",
            hooks: FTPHooks(asked: { if case .peer(let peer) = $0 { peer.answer(.cancel) } })
        ) { $0.isProtected = true }
        guard case .cancelled = cancelled.error else {
            Issue.record("\(String(describing: cancelled.error))")
            return
        }
        let unknown = try await LiveEngine().ftp(server, "/pub/hello.txt") { $0.isProtected = true }
        guard case .tls(.untrusted, "host.test") = unknown.error else {
            Issue.record("\(String(describing: unknown.error))")
            return
        }
        #expect(server.commands.count { $0.hasPrefix("PASS") } == 1, "no login before the verdict")
    }

    @Test(
        "B2.41: the data connection shows what the receiver has chosen for the control connection, which may be nothing",
        arguments: [TLSVersion.v12, .v13])
    func clientCertificate(version: TLSVersion) async throws {
        let authority = try CertificateFactory.root("Clients")
        let client = try authority.issue(.client("somebody")).identity
        for isShown in [true, false] {
            let doorkeeper = Doorkeeper(authority.certificate)
            let (server, _) = try protected(version: version) {
                // No session goes on, so that both connections are asked.
                $0.tls?.tickets = 0
                $0.requiresReuse = false
                $0.tls?.clientAuthentication = .optional
                $0.tls?.clientAuthorities = [authority.certificate]
                $0.tls?.clientEvaluator = doorkeeper
            }
            // What the receiver does not show the session would.
            let engine = LiveEngine { if !isShown { $0.identity = client } }
            let asks = Guarded(0)
            let answer = try await engine.ftp(
                server, "/pub/hello.txt",
                hooks: FTPHooks(asked: { question in
                    switch question {
                    case .peer(let peer): peer.answer(.accept)
                    case .identity(let identity):
                        asks.withLock { $0 += 1 }
                        identity.answer(.show(isShown ? client : nil))
                    case .proxy(let proxy): proxy.answer(.giveUp)
                    }
                })
            ) { $0.isProtected = true }
            #expect(answer.error == nil && answer.text == "hello")
            #expect(doorkeeper.shown == (isShown ? 2 : 0))
            #expect(asks.withLock(\.self) == 1)
        }
    }

    @Test(
        "B14.26: the data connection must show the control connection's certificate, whoever judges servers",
        arguments: [true, false])
    func otherCertificate(asks: Bool) async throws {
        let root = try CertificateFactory.root()
        let (first, second) = (try root.issue(.server("host.test")), try root.issue(.server("host.test")))
        let server = try server {
            $0.tls = TLSServerOptions(identity: first.identity)
            $0.dataTLS = TLSServerOptions(identity: second.identity)
        }
        let engine = LiveEngine {
            $0.trust = AnchorsEvaluator(anchors: [root.certificate])
            $0.asksAboutServers = asks
        }
        let answer = try await engine.ftp(server, "/pub/hello.txt") { $0.isProtected = true }
        guard case .tls(.untrusted, "host.test") = answer.error else {
            Issue.record("\(String(describing: answer.error))")
            return
        }
        #expect(answer.body.isEmpty)
    }

    @Test("Where TLS is wanted, a server that refuses it gets no further command") func unprotected() async throws {
        let server = try server()
        let answer = try await LiveEngine().ftp(server, "/pub/hello.txt") { $0.isProtected = true }
        #expect(answer.failure == .protectionRefused(code: 502))
        #expect(server.commands == ["AUTH TLS"])
    }

    @Test("What a server says between AUTH and TLS is not taken for a protected reply") func injection() async throws {
        let (server, engine) = try protected {
            $0.script = { $0.verb == "AUTH" ? .send("234 go on\r\n230 you are in\r\n") : nil }
        }
        let answer = try await engine.ftp(server, "/pub/hello.txt") { $0.isProtected = true }
        #expect(answer.failure == .plaintextBeforeTLS)
    }

    @Test("Under TLS an end without close_notify is a break") func noGoodbye() async throws {
        let (server, engine) = try protected {
            $0.script = { ask in
                guard ask.verb == "LIST" else { return nil }
                var transfer = FTPServer.Transfer()
                transfer.saysGoodbye = false
                return .transfer(transfer)
            }
        }
        let answer = try await engine.ftp(server, "/pub/") { $0.isProtected = true }
        #expect(answer.failure == .dataConnectionLost)
    }

    // MARK: SOCKS, steering

    @Test(
        "Both connections go through a SOCKS proxy", arguments: [ProxyServer.Kind.socks5h, .socks5, .socks4a, .socks4])
    func socks(kind: ProxyServer.Kind) async throws {
        let server = try server()
        let proxy = try LoopbackProxy.start()
        let way = try #require(ProxyServer(kind: kind, host: "127.0.0.1", port: proxy.port))
        let answer = try await LiveEngine().ftp(server, "/pub/hello.txt", routes: [.proxied(way)])
        #expect(answer.error == nil)
        #expect(answer.text == "hello")
        #expect(proxy.asks.count == 2)
        await proxy.stop()
    }

    @Test("A proxy that speaks HTTP cannot carry FTP itself") func httpProxy() async throws {
        let server = try server()
        let way = try #require(ProxyServer(kind: .http, host: "127.0.0.1", port: 9))
        let answer = try await LiveEngine().ftp(server, "/pub/hello.txt", routes: [.proxied(way)])
        guard case .proxy = answer.error else {
            Issue.record("\(String(describing: answer.error))")
            return
        }
        #expect(server.commands.isEmpty)
    }

    @Test("A transfer can be cancelled in the middle of its data") func cancel() async throws {
        let gate = ServerGate()
        let server = try server {
            $0.script = { ask in
                guard ask.verb == "RETR" else { return nil }
                var transfer = FTPServer.Transfer()
                transfer.cutAfter = 2
                transfer.gate = gate
                return .transfer(transfer)
            }
        }
        let answer = try await LiveEngine().ftp(server, "/pub/hello.txt", hooks: FTPHooks(onBody: { $0.cancel() }))
        gate.open()
        guard case .cancelled = answer.error else {
            Issue.record("\(String(describing: answer.error))")
            return
        }
        #expect(answer.text == "he")
    }
}
