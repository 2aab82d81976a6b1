// The mistakes people make and the accidents that happen to them: each a URL, and what a program and a person must
// learn of it. Used through the API and through the command.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

/// One mistake or accident.
struct Mistake: Sendable, CustomTestStringConvertible {
    /// Which server meets the request; its URL, and how a session and the command are told about it.
    struct Stage: Sendable {
        var server: LoopbackServer?
        var url: String
        /// Addresses for names.
        var overrides: [String: String] = [:]
        /// The anchors, as PEM text.
        var anchors: String?
        /// How long the whole load may take.
        var maximumTime: Double?
        /// The request's time-out, for which the command has no option.
        var idleTime: Double?
    }

    let testDescription: String
    let code: URLError.Code
    /// The command's exit code.
    let exitCode: Int32
    /// The domain and code of the underlying error; none where the loader itself is the cause.
    let cause: (domain: String, code: Int?)?
    /// What the text for people must say.
    let words: [String]
    /// Whether a machine without name service says something else.
    var needsNames = false
    let stage: @Sendable () async throws -> Stage

    init(
        _ name: String, _ code: URLError.Code, exit: Int32, cause: (String, Int?)?, says words: String...,
        stage: @escaping @Sendable () async throws -> Stage
    ) {
        testDescription = name
        self.code = code
        exitCode = exit
        self.cause = cause
        self.words = words
        self.stage = stage
    }

    private var needingNames: Mistake {
        var copy = self
        copy.needsNames = true
        return copy
    }

    /// Whether this code is the right one here.
    func allows(_ code: URLError.Code) -> Bool {
        code == self.code || needsNames && (code == .dnsLookupFailed || code == .notConnectedToInternet)
    }

    /// Whether this exit code is the right one here.
    func allows(exitCode: Int32) -> Bool {
        exitCode == self.exitCode || needsNames && exitCode == 7
    }

    static let all = addresses + certificates + answers + times

    // MARK: Names and addresses

    static let addresses: [Mistake] = [
        Mistake(
            "a mistyped host", .cannotFindHost, exit: 6, cause: (URLLoadingErrorDomain.resolver, nil),
            says: "no-such-host.invalid"
        ) { Stage(url: "http://no-such-host.invalid/") }.needingNames,
        Mistake(
            "a host of which nothing can be known", .cannotFindHost, exit: 6,
            cause: (URLLoadingErrorDomain.resolver, nil), says: String(repeating: "a", count: 64)
        ) { Stage(url: "http://\(String(repeating: "a", count: 64)).invalid/") },
        Mistake(
            "a refused port", .cannotConnectToHost, exit: 7, cause: (NSPOSIXErrorDomain, Int(ECONNREFUSED)),
            says: "127.0.0.1", "refused"
        ) { Stage(url: "http://127.0.0.1:1/") },
        Mistake(
            "a refused port of a name", .cannotConnectToHost, exit: 7, cause: (NSPOSIXErrorDomain, Int(ECONNREFUSED)),
            says: "shop.test", "refused"
        ) { Stage(url: "http://shop.test:1/", overrides: ["shop.test": "127.0.0.1"]) },
        // No host can have a multicast address, so that no machine has a route for a connection there.
        Mistake(
            "an address without a route", .notConnectedToInternet, exit: 7,
            cause: (NSPOSIXErrorDomain, Int(ENETUNREACH)), says: "224.0.0.1", "unreachable"
        ) { Stage(url: "http://224.0.0.1/") },
        Mistake("no host", .badURL, exit: 3, cause: nil, says: "host") { Stage(url: "http:///path") },
        Mistake("a port out of range", .badURL, exit: 3, cause: nil, says: "port", "65535") {
            Stage(url: "http://localhost:65536/")
        },
        Mistake("a mistyped scheme", .unsupportedURL, exit: 1, cause: nil, says: "scheme") {
            Stage(url: "htps://localhost/")
        },
    ]

    // MARK: Certificates

