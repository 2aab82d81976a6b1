// Delegates that hand their calls on to another one, whichever form it has. On Apple's platforms the form with a
// handler and the `async` form of a method are one method.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Delegates that hand their calls on", .timeLimit(.minutes(5)))
struct ForwardingDelegateTests {
    /// Everything that a delegate is asked, in one form or the other; for each what it has answered, in words.
    private struct Questions {
        let session = URLSession(configuration: .ephemeral)
        let task: URLSessionDataTask
        let request: URLRequest
        let response: HTTPURLResponse
        let cached: CachedURLResponse
        let challenge: URLAuthenticationChallenge

        init() throws {
            let url = try #require(URL(string: "http://localhost/"))
            request = URLRequest(url: url)
            task = session.dataTask(with: url)
            response = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
            cached = CachedURLResponse(response: response, data: Data())
            let space = URLProtectionSpace(
                host: "localhost", port: 80, protocol: "http", realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil,
                error: nil, sender: DeafSender())
        }

        /// Asks in the `async` form.
        func await(_ delegate: any URLSessionDataDelegate) async -> [String] {
            let delayed = await delegate.urlSession(session, task: task, willBeginDelayedRequest: request)
            let next = await delegate.urlSession(
                session, task: task, willPerformHTTPRedirection: response, newRequest: request)
            let taskAnswer = await delegate.urlSession(session, task: task, didReceive: challenge)
            let sessionAnswer = await delegate.urlSession(session, didReceive: challenge)
            let stream = await delegate.urlSession(session, needNewBodyStreamForTask: task) != nil
            let later = await delegate.urlSession(session, needNewBodyStreamForTask: task, from: 5) != nil
            let disposition = await delegate.urlSession(session, dataTask: task, didReceive: response)
            let stored = await delegate.urlSession(session, dataTask: task, willCacheResponse: cached)
            return [
                "delayed \(delayed.0.rawValue)", "redirect \(next != nil)", "task \(taskAnswer.0.rawValue)",
                "session \(sessionAnswer.0.rawValue)", "stream \(stream)", "stream from 5 \(later)",
                "response \(disposition.rawValue)", "stored \(stored != nil)",
            ]
        }

        /// Asks in the form with a handler.
        func call(_ delegate: any URLSessionDataDelegate) async -> [String] {
            await [
                withHandover { said in
                    delegate.urlSession(session, task: task, willBeginDelayedRequest: request) { disposition, _ in
                        said.resume(returning: "delayed \(disposition.rawValue)")
                    }
                },
                withHandover { said in
                    delegate.urlSession(
                        session, task: task, willPerformHTTPRedirection: response, newRequest: request
                    ) { said.resume(returning: "redirect \($0 != nil)") }
                },
                withHandover { said in
                    delegate.urlSession(session, task: task, didReceive: challenge) { disposition, _ in
                        said.resume(returning: "task \(disposition.rawValue)")
                    }
                },
                withHandover { said in
                    delegate.urlSession(session, didReceive: challenge) { disposition, _ in
                        said.resume(returning: "session \(disposition.rawValue)")
                    }
                },
                withHandover { said in
                    delegate.urlSession(
                        session, task: task, needNewBodyStream: { said.resume(returning: "stream \($0 != nil)") })
                },
                withHandover { said in
                    delegate.urlSession(session, task: task, needNewBodyStreamFrom: 5) {
                        said.resume(returning: "stream from 5 \($0 != nil)")
                    }
                },
                withHandover { said in
                    delegate.urlSession(session, dataTask: task, didReceive: response) { disposition in
                        said.resume(returning: "response \(disposition.rawValue)")
                    }
                },
                withHandover { said in
                    delegate.urlSession(session, dataTask: task, willCacheResponse: cached) {
                        said.resume(returning: "stored \($0 != nil)")
                    }
                },
            ]
        }
    }

    /// What the delegates below answer, which is not what a default does.
    private static let refusals = [
        "delayed 2", "redirect false", "task 2", "session 2", "stream true", "stream from 5 true", "response 0",
        "stored false",
    ]
    private static let defaults = [
        "delayed 0", "redirect true", "task 1", "session 1", "stream false", "stream from 5 false", "response 1",
        "stored true",
    ]

