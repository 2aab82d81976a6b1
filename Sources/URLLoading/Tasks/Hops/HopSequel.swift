// What follows a hop, once everything is told that the hop had to tell. It is decided here alone, from the task's state
// and the hop's end: the rules stand in the order in which they count. `TaskHops` carries it out.
//
// Whether the task is suspended makes no difference: what follows is decided and begun all the same, and it is the next
// exchange that stands still (`TaskMachine`).
//
// Must not know: locks, and how what follows is carried out.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

/// What follows a hop.
enum HopSequel: Sendable {
    /// Another hop.
    case hop(URLRequest, TaskBody)
    /// The hop's request once more, by another way.
    case otherRoute(ReroutableHop)
    /// The hop's request once more, with another stream for its body, which a delegate is asked for (B11.8).
    case otherStream
    /// What an upload does next (B11.28).
    case upload(ResumableUploadMachine.Step)
    /// The hop's request once more, after a pause (B6.33).
    case retry(Duration)
    /// The hop's request once more, or the end: that is still to be decided (B6.33).
    case failed(Failure)
    /// The end of the task.
    case end((any Error)?)

    /// A failure that may be followed by another attempt.
    struct Failure: Sendable {
        let failure: URLSession.RetryPolicy.Failure
        let rules: RetryRules
        let error: URLError
    }
}

extension TaskState {
    /// Says what follows a hop, and notes it. `error` is what the hop's failure is to the program, where it has failed;
    /// `sent` is what has been sent of an upload's body, and nil for other tasks; `failed` is the failure as a policy
    /// sees it, where one may have another attempt.
    mutating func sequel(
        of end: HopEnd, error: URLError?, sent: Int64?, failed: HopSequel.Failure? = nil
    ) -> HopSequel {
        dropRetryQuestion()
        // A cancellation wins over whatever the hop has come to (B17.54).
        if machine.phase == .canceling { return .end(LoadFailure.cancelled(end.url)) }
        // What broke the hop off is the reason, not that it was broken off.
        if let ownFailure { return .end(ownFailure) }
        if let foreign = end.foreignError {
            if let failure = end.failure, let reroutable = takeReroutableHop(after: failure) {
                return .otherRoute(reroutable)
            }
            return failed.map { .failed($0) } ?? .end(foreign)
        }
        if end.again?.needsKept == true, beginsRoundsAnew(), let request = currentRequest { return .hop(request, body) }
        if let sent, let step = uploadStep(after: end.failure, error: error, sent: sent) { return .upload(step) }
        if let failure = end.failure { return followLoss(failure, error, again: end.again, failed) }
        if let pause = takeRetry() { return .retry(pause) }
        if goesAgain() || omitsConditions || startsDownloadOver(), let request = currentRequest {
            return .hop(request, body)
        }
        if let next = redirect.next { return follow(next) }
        return .end(nil)
    }

    /// The hop has failed: another way is tried, or another stream for its body, or it is the end.
    private mutating func followLoss(
        _ failure: EngineError, _ error: URLError?, again: SecondSending?, _ failed: HopSequel.Failure?
    ) -> HopSequel {
        if let reroutable = takeReroutableHop(after: failure) { return .otherRoute(reroutable) }
        guard let error, let again, !again.needsKept else { return failed.map { .failed($0) } ?? .end(error) }
        // B11.12: counting begins anew.
        sentTold = 0
        lostSending = LostSending(error: error, again: again)
        return .otherStream
    }

    /// A redirect leads to the next hop (B4.11): what follows is a request like any other.
    private mutating func follow(_ next: URLRequest) -> HopSequel {
        if redirect.dropsBody { spend(exchange(&body, with: .request)) }
        let next = announcing(next)
        sentTold = 0
        redirect = RedirectProgress(count: redirect.count + 1)
        noteUserBeforeRedirect()
        if isAuthenticating { authentication.redirected() }
        spend(exchange(&currentRequest, with: next))
        sentFields = nil
        return .hop(next, body)
    }

    /// The request with the length that was announced for a stream, where its body is that stream still (B4.26): one
    /// that is too short then is found out (B5.29).
    private func announcing(_ next: URLRequest) -> URLRequest {
        guard let current = currentRequest?.values, next.values.fields.value("Content-Length") == nil,
            let length = current.fields.value("Content-Length"), keepsStream(of: current, in: next.values)
        else { return next }
        var next = next
        next.setValue(length, forHTTPHeaderField: "Content-Length")
        return next
    }

    private func keepsStream(of current: RequestValues, in next: RequestValues) -> Bool {
        switch body {
        case .delegate: true
        case .request: if case .stream = next.body { next.body == current.body } else { false }
        case .data, .file, .opened, .part, .resuming: false
        }
    }
}