    static let certificates: [Mistake] = [
        refused("an expired certificate", .expired, says: "expired", "2020-09-13") {
            $0.notBefore = 1_500_000_000
            $0.notAfter = 1_600_000_000
        },
        refused("a certificate that is not valid yet", .notYetValid, says: "not valid", "2096-10-02") {
            $0.notBefore = 4_000_000_000
            $0.notAfter = 4_100_000_000
        },
        refused("a certificate of another host", .hostMismatch, says: "shop.test", "other.test") {
            $0.names = [.dns("other.test")]
        },
        refused("a certificate without alternative names", .hostMismatch, says: "shop.test") { $0.names = [] },
        refused("an expired certificate of another host", .hostMismatch, says: "shop.test", "expired") {
            $0.names = [.dns("other.test")]
            $0.notBefore = 1_500_000_000
            $0.notAfter = 1_600_000_000
        },
        refused("a client's certificate", .wrongPurpose, says: "shop.test") { $0.purposes = [.clientAuthentication] },
        Mistake(
            "a self-signed certificate", .serverCertificateUntrusted, exit: 60,
            cause: (URLLoadingErrorDomain.trust, URLLoadingErrorDomain.TrustCode.selfSigned.rawValue),
            says: "self-signed", "shop.test"
        ) {
            let identity = try CertificateFactory.selfSigned(.server("shop.test")).identity
            return try secure(.init(identity: identity), anchors: CertificateFactory.root().certificate.pem)
        },
        Mistake(
            "an unknown root", .serverCertificateUntrusted, exit: 60,
            cause: (URLLoadingErrorDomain.trust, URLLoadingErrorDomain.TrustCode.unknownRoot.rawValue),
            says: "trusted root", "shop.test"
        ) {
            let identity = try CertificateFactory.root("Nobody").issue(.server("shop.test")).identity
            return try secure(.init(identity: identity), anchors: CertificateFactory.root().certificate.pem)
        },
    ]

    private static func refused(
        _ name: String, _ reason: URLLoadingErrorDomain.TrustCode, says words: String...,
        change: @escaping @Sendable (inout CertificateTemplate) -> Void
    ) -> Mistake {
        Mistake(
            name, reason == .notYetValid ? .serverCertificateNotYetValid : .serverCertificateUntrusted, exit: 60,
            cause: (URLLoadingErrorDomain.trust, reason.rawValue), words: words
        ) {
            let root = try CertificateFactory.root()
            let leaf = try root.issue(CertificateTemplate.server("shop.test").with(change))
            return try secure(.init(identity: leaf.identity), anchors: root.certificate.pem)
        }
    }

    private init(
        _ name: String, _ code: URLError.Code, exit: Int32, cause: (String, Int?)?, words: [String],
        stage: @escaping @Sendable () async throws -> Stage
    ) {
        testDescription = name
        self.code = code
        exitCode = exit
        self.cause = cause
        self.words = words
        self.stage = stage
    }

    /// A TLS server that is known as shop.test.
    private static func secure(
        _ tls: TLSOptions, anchors: String, router: @escaping LoopbackServer.Router = { _ in .text("secret") }
    ) throws -> Stage {
        let server = try LoopbackServer.start(.init(tls: tls), router: router)
        return Stage(
            server: server, url: server.url(host: "shop.test"), overrides: ["shop.test": "127.0.0.1"], anchors: anchors)
    }

    private typealias TLSOptions = ServerTLS

    // MARK: Answers

