// A task that waits for its `earliestBeginDate` (B6.22 to B6.25), and then asks whether it shall begin after all.
//
// Must not know: what beginning is.

import Dispatch
import Foundation
import URLLoadingPolicy

extension TaskCore {
    /// Puts the beginning off; the task can be cancelled meanwhile. The resource time-out begins with the load.
    func delay(until date: Date) {
        guard let wait = state.withLock({ $0.machine.wait() }) else {
            return endUnloaded(LoadFailure.cancelled(originalRequest?.url))
        }
        // By the wall clock, since it is a date: a machine that slept meanwhile is not late.
        let seconds = min(date.timeIntervalSinceNow, Self.longestDelay)
        DispatchQueue.global().asyncAfter(wallDeadline: .now() + max(seconds, 0)) { [weak self] in
            self?.dateHasCome(wait)
        }
    }

    private func dateHasCome(_ wait: WaitNumber) {
        let request = state.withLock { $0.machine.isWaiting(for: wait) ? $0.currentRequest : nil }
        guard let request else { return }
        if usesRelay { post(.delayed(request, wait)) } else { decideOnDelay(.continueLoading, nil, after: wait) }
    }

    /// B6.23: what the delegate said about the request, or what is done without one.
    func decideOnDelay(
        _ disposition: URLSession.DelayedRequestDisposition, _ next: URLRequest?, after wait: WaitNumber
    ) {
        switch disposition {
        case .continueLoading: beginDelayed(nil, after: wait)
        case .useNewRequest:
            guard let next else {
                return endDelayed(
                    LoadFailure.unsupportedURL(originalRequest?.url, "A delegate said .useNewRequest and gave none."),
                    after: wait)
            }
            beginDelayed(next, after: wait)
        case .cancel: cancel()
        }
    }

    private func beginDelayed(_ next: URLRequest?, after wait: WaitNumber) {
        let isWanted = state.withLock { state in
            guard state.endWait(wait) else { return false }
            guard let next else { return true }
            state.currentRequest = state.currentRequest.map { next.keepingNetworkFlags(of: $0) } ?? next
            // An upload task keeps the body it was made with.
            if case .request = state.body {
                counters.expectedToSend.store(next.values.expectedBodyLength, ordering: .relaxed)
            }
            return true
        }
        guard isWanted, let session else { return }
        begin(in: session)
    }

    private func endDelayed(_ error: URLError, after wait: WaitNumber) {
        if endWait(wait) { endUnloaded(error) }
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
