// A web socket on a terminal or in a pipe: lines of standard input are text messages, received messages are written to
// standard output. When the input ends, the server may still have something to say: goodbye is said when it has been
// quiet for a while.

import Foundation
import Synchronization
import URLLoading

/// One conversation.
final class Conversation: NSObject, URLSessionWebSocketDelegate, ChallengeAnswering {
    private struct State {
        /// What it came to, once that is known; the first reason counts.
        var failure: FetchError?
        var metrics: URLSessionTaskMetrics?
        /// Whether goodbye was said from here, so that what then fails is no error.
        var isClosing = false
        /// When the last message came.
        var lastHeard = ContinuousClock.now
        /// Resumed when the task is complete and all messages are written.
        var isDone: CheckedContinuation<Void, Never>?
        var isComplete = false
        var isHeard = false
    }

    /// How long a server is quiet that has nothing more to say, in seconds. Picked by feel:
    /// longer than most answers take.
    private static let usualPatience = 5.0
    /// How long a server that is never quiet is listened to, once nothing is left to say to it.
    private static let longest = Duration.seconds(60)

    private let url: URL
    private let options: Options
    private let patience: Duration
    private let state = Mutex(State())

    init(_ url: URL, _ options: Options) {
        self.url = url
        self.options = options
        patience = .seconds(options.patience ?? Self.usualPatience)
    }