    static let answers: [Mistake] = [
        plain("garbage instead of HTTP", .cannotParseResponse, exit: 8, cause: .malformedResponse, says: "HTTP") {
            [.text("SSH-2.0-OpenSSH_9.2\r\n")]
        },
        plain("http to a port of https", .cannotParseResponse, exit: 8, cause: .malformedResponse, says: "TLS", "https")
        {
            [.send([21, 3, 1, 0, 2, 2, 70]), .close]
        },
        plain("contradicting lengths", .cannotParseResponse, exit: 8, cause: .malformedResponse, says: "Content-Length")
        {
            [.lines("\(ok)Content-Length: 1\nContent-Length: 2\n\nx")]
        },
        plain("a head without end", .cannotParseResponse, exit: 8, cause: .malformedResponse, says: "long") {
            [.text("HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 100_000)), .waitForClose]
        },
        plain("an unexpected switch of protocols", .badServerResponse, exit: 8, cause: .badResponse, says: "protocol") {
            [.lines("HTTP/1.1 101 X\nUpgrade: x\n\n")]
        },
        plain("corrupt compression", .cannotDecodeRawData, exit: 61, cause: .undecodableContent, says: "corrupt") {
            [.lines("\(ok)Content-Encoding: gzip\nContent-Length: 8\n\nno gzip!")]
        },
        plain("closed without an answer", .networkConnectionLost, exit: 52, cause: .truncated, says: "closed") {
            [.close]
        },
        plain("closed in the head", .networkConnectionLost, exit: 52, cause: .truncated, says: "closed") {
            [.text("HTTP/1.1 200 OK\r\nContent-"), .close]
        },
        plain("closed in the body", .networkConnectionLost, exit: 18, cause: .truncated, says: "closed", "5 of 1000") {
            [.lines("\(ok)Content-Length: 1000\n\nhello"), .close]
        },
        plain("closed between chunks", .networkConnectionLost, exit: 18, cause: .truncated, says: "closed", "5") {
            [.lines("\(ok)Transfer-Encoding: chunked\n\n5\nhello\n"), .close]
        },
        Mistake(
            "reset in the body", .networkConnectionLost, exit: 56, cause: (NSPOSIXErrorDomain, Int(ECONNRESET)),
            says: "lost", "reset", "127.0.0.1"
        ) {
            let server = try LoopbackServer.start { _ in
                // The pause lets the client read the beginning, which a reset may otherwise take back.
                .script([.lines("\(ok)Content-Length: 1000\n\nhello"), .delay(.milliseconds(50)), .reset])
            }
            return Stage(server: server, url: server.url())
        },
        Mistake(
            "a redirect in circles", .httpTooManyRedirects, exit: 47, cause: nil, says: "too many HTTP redirects"
        ) {
            let server = try LoopbackServer.start { _ in ServerResponse.status(302).adding("Location", "/again") }
            return Stage(server: server, url: server.url())
        },
        Mistake(
            "garbage instead of TLS", .secureConnectionFailed, exit: 35,
            cause: (URLLoadingErrorDomain.tls, URLLoadingErrorDomain.TLSCode.notTLS.rawValue), says: "TLS"
        ) {
            var options = LoopbackServer.Options()
            options.greeting = { _ in [.text("SSH-2.0-OpenSSH_9.2\r\n"), .waitForClose] }
            let server = try LoopbackServer.start(options) { _ in .status(200) }
            return Stage(server: server, url: "https://127.0.0.1:\(server.port)/")
        },
        Mistake(
            "https to a port of http", .secureConnectionFailed, exit: 35,
            cause: (URLLoadingErrorDomain.tls, URLLoadingErrorDomain.TLSCode.notTLS.rawValue), says: "TLS"
        ) {
            let server = try LoopbackServer.start { _ in .text("x") }
            return Stage(server: server, url: "https://127.0.0.1:\(server.port)/")
        },
        Mistake(
            "closed in the handshake", .secureConnectionFailed, exit: 35,
            cause: (URLLoadingErrorDomain.tls, URLLoadingErrorDomain.TLSCode.closedDuringHandshake.rawValue),
            says: "closed"
        ) {
            var options = LoopbackServer.Options()
            options.greeting = { _ in [.close] }
            let server = try LoopbackServer.start(options) { _ in .status(200) }
            return Stage(server: server, url: "https://127.0.0.1:\(server.port)/")
        },
        Mistake(
            "a body of TLS that is cut off", .networkConnectionLost, exit: 18,
            cause: (URLLoadingErrorDomain.tls, URLLoadingErrorDomain.TLSCode.truncated.rawValue),
            says: "ended"
        ) {
            let root = try CertificateFactory.root()
            let identity = try root.issue(.server("shop.test")).identity
            return try secure(.init(identity: identity), anchors: root.certificate.pem) { _ in
                .script([.lines("\(ok)\nhello"), .drop])
            }
        },
        Mistake(
            "a server that wants a certificate", .clientCertificateRequired, exit: 35,
            cause: (URLLoadingErrorDomain.tls, URLLoadingErrorDomain.TLSCode.clientCertificateRequired.rawValue),
            says: "certificate"
        ) {
            let root = try CertificateFactory.root()
            let identity = try root.issue(.server("shop.test")).identity
            return try secure(
                .init(
                    identity: identity, clientAuthentication: .required, clientAuthorities: [root.certificate]),
                anchors: root.certificate.pem)
        },
        Mistake(
            "a server that is too old", .secureConnectionFailed, exit: 35, cause: (URLLoadingErrorDomain.tls, nil),
            says: "TLS"
        ) {
            // What a server says that knows nothing newer than TLS 1.1: an alert, protocol_version.
            var options = LoopbackServer.Options()
            options.greeting = { _ in [.send([21, 3, 1, 0, 2, 2, 70]), .waitForClose] }
            let server = try LoopbackServer.start(options) { _ in .status(200) }
            return Stage(server: server, url: "https://127.0.0.1:\(server.port)/")
        },
    ]

    private static func plain(
        _ name: String, _ code: URLError.Code, exit: Int32, cause: URLLoadingErrorDomain.HTTPCode,
        says words: String..., steps: @escaping @Sendable () -> [ScriptStep]
    ) -> Mistake {
        // In a log of many servers each text says whose answer it was (B17.4).
        Mistake(
            name, code, exit: exit, cause: (URLLoadingErrorDomain.http, cause.rawValue), words: words + ["127.0.0.1"]
        ) {
            let server = try LoopbackServer.start { _ in .script(steps()) }
            return Stage(server: server, url: server.url())
        }
    }

    // MARK: Times

    /// The time-out of these loads. A busy machine stands still for seconds, and the load must have come
    /// as far as the text says.
    private static let patience = 10.0

    static let times: [Mistake] = [
        Mistake("no answer in time", .timedOut, exit: 28, cause: nil, says: "waiting for the response") {
            let server = try LoopbackServer.start { _ in .script([.waitForClose]) }
            return Stage(server: server, url: server.url(), maximumTime: patience)
        },
        Mistake("no end in time", .timedOut, exit: 28, cause: nil, says: "receiving") {
            let server = try LoopbackServer.start { _ in
                .script([.lines("\(ok)Content-Length: 9\n\nx"), .waitForClose])
            }
            return Stage(server: server, url: server.url(), maximumTime: patience)
        },
        Mistake("a handshake without end", .timedOut, exit: 28, cause: nil, says: "TLS") {
            var options = LoopbackServer.Options()
            options.greeting = { _ in [.waitForClose] }
            let server = try LoopbackServer.start(options) { _ in .status(200) }
            return Stage(server: server, url: "https://127.0.0.1:\(server.port)/", maximumTime: patience)
        },
        Mistake("silence before the answer", .timedOut, exit: 28, cause: nil, says: "\(patience) seconds", "waiting") {
            let server = try LoopbackServer.start { _ in .script([.waitForClose]) }
            return Stage(server: server, url: server.url(), idleTime: patience)
        },
        Mistake("silence in the body", .timedOut, exit: 28, cause: nil, says: "\(patience) seconds", "receiving") {
            let server = try LoopbackServer.start { _ in
                .script([.lines("\(ok)Content-Length: 9\n\nx"), .waitForClose])
            }
            return Stage(server: server, url: server.url(), idleTime: patience)
        },
        Mistake("silence in the handshake", .timedOut, exit: 28, cause: nil, says: "\(patience) seconds", "TLS") {
            var options = LoopbackServer.Options()
            options.greeting = { _ in [.waitForClose] }
            let server = try LoopbackServer.start(options) { _ in .status(200) }
            return Stage(server: server, url: "https://127.0.0.1:\(server.port)/", idleTime: patience)
        },
    ]
}
