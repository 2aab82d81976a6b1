// The questions that stop a task until a delegate has answered (B1.31): a redirect, a response, a delayed request, a
// challenge, about which `TaskCore+Challenges` knows more.
//
// Candidates are the task's delegate, then the session's; of each the completion-handler form, then the `async` form.
// A form that is only a default stands for "not implemented" (see `DelegateProbe`), and what was learnt is remembered
// per type. Nobody left: the default answer.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

/// Something a delegate is asked.
enum TaskQuestion: Sendable {
    case redirect(HTTPURLResponse, URLRequest)
    case response(URLResponse)
    /// What may be stored in the cache.
    case storing(CachedURLResponse)
    /// Without an offset the method that knows none is asked.
    case bodyStream(WaitNumber, offset: Int64?)
    /// The response of a part in a multipart body (B1.62).
    case part(URLResponse)
    case delayed(URLRequest, WaitNumber)
    /// Asked of the session's method or the tasks'.
    case challenge(TaskChallenge, ofTask: Bool)

    var method: AskingMethod {
        switch self {
        case .redirect: .redirect
        case .response, .part: .response
        case .storing: .storing
        case .delayed: .delayed
        case .challenge(_, ofTask: false): .sessionChallenge
        case .challenge(_, ofTask: true): .taskChallenge
        case .bodyStream(_, nil): .bodyStream
        case .bodyStream: .bodyStreamFrom
        }
    }

    /// Whether the answer is one for a connection, which may serve other tasks too.
    var isAboutConnection: Bool { respondent != nil }

    /// Who is asked about a connection.
    var respondent: Respondent? {
        guard case .challenge(let challenge, _) = self, case .connection(_, let asked) = challenge.subject else {
            return nil
        }
        return asked
    }

    /// What is asked when nobody implements this one's method.
    var substitute: TaskQuestion? {
        switch self {
        case .bodyStream(let wait, nil): .bodyStream(wait, offset: 0)
        // B2.2.
        case .challenge(let challenge, ofTask: false): .challenge(challenge, ofTask: true)
        case .redirect, .response, .storing, .bodyStream, .part, .delayed, .challenge: nil
        }
    }

    /// The answer of a delegate that has none.
    var defaultAnswer: TaskAnswer {
        switch self {
        case .redirect(_, let request): .redirect(request)
        case .response, .part: .disposition(.allow)
        case .storing(let cached): .storing(cached)
        case .delayed: .delayed(.continueLoading, nil)
        case .bodyStream: .stream(nil)
        case .challenge: .challenge(.performDefaultHandling, nil)
        }
    }
}

/// What a delegate says.
enum TaskAnswer: Sendable {
    case redirect(URLRequest?)
    case disposition(URLSession.ResponseDisposition)
    case storing(CachedURLResponse?)
    case stream(InputStreamSource?)
    case delayed(URLSession.DelayedRequestDisposition, URLRequest?)
    case challenge(URLSession.AuthChallengeDisposition, URLCredential?)
}

extension TaskCore {
    /// Asks, on the delegate queue, unless the end has come already; nothing else is delivered until the answer has come.
    func ask(_ question: TaskQuestion) {
        guard let token = mailbox.withLock({ $0.beginWaiting() }) else { return }
        ask(question, token: token)
    }

    /// Sees to it that the task's time ends the waiting (B6.8) where a hop's end stands behind a question: nothing is loading any
    /// more that would notice.
    func limitWaiting() {
        state.withLock { state in
            // One that is set already, for a question before this one, is for the same moment.
            guard state.answerLimit == nil, !state.isOver, let deadline = state.resourceDeadline else { return }
            state.answerLimit = alarm(at: deadline) { $0.answerTookTooLong() }
        }
    }

    private func answerTookTooLong() {
        // Order: whoever is asked from now on sets another.
        state.withLock { $0.answerLimit = nil }
        guard mailbox.withLock({ $0.isWaitingBeforeEnd }) else { return }
        willFail(
            LoadFailure.make(.timedOut, currentRequest?.url, "A delegate did not answer before the task's time-out."))
        if mailbox.withLock({ $0.abandonWaiting() }) { session?.relay.schedule(self) }
    }

    /// Asks, with the list held up under `token` already.
    func ask(_ question: TaskQuestion, token: WaitNumber) {
        ask(question, token: token, candidates: candidates(for: question)[...])
    }

    private func candidates(for question: TaskQuestion) -> [DelegateView] {
        let (own, judge) = state.withLock { ($0.delegateView, $0.judge) }
        let sessions = session?.delegateView
        // Others use the connection who have another delegate or none.
        if question.isAboutConnection, judge == .session { return [sessions].compactMap(\.self) }
        switch (question, outlet) {
        // B1.80: also where the result goes to a handler or an async call.
        case (.redirect, _), (.bodyStream, _), (.delayed, _), (.challenge, _), (.storing, _), (.response, .delegate),
            (.part, .delegate):
            return [own, sessions].compactMap(\.self)
        case (.response, .awaiting), (.response, .stream): return [own].compactMap(\.self)
        case (.response, .handler), (.response, .file): return []
        case (.part, .handler), (.part, .awaiting), (.part, .stream), (.part, .file): return []
        }
    }

