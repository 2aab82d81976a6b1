// One question of a task on its way to the delegates, until one of them has answered.
//
// Candidates are the task's delegates in their order (`TaskDelegates`); of each the completion-handler form, then the
// `async` form. A delegate that has only a form's default does not have the form (see `DelegateProbe`), and what was
// learnt is remembered per type. Where no candidate is left the question's default answer counts.
//
// Must not know: what follows from an answer (`DelegateQuestions+Answers`).

import Foundation
import URLLoadingPolicy

/// A question that is being asked, on the delegate queue.
struct DelegateInquiry: Sendable {
    let task: TaskCore
    let question: TaskQuestion
    /// Under which number the task's list is held up meanwhile.
    let token: WaitNumber

    /// Asks the first candidate that has a method for it.
    func begin() { askFirst(of: candidates[...]) }

    private var isWaiting: Bool { task.mailbox.withLock { $0.isWaiting(for: token) } }

    private func answer(_ answer: TaskAnswer) { task.questions.take(answer, to: question, under: token) }

    private var candidates: [DelegateView] {
        let (own, judge) = task.state.withLock { ($0.delegateView, $0.judge) }
        // Other tasks use the connection, which have another delegate or none.
        if question.isAboutConnection, judge == .session { return TaskDelegates(own: nil, session: task.session).all }
        let delegates = TaskDelegates(own: own, session: task.session)
        switch question {
        // B1.80: also where the result goes to a handler or an async call.
        case .redirect, .bodyStream, .delayed, .challenge, .storing: return delegates.all
        case .response, .part: return delegates.among(task.outlet.audience).all
        }
    }

    private func askFirst(of candidates: ArraySlice<DelegateView>) {
        guard isWaiting else { return }
        var rest = candidates
        while let view = rest.popFirst() {
            guard view.mayImplement(question.method) else { continue }
            question.respondent?.isTasksOwn = view.session !== task.session?.delegateView?.session
            switch view.forms.form(question.method) {
            case .absent:
                continue
            case .unknown, .handler:
                noteAsked(view)
                if askHandlerForm(of: view) {
                    view.forms.learn(question.method, .handler)
                } else {
                    askAsyncForm(of: view, otherwise: rest)
                }
            case .async:
                noteAsked(view)
                askAsyncForm(of: view, otherwise: rest)
            }
            return
        }
        if let substitute = question.substitute {
            DelegateInquiry(task: task, question: substitute, token: token).begin()
        } else {
            question.respondent?.isTasksOwn = false
            answer(question.defaultAnswer)
        }
    }

    /// A tasks' method may ask for the session's one of the same delegate, which would ask the tasks' in turn.
    private func noteAsked(_ view: DelegateView) {
        guard case .challenge(let challenge, ofTask: true) = question else { return }
        (challenge.shown.sender as? ChallengeSender)?.asks(view.session)
    }

    /// Whether the delegate has the completion-handler form, which then answers.
    private func askHandlerForm(of view: DelegateView) -> Bool {
        guard let urlSession = task.state.withLock({ $0.session }) else { return false }
        let shown = task.face
        switch question {
        case .redirect(let response, let request):
            task.probe.arm(.redirect, of: view.session)
            view.task?.urlSession(
                urlSession, task: shown, willPerformHTTPRedirection: response, newRequest: request,
                completionHandler: { answer(.redirect($0)) })
        case .delayed(let request, _):
            task.probe.arm(.delayed, of: view.session)
            view.task?.urlSession(
                urlSession, task: shown, willBeginDelayedRequest: request,
                completionHandler: { answer(.delayed($0, $1)) })
        case .response(let response), .part(let response):
            guard let dataTask = shown as? URLSessionDataTask else { return false }
            task.probe.arm(.response, of: view.session)
            view.data?.urlSession(
                urlSession, dataTask: dataTask, didReceive: response,
                completionHandler: { answer(.disposition($0)) })
        case .storing(let proposed):
            guard let dataTask = shown as? URLSessionDataTask else { return false }
            task.probe.arm(.storing, of: view.session)
            view.data?.urlSession(
                urlSession, dataTask: dataTask, willCacheResponse: proposed,
                completionHandler: { answer(.storing($0)) })
        case .challenge(let challenge, ofTask: false):
            task.probe.arm(.sessionChallenge, of: view.session)
            view.session.urlSession(
                urlSession, didReceive: challenge.shown,
                completionHandler: { answer(.challenge($0, $1)) })
        case .challenge(let challenge, ofTask: true):
            task.probe.arm(.taskChallenge, of: view.session)
            view.task?.urlSession(
                urlSession, task: shown, didReceive: challenge.shown,
                completionHandler: { answer(.challenge($0, $1)) })
        case .bodyStream(_, nil):
            task.probe.arm(.bodyStream, of: view.session)
            view.task?.urlSession(
                urlSession, task: shown,
                needNewBodyStream: { answer(.stream($0.map { InputStreamSource($0) })) })
        case .bodyStream(_, let offset?):
            task.probe.arm(.bodyStreamFrom, of: view.session)
            view.task?.urlSession(
                urlSession, task: shown, needNewBodyStreamFrom: offset,
                completionHandler: { answer(.stream($0.map { InputStreamSource($0) })) })
        }
        return task.probe.disarm()
    }