    /// Talks until either side has had enough.
    func run(in session: URLSession) async -> TransferResult {
        var result = TransferResult()
        var request = URLRequest(url: url)
        if let token = options.bearerToken { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        PreparedRequest.add(options.fields, to: &request)
        if let cookies = options.cookieField { request.setValue(cookies, forHTTPHeaderField: "Cookie") }
        let task = session.webSocketTask(with: request)
        // Nothing is kept but the message that is being written.
        task.maximumMessageSize = 64 << 20
        task.delegate = self
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { $0.isDone = continuation }
                receive(task)
                task.resume()
                speak(task)
            }
        } onCancel: {
            fail(FetchError(.interrupted, "interrupted"))
            task.cancel()
        }
        let (failure, metrics) = state.withLock { ($0.failure, $0.metrics) }
        result.result.failure = failure
        result.result.response = task.response
        if let metrics {
            result.metrics = [metrics]
            if options.isVerbose { Terminal.note(WireTrace.lines(metrics)) }
            if options.showsTiming { Terminal.note(Waterfall(metrics).lines(width: 80)) }
        }
        if let failure {
            result.code = failure.code
            result.message = failure.message
            if options.complains, !failure.isExpected { Terminal.complain(failure.message, advice: failure.advice) }
        }
        return result
    }

    // MARK: Speaking

    /// Reads standard input on a thread of its own, as reading waits; each line is sent before the next one is read.
    private func speak(_ task: URLSessionWebSocketTask) {
        Thread.detachNewThread { [self] in
            var lines = InputLines()
            while true {
                let line: [UInt8]
                do throws(InputFile.Unreadable) {
                    guard let next = try lines.next() else { break }
                    line = next
                } catch {
                    fail(FetchError(.cannotRead, "standard input cannot be read: \(error.reason)"))
                    return task.cancel()
                }
                let sent = DispatchSemaphore(value: 0)
                let isFailed = Mutex(false)
                let message =
                    String(validating: line, as: UTF8.self)
                    .map { URLSessionWebSocketTask.Message.string($0) } ?? .data(Data(line))
                task.send(message) { error in
                    isFailed.withLock { $0 = error != nil }
                    sent.signal()
                }
                sent.wait()
                // Why it failed is what the task ends with.
                if isFailed.withLock(\.self) { return }
            }
            // The pong comes behind the answers to what was said before.
            task.sendPing { [self] error in
                // Without a pong there is no peer to say goodbye to: the task ends with the reason by itself.
                guard error == nil else { return }
                sayGoodbye(task)
            }
        }
    }

    /// Says goodbye when the server has been quiet for a while, or has talked for long enough.
    private func sayGoodbye(_ task: URLSessionWebSocketTask) {
        let limit = ContinuousClock.now + max(patience, Self.longest)
        let patience = patience
        state.withLock { $0.lastHeard = .now }
        Task { [self] in
            while case let end = min(limit, state.withLock(\.lastHeard) + patience), end > .now {
                try? await Task.sleep(until: end, clock: .continuous)
            }
            state.withLock { $0.isClosing = true }
            task.cancel(with: .normalClosure, reason: nil)
        }
    }

    // MARK: Hearing

    private func receive(_ task: URLSessionWebSocketTask) {
        task.receive { [self] result in
            // The task ends with the reason.
            guard case .success(let message) = result else { return finish { $0.isHeard = true } }
            state.withLock { $0.lastHeard = .now }
            let error = show(message)
            if error != 0 {
                fail(FetchError.output(error))
                task.cancel()
                return finish { $0.isHeard = true }
            }
            receive(task)
        }
    }

    /// Text gets a line end; bytes are written as they are, and a terminal is only told how many there were.
    private func show(_ message: URLSessionWebSocketTask.Message) -> Int32 {
        switch message {
        case .string(let text):
            let shown =
                Terminal.showsOutput
                ? text.split(separator: "\n", omittingEmptySubsequences: false).map { VisibleText.of(String($0)) }
                    .joined(separator: "\n") : text
            return Terminal.write(Data((shown + "\n").utf8))
        case .data(let data):
            guard Terminal.showsOutput else { return Terminal.write(data) }
            Terminal.note("* a message of \(QuantityText.bytes(Int64(data.count))) that is no text")
            return 0
        }
    }

    // MARK: The course of the task

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let refusal = options.refusal(ofRedirect: request) else { return completionHandler(request) }
        fail(refusal)
        task.cancel()
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
        guard options.isVerbose else { return }
        Terminal.note("* the web socket is open" + (`protocol`.map { ", with the protocol \($0)" } ?? ""))
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        let words = reason.map { ": " + String(decoding: $0, as: UTF8.self) } ?? ""
        if options.isVerbose { Terminal.note("* the web socket is closed with \(closeCode.rawValue)\(words)") }
        switch closeCode {
        case .normalClosure, .goingAway, .noStatusReceived: break
        default:
            fail(FetchError(.connectionLost, "the server closed the web socket with \(closeCode.rawValue)\(words)"))
        }
    }

    func answer(
        to challenge: URLAuthenticationChallenge, of task: URLSessionTask
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        if options.isVerbose { Terminal.note(ChallengeText.lines(about: challenge)) }
        return options.answer(to: challenge, at: url)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        state.withLock { $0.metrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        finish { state in
            if let error, !state.isClosing, state.failure == nil {
                state.failure = FetchError(error, hasAnswer: task.response != nil, options)
            }
            state.isComplete = true
        }
    }

    /// Notes that one half is over; the conversation is done when both are.
    private func finish(_ change: (inout State) -> Void) {
        let isDone = state.withLock { state in
            change(&state)
            return state.isComplete && state.isHeard ? state.isDone.take() : nil
        }
        isDone?.resume()
    }

    private func fail(_ failure: FetchError) {
        state.withLock { $0.failure = $0.failure ?? failure }
    }
}

/// The lines of standard input, without their ends.
private struct InputLines {
    private var bytes: [UInt8] = []
    private var searched = 0
    private var hasEnded = false

    /// Waits for the next line; what stands behind the last line end is one, unless it is nothing.
    mutating func next() throws(InputFile.Unreadable) -> [UInt8]? {
        while true {
            if let end = bytes[searched...].firstIndex(of: 0x0A) {
                var line = Array(bytes[..<end])
                bytes.removeFirst(end + 1)
                searched = 0
                if line.last == 0x0D { line.removeLast() }
                return line
            }
            searched = bytes.count
            if hasEnded {
                defer {
                    bytes = []
                    searched = 0
                }
                return bytes.isEmpty ? nil : bytes
            }
            var buffer = [UInt8](repeating: 0, count: 16_384)
            let count = FileDescriptor.read(STDIN_FILENO, &buffer, buffer.count)
            guard count >= 0 else { throw InputFile.Unreadable(number: errno) }
            if count > 0 { bytes += buffer.prefix(count) } else { hasEnded = true }
        }
    }
}
