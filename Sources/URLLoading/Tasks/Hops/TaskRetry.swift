// A task that is tried again: what a policy says about an answer or an error of its hop, and the pause
// before the next attempt.
//
// The rules:
// 1. An attempt is repeated only while the program has seen nothing of its answer.
// 2. The body has to be there again: a stream is not, and what goes on with an upload has rules of its own.
// 3. A pause that would outlast the task's time is not begun: the failure is the result at once.
// 4. A repetition comes out of the session's budget, when it is certain.
//
// A program's `decide` is asked in a task of its own. Where an answer is the failure, the exchange is held meanwhile,
// and where an error is, the task waits for the answer as for any other (`Awaited`).
//
// Must not know: bytes, connections.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

/// How often a task was tried, and what follows its hop.
struct RetryProgress: Sendable {
    /// Attempts after the first.
    var retries = 0
    /// The pause behind the hop under way, whose answer is no result.
    var pause: Duration?
    /// The question about the answer that is held.
    var question = 0
}

/// A task as one that is tried again.
struct TaskRetry: Sendable {
    let task: TaskCore

    // MARK: Answers

    /// What becomes of an answer.
    enum Verdict: Sendable {
        /// It is not the policy's business.
        case goesOn
        /// Another attempt follows.
        case passes
        /// The program is asked, and the answer is held meanwhile.
        case asked
    }

    /// An answer has come that is a failure, or may be one.
    func meet(_ response: HTTPURLResponse, _ plan: HopPlan) -> Verdict {
        guard plan.webSocket == nil, let request = plan.request, let (failure, rules) = failure(of: request, response)
        else { return .goesOn }
        guard let decide = rules.policy.decide else {
            guard let pause = takePause(failure.proposal) else { return .goesOn }
            note(pause, after: failure)
            return .passes
        }
        let question = task.state.withLock { state in
            state.retry.question += 1
            return state.retry.question
        }
        let asking = Task { heard(await decide(failure), about: failure, to: question) }
        let isWanted = task.state.withLock { state in
            guard !state.isOver, state.retry.question == question else { return false }
            state.asking = asking
            return true
        }
        if !isWanted { asking.cancel() }
        return .asked
    }

    /// The program has said what becomes of an answer that is held.
    private func heard(
        _ decision: URLSession.RetryPolicy.Decision, about failure: URLSession.RetryPolicy.Failure, to question: Int
    ) {
        let isWanted = task.state.withLock { state in
            guard !state.isOver, state.retry.question == question else { return false }
            state.retry.question += 1
            state.asking = nil
            return true
        }
        guard isWanted, let response = failure.response else { return }
        guard let pause = takePause(decision) else { return task.hops.show(undecided: response, isFirst: false) }
        task.state.withLock { $0.redirect.deliversBody = false }
        note(pause, after: failure)
        task.hops.discardRest()
    }

    /// Whether another attempt follows the hop under way.
    var followsHop: Bool { task.state.withLock { $0.rareRetry.exists && $0.retry.pause != nil } }

    private func note(_ pause: Duration, after failure: URLSession.RetryPolicy.Failure) {
        task.state.withLock { $0.retry.pause = pause }
        tell(pause, after: failure)
    }

    // MARK: Errors

    /// What is to be decided about the error that a hop has come to; nil where it is the result.
    func failure(after end: HopEnd, _ error: URLError?) -> HopSequel.Failure? {
        guard end.isUnseen, task.webSocketCalls == nil, let error = error ?? end.foreignError as? URLError else {
            return nil
        }
        return task.state.withLock { $0.currentRequest }.flatMap { failure(of: $0, error: error) }
            .map { HopSequel.Failure(failure: $0.0, rules: $0.1, error: error) }
    }

    /// A hop has failed, and the policy may have another attempt; returns the async call that ended,
    /// for the caller to resume.
    func goOn(after failed: HopSequel.Failure, _ end: HopEnd) -> EndedCall? {
        guard let decide = failed.rules.policy.decide else {
            if repeats(by: failed.failure.proposal, after: failed.failure) { return nil }
            return task.completion.begin(failed.error, file: end.file)
        }
        guard let wait = task.driver.beginWait(for: .retryDecision) else { return nil }
        let asking = Task {
            let decision = await decide(failed.failure)
            guard task.driver.endWait(wait), !repeats(by: decision, after: failed.failure) else { return }
            // Order: by the delegate queue, as the task has nothing under way that would come by there.
            task.driver.endUnloaded(failed.error)
        }
        task.driver.keep(asking, for: wait)
        return nil
    }

