// A delegate of web socket tasks that writes down what it is told, and the aids of their suites.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// Has the methods of web socket delegates, and what a habit says about challenges.
final class WebSocketScribe: NSObject, URLSessionWebSocketDelegate {
    let transcript = Transcript()
    let opened = Signal()
    let metrics = Guarded<URLSessionTaskMetrics?>(nil)
    private let habit: GuestHabit?
    private let redirect: @Sendable (URLRequest) -> URLRequest?

    init(_ habit: GuestHabit? = nil, redirect: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 }) {
        self.habit = habit
        self.redirect = redirect
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.note("invalid")
        transcript.invalidated.fire()
    }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { transcript.note("created") }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        transcript.note("redirect \(response.statusCode) \(request.url?.scheme ?? "") \(request.url?.path ?? "")")
        completionHandler(redirect(request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        transcript.note("challenge \(challenge.protectionSpace.authenticationMethod)")
        guard let habit else { return completionHandler(.performDefaultHandling, nil) }
        let (disposition, credential) = habit(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        transcript.note("open \(`protocol` ?? "nil")")
        opened.fire()
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        transcript.note("close \(closeCode.rawValue) \(reason.map { String(decoding: $0, as: UTF8.self) } ?? "nil")")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.metrics.value = metrics
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(name(error))")
        transcript.completed.fire()
    }

    /// The calls that it has noted, once the task has ended.
    func story() async -> [String] {
        await transcript.completed.wait()
        return transcript.calls
    }
}

/// An error in a word: its number, with the domain if that is not NSURLErrorDomain.
func name(_ error: (any Error)?) -> String {
    guard let error = error as NSError? else { return "nil" }
    return error.domain == NSURLErrorDomain ? "\(error.code)" : "\(error.domain) \(error.code)"
}

/// The name of an error of the system's.
func posix(_ errno: Int32) -> String { "\(NSPOSIXErrorDomain) \(errno)" }

/// A session for web sockets; for suites that say `.endsSessions`.
func webSocketSession(
    _ delegate: (any URLSessionDelegate)? = nil, anchor: String = "",
    _ change: (URLSessionConfiguration) -> Void = { _ in }
) -> URLSession {
    visitor(delegate) { configuration in
        if !anchor.isEmpty { configuration.serverTrustEvaluation = .anchors(pem: anchor) }
        change(configuration)
    }
}

extension LoopbackServer {
    /// A path of this server as a web socket's.
    func webSocket(_ path: String = "/", host: String? = nil) throws -> URL {
        try #require(URL(string: url(path, host: host).replacingOccurrences(of: "http", with: "ws")))
    }
}

extension URLSessionWebSocketTask {
    /// The next message as text; of bytes their numbers.
    func heard() async throws -> String {
        switch try await receive() {
        case .string(let text): text
        case .data(let data): "\(Array(data))"
        @unknown default: "?"
        }
    }

    /// What the next `receive` fails with.
    func receiveError() async -> String {
        do {
            return "no error: \(try await receive())"
        } catch {
            return name(error)
        }
    }

    /// What a `send` fails with.
    func sendError(_ message: Message = .string("x")) async -> String {
        do {
            try await send(message)
            return "nil"
        } catch {
            return name(error)
        }
    }

    /// What a ping ends with.
    func pingError() async -> String {
        await withHandover { handover in sendPing { handover.resume(returning: name($0)) } }
    }
}

/// Runs `body` with a server that plays these steps on each web socket.
func withScript<R>(
    _ steps: [WebSocketStep], _ body: (LoopbackServer, WebSocketRecord) async throws -> R
) async throws -> R {
    let record = WebSocketRecord()
    return try await withServer(router: { _ in .webSocket(steps, record: record) }) { server in
        let result = try await body(server, record)
        #expect(record.contents.problems == [])
        return result
    }
}
