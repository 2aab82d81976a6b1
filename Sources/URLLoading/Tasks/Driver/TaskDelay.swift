// A task that waits for its `earliestBeginDate` (B6.22 to B6.25), and then asks whether it shall begin after all.
//
// Must not know: what beginning is.

import Dispatch
import Foundation
import URLLoadingPolicy

/// A task as one that begins late.
struct TaskDelay: Sendable {
    let task: TaskCore

    /// Puts the beginning off; the task can be cancelled meanwhile. The resource time-out begins with the load.
    func begin(until date: Date) {
        guard let wait = task.driver.beginPause() else { return }
        setTimer(date, for: wait)
    }

    private func setTimer(_ date: Date, for wait: WaitNumber) {
        // By the wall clock, since it is a date: a machine that slept meanwhile is not late.
        let seconds = min(date.timeIntervalSinceNow, Self.longestDelay)
        DispatchQueue.global().asyncAfter(wallDeadline: .now() + max(seconds, 0)) { [weak task] in
            task?.delay.dateHasCome(wait)
        }
    }

    private func dateHasCome(_ wait: WaitNumber) {
        let (date, request) = task.state.withLock { state -> (Date?, URLRequest?) in
            state.machine.isWaiting(for: wait) ? (state.hints.earliestBeginDate, state.currentRequest) : (nil, nil)
        }
        // B6.22: the program may have set a later one meanwhile.
        if let date, date.timeIntervalSinceNow > 0 { return setTimer(date, for: wait) }
        // A stream, or a download from data that cannot be read, has no request about which a delegate could be asked.
        guard let request, task.usesRelay else { return beginNow(nil, after: wait) }
        task.delivery.post(.delayed(request, wait))
    }

    /// B6.23: what the delegate said about the request, or what is done without one.
    func decide(
        _ disposition: URLSession.DelayedRequestDisposition, _ next: URLRequest?, after wait: WaitNumber
    ) {
        switch disposition {
        case .continueLoading: beginNow(nil, after: wait)
        case .useNewRequest:
            guard let next else {
                return end(
                    LoadFailure.unsupportedURL(
                        task.originalRequest?.url, "A delegate said .useNewRequest and gave none."),
                    after: wait)
            }
            beginNow(next, after: wait)
        case .cancel: task.driver.cancel()
        }
    }

    private func beginNow(_ next: URLRequest?, after wait: WaitNumber) {
        let isWanted: Void? = task.driver.endWait(wait) { state in
            guard let next else { return }
            let request = state.currentRequest.map { next.keepingNetworkFlags(of: $0) } ?? next
            state.spend(exchange(&state.currentRequest, with: request))
            // An upload task keeps the body it was made with.
            if case .request = state.body {
                task.counters.expectedToSend.store(next.values.expectedBodyLength, ordering: .relaxed)
            }
        }
        guard isWanted != nil, let session = task.session else { return }
        task.driver.begin(in: session)
    }

    private func end(_ error: URLError, after wait: WaitNumber) {
        if task.driver.endWait(wait) { task.driver.endUnloaded(error) }
    }

    /// A hundred years, in seconds: more than a timer can hold is as good as never.
    private static let longestDelay: TimeInterval = 3_153_600_000
}

extension URLRequest {
    /// The request with what another one says about the networks that may be used (B6.24).
    fileprivate func keepingNetworkFlags(of other: URLRequest) -> URLRequest {
        var request = self
        request.allowsCellularAccess = other.allowsCellularAccess
        request.allowsExpensiveNetworkAccess = other.allowsExpensiveNetworkAccess
        request.allowsConstrainedNetworkAccess = other.allowsConstrainedNetworkAccess
        return request
    }
}

extension TaskCore {
    /// The task as one that begins late.
    var delay: TaskDelay { TaskDelay(task: self) }
}
