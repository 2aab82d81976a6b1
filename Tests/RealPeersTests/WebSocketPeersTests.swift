// Web sockets to and from Python's websockets, an implementation that shares no code with us.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Web sockets, against Python's", .enabled(if: Peers.webSockets != nil, "python3-websockets is not installed"))
struct WebSocketPeersTests {
    @Test("B15.12, B15.15: text and binary messages come back as they went", arguments: [false, true])
    func echo(tls: Bool) async throws {
        let peer = try await WebSocketPeer(tls: tls)
        let (task, watcher) = try socket(peer, "/echo")
        let (short, long) = (String(repeating: "x", count: 126), String(repeating: "é", count: 40_000))
        let texts = ["", "a", "Grüße, 日本 😀", "\0", short, long]
        for text in texts { #expect(try await task.echo(text) == text) }
        let all = Data(0...255)
        for data in [Data(), all, Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })] {
            #expect(try await task.echo(data) == data)
        }
        task.cancel(with: .normalClosure, reason: nil)
        #expect(await watcher.end().error == nil)
        let account = try await peer.account()
        #expect(account.code == 1000 && account.reason.isEmpty)
        #expect(account.messages == 9)
        // B15.10: it would compress, and is not asked to.
        #expect(account.extensions.isEmpty)
    }

    @Test("B15.16: what comes in many frames is one message, letters cut in two among them")
    func fragments() async throws {
        let peer = try await WebSocketPeer()
        let (task, _) = try socket(peer, "/fragments")
        let text = String(repeating: "日本 é 😀 ", count: 2000)
        #expect(try await task.echo(text) == text)
        // Cut by bytes on its way, since it is binary.
        let data = Data(text.utf8)
        #expect(try await task.echo(data) == data)
        task.cancel()
        #expect(try await peer.account().messages == 2)
    }

    @Test("B15.21, B15.22: pings both ways")
    func pings() async throws {
        let peer = try await WebSocketPeer()
        let (task, _) = try socket(peer, "/pings")
        #expect(try await task.text() == "three pongs")
        for _ in 0..<3 { try await task.pong() }
        task.cancel()
        #expect(try await peer.account().path == "/pings")
    }

    @Test("B15.3, B15.8: the protocol that both speak")
    func protocols() async throws {
        let peer = try await WebSocketPeer()
        let (task, watcher) = try socket(peer, "/echo", protocols: ["other", "chat.v1"])
        #expect(try await task.echo("x") == "x")
        task.cancel(with: .goingAway, reason: Data("away".utf8))
        let end = await watcher.end()
        #expect(end.opened == ["chat.v1"])
        #expect(end.closed == ["1001 away"])
        let account = try await peer.account()
        #expect(account.subprotocol == "chat.v1")
        #expect(account.code == 1001 && account.reason == "away")
    }

    @Test("B15.24, B15.30: goodbye from us, with any code that may be sent", arguments: [1000, 1011, 3000, 4999])
    func clientCloses(code: Int) async throws {
        let peer = try await WebSocketPeer()
        let (task, watcher) = try socket(peer, "/echo")
        #expect(try await task.echo("x") == "x")
        let closeCode = try #require(URLSessionWebSocketTask.CloseCode(rawValue: code))
        task.cancel(with: closeCode, reason: Data("Auf Wiedersehen, tschüß".utf8))
        let end = await watcher.end()
        #expect(end.closed == ["\(code) Auf Wiedersehen, tschüß"] && end.error == nil)
        let account = try await peer.account()
        #expect(account.code == code && account.reason == "Auf Wiedersehen, tschüß")
    }

    @Test("B15.26: goodbye from the server", arguments: [1000, 1001, 1008, 4001])
    func serverCloses(code: Int) async throws {
        let peer = try await WebSocketPeer()
        let (task, watcher) = try socket(peer, "/close")
        try await task.send(.string("\(code) so long, and thanks"))
        let error = await #expect(throws: POSIXError.self) { try await task.receive() }
        #expect(error?.code == .ENOTCONN)
        let end = await watcher.end()
        #expect(end.closed == ["\(code) so long, and thanks"] && end.error == nil)
        #expect(task.closeCode.rawValue == code)
        // It has seen our answer.
        #expect(try await peer.account().code == code)
    }

    @Test("B15.31: a server that is gone without goodbye")
    func drop() async throws {
        let peer = try await WebSocketPeer()
        let (task, watcher) = try socket(peer, "/drop")
        #expect(try await task.text() == "before")
        let error = await #expect(throws: URLError.self) { try await task.receive() }
        #expect(error?.code == .networkConnectionLost)
        let end = await watcher.end()
        #expect((end.error as? URLError)?.code == .networkConnectionLost && end.closed.isEmpty)
    }

    @Test("B15.19: messages of many megabytes, where that is allowed", arguments: [false, true])
    func large(tls: Bool) async throws {
        let peer = try await WebSocketPeer(tls: tls)
        let (task, _) = try socket(peer, "/echo")
        task.maximumMessageSize = 32 << 20
        let data = Data(GeneratedBytes.bytes(16 << 20))
        #expect(try await task.echo(data) == data)
        task.cancel()
        #expect(try await peer.account().messages == 1)
    }

    @Test("B15.19, B15.20: a message that is too long ends it with 1009")
    func tooLong() async throws {
        let peer = try await WebSocketPeer()
        let (task, watcher) = try socket(peer, "/echo")
        task.maximumMessageSize = 1000
        let error = await #expect(throws: POSIXError.self) { try await task.echo(Data(count: 1001)) }
        #expect(error?.code == .EMSGSIZE)
        #expect(await watcher.end().closed.isEmpty)
        #expect(try await peer.account().code == 1009)
    }

    @Test("B15.6, B15.7: a password is asked for before the web socket opens")
    func password() async throws {
        let peer = try await WebSocketPeer(password: true)
        let (task, watcher) = try socket(peer, "/echo")
        #expect(try await task.echo("secret") == "secret")
        task.cancel(with: .normalClosure, reason: nil)
        #expect(await watcher.end().challenges == ["peers 0"])
    }

    @Test("B15.1: a server with an untrusted certificate is refused")
    func untrusted() async throws {
        let peer = try await WebSocketPeer(tls: true)
        let watcher = WebSocketWatcher()
        let session = try PeerDirectory().session(delegate: watcher)
        let task = session.webSocketTask(with: try peer.url("/echo"))
        task.resume()
        let error = await #expect(throws: URLError.self) { try await task.receive() }
        #expect(error?.code == .serverCertificateUntrusted)
        session.finishTasksAndInvalidate()
    }

    @Test(
        "B15.11: through squid, ws by a tunnel too", .enabled(if: Peers.squid != nil, "squid is not installed"),
        arguments: [false, true])
    func squid(tls: Bool) async throws {
        let squid = try await ProxyPeer.squid()
        let peer = try await WebSocketPeer(tls: tls)
        let (task, watcher) = try socket(peer, "/echo", proxy: squid.port)
        for number in 0..<20 { #expect(try await task.echo("through \(number)") == "through \(number)") }
        task.cancel(with: .normalClosure, reason: nil)
        #expect(await watcher.end().closed == ["1000 nil"])
        #expect(try await peer.account().messages == 20)
    }

    @Test(
        "B15.11: through tinyproxy", .enabled(if: Peers.tinyproxy != nil, "tinyproxy is not installed"),
        arguments: [false, true])
    func tinyproxy(tls: Bool) async throws {
        let tinyproxy = try await ProxyPeer.tinyproxy()
        let peer = try await WebSocketPeer(tls: tls)
        let (task, watcher) = try socket(peer, "/echo", proxy: tinyproxy.port)
        #expect(try await task.echo("through") == "through")
        task.cancel(with: .normalClosure, reason: nil)
        #expect(await watcher.end().closed == ["1000 nil"])
    }

    @Test("Python's client with permessage-deflate against our server: our compression is what others read")
    func compression() async throws {
        var route = WebSocketRoute(record: WebSocketRecord())
        route.compresses = true
        route.protocols = ["chat.v1"]
        let server = try LoopbackServer.start { [route] _ in .webSocket(route) }
        let account = try await WebSocketPeer.client("ws://127.0.0.1:\(server.port)/", texts: 200)
        #expect(account.extensions == ["permessage-deflate"])
        #expect(account.messages == 200)
        #expect(account.code == 4000 && account.reason == "enough")
        #expect(account.subprotocol == "chat.v1")
        // 200 texts of 150 repetitions and more on average.
        #expect(server.stats.bytesWritten < 60_000)
        #expect(await server.wait { $0.webSocketsClosed == 1 } != nil)
        #expect(server.stats.webSocketsFailed == 0)
        await server.stop()
    }

    /// A task that runs, in a session that ends with it.
    private func socket(
        _ peer: WebSocketPeer, _ path: String, protocols: [String] = [], proxy: Int? = nil
    ) throws -> (URLSessionWebSocketTask, WebSocketWatcher) {
        let watcher = WebSocketWatcher()
        let session = peer.directory.session(delegate: watcher, proxy: proxy)
        let task = session.webSocketTask(with: try peer.url(path), protocols: protocols)
        task.resume()
        session.finishTasksAndInvalidate()
        return (task, watcher)
    }
}