    private func ask(_ question: TaskQuestion, token: WaitNumber, candidates: ArraySlice<DelegateView>) {
        guard mailbox.withLock({ $0.isWaiting(for: token) }) else { return }
        var rest = candidates
        while let view = rest.popFirst() {
            guard view.mayImplement(question.method) else { continue }
            question.respondent?.isTasksOwn = view.session !== session?.delegateView?.session
            switch view.forms.form(question.method) {
            case .absent:
                continue
            case .unknown, .handler:
                if askHandlerForm(question, token: token, of: view) {
                    view.forms.learn(question.method, .handler)
                } else {
                    askAsyncForm(question, token: token, of: view, otherwise: rest)
                }
            case .async:
                askAsyncForm(question, token: token, of: view, otherwise: rest)
            }
            return
        }
        if let substitute = question.substitute {
            ask(substitute, token: token)
        } else {
            question.respondent?.isTasksOwn = false
            answer(token, question.defaultAnswer, of: question)
        }
    }

    /// Whether the delegate has the completion-handler form, which then answers.
    private func askHandlerForm(_ question: TaskQuestion, token: WaitNumber, of view: DelegateView) -> Bool {
        guard let urlSession = state.withLock({ $0.session }) else { return false }
        switch question {
        case .redirect(let response, let request):
            probe.arm(.redirect)
            view.task?.urlSession(
                urlSession, task: face, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: { [self] in answer(token, .redirect($0), of: question) })
        case .delayed(let request, _):
            probe.arm(.delayed)
            view.task?.urlSession(
                urlSession, task: face, willBeginDelayedRequest: request,
                completionHandler: { [self] in answer(token, .delayed($0, $1), of: question) })
        case .response(let response), .part(let response):
            guard let task = face as? URLSessionDataTask else { return false }
            probe.arm(.response)
            view.data?.urlSession(
                urlSession, dataTask: task, didReceive: response,
                completionHandler: { [self] in answer(token, .disposition($0), of: question) })
        case .storing(let proposed):
            guard let task = face as? URLSessionDataTask else { return false }
            probe.arm(.storing)
            view.data?.urlSession(
                urlSession, dataTask: task, willCacheResponse: proposed,
                completionHandler: { [self] in answer(token, .storing($0), of: question) })
        case .challenge(let challenge, ofTask: false):
            probe.arm(.sessionChallenge)
            view.session.urlSession(
                urlSession, didReceive: challenge.shown,
                completionHandler: { [self] in answer(token, .challenge($0, $1), of: question) })
        case .challenge(let challenge, ofTask: true):
            probe.arm(.taskChallenge)
            view.task?.urlSession(
                urlSession, task: face, didReceive: challenge.shown,
                completionHandler: { [self] in answer(token, .challenge($0, $1), of: question) })
        case .bodyStream(_, nil):
            probe.arm(.bodyStream)
            view.task?.urlSession(
                urlSession, task: face,
                needNewBodyStream: { [self] in answer(token, .stream($0.map { InputStreamSource($0) }), of: question) })
        case .bodyStream(_, let offset?):
            probe.arm(.bodyStreamFrom)
            view.task?.urlSession(
                urlSession, task: face, needNewBodyStreamFrom: offset,
                completionHandler: { [self] in answer(token, .stream($0.map { InputStreamSource($0) }), of: question) })
        }
        return probe.disarm()
    }

    /// Asks the `async` form; if the delegate has none either, the next candidates.
    private func askAsyncForm(
        _ question: TaskQuestion, token: WaitNumber, of view: DelegateView, otherwise rest: ArraySlice<DelegateView>
    ) {
        guard let urlSession = state.withLock({ $0.session }) else { return }
        let face = face
        Task { [self] in
            guard mailbox.withLock({ $0.isWaiting(for: token) }) else { return }
            let answered: TaskAnswer
            switch question {
            case .redirect(let response, let request):
                asyncProbe.arm(.redirectAsync)
                let next = await view.task?.urlSession(
                    urlSession, task: face, willPerformHTTPRedirection: response, newRequest: request)
                answered = .redirect(next ?? nil)
            case .delayed(let request, _):
                asyncProbe.arm(.delayedAsync)
                let (disposition, next) =
                    await view.task?.urlSession(urlSession, task: face, willBeginDelayedRequest: request)
                    ?? (.continueLoading, nil)
                answered = .delayed(disposition, next)
            case .response(let response), .part(let response):
                asyncProbe.arm(.responseAsync)
                guard let task = face as? URLSessionDataTask, let delegate = view.data else { return }
                answered = .disposition(await delegate.urlSession(urlSession, dataTask: task, didReceive: response))
            case .storing(let proposed):
                asyncProbe.arm(.storingAsync)
                guard let task = face as? URLSessionDataTask, let delegate = view.data else { return }
                answered = .storing(
                    await delegate.urlSession(urlSession, dataTask: task, willCacheResponse: proposed))
            case .challenge(let challenge, ofTask: false):
                asyncProbe.arm(.sessionChallengeAsync)
                let (disposition, credential) = await view.session.urlSession(
                    urlSession, didReceive: challenge.shown)
                answered = .challenge(disposition, credential)
            case .challenge(let challenge, ofTask: true):
                asyncProbe.arm(.taskChallengeAsync)
                let (disposition, credential) =
                    await view.task?.urlSession(urlSession, task: face, didReceive: challenge.shown)
                    ?? (.performDefaultHandling, nil)
                answered = .challenge(disposition, credential)
            case .bodyStream(_, nil):
                asyncProbe.arm(.bodyStreamAsync)
                let stream = await view.task?.urlSession(urlSession, needNewBodyStreamForTask: face)
                answered = .stream((stream ?? nil).map { InputStreamSource($0) })
            case .bodyStream(_, let offset?):
                asyncProbe.arm(.bodyStreamFromAsync)
                let stream = await view.task?.urlSession(urlSession, needNewBodyStreamForTask: face, from: offset)
                answered = .stream((stream ?? nil).map { InputStreamSource($0) })
            }
            if asyncProbe.disarm() {
                view.forms.learn(question.method, .async)
                answer(token, answered, of: question)
            } else {
                view.forms.learn(question.method, .absent)
                session?.relay.run { [self] in ask(question, token: token, candidates: rest) }
            }
        }
    }

