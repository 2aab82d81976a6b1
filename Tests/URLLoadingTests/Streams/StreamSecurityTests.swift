// STARTTLS: a server that speaks a little SMTP, what delegates are asked, and what an attacker in between can
// try (B15.45 to B15.47). Proxies on the way (B15.54).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Stream tasks: TLS and proxies", .endsSessions, .timeLimit(.minutes(5)))
struct StreamSecurityTests {
    @Test("B15.45: plain text, STARTTLS, and the rest inside TLS, asked for at once")
    func startTLS() async throws {
        let identity = try MailIdentity()
        let heard = Guarded<[String]>([])
        try await withRawServer(identity.script(heard)) { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe, anchor: identity.anchor)
                .streamTask(withHostName: "mail.test", port: server.port)
            task.resume()
            #expect(try await task.line() == "220 mail.test ready")
            try await task.say("STARTTLS\r\n")
            #expect(try await task.line() == "220 go ahead")
            task.startSecureConnection()
            try await task.say("EHLO inside\r\n")
            #expect(try await task.line() == "250 EHLO inside")
            // Large enough for many records.
            let long = String(repeating: "x", count: 30_000)
            try await task.say(long + "\r\n")
            let answer = Data("250 \(long)\r\n".utf8)
            let (data, _) = try await task.readData(ofMinLength: answer.count, maxLength: answer.count, timeout: 60)
            #expect(data == answer)
            try await task.say("QUIT\r\n")
            #expect(try await task.rest() == Data("221 bye\r\n".utf8))
            task.closeWrite()
            await scribe.transcript.completed.wait()
            #expect(heard.value == ["STARTTLS", "EHLO inside", long, "QUIT"])
            #expect(
                scribe.transcript.calls == [
                    "challenge mail.test NSURLAuthenticationMethodServerTrust", "read closed", "write closed",
                    "complete nil",
                ])
        }
    }

    @Test("H1.6: stream tasks offer no protocol of HTTP's, for which servers of other protocols end the handshake")
    func noProtocol() async throws {
        // As Exim does from 4.95 on.
        let identity = try MailIdentity(protocols: ["smtp"])
        try await withRawServer(identity.script()) { server in
            let task = streamSession(StreamScribe(), anchor: identity.anchor)
                .streamTask(withHostName: "mail.test", port: server.port)
            task.resume()
            try await task.askForTLS()
            try await task.say("NOOP\r\n")
            #expect(try await task.line() == "250 NOOP")
            task.cancel()
        }
    }

    @Test("B15.45, B2.2: the session's method is asked first, then the tasks', and its answer counts")
    func challenges() async throws {
        let identity = try MailIdentity("other.test")
        let judge = SessionJudge()
        let accepting = StreamScribe { challenge in
            (.useCredential, challenge.protectionSpace.serverTrust.map(URLCredential.init(trust:)))
        }
        let delegates: [any URLSessionDelegate] = [judge, accepting]
        for delegate in delegates {
            try await withRawServer(identity.script()) { server in
                let task = streamSession(delegate).streamTask(withHostName: "mail.test", port: server.port)
                task.resume()
                try await task.askForTLS()
                try await task.say("NOOP\r\n")
                #expect(try await task.line() == "250 NOOP")
                task.cancel()
            }
        }
        #expect(judge.transcript.calls == ["session trust"])
        #expect(accepting.transcript.calls.first == "challenge mail.test NSURLAuthenticationMethodServerTrust")
    }

    @Test("B15.45: a server that is not trusted, or breaks off the handshake, ends all calls and the task")
    func refused() async throws {
        let stranger = try MailIdentity("other.test")
        let refusing = StreamScribe { _ in (.cancelAuthenticationChallenge, nil) }
        let cases: [(StreamScribe, @Sendable (RawConnection) throws -> Void, Int)] = [
            (StreamScribe(), stranger.script(), URLError.Code.serverCertificateUntrusted.rawValue),
            (refusing, stranger.script(), NSURLErrorCancelled),
            (
                StreamScribe(),
                { peer in
                    try peer.send("220 a\r\n")
                    _ = try peer.line()
                    try peer.send("220 b\r\n")
                    _ = try peer.bytes(5)
                }, URLError.Code.secureConnectionFailed.rawValue
            ),
        ]
        for (scribe, script, code) in cases {
            try await withRawServer(script) { server in
                let task = streamSession(scribe, anchor: stranger.anchor)
                    .streamTask(withHostName: "mail.test", port: server.port)
                task.resume()
                try await task.askForTLS()
                async let reading = task.readError()
                #expect(await task.writeError()?.code == code)
                #expect(await reading?.code == code)
                await scribe.transcript.completed.wait()
                #expect(scribe.transcript.calls.last == "complete \(code)")
            }
        }
    }

    @Test(
        "B15.46: bytes that an attacker inserts before TLS are never read as the server's: the task fails",
        arguments: [1, 12, 20_000])
    func injection(count: Int) async throws {
        let identity = try MailIdentity()
        let evil = String(repeating: "E", count: count)
        try await withRawServer(identity.script(injects: evil)) { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe, anchor: identity.anchor)
                .streamTask(withHostName: "mail.test", port: server.port)
            task.resume()
            try await task.askForTLS()
            #expect(await task.readError()?.code == URLError.Code.secureConnectionFailed.rawValue)
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.last == "complete -1200")
        }
    }

    @Test("B15.45: TLS from the first byte, up to an orderly end")
    func immediate() async throws {
        let identity = try MailIdentity()
        try await withRawServer { peer in
            try peer.startTLS(identity.context)
            try peer.send(peer.rest())
            try peer.finish()
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe, anchor: identity.anchor)
                .streamTask(withHostName: "mail.test", port: server.port)
            task.startSecureConnection()
            task.resume()
            let sent = Data(pattern(1 << 20))
            try await task.write(sent, timeout: 0)
            // Under TLS this is close_notify and then the end: the peer's reading ends well (B15.48).
            task.closeWrite()
            let rest = try await task.rest()
            #expect(firstDifference(rest, sent) == nil)
            await scribe.transcript.completed.wait()
            #expect(scribe.transcript.calls.last == "complete nil")
        }
    }

    // MARK: Proxies

    private func throughProxy(
        _ proxy: LoopbackProxy, _ entries: [AnyHashable: Any], _ scribe: StreamScribe = StreamScribe(),
        storage: URLCredentialStorage? = nil
    ) async throws -> String {
        let identity = try MailIdentity()
        return try await withRawServer(identity.script()) { server in
            let session = streamSession(scribe, anchor: identity.anchor) { configuration in
                configuration.hostOverrides = [:]
                configuration.connectionProxyDictionary = entries
            }
            let task = session.streamTask(withHostName: "mail.test", port: server.port)
            task.resume()
            var lines = [try await task.line()]
            try await task.say("STARTTLS\r\n")
            lines.append(try await task.line())
            task.startSecureConnection()
            try await task.say("NOOP\r\n")
            lines.append(try await task.line())
            task.cancel()
            let target = proxy.asks.last?.target.replacingOccurrences(of: ":\(server.port)", with: ":port")
            lines.append("\(proxy.asks.last.map { "\($0.kind)" } ?? "nothing") \(target ?? "")")
            return lines.joined(separator: "|")
        }
    }

    private let conversation = "220 mail.test ready|220 go ahead|250 NOOP|"

    @Test("B15.54, B13.15: a stream goes through the tunnel of an HTTP proxy, TLS included", arguments: [false, true])
    func connect(asksWho: Bool) async throws {
        let proxy = try LoopbackProxy.start { if asksWho { $0.authorization = basic("u", "p") } }
        let scribe = StreamScribe { challenge in
            challenge.protectionSpace.isProxy()
                ? (.useCredential, URLCredential("u", "p")) : (.performDefaultHandling, nil)
        }
        let lines = try await throughProxy(
            proxy,
            [
                kCFNetworkProxiesHTTPSEnable: 1, kCFNetworkProxiesHTTPSProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPSPort: proxy.port,
            ], scribe)
        #expect(lines == conversation + "connect mail.test:port")
        #expect(
            scribe.transcript.calls.first
                == (asksWho
                    ? "challenge 127.0.0.1 NSURLAuthenticationMethodHTTPBasic"
                    : "challenge mail.test NSURLAuthenticationMethodServerTrust"))
        await proxy.stop()
    }

    @Test("B15.54: a stream goes through a SOCKS proxy")
    func socks() async throws {
        let proxy = try LoopbackProxy.start()
        let lines = try await throughProxy(
            proxy,
            [
                kCFNetworkProxiesSOCKSEnable: 1, kCFNetworkProxiesSOCKSProxy: "127.0.0.1",
                kCFNetworkProxiesSOCKSPort: proxy.port,
            ])
        #expect(lines == conversation + "socks5 mail.test:port")
        await proxy.stop()
    }

    @Test("B15.54: a proxy that refuses ends the task with an error that has its status")
    func proxyRefuses() async throws {
        let proxy = try LoopbackProxy.start {
            $0.script = { _ in .text("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") }
        }
        let session = streamSession {
            $0.connectionProxyDictionary = [
                kCFNetworkProxiesHTTPSEnable: 1, kCFNetworkProxiesHTTPSProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPSPort: proxy.port,
            ]
        }
        let task = session.streamTask(withHostName: "mail.test", port: 25)
        task.resume()
        let error = await task.readError()
        #expect(error?.domain == NSURLErrorDomain && error?.localizedDescription.contains("403") == true)
        await proxy.stop()
    }

    @Test("B13.31, B15.54: a stream goes the way that a proxy resolver returns")
    func resolver() async throws {
        try await withRawServer {
            try $0.send("hi\r\n")
        } _: { server in
            let asked = Guarded<[URL]>([])
            let session = streamSession {
                $0.proxyResolver = { url in
                    asked.change { $0.append(url) }
                    return [.direct]
                }
            }
            let task = session.streamTask(withHostName: "mail.test", port: server.port)
            task.resume()
            let line = try await task.line()
            #expect(line == "hi")
            #expect(asked.value.map(\.absoluteString) == ["https://mail.test:\(server.port)/"])
            task.cancel()
        }
    }
}

extension URLSessionStreamTask {
    /// Hears the greeting of a server of SMTP, asks it for TLS, and begins that when it has agreed.
    fileprivate func askForTLS() async throws {
        _ = try await line()
        try await say("STARTTLS\r\n")
        _ = try await line()
        startSecureConnection()
    }
}
