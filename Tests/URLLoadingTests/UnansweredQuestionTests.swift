// Questions to a delegate that come too late: the task's end is already on its way to the delegate.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Questions behind which a task's end waits", .timeLimit(.minutes(5)))
struct UnansweredQuestionTests {
    /// What the delegate is asked.
    enum Question: String, CaseIterable {
        case response, redirect, trust, stream
        /// About a response without a body, which is complete when it is asked.
        case nothing
        /// About a response from a cache, and about storing one.
        case stored, storing
        /// About a part of a body whose next part is broken: nothing is loading any more.
        case part

        /// What the delegate hears before the end.
        var told: [String] {
            switch self {
            case .response, .nothing, .stored: ["response"]
            case .redirect, .trust, .stream: [rawValue]
            case .storing: ["response", "data", "storing"]
            case .part: ["response", "response"]
            }
        }

        /// The end that the delegate hears where the question was asked.
        var end: String { self == .part ? "complete -1017" : "complete -1001" }
    }

    @Test(
        "B6.8, B1.31: on a queue that stands still until the time is over the end comes, whatever the question before it",
        arguments: [Question.response, .redirect, .trust, .stream, .nothing])
    func standingQueue(question: Question) async throws {
        try await withSilentDelegate(question, isHeld: true) { delegate, queue, session in
            // Its time is over after the task's.
            let witness = URLSession(configuration: session.configuration)
            let gate = ServerGate()
            try await withServer(router: { _ in .slow([.init("x", when: gate)]) }) { server in
                #expect(await codeThrown { _ = try await witness.data(from: server.at("/")) } == .timedOut)
                gate.open()
            }
            queue.isSuspended = false
            await delegate.transcript.completed.wait()
            // On a busy machine the queue may go on before the end is noted; then the delegate is asked.
            expectEnd(delegate, after: question)
            witness.invalidateAndCancel()
        }
    }

    @Test(
        "B6.8, B1.31: after a question without an answer in time only the end comes, and no piece of the body",
        arguments: Question.allCases)
    func unanswered(question: Question) async throws {
        try await withSilentDelegate(question, isHeld: false) { delegate, _, _ in
            await delegate.transcript.completed.wait()
            expectEnd(delegate, after: question)
        }
    }

    /// The end comes last, and before it nothing but the question and what leads to it: on a busy machine the time may
    /// be over before.
    private func expectEnd(_ delegate: SilentOnQuestions, after question: Question) {
        let calls = delegate.transcript.calls
        #expect([question.end, "complete -1001"].contains(calls.last), "\(calls)")
        #expect(question.told.starts(with: calls.dropLast()), "\(calls)")
    }

    /// Runs a task whose delegate is asked `question` and does not answer. The task may take a second.
    private func withSilentDelegate(
        _ question: Question, isHeld: Bool,
        _ body: (SilentOnQuestions, OperationQueue, URLSession) async throws -> Void
    ) async throws {
        let router: LoopbackServer.Router = { request in
            switch request.path {
            case "/redirect": .text("moved", status: 302).adding("Location", "/end")
            case "/nothing": .status(204)
            case "/part":
                .slow([.init("--b\r\n\r\none\r\n--b\r\nno field\r\n\r\n")], framing: .chunked).adding(
                    "Content-Type", "multipart/x-mixed-replace; boundary=b")
            default: .text("hello").adding("Cache-Control", "max-age=600")
            }
        }
        try await withJudgedServer(router: router) { judged in
            try await withServer(router: router) { plain in
                let delegate = SilentOnQuestions()
                let queue = OperationQueue()
                queue.maxConcurrentOperationCount = 1
                queue.isSuspended = isHeld
                // Ephemeral sessions do not ask about what is stored.
                let configuration = URLSessionConfiguration.default
                configuration.hostOverrides = ["localhost": "127.0.0.1"]
                configuration.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
                let url = question == .trust ? judged.url : try plain.at("/\(question.rawValue)")
                if question == .stored { _ = try await URLSession(configuration: configuration).data(from: url) }
                configuration.timeoutIntervalForResource = 1
                let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
                let task =
                    question == .stream
                    ? session.uploadTask(withStreamedRequest: uploading(url)) : session.dataTask(with: url)
                task.resume()
                try await body(delegate, queue, session)
                session.invalidateAndCancel()
                await delegate.transcript.invalidated.wait()
            }
        }
    }
}

/// Is asked everything and answers nothing.
private final class SilentOnQuestions: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()

    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeReply
    ) {
        transcript.note("trust")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        transcript.note("redirect")
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response")
        // The first response is answered: the question under test is the next one.
        let isTold = ["/storing", "/part"].contains(response.url?.path) && transcript.calls.count == 1
        if isTold { completionHandler(.allow) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        transcript.note("storing")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        transcript.note("stream")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }
}
