// One attempt: a task and what its delegate is told. The body goes to the sink while it arrives. The delegate queue
// waits where the sink is slow, and the library then stops reading: nothing is collected in memory.

import Foundation
import Synchronization
import URLLoading

/// What an attempt came to.
struct AttemptResult: Sendable {
    /// Nil where everything was done.
    var failure: FetchError?
    var response: URLResponse?
    var metrics: URLSessionTaskMetrics?
    /// Whether a condition of the request's says that there is nothing new.
    var isUnchanged = false
    /// The certificates that the server has shown, where the user wants to see them.
    var chain: [SecCertificate] = []
    /// Bytes of the body, decoded.
    var received: Int64 = 0
    /// Seconds until the next attempt, where the status says that another time might be better; the
    /// body was not taken then.
    var pause: Double?

    /// Whether everything was done.
    var isGood: Bool { failure == nil && pause == nil }
    /// The status of the answer, where one came.
    var status: Int? { (response as? HTTPURLResponse)?.statusCode }
}

/// What an attempt needs to know.
struct AttemptPlan: Sendable {
    let number: Int
    let url: URL
    let options: Options
    let sink: any Sink
    /// The file of `--dump-header`.
    let heads: HeadFile?
    /// Nil where no progress is shown.
    let board: ProgressBoard?
    /// Whether another attempt may follow this one.
    let hasRetries: Bool
    let retries: RetryRules
    /// How many attempts there were before.
    let earlierFailures: Int
    /// No attempt begins after this.
    let lastStart: ContinuousClock.Instant?
    let note: @Sendable ([String]) -> Void
    /// How long those that read the output are waited for.
    var patience = Patience()
}

extension AttemptPlan {
    /// Whether another attempt may begin after so many seconds.
    func allows(pause: Double) -> Bool { lastStart.map { ContinuousClock.now + .seconds(pause) <= $0 } ?? true }
}

/// Runs one task.
final class Attempt: NSObject, URLSessionDataDelegate, ChallengeAnswering {
    private struct State {
        var result = AttemptResult()
        var redirects = 0
        /// The heads that came, for `--include`: those in front of the one whose body is kept are shown with it.
        var heads: [HTTPURLResponse] = []
        var lastHead: HTTPURLResponse?
        /// Resumed when the task is complete.
        var isDone: CheckedContinuation<AttemptResult, Never>?
        /// Whether it is: a cancellation may end the task before its result is waited for.
        var isComplete = false
        /// What holds the transfer back for --limit-rate.
        var throttle: Throttle?
        /// Whether standard input is this task's body, and has not been given to it.
        var hasInput = false
    }

    private let plan: AttemptPlan
    private let state = Mutex(State())

    init(_ plan: AttemptPlan) {
        self.plan = plan
        if let rate = plan.options.rateLimit { state.withLock { $0.throttle = Throttle(rate: rate) } }
    }