extension PeerDirectory {
    fileprivate func session(delegate: any URLSessionDelegate, proxy: Int? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = .anchors(pem: anchor)
        configuration.connectionProxyDictionary = [:]
        if let proxy {
            configuration.connectionProxyDictionary = [
                kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPPort: proxy, kCFNetworkProxiesHTTPSEnable: 1,
                kCFNetworkProxiesHTTPSProxy: "127.0.0.1", kCFNetworkProxiesHTTPSPort: proxy,
            ]
        }
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}

extension URLSessionWebSocketTask {
    fileprivate func echo(_ text: String) async throws -> String? {
        try await send(.string(text))
        return try await self.text()
    }

    fileprivate func echo(_ data: Data) async throws -> Data? {
        try await send(.data(data))
        guard case .data(let data) = try await receive() else { return nil }
        return data
    }

    fileprivate func text() async throws -> String? {
        guard case .string(let text) = try await receive() else { return nil }
        return text
    }

    fileprivate func pong() async throws {
        try await withThrowingHandover { (handover: Handover<Void, any Error>) in
            sendPing { error in
                if let error { handover.resume(throwing: error) } else { handover.resume() }
            }
        }
    }
}

/// Writes down what a task's delegate is told, and knows the password.
private final class WebSocketWatcher: NSObject, URLSessionWebSocketDelegate {
    struct End: Sendable {
        var opened: [String?] = []
        var closed: [String] = []
        var challenges: [String] = []
        var error: (any Error)?
    }

    private let seen = Guarded(End())
    private let ends = AsyncStream<Void>.makeStream()

    /// What it has seen, once the task is complete.
    func end() async -> End {
        for await _ in ends.stream { break }
        return seen.withLock { $0 }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        seen.withLock { $0.opened.append(`protocol`) }
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        let reason = reason.map { String(decoding: $0, as: UTF8.self) } ?? "nil"
        seen.withLock { $0.closed.append("\(closeCode.rawValue) \(reason)") }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic else {
            return completionHandler(.performDefaultHandling, nil)
        }
        seen.withLock { $0.challenges.append("\(space.realm ?? "nil") \(challenge.previousFailureCount)") }
        completionHandler(.useCredential, URLCredential(user: "user", password: "secret", persistence: .none))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        seen.withLock { $0.error = error }
        ends.continuation.finish()
    }
}