    @Test("B1.95: whoever asks in one form gets the answer of a delegate that has the other, of every method that asks")
    func otherForm() async throws {
        let questions = try Questions()
        for refuser in [HandlerRefuser() as any URLSessionDataDelegate, AwaitedRefuser()] {
            #expect(await questions.await(refuser) == Self.refusals)
            #expect(await questions.call(refuser) == Self.refusals)
        }
        questions.session.invalidateAndCancel()
    }

    @Test("Whoever asks a delegate that has neither form gets the default answer, in either form")
    func neitherForm() async throws {
        let questions = try Questions()
        let delegate = SilentDelegate()
        #expect(await questions.await(delegate) == Self.defaults)
        #expect(await questions.call(delegate) == Self.defaults)
        questions.session.invalidateAndCancel()
    }

    @Test("B11.8: whoever asks for a stream reaches a delegate that has the method with an offset alone, from 0 on")
    func streamFrom() async throws {
        let questions = try Questions()
        for delegate in [HandlerStreams() as any URLSessionDataDelegate, AwaitedStreams()] {
            let answers = ["stream true", "stream from 5 true"]
            #expect(await questions.await(delegate).filter { $0.hasPrefix("stream") } == answers)
            #expect(await questions.call(delegate).filter { $0.hasPrefix("stream") } == answers)
        }
        let asker = StreamAsker()
        #expect(await asker.urlSession(questions.session, needNewBodyStreamForTask: questions.task) == nil)
        #expect(asker.transcript.calls == ["from 0"])
        questions.session.invalidateAndCancel()
    }

    @Test("B11.8: an upload's delegate that hands the question for a stream on gets that of the method with an offset")
    func streamHandedOn() async throws {
        try await withServer(router: { .text("got \(String(decoding: $0.body, as: UTF8.self))") }) { server in
            for inner in [HandlerStreams() as any URLSessionDataDelegate, AwaitedStreams()] {
                let forwarder = StreamForwarder(inner)
                let session = URLSession(configuration: .ephemeral, delegate: forwarder, delegateQueue: nil)
                var request = URLRequest(url: try server.at("/"))
                request.httpMethod = "POST"
                session.uploadTask(withStreamedRequest: request).resume()
                await forwarder.transcript.completed.wait()
                #expect(forwarder.transcript.calls == ["got body", "end nil"])
                session.invalidateAndCancel()
            }
        }
    }

    @Test(
        "A method with a handler that asks its own async form gets the default answer, each time"
    )
    func askingItself() async throws {
        let questions = try Questions()
        let delegate = SelfAsker()
        for _ in 0..<2 {
            #expect(
                await delegate.urlSession(questions.session, dataTask: questions.task, didReceive: questions.response)
                    == .allow)
        }
        #expect(delegate.transcript.calls == ["response", "response"])
        questions.session.invalidateAndCancel()
    }

    @Test("A handler that is called twice behind an async form is called once, and traps nothing")
    func twice() async throws {
        let questions = try Questions()
        let delegate: any URLSessionDataDelegate = TwiceAnswerer()
        #expect(
            await delegate.urlSession(questions.session, dataTask: questions.task, didReceive: questions.response)
                == .cancel)
        questions.session.invalidateAndCancel()
    }

    @Test(
        "B4.3: a redirect that a delegate behind others refuses is not followed, whatever their forms"
    )
    func chain() async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/" ? .text("moved", status: 302).adding("Location", "/end") : .text("end")
        }
        try await withServer(router: router) { server in
            let url = try server.at("/")
            let chains: [any URLSessionTaskDelegate] = [
                AwaitingForwarder(HandlerRefuser()), HandlingForwarder(AwaitedRefuser()),
                AwaitingForwarder(HandlingForwarder(AwaitingForwarder(HandlerRefuser()))),
                HandlingForwarder(AwaitingForwarder(HandlingForwarder(AwaitedRefuser()))),
            ]
            for delegate in chains {
                let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
                // Twice: the first time it is not known which methods a delegate has.
                for _ in 0..<2 {
                    let (data, _) = try await session.data(from: url)
                    #expect(String(decoding: data, as: UTF8.self) == "moved")
                }
                session.invalidateAndCancel()
            }
            let session = URLSession(
                configuration: .ephemeral, delegate: AwaitingForwarder(SilentDelegate()), delegateQueue: nil)
            let (data, _) = try await session.data(from: url)
            #expect(String(decoding: data, as: UTF8.self) == "end")
            session.invalidateAndCancel()
        }
    }

    @Test("B1.32, B1.41: a handler let go of behind an async form is no answer; the call returns when the task is over")
    func dropped() async throws {
        let router: LoopbackServer.Router = { _ in .text("moved", status: 302).adding("Location", "/") }
        try await withServer(router: router) { server in
            let dropper = Dropper()
            let delegate = AwaitingForwarder(dropper)
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            let url = try server.at("/")
            let load = Task { await codeThrown { _ = try await session.data(from: url) } }
            // A time-out could be over before the delegate is asked.
            await dropper.isAsked.wait()
            load.cancel()
            #expect(await load.value == .cancelled)
            await delegate.isBack.wait()
            session.invalidateAndCancel()
        }
    }
}

