// What becomes of a hop's answer once its head is known: it leads elsewhere, a delegate decides about it, or it is the task's, and who
// sees its body as it comes. The steps are the same for the answers of servers, of caches, and of carriers of other schemes.
//
// Must not know: where the answer comes from, and how its bytes come.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

extension HopPlan {
    /// Where a redirect has led.
    enum Redirection {
        /// A delegate decides; nothing of the body goes anywhere before.
        case asked
        /// To the next hop.
        case followed
        /// To the end of the task, which has been redirected too often.
        case refused
    }

    /// The answer leads to `next`. `pause` is called before a delegate is asked, as its answer may come at once.
    func redirect(
        _ task: TaskCore, to next: URLRequest, by response: HTTPURLResponse, on reactor: Reactor? = nil,
        pause: () -> Void = {}
    ) -> Redirection {
        guard RedirectRules.mayFollow(afterRedirects: redirectsSoFar) else {
            task.willFail(LoadFailure.tooManyRedirects(redirectable?.url))
            return .refused
        }
        // B4.11.
        let method = redirectable?.values.method ?? ""
        if !RedirectRules.change(status: response.statusCode, method: method).keepsBody {
            task.state.withLock { $0.redirect.dropsBody = true }
        }
        guard asksRedirect else {
            task.noteRedirect(to: next, by: response)
            return .followed
        }
        pause()
        task.post(.redirect(response, next), on: reactor)
        return .asked
    }

    /// The answer is the task's; whether a delegate decides about it, and nothing of the body goes anywhere before. `pause` is called
    /// before it is asked, as its answer may come at once.
    func show(
        _ response: URLResponse, of task: TaskCore, hasBody: Bool, on reactor: Reactor? = nil, pause: () -> Void = {}
    ) -> Bool {
        task.responseArrived(response, hasBody: hasBody)
        guard asksResponse else {
            pipe?.post(.response(response))
            return false
        }
        pause()
        task.post(.response(response), on: reactor)
        return true
    }

    /// Brings a piece of the body to whoever sees it as it comes; says whether more can be taken.
    func pass(_ piece: Data, of task: TaskCore, on reactor: Reactor? = nil) -> ReceiverDemand {
        let pipes = pipe?.post(body: piece) ?? .more
        let delegates = streamsBody ? task.post(body: piece, on: reactor) : .more
        task.announceProgress()
        return (pipes, delegates) == (.more, .more) ? .more : .pause
    }
}
