// One web socket of the package: keeps how it opened and how it ended, and hands out messages one command at a time.
// Driver protocol, section 8.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// The delegate of one web socket.
final class DriverWebSocket: NSObject, URLSessionWebSocketDelegate {
    /// A message, or why there is none.
    typealias Received = Result<URLSessionWebSocketTask.Message, any Error>

    /// The last words of a web socket.
    struct Close: Sendable {
        let code: Int
        let reason: String?
    }

    /// How it ended.
    struct End: Sendable {
        let close: Close?
        let error: TransferError?
        let response: URLResponse?
    }

    /// How it began: with a protocol or none, or not at all.
    enum Opening: Sendable {
        case opened(String?)
        case failed(End)
    }

    private struct State {
        var close: Close?
        var nextWaiter = 0
        /// Those that wait for a message.
        var waiters: [(number: Int, take: @Sendable (Received) -> Void)] = []
        /// Messages for those that did not wait long enough.
        var kept: [Received] = []
        /// Calls of the package's that have not been answered.
        var receiving = 0
    }

    let session: String
    let opening = Occasion<Opening>()
    let end = Occasion<End>()
    private let task: URLSessionWebSocketTask
    private let redirects: RedirectPolicy
    private let answers: ChallengeAnswers
    private let state = Mutex(State())

    init(
        _ task: URLSessionWebSocketTask, session: String, redirects: RedirectPolicy, answers: ChallengeAnswers
    ) {
        self.task = task
        self.session = session
        self.redirects = redirects
        self.answers = answers
    }

    func begin() {
        task.delegate = self
        task.resume()
    }

    // MARK: What is asked for

    func send(_ message: URLSessionWebSocketTask.Message, _ done: @escaping @Sendable (TransferError?) -> Void) {
        task.send(message) { done($0.map(TransferError.init)) }
    }

    /// The next message. A message that comes when the time is over, if there is a time, goes to
    /// the next call that asks.
    func receive(within milliseconds: Int? = nil, _ take: @escaping @Sendable (Received) -> Void) {
        let (kept, number, asks) = state.withLock { state -> (Received?, Int, Bool) in
            if !state.kept.isEmpty { return (state.kept.removeFirst(), 0, false) }
            state.nextWaiter += 1
            state.waiters.append((state.nextWaiter, take))
            let asks = state.receiving < state.waiters.count
            if asks { state.receiving += 1 }
            return (nil, state.nextWaiter, asks)
        }
        if let kept { return take(kept) }
        if asks { task.receive { [self] in received($0) } }
        guard let milliseconds else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [weak self] in
            self?.giveUp(number)
        }
    }

    func ping(_ done: @escaping @Sendable (TransferError?) -> Void) {
        task.sendPing { done($0.map(TransferError.init)) }
    }

    func close(_ code: URLSessionWebSocketTask.CloseCode, _ reason: String?) {
        task.cancel(with: code, reason: reason.map { Data($0.utf8) })
    }

    /// Ends it at once, without goodbye.
    func cancel() {
        task.cancel()
    }

    private func received(_ result: Received) {
        let take = state.withLock { state in
            state.receiving -= 1
            guard state.waiters.isEmpty else { return Optional(state.waiters.removeFirst().take) }
            state.kept.append(result)
            return nil
        }
        take?(result)
    }

    private func giveUp(_ number: Int) {
        let take = state.withLock { state in
            state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0).take }
        }
        take?(.failure(URLError(.timedOut)))
    }

    // MARK: What the package tells

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        switch redirects {
        case .stop: completionHandler(nil)
        case .follow: completionHandler(request)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let answer = answers.answer(challenge)
        completionHandler(answer.disposition, answer.credential)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        opening.set(.opened(`protocol`))
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        let close = Close(code: closeCode.rawValue, reason: reason.map { String(decoding: $0, as: UTF8.self) })
        state.withLock { $0.close = close }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let end = End(
            close: state.withLock { $0.close }, error: error.map(TransferError.init), response: task.response)
        opening.set(.failed(end))
        self.end.set(end)
    }
}