    // MARK: Answers

    /// Takes the first answer to a question, from any thread.
    func answer(_ token: WaitNumber, _ answer: TaskAnswer, of question: TaskQuestion) {
        switch mailbox.withLock({ $0.accept(answerTo: token) }) {
        case .accepted: break
        case .late: return
        case .repeated:
            ErrorText.reportMisuse("a delegate called a completion handler twice; the second call is ignored")
            return
        }
        carryOut(answer, of: question)
        if mailbox.withLock({ $0.endWaiting(for: token) }) { session?.relay.schedule(self) }
    }

    /// Order: before the list goes on, so that what follows finds the task as the answer wants it.
    private func carryOut(_ answer: TaskAnswer, of question: TaskQuestion) {
        switch (answer, question) {
        case (.disposition(.allow), .response(let response)):
            outlet.pipe?.post(.response(response))
            resumeReading()
        case (.disposition(let disposition), .part):
            switch disposition {
            case .becomeDownload: end(unsupported: "A part of a multipart body cannot become a download task.")
            case .becomeStream: end(unsupported: "A part of a multipart body cannot become a stream task.")
            case .allow, .cancel: carryOut(disposition, mayRead: mailbox.withLock { $0.untoldParts == 0 })
            }
        case (.disposition(let disposition), _):
            carryOut(disposition)
        case (.storing(let given), .storing(let proposed)):
            carryOut(storing: given, of: proposed)
        case (.delayed(let disposition, let next), .delayed(_, let wait)):
            carryOut(disposition, next, after: wait)
        case (.challenge(let disposition, let credential), .challenge(let challenge, _)):
            carryOut(disposition, credential, for: challenge)
        case (.redirect(let next?), .redirect(let response, _)):
            let keepsBody = state.withLock { state in
                state.redirect.deliversBody = false
                return state.redirect.keepsOwnBody
            }
            follow(next, after: response)
            // B4.33: the next hop does not wait for what is left of this one, unless that is kept.
            if keepsBody { resumeReading() } else { state.withLock { $0.load.handle }?.discardRest() }
        case (.redirect(nil), .redirect(let response, _)):
            deliverRedirect(response)
        case (.stream(let stream), .bodyStream(let wait, _)):
            received(stream, to: wait)
        case (.redirect, .response), (.redirect, .part), (.redirect, .delayed), (.redirect, .bodyStream),
            (.redirect, .challenge), (.redirect, .storing), (.challenge, _), (.storing, _), (.delayed, _), (.stream, _):
            resumeReading()
        }
    }

    /// `mayRead`: nothing that is waiting to be told keeps the body from being read on.
    private func carryOut(_ disposition: URLSession.ResponseDisposition, mayRead: Bool = true) {
        switch disposition {
        case .allow:
            if mayRead { resumeReading() }
        case .cancel:
            cancel()
        case .becomeDownload:
            becomeDownload()
        case .becomeStream:
            becomeStream()
        }
    }

    /// The redirect itself is the response (B4.3).
    private func deliverRedirect(_ response: HTTPURLResponse) {
        if case .webSocket = kind { return refuseUndecidedWebSocket(response) }
        state.withLock { $0.redirect.deliversBody = true }
        responseArrived(response, hasBody: response.expectedContentLength != 0)
        switch outlet {
        case .delegate, .awaiting, .stream:
            // Reading goes on once that question is answered too.
            mailbox.withLock { $0.putFirst(.response(response)) }
        case .handler, .file:
            resumeReading()
        }
    }

    /// Ends the task, which cannot do what a delegate wants of it.
    func end(unsupported description: String) {
        willFail(LoadFailure.unsupportedURL(originalRequest?.url, description))
        cancelHop()
    }

    /// The receiver can take more.
    func resumeReading() {
        state.withLock { $0.load.handle }?.resumeReading()
    }
}