    /// Asks the `async` form; if the delegate has none either, the next candidates.
    private func askAsyncForm(of view: DelegateView, otherwise rest: ArraySlice<DelegateView>) {
        guard let urlSession = task.state.withLock({ $0.session }) else { return }
        let shown = task.face
        Task {
            guard isWaiting else { return }
            let answered: TaskAnswer
            switch question {
            case .redirect(let response, let request):
                task.asyncProbe.arm(.redirectAsync, of: view.session)
                let next = await view.task?.urlSession(
                    urlSession, task: shown, willPerformHTTPRedirection: response, newRequest: request)
                answered = .redirect(next ?? nil)
            case .delayed(let request, _):
                task.asyncProbe.arm(.delayedAsync, of: view.session)
                let (disposition, next) =
                    await view.task?.urlSession(urlSession, task: shown, willBeginDelayedRequest: request)
                    ?? (.continueLoading, nil)
                answered = .delayed(disposition, next)
            case .response(let response), .part(let response):
                task.asyncProbe.arm(.responseAsync, of: view.session)
                guard let dataTask = shown as? URLSessionDataTask, let delegate = view.data else { return }
                answered = .disposition(await delegate.urlSession(urlSession, dataTask: dataTask, didReceive: response))
            case .storing(let proposed):
                task.asyncProbe.arm(.storingAsync, of: view.session)
                guard let dataTask = shown as? URLSessionDataTask, let delegate = view.data else { return }
                answered = .storing(
                    await delegate.urlSession(urlSession, dataTask: dataTask, willCacheResponse: proposed))
            case .challenge(let challenge, ofTask: false):
                task.asyncProbe.arm(.sessionChallengeAsync, of: view.session)
                let (disposition, credential) = await view.session.urlSession(
                    urlSession, didReceive: challenge.shown)
                answered = .challenge(disposition, credential)
            case .challenge(let challenge, ofTask: true):
                task.asyncProbe.arm(.taskChallengeAsync, of: view.session)
                let (disposition, credential) =
                    await view.task?.urlSession(urlSession, task: shown, didReceive: challenge.shown)
                    ?? (.performDefaultHandling, nil)
                answered = .challenge(disposition, credential)
            case .bodyStream(_, nil):
                task.asyncProbe.arm(.bodyStreamAsync, of: view.session)
                let stream = await view.task?.urlSession(urlSession, needNewBodyStreamForTask: shown)
                answered = .stream((stream ?? nil).map { InputStreamSource($0) })
            case .bodyStream(_, let offset?):
                task.asyncProbe.arm(.bodyStreamFromAsync, of: view.session)
                let stream = await view.task?.urlSession(urlSession, needNewBodyStreamForTask: shown, from: offset)
                answered = .stream((stream ?? nil).map { InputStreamSource($0) })
            }
            if task.asyncProbe.disarm() {
                view.forms.learn(question.method, .async)
                answer(answered)
            } else {
                view.forms.learn(question.method, .absent)
                task.session?.relay.run { askFirst(of: rest) }
            }
        }
    }
}
