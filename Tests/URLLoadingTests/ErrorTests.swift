// Errors (behaviour 3.6 and chapter 17): which error a program sees for each failure.

import Foundation
import Testing
import URLLoading
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust
import URLLoadingWire

@Suite("Errors")
struct ErrorTests {
    private let url = URL(string: "https://user:secret@example.com/x")

    private func failure(_ url: URL, _ configuration: URLSessionConfiguration = .ephemeral) async -> URLError? {
        do {
            _ = try await URLSession(configuration: configuration).data(from: url)
            return nil
        } catch {
            return error as? URLError
        }
    }

    private func underlying(_ error: URLError?) -> NSError? {
        (error?.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
    }

    @Test("B17.3: a lost connection has an underlying error also where the system has none")
    func closedWithoutCause() throws {
        let lost = EngineError.connectionLost(nil, phase: .waitingForResponse, received: 0, expected: nil)
        let cause = try #require(underlying(ErrorMapping.urlError(lost, url: url)))
        #expect(cause.domain == URLLoadingErrorDomain.http)
        #expect(cause.code == URLLoadingErrorDomain.HTTPCode.connectionClosed.rawValue)
    }

    @Test("B17.4: time-outs name the host, the step and the time")
    func timeOutTexts() {
        let idle = EngineError.idleTimeout(host: "a.test", phase: .connecting, after: .seconds(5))
        let whole = EngineError.resourceTimeout(host: "a.test", phase: .receivingBody, after: .seconds(7))
        let exact = EngineError.resourceTimeout(
            host: "a.test", phase: .connecting, after: .nanoseconds(1_000_809_690))
        let short = EngineError.idleTimeout(host: "a.test", phase: .connecting, after: .nanoseconds(50_400_001))
        for (error, time) in [
            (idle, " 5.0 seconds"), (whole, " 7.0 seconds"), (exact, " 1.0 seconds"), (short, " 0.05 seconds"),
        ] {
            let text = ErrorMapping.urlError(error, url: url).localizedDescription
            #expect(text.contains("a.test") && text.contains(time), "\(text)")
        }
    }

    @Test("B17.4: what the server has done is told with its host, and with nothing else of the URL")
    func hostTexts() throws {
        let url = try #require(URL(string: "http://me:secret@a.test:81/path?token=secret"))
        let lost = EngineError.connectionLost(nil, phase: .receivingBody, received: 4, expected: 100)
        for (error, text) in [
            (
                lost,
                "The connection was closed by the server while receiving the response's body after 4 of 100 bytes (a.test)."
            ),
            (.wire(.corruptContent), "The compressed body is corrupt (a.test)."),
            (.ftp(.missing), "There is no such file on the server (a.test)."),
            (.invalidRequest(.unsendableMethod), "The request cannot be sent: The method is not a token (a.test)."),
        ] {
            #expect(ErrorMapping.urlError(error, url: url).localizedDescription == text)
        }
        let nowhere = ErrorMapping.urlError(.wire(.corruptContent), url: nil)
        #expect(nowhere.localizedDescription == "The compressed body is corrupt.")
        for error in [EngineError.http2(.reset(.cancel)), .body(.goesBeyond(announced: 2)), .undetachable(.shared)] {
            #expect(ErrorMapping.urlError(error, url: url).localizedDescription.hasSuffix(" (a.test)."))
        }
        #expect(ErrorMapping.urlError(.cancelled, url: url).localizedDescription == "cancelled")
    }

    @Test("B17.4: the text about a certificate that is not pinned names one fault, and no text has two full stops")
    func trustTexts() {
        let pin = TrustFailure(.pinMismatch, certificate: "a.test").description
        #expect(pin == "The certificate of \"a.test\" is not one of the pinned ones.")
        for reason in [TrustFailure.Reason.other("It is odd."), .revocationUnknown("It is odd.")] {
            let text = TrustFailure(reason, certificate: "a.test", further: [.selfSigned]).description
            #expect(text.hasSuffix(").") && !text.contains(".."), "\(text)")
            #expect(TrustFailure(reason, certificate: "a.test").description.hasSuffix("It is odd."))
        }
    }

    @Test("B17.13: errors tell a URL without a scheme from one whose scheme is unknown")
    func schemeTexts() async throws {
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        for (text, words) in [("/user.json", "has no scheme"), ("gopher://a.test/", "scheme")] {
            let url = try #require(URL(string: text))
            do {
                _ = try await session.data(from: url)
                Issue.record("\(text) was loaded")
            } catch {
                #expect((error as? URLError)?.code == .unsupportedURL)
                #expect(error.localizedDescription.contains(words), "\(error.localizedDescription)")
            }
        }
    }

    // MARK: The table

    /// Errors of the engine and the codes that they become: of every kind one. Made anew for each use: what such a
    /// value keeps is taken for a leak while a global has it (Scripts/no-leaks.txt says why).
    private static var mapped: [(EngineError, URLError.Code)] {
        [
            (.cancelled, .cancelled), (.idleTimeout(host: "h", phase: .connecting, after: .seconds(1)), .timedOut),
            (.resourceTimeout(host: "h", phase: .receivingBody, after: .seconds(2)), .timedOut),
            (.nameLookup(ResolverFailure(reason: .noSuchHost, code: -2, host: "h", message: "m")), .cannotFindHost),
            (.nameLookup(ResolverFailure(reason: .notAName, code: 0, host: "h", message: "m")), .cannotFindHost),
            (.connect(host: "h", []), .cannotFindHost),
            (.connectionTimeout(host: "h", phase: .connecting, after: .seconds(1)), .timedOut),
            (.undetachable(.shared), .unsupportedURL), (.ftp(.malformedAddress), .badServerResponse),
            (.http2(.reset(.cancel)), .networkConnectionLost),
            (.connectionLost(nil, phase: .receivingBody, received: 1, expected: 2), .networkConnectionLost),
            (
                .connectionLost(
                    SystemError(errno: ECONNRESET, call: "recv"), phase: .waitingForResponse, received: 0, expected: nil
                ),
                .networkConnectionLost
            ),
            (.wire(.malformedStatusLine), .cannotParseResponse),
            (.wire(.conflictingContentLengths), .cannotParseResponse),
            (.wire(.closedInBody(received: 1, expected: 2)), .networkConnectionLost),
            (.wire(.unexpectedSwitchOfProtocols), .badServerResponse),
            (.wire(.unknownTransferCoding), .badServerResponse),
            (.wire(.corruptContent), .cannotDecodeRawData), (.wire(.truncatedContent), .cannotDecodeRawData),
            (.invalidRequest(.unsendableMethod), .unsupportedURL), (.invalidRequest(.unsendableTarget), .badURL),
            (.body(.endedEarly(given: 1, announced: 2)), .requestBodyStreamExhausted),
            (.body(.goesBeyond(announced: 2)), .dataLengthExceedsMaximum),
            (.body(.unreadable(SystemError(errno: EIO, call: "pread"))), .requestBodyStreamExhausted),
            (.body(.source(CocoaError(.fileReadUnknown))), .requestBodyStreamExhausted),
            (.localResource(SystemError(errno: EMFILE, call: "socket")), .cannotConnectToHost),
            (.tls(.noCommonVersionOrCipher, host: "h"), .secureConnectionFailed),
            (.tls(.notTLS, host: "h"), .secureConnectionFailed),
            (.tls(.closedDuringHandshake, host: "h"), .secureConnectionFailed),
            (.tls(.alpnMismatch("x"), host: "h"), .secureConnectionFailed),
            (.tls(.handshakeFailed(reason: "r", alert: 40), host: "h"), .secureConnectionFailed),
            (.tls(.alertReceived(code: 40, name: "handshake_failure"), host: "h"), .secureConnectionFailed),
            (.tls(.versionsContradict, host: "h"), .secureConnectionFailed),
            (.tls(.clientCertificateRequired, host: "h"), .clientCertificateRequired),
            (.tls(.clientCertificateRejected, host: "h"), .clientCertificateRejected),
            (.tls(.clientCertificateUnusable(name: "n", reason: "r"), host: "h"), .clientCertificateRejected),
            (.tls(.truncated, host: "h"), .networkConnectionLost),
            (Self.untrusted(.unknownRoot), .serverCertificateUntrusted),
            (Self.untrusted(.selfSigned), .serverCertificateUntrusted),
            (Self.untrusted(.expired(notAfter: 0)), .serverCertificateUntrusted),
            (Self.untrusted(.hostMismatch(wanted: "h", presented: [])), .serverCertificateUntrusted),
            (Self.untrusted(.notYetValid(notBefore: 0)), .serverCertificateNotYetValid),
            (
                Self.untrusted(.notYetValid(notBefore: 0), further: [.hostMismatch(wanted: "h", presented: [])]),
                .serverCertificateUntrusted
            ),
        ]
    }

    @Test(
        "B17.10 to B17.16, B17.23, B17.27, B17.29, B17.38, B17.40, B17.42 to B17.44: every error of the engine has its code",
        arguments: mapped)
    func mapping(error: EngineError, code: URLError.Code) throws {
        let mapped = ErrorMapping.urlError(error, url: url)
        #expect(mapped.code == code)
        // B17.2, B17.4, B17.57: both keys, always a text, never a password.
        #expect(mapped.failingURL == url)
        #expect(mapped.userInfo["NSErrorFailingURLStringKey"] as? String == url?.absoluteString)
        #expect(!mapped.localizedDescription.isEmpty)
        #expect(!mapped.localizedDescription.contains("secret"))
        #expect((mapped.userInfo[NSLocalizedDescriptionKey] as? String) == mapped.localizedDescription)
        if case .tls(.untrusted, _) = error {
            #expect(mapped.userInfo[NSLocalizedRecoverySuggestionErrorKey] is String, "B3.73")
            #expect(underlying(mapped)?.domain == URLLoadingErrorDomain.trust)
        }
    }

    /// The kinds of an engine's errors.
    private enum Kind: CaseIterable {
        case cancelled, idleTimeout, connectionTimeout, resourceTimeout, nameLookup, connect, proxy, tls
        case connectionLost, wire, http2, body, invalidRequest, undetachable, ftp, localResource

        /// A new kind does not compile here; then it needs its lines in the table.
        init(_ error: EngineError) {
            self =
                switch error {
                case .cancelled: .cancelled
                case .idleTimeout: .idleTimeout
                case .connectionTimeout: .connectionTimeout
                case .resourceTimeout: .resourceTimeout
                case .nameLookup: .nameLookup
                case .connect: .connect
                case .proxy: .proxy
                case .tls: .tls
                case .connectionLost: .connectionLost
                case .wire: .wire
                case .http2: .http2
                case .body: .body
                case .invalidRequest: .invalidRequest
                case .undetachable: .undetachable
                case .ftp: .ftp
                case .localResource: .localResource
                }
        }
    }

    @Test("The table above has an error of each kind")
    func complete() throws {
        let proxy = try #require(ProxyServer(kind: .http, host: "proxy.test", port: 3128))
        // A proxy's description may be refused, so that this one is not in the table.
        let unreachable = EngineError.proxy(ProxyFailure(proxy, .unreachable([])))
        try mapping(error: unreachable, code: .cannotConnectToHost)
        // As where a server ends TLS so.
        try mapping(error: .proxy(ProxyFailure(proxy, .tlsBroken(.truncated))), code: .networkConnectionLost)
        let shown = Set((Self.mapped.map(\.0) + [unreachable]).map(Kind.init))
        #expect(shown == Set(Kind.allCases))
    }

    @Test(
        "B17.15, B17.20, B17.21: which failures to connect mean that the network is missing",
        arguments: [
            ([ECONNREFUSED], .cannotConnectToHost), ([ETIMEDOUT], .cannotConnectToHost),
            ([ENETUNREACH], .notConnectedToInternet), ([ENETDOWN, ENETUNREACH], .notConnectedToInternet),
            ([ENETUNREACH, ECONNREFUSED], .cannotConnectToHost), ([], .cannotFindHost),
            // IPv6 is switched off, or the address to speak from is of the other family.
            ([EADDRNOTAVAIL, ENETUNREACH], .notConnectedToInternet),
            ([EAFNOSUPPORT, ENETUNREACH], .notConnectedToInternet),
            ([EADDRNOTAVAIL, ECONNREFUSED], .cannotConnectToHost), ([EADDRNOTAVAIL], .cannotConnectToHost),
        ] as [([Int32], URLError.Code)])
    func connectCodes(errnos: [Int32], code: URLError.Code) throws {
        let address = try #require(SocketAddress(literal: "2001:db8::1", port: 80))
        let failures = errnos.map { errno in
            EngineError.ConnectFailure(address: address, error: SystemError(errno: errno, call: "connect"))
        }
        #expect(ErrorMapping.connectCode(failures) == code)
    }

    @Test("B17.20: an address of a family that cannot be used here does not hide that the network is missing")
    func wrongFamily() throws {
        let addresses = [
            try #require(SocketAddress(literal: "2001:db8::1", port: 80)),
            try #require(SocketAddress(literal: "192.0.2.1", port: 80)),
        ]
        func error(_ first: SystemError) -> URLError {
            let failures = zip(addresses, [first, SystemError(errno: ENETUNREACH, call: "connect")])
                .map { EngineError.ConnectFailure(address: $0, error: $1) }
            return ErrorMapping.urlError(.connect(host: "h", failures), url: url)
        }
        for (errno, call) in [(EAFNOSUPPORT, "bind"), (EADDRNOTAVAIL, "connect")] {
            let first = SystemError(errno: errno, call: call)
            #expect(error(first).code == .notConnectedToInternet)
            #expect(underlying(error(first))?.code == Int(ENETUNREACH))
        }
        // No local port is left for the address that there is a way to.
        let ports = zip(addresses, [ENETUNREACH, EADDRNOTAVAIL]).map { address, errno in
            EngineError.ConnectFailure(address: address, error: SystemError(errno: errno, call: "connect"))
        }
        let shortage = ErrorMapping.urlError(.connect(host: "h", ports), url: url)
        #expect(shortage.code == .cannotConnectToHost && underlying(shortage)?.code == Int(EADDRNOTAVAIL))
        // The address to speak from is not there.
        #expect(error(SystemError(errno: EADDRNOTAVAIL, call: "bind")).code == .cannotConnectToHost)
    }

    private static func untrusted(_ reason: TrustFailure.Reason, further: [TrustFailure.Reason] = []) -> EngineError {
        .tls(.untrusted(TrustFailure(reason, certificate: "CN=x", further: further)), host: "h")
    }

    @Test("A server that is refused because no root could be read is no impostor: −1004, with the system's error")
    func shortageBehindRefusal() {
        var refusal = TrustFailure(.unknownRoot, certificate: "CN=x")
        refusal.shortage = EMFILE
        let error = ErrorMapping.urlError(.tls(.untrusted(refusal), host: "h"), url: nil)
        #expect(error.code == .cannotConnectToHost && !error.localizedDescription.contains("pretends"))
        let cause = underlying(error)
        #expect(cause?.domain == NSPOSIXErrorDomain && cause?.code == Int(EMFILE))
    }

    @Test("B3.73: the suggestion about a refused certificate goes to the one who can follow it")
    func trustSuggestions() {
        func suggestion(_ reason: TrustFailure.Reason) -> String {
            let error = ErrorMapping.urlError(Self.untrusted(reason), url: nil)
            return error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String ?? ""
        }
        #expect(suggestion(.pinMismatch).contains("add its pin"))
        #expect(suggestion(.revoked).hasPrefix("Send nothing to \"h\""))
        #expect(suggestion(.revocationUnknown("stale")).contains("revocation list"))
        #expect(suggestion(.wrongPurpose) == "Ask the operator of \"h\" to install a valid certificate.")
        for reason in [TrustFailure.Reason.pinMismatch, .revoked, .revocationUnknown("stale")] {
            #expect(!suggestion(reason).contains("install a valid certificate"))
        }
    }

    @Test("What the library says on standard error does not stop a program whose standard error cannot be written")
    func unwritableStandardError() async throws {
        for place in ["/dev/full", "/dev/null"] {
            // The second is open for reading only.
            let script = "exec \"$0\" 2\(place == "/dev/full" ? ">" : "<")\(place)"
            let run = try await ChildRun.run("/bin/sh", ["-c", script, ChildRun.path(of: "urlloading-transfers")])
            #expect(run.exitCode == 64)
        }
        await #expect(processExitsWith: .success) {
            let full = open("/dev/full", O_WRONLY)
            #expect(full >= 0 && dup2(full, STDERR_FILENO) == STDERR_FILENO)
            // Sets a delegate too late, which is told on standard error.
            let task = URLSession(configuration: .ephemeral).dataTask(with: URL(filePath: "/dev/null"))
            task.resume()
            task.delegate = nil
            task.cancel()
        }
        // A pipe without a reader, whose signal would end the program.
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0 && close(ends[0]) == 0)
            let before = dup(STDERR_FILENO)
            #expect(dup2(ends[1], STDERR_FILENO) == STDERR_FILENO)
            StandardError.write("Nobody reads this.\n")
            #expect(dup2(before, STDERR_FILENO) == STDERR_FILENO)
        }
    }

    @Test("B11.6, B14.9: the error for a file that cannot be opened says why")
    func unopenedFile() {
        let file = URL(filePath: "/tmp/file")
        let shortage = SystemError(errno: EMFILE, call: "open")
        let ofURL = ErrorMapping.unreadableFile(file, shortage)
        let ofUpload = ErrorMapping.unreadableFile(file, of: url, shortage)
        #expect(ofURL.localizedDescription == "The file cannot be opened (Too many open files): /tmp/file")
        #expect(ofUpload.localizedDescription == "The file to upload cannot be opened (Too many open files): /tmp/file")
    }

    // MARK: Situations

    @Test("B17.17, B17.52: a resolver that fails is −1006, or −1009 on a machine without an interface")
    func failingResolver() {
        for reason in [ResolverFailure.Reason.temporary, .failed] {
            let failure = ResolverFailure(reason: reason, code: -3, host: "h", message: "m")
            let wanted: URLError.Code = NetworkPresence.hasInterface ? .dnsLookupFailed : .notConnectedToInternet
            #expect(ErrorMapping.urlError(.nameLookup(failure), url: url).code == wanted)
        }
    }

    @Test("B17.15, B17.3: a refused port is −1004 over a POSIX error, with the address in its text")
    func refusedPort() async throws {
        let error = await failure(try #require(URL(string: "http://127.0.0.1:1/")))
        #expect(error?.code == .cannotConnectToHost)
        #expect(underlying(error)?.domain == NSPOSIXErrorDomain)
        #expect(underlying(error)?.code == Int(ECONNREFUSED))
        #expect(error?.localizedDescription.contains("127.0.0.1:1") == true)
    }

    @Test("B17.14: a host that does not exist is −1003, or what a machine without network must say")
    func unknownHost() async throws {
        let error = await failure(try #require(URL(string: "http://no-such-host.invalid/")))
        let codes: [URLError.Code] = [.cannotFindHost, .dnsLookupFailed, .notConnectedToInternet]
        #expect(error.map { codes.contains($0.code) } == true)
        #expect(error?.localizedDescription.contains("no-such-host.invalid") == true)
        #expect(underlying(error)?.domain == URLLoadingErrorDomain.resolver)
    }

    @Test("B17.16: a connection closed or reset before the response is −1005", arguments: [true, false])
    func closedBeforeResponse(resets: Bool) async throws {
        try await withServer(router: { _ in .script([resets ? .reset : .close]) }) { server in
            let failed = try await failure(server.at("/"))
            #expect(failed?.code == .networkConnectionLost)
        }
    }

    @Test(
        "B17.29: garbage instead of HTTP is −1017",
        arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "<html>hello</html>\n",
        ])
    func garbage(text: String) async throws {
        try await withServer(router: { _ in .script([.text(text), .close]) }) { server in
            let error = await failure(try server.at("/"))
            #expect(error?.code == .cannotParseResponse)
            #expect(underlying(error)?.domain == URLLoadingErrorDomain.http)
        }
    }

    @Test("B17.27: a known content coding that is corrupt is −1015")
    func corruptCoding() async throws {
        try await withServer(router: { _ in ServerResponse.text("not gzip at all").adding("Content-Encoding", "gzip") })
        { server in
            let failed = try await failure(server.at("/"))
            #expect(failed?.code == .cannotDecodeRawData)
        }
    }

    @Test("B17.23: an unexpected 101 is −1011")
    func unexpectedSwitch() async throws {
        try await withServer(router: { _ in .script([.lines("HTTP/1.1 101 Switching Protocols\nUpgrade: x\n\n")]) }) {
            server in
            let failed = try await failure(server.at("/"))
            #expect(failed?.code == .badServerResponse)
        }
    }

    @Test("B17.38, B17.50: https to a server without TLS is −1200")
    func notTLS() async throws {
        try await withServer(router: { _ in .text("x") }) { server in
            let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/"))
            let error = await failure(url)
            #expect(error?.code == .secureConnectionFailed)
            #expect(underlying(error)?.domain == URLLoadingErrorDomain.tls)
        }
    }

    // MARK: TLS and trust

    private func tlsServer(_ template: CertificateTemplate) throws -> (root: String, options: LoopbackServer.Options) {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(template)
        return (root.certificate.pem, LoopbackServer.Options(tls: ServerTLS(identity: leaf.identity)))
    }

    @Test(
        "B17.39 to B17.41, B3.71: unknown root, self-signed, wrong host and expired are −1202 with a code of their own",
        arguments: [
            ("unknown", URLLoadingErrorDomain.TrustCode.unknownRoot), ("self", .selfSigned), ("host", .hostMismatch),
            ("expired", .expired),
        ])
    func untrustedServers(kind: String, wanted: URLLoadingErrorDomain.TrustCode) async throws {
        var template = CertificateTemplate.server("localhost")
        if kind == "host" { template = .server("other.example") }
        if kind == "expired" { template.notBefore = 1_000_000_000; template.notAfter = 1_100_000_000 }
        let (root, options) = try tlsServer(template)
        var served = options
        if kind == "self" {
            served = LoopbackServer.Options(
                tls: ServerTLS(identity: try CertificateFactory.selfSigned(template).identity))
        }
        try await withServer(served, router: { _ in .text("secret") }) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["localhost": "127.0.0.1"]
            configuration.serverTrustEvaluation =
                kind == "unknown"
                ? .anchors(pem: try CertificateFactory.root("Other").certificate.pem) : .anchors(pem: root)
            let error = await failure(try server.at("/", host: "localhost"), configuration)
            #expect(error?.code == .serverCertificateUntrusted)
            #expect(underlying(error)?.code == wanted.rawValue, "\(error?.localizedDescription ?? "")")
            #expect(server.stats.requests == 0, "no byte of the request left")
        }
    }

    @Test("B17.42: a certificate that is not valid yet is −1204")
    func notYetValid() async throws {
        var template = CertificateTemplate.server("localhost")
        template.notBefore = 4_000_000_000
        template.notAfter = 4_100_000_000
        let (root, options) = try tlsServer(template)
        try await withServer(options, router: { _ in .text("x") }) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["localhost": "127.0.0.1"]
            configuration.serverTrustEvaluation = .anchors(pem: root)
            let failed = try await failure(server.at("/", host: "localhost"), configuration)
            #expect(failed?.code == .serverCertificateNotYetValid)
        }
    }

    @Test("Trusted through the session's own anchor, with metrics of TLS (B12.11, B12.21)")
    func ownAnchor() async throws {
        let (root, options) = try tlsServer(.server("localhost"))
        try await withServer(options, router: { _ in .text("hello") }) { server in
            for evaluation in [
                URLSessionConfiguration.ServerTrustEvaluation.anchors(pem: root), .anchorsAndSystem(pem: root),
                .dangerouslyAcceptAnyCertificate,
            ] {
                let configuration = URLSessionConfiguration.ephemeral
                configuration.hostOverrides = ["localhost": "127.0.0.1"]
                configuration.serverTrustEvaluation = evaluation
                let version = Guarded<[tls_protocol_version_t?]>([])
                let delegate = RecordingDelegate(onMetrics: { _, metrics in
                    version.value = metrics.transactionMetrics.map(\.negotiatedTLSProtocolVersion)
                })
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
                let (data, _) = try await session.data(from: try server.at("/", host: "localhost"))
                #expect(data == Data("hello".utf8))
                #expect(version.value == [.TLSv13])
            }
        }
    }

    @Test("Anchors that cannot be read trust no server, and the error says so")
    func unreadableAnchors() async throws {
        let (_, options) = try tlsServer(.server("localhost"))
        try await withServer(options, router: { _ in .text("x") }) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["localhost": "127.0.0.1"]
            configuration.serverTrustEvaluation = .anchors(pem: "not a certificate")
            let error = await failure(try server.at("/", host: "localhost"), configuration)
            #expect(error?.code == .serverCertificateUntrusted)
            let text = error?.localizedDescription ?? ""
            let words = "The session's serverTrustEvaluation is mistaken, so it does not trust \"localhost\": "
            #expect(text.hasPrefix(words), "\(text)")
            #expect(text.contains("No certificate was found") && !text.contains("pretends"))
            let suggestion = error?.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String
            #expect(suggestion?.hasPrefix("Correct the session's serverTrustEvaluation") == true)
        }
    }

    @Test("B3.7: the configuration's TLS versions limit the handshake; without a common version it fails with −1200")
    func tlsVersions() async throws {
        let (root, options) = try tlsServer(.server("localhost"))
        try await withServer(
            options,
            router: { request in
                .text("\(request.tls?.version ?? 0)")
            }
        ) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.hostOverrides = ["localhost": "127.0.0.1"]
            configuration.serverTrustEvaluation = .anchors(pem: root)
            configuration.tlsMaximumSupportedProtocolVersion = .DTLSv12
            let (data, _) = try await URLSession(configuration: configuration).data(
                from: server.at("/", host: "localhost"))
            #expect(String(decoding: data, as: UTF8.self) == "\(0x0303)")
            configuration.tlsMinimumSupportedProtocolVersion = .TLSv13
            let failed = try await failure(server.at("/", host: "localhost"), configuration)
            #expect(failed?.code == .secureConnectionFailed)
        }
    }

    @Test("The members of URLError that Foundation lacks")
    func members() {
        let error = URLError(
            .notConnectedToInternet,
            userInfo: [NSURLErrorNetworkUnavailableReasonKey: 2, NSURLSessionDownloadTaskResumeData: Data([1])])
        #expect(error.networkUnavailableReason == .constrained)
        #expect(error.downloadTaskResumeData == Data([1]))
        #expect(error.uploadTaskResumeData == nil)
        #expect(error.backgroundTaskCancelledReason == nil)
        #expect(URLError.dataLengthExceedsMaximum.rawValue == -1103)
        #expect(URLError.appTransportSecurityRequiresSecureConnection.rawValue == -1022)
        #expect(NSURLErrorFileOutsideSafeArea == -1104)
        #expect(NSErrorFailingURLStringKey == "NSErrorFailingURLStringKey")
    }
}