    /// Begins another attempt, where that was decided and can be.
    private func repeats(
        by decision: URLSession.RetryPolicy.Decision, after failure: URLSession.RetryPolicy.Failure
    ) -> Bool {
        guard let pause = takePause(decision) else { return false }
        tell(pause, after: failure)
        begin(after: pause)
        return true
    }

    // MARK: The next attempt

    /// Sends the hop's request once more when the pause is over.
    func begin(after pause: Duration) {
        task.counters.received.store(0, ordering: .relaxed)
        task.counters.sent.store(0, ordering: .relaxed)
        let next = task.state.withLock { $0.beginAttempt() }
        guard let (request, body) = next else { return }
        guard pause > .zero else { return task.hops.load(request, body: body) }
        task.driver.pause(for: pause) { $0.hops.load(request, body: body) }
    }

    private func tell(_ pause: Duration, after failure: URLSession.RetryPolicy.Failure) {
        task.session?.totals.retries.add(1, ordering: .relaxed)
        task.trace?.retrying(after: failure, pause: pause / .seconds(1))
        task.telling.announce { .retry(failure, after: pause / .seconds(1)) }
    }

    // MARK: The policy

    /// What there is to decide about a failure; nil where nothing can follow it, or no policy holds for the request.
    private func failure(
        of request: URLRequest, _ response: HTTPURLResponse? = nil, error: URLError? = nil
    ) -> (URLSession.RetryPolicy.Failure, RetryRules)? {
        guard let session = task.session, let rules = session.retryRules(for: request) else { return nil }
        let (retries, isPossible) = task.state.withLock { ($0.retry.retries, $0.bodyIsThereAgain) }
        guard isPossible, retries < rules.policy.maximumRetries else { return nil }
        var chance = Chance()
        let pause = rules.pause(
            after: request, response, error?.code, retries: retries, now: .now,
            chance: Double.random(in: 0...1, using: &chance))
        if pause == nil, rules.policy.decide == nil { return nil }
        let failure = URLSession.RetryPolicy.Failure(
            request: request, response: response, error: error, retries: retries,
            proposal: pause.map { .retry(after: $0 / .seconds(1)) } ?? .giveUp)
        return (failure, rules)
    }

    /// The pause that was decided on, where the task's time and the budget allow it.
    private func takePause(_ decision: URLSession.RetryPolicy.Decision) -> Duration? {
        guard case .retry(let seconds) = decision, let session = task.session else { return nil }
        let pause = Duration(clampedSeconds: seconds)
        let deadline = task.state.withLock { $0.resourceDeadline }
        if let deadline, LoopClock.elapsed + pause >= deadline { return nil }
        return session.settings.retries.take() ? pause : nil
    }
}

extension SessionCore {
    /// The rules that hold for a request: its own, else the session's.
    func retryRules(for request: URLRequest?) -> RetryRules? { request?.values.retryPolicy ?? settings.retries.rules }
}

extension TaskState {
    /// How often the task was tried.
    var retry: RetryProgress {
        get { rareRetry.value ?? RetryProgress() }
        set { rareRetry.value = newValue }
    }

    /// Takes the pause that follows the hop, whose answer was no result; nil where it was.
    mutating func takeRetry() -> Duration? {
        guard rareRetry.exists, let pause = retry.pause else { return nil }
        retry.pause = nil
        return pause
    }

    /// The hop is over, and what is asked about its answer with it.
    mutating func dropRetryQuestion() {
        if rareRetry.exists { retry.question += 1 }
    }

    /// Whether the body of the hop can be sent once more without the program's help.
    fileprivate var bodyIsThereAgain: Bool {
        if upload?.isHelper ?? false { return false }
        switch body {
        case .data, .file, .opened: return true
        case .delegate, .part, .resuming: return false
        case .request:
            guard let values = currentRequest?.values, case .stream = values.body else { return true }
            return values.madeStream?.isRenewable ?? false
        }
    }

    /// Notes that another attempt begins, as if the one before had not been, and gives what is sent.
    fileprivate mutating func beginAttempt() -> (URLRequest, TaskBody)? {
        retry.retries += 1
        retry.pause = nil
        spend(response.take())
        sentFields = nil
        sentTold = 0
        redirect.deliversBody = nil
        if isAuthenticating { spend(authentication.lost()) }
        return currentRequest.map { ($0, body) }
    }
}

extension TaskCore {
    /// The task as one that is tried again.
    var retry: TaskRetry { TaskRetry(task: self) }
}