/// Takes no answers.
private final class DeafSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
}

/// Refuses everything, and has streams, in the forms with a handler.
private final class HandlerRefuser: NSObject, URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeReply
    ) {
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping ChallengeReply
    ) {
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLSession.DelayedRequestDisposition, URLRequest?) -> Void
    ) {
        completionHandler(.cancel, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: Data()))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: Data()))
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.cancel)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
    }
}

/// Refuses everything, and has streams, in the `async` forms.
private final class AwaitedRefuser: NSObject, URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        (.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        (.cancelAuthenticationChallenge, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willBeginDelayedRequest request: URLRequest
    ) async -> (URLSession.DelayedRequestDisposition, URLRequest?) {
        (.cancel, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        nil
    }

    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        InputStream(data: Data())
    }

    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        InputStream(data: Data())
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
    ) async -> URLSession.ResponseDisposition {
        .cancel
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse
    ) async -> CachedURLResponse? {
        nil
    }
}

/// Has streams, by the method with an offset alone, in the form with a handler.
private final class HandlerStreams: NSObject, URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: Data("body".utf8)))
    }
}

/// Has streams, by the method with an offset alone, in the `async` form.
private final class AwaitedStreams: NSObject, URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        InputStream(data: Data("body".utf8))
    }
}

/// Has the method with an offset, which asks for the one without.
private final class StreamAsker: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()

    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        transcript.note("from \(offset)")
        return await urlSession(session, needNewBodyStreamForTask: task)
    }
}

/// Hands questions for streams on.
private final class StreamForwarder: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()
    private let inner: any URLSessionDataDelegate

    init(_ inner: any URLSessionDataDelegate) { self.inner = inner }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        inner.urlSession(session, task: task, needNewBodyStream: completionHandler)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(String(decoding: data, as: UTF8.self))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("end \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// Hands questions about redirects on in the `async` form.
private final class AwaitingForwarder: NSObject, URLSessionDataDelegate {
    /// A question has been answered.
    let isBack = Signal()
    private let inner: any URLSessionDataDelegate

    init(_ inner: any URLSessionDataDelegate) { self.inner = inner }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        defer { isBack.fire() }
        return await inner.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: request)
    }
}

/// Hands questions about redirects on in the form with a handler.
private final class HandlingForwarder: NSObject, URLSessionDataDelegate {
    private let inner: any URLSessionDataDelegate

    init(_ inner: any URLSessionDataDelegate) { self.inner = inner }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        inner.urlSession(
            session, task: task, willPerformHTTPRedirection: response, newRequest: request,
            completionHandler: completionHandler)
    }
}

/// Asks itself, in the form that it does not have.
private final class SelfAsker: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response")
        Task { completionHandler(await urlSession(session, dataTask: dataTask, didReceive: response)) }
    }
}

/// Answers twice.
private final class TwiceAnswerer: NSObject, URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.cancel)
        completionHandler(.allow)
    }
}

/// Lets go of its handler, and does not call it.
private final class Dropper: NSObject, URLSessionDataDelegate {
    /// A question has come.
    let isAsked = Signal()

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        isAsked.fire()
    }
}