    func run(_ prepared: PreparedRequest, in session: URLSession) async -> AttemptResult {
        let task: URLSessionTask
        if let file = prepared.bodyFile {
            task = session.uploadTask(with: prepared.request, fromFile: file)
        } else if prepared.isStreamedUpload {
            state.withLock { $0.hasInput = true }
            task = session.uploadTask(withStreamedRequest: prepared.request)
        } else {
            task = session.dataTask(with: prepared.request)
        }
        task.delegate = self
        let start = ContinuousClock.now
        var result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state -> AttemptResult? in
                    guard !state.isComplete else { return state.result }
                    state.isDone = continuation
                    return nil
                }
                if let result { return continuation.resume(returning: result) }
                task.resume()
            }
        } onCancel: {
            stop(task, FetchError(.interrupted, "interrupted"))
        }
        if result.isGood, let rest = rest(since: start) {
            do {
                try await Task.sleep(for: .seconds(rest))
            } catch {
                result.failure = FetchError(.interrupted, "interrupted")
            }
        }
        return result
    }

    /// Seconds by which the transfer was faster than --limit-rate, but none beyond --max-time: what
    /// is whole is not given up.
    private func rest(since start: ContinuousClock.Instant) -> Double? {
        let now = ContinuousClock.now
        guard let rest = state.withLock({ $0.throttle?.rest(at: now) }) else { return nil }
        return plan.options.maximumTime.map { max(0, min(rest, $0 - (now - start).seconds)) } ?? rest
    }

    // MARK: The course of a task

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let options = plan.options
        guard options.followsRedirects else { return completionHandler(nil) }
        let count = state.withLock { state in
            state.redirects += 1
            return state.redirects
        }
        note(head: response)
        if let refusal = options.refusal(ofRedirect: request) {
            stop(task, refusal)
            return completionHandler(nil)
        }
        if let limit = options.maximumRedirects, count > limit {
            stop(
                task,
                FetchError(
                    .tooManyRedirects, "the server redirects more than \(limit) times",
                    advice: Advice.about(.tooManyRedirects, nil, options)))
            return completionHandler(nil)
        }
        if options.isVerbose, let url = request.url {
            plan.note(["* \(response.statusCode) leads to \(ResumeNote.name(of: url))"])
        }
        completionHandler(request)
    }

    func answer(
        to challenge: URLAuthenticationChallenge, of task: URLSessionTask
    ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        if plan.options.isVerbose { plan.note(ChallengeText.lines(about: challenge)) }
        if plan.options.showsTLS, let trust = challenge.protectionSpace.serverTrust {
            let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate] ?? []
            state.withLock { $0.result.chain = chain }
        }
        // What a proxy says in place of a tunnel is between it and us.
        let isOfTunnel =
            challenge.protectionSpace.isProxy() && task.currentRequest?.url?.scheme?.lowercased() == "https"
        if !isOfTunnel, let answer = challenge.failureResponse as? HTTPURLResponse { note(head: answer) }
        return plan.options.answer(to: challenge, at: plan.url)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        // What was read of it once does not come again.
        let isThere = state.withLock { state in
            defer { state.hasInput = false }
            return state.hasInput
        }
        completionHandler(isThere ? StandardInput() : nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        plan.board?.report(
            plan.number, done: totalBytesSent, total: totalBytesExpectedToSend > 0 ? totalBytesExpectedToSend : nil,
            isUpload: true)
        holdBack(task, totalBytesSent)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        note(head: response)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let answer = response as? HTTPURLResponse
        state.withLock { $0.result.response = response }
        if let answer, refuses(answer, dataTask) { return completionHandler(.cancel) }
        do throws(FetchError) {
            if let answer {
                note(head: answer)
                if plan.options.isConditional, answer.statusCode == 304 {
                    // Nothing is new: what is there stays.
                    state.withLock { $0.result.isUnchanged = true }
                    if let head = takeHeads() { try plan.sink.show(head: head) }
                    return completionHandler(.allow)
                }
            }
            try checkSize(response.expectedContentLength)
            try plan.sink.begin(response, head: takeHeads())
            completionHandler(.allow)
        } catch {
            stop(dataTask, error)
            completionHandler(.cancel)
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard
            let (received, response) = state.withLock({ state -> (Int64, URLResponse?)? in
                guard state.result.failure == nil, !state.result.isUnchanged else { return nil }
                state.result.received += Int64(data.count)
                return (state.result.received, state.result.response)
            })
        else { return }
        do throws(FetchError) {
            try checkSize(received)
            try plan.sink.write(data)
        } catch {
            return stop(dataTask, error)
        }
        holdBack(dataTask, received)
        let offset = plan.sink.offset
        plan.board?.report(
            plan.number, done: ResumeAnswer.length(offset, and: received) ?? .max,
            total: response?.bodyLength.flatMap { ResumeAnswer.length(offset, and: $0) }, isUpload: false)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        state.withLock { $0.result.metrics = metrics }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (result, isDone) = state.withLock { state in
            // What was found out already is the reason; the error is then only the cancellation that followed.
            if let error, state.result.isGood {
                state.result.failure = FetchError(error, hasAnswer: state.result.response != nil, plan.options)
            }
            state.isComplete = true
            return (state.result, state.isDone.take())
        }
        // The heads of a way that led nowhere tell why it did.
        if result.failure != nil, !plan.hasRetries, let head = takeHeads() { try? plan.sink.show(head: head) }
        isDone?.resume(returning: result)
    }

    // MARK: Heads

    /// An answer that asks for a password is told of twice where there is none: it is the last then.
    private func note(head: HTTPURLResponse) {
        let isNew = state.withLock { state in
            guard state.lastHead !== head else { return false }
            state.lastHead = head
            state.heads.append(head)
            return true
        }
        guard isNew, let file = plan.heads else { return }
        do throws(FetchError) {
            try file.append(head, plan.patience)
        } catch {
            state.withLock { $0.result.failure = $0.result.failure ?? error }
        }
    }

    /// The heads that have not been shown, as text; nil where they are not wanted.
    private func takeHeads() -> String? {
        let heads = state.withLock { state in
            defer { state.heads = [] }
            return state.heads
        }
        return plan.options.showsHead && !heads.isEmpty ? heads.map(HeadText.of).joined() : nil
    }

    // MARK: Decisions

    /// Whether an answer is not to be kept.
    private func refuses(_ answer: HTTPURLResponse, _ task: URLSessionTask) -> Bool {
        let status = answer.statusCode
        let isFailure = status >= 400 && plan.options.failsOnErrorStatus
        if plan.hasRetries, let request = task.originalRequest,
            let pause = plan.retries.pause(
                after: request, answer, nil, earlierFailures: plan.earlierFailures, isFailure: isFailure),
            plan.allows(pause: pause)
        {
            state.withLock { $0.result.pause = pause }
            return true
        }
        guard isFailure else { return false }
        do throws(FetchError) {
            note(head: answer)
            if let head = takeHeads() { try plan.sink.show(head: head) }
            stop(
                task,
                FetchError(
                    .errorStatus, "the server answered with status \(status)",
                    advice: Advice.about(status: status, plan.options)))
        } catch {
            stop(task, error)
        }
        return true
    }

    /// Throws where there are more bytes than the user wants.
    private func checkSize(_ bytes: Int64) throws(FetchError) {
        guard let limit = plan.options.largestFile, bytes > limit else { return }
        throw FetchError(.tooLarge, "the body has more than \(limit) bytes, which --max-filesize allows")
    }

    /// Lets the task wait where it is faster than --limit-rate.
    private func holdBack(_ task: URLSessionTask, _ bytes: Int64) {
        guard let pause = state.withLock({ $0.throttle?.pause(after: bytes, at: .now) }) else { return }
        task.suspend()
        DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [self] in
            state.withLock { $0.throttle?.isPaused = false }
            task.resume()
        }
    }

    /// Ends the task, for the first reason that there is.
    private func stop(_ task: URLSessionTask, _ failure: FetchError) {
        state.withLock { $0.result.failure = $0.result.failure ?? failure }
        task.cancel()
    }
}

extension URLResponse {
    /// The length of the body that is delivered; nil where it is not known.
    fileprivate var bodyLength: Int64? {
        let coding = (self as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
        return expectedContentLength >= 0 && coding == "identity" ? expectedContentLength : nil
    }
}
