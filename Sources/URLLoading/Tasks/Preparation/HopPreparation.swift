// From a task's request to the engine or another carrier: the steps of every hop, listed once and in order. The first
// request, one after a redirect, one with a proof of credentials, and one of an upload that goes on all take them.
//
// A step notes what it has found in the hop, and the next one follows at once. Or it waits for an answer
// (`TaskDriver+Waits`), whose coming goes on from the next step. Or the way ends there: a carrier has the hop, a cache
// has its answer, or the task is over.
//
// Must not know: what comes of the hop.

import Foundation
import URLLoadingPolicy

/// One hop of a task, until it is on its way.
struct HopPreparation: Sendable {
    let task: TaskCore
    /// Measured: steps that look into its settings take it out first, as a local constant; else all of
    /// the settings are copied.
    let session: SessionCore
    var hop: Hop

    /// The steps, in order.
    enum Step: Sendable {
        /// The program's classes are asked whether one of them carries the hop (+Classes).
        case classes
        /// What the request is sent with (+Body).
        case body
        /// The cookies that go along (+Cookies).
        case cookies
        /// Everything is written down as it is sent; what is no HTTP leaves here (+Message, +Scheme).
        case message
        /// What a cache has instead, or wants to be asked (+StoredAnswer).
        case storedAnswer
        /// By which proxies it may be sent (+Way).
        case way
        /// The engine gets the request, with the proof of credentials (+Submission, +Proof).
        case submission
    }

    var request: URLRequest { hop.request }

    /// Takes a step, and those after it as far as nothing has to be waited for.
    mutating func go(from step: Step) {
        var next: Step? = step
        while let step = next { next = take(step) }
    }

    /// Takes a step; nil where the next one is not to be taken, or not yet.
    private mutating func take(_ step: Step) -> Step? {
        switch step {
        case .classes: askClasses()
        case .body: findBody()
        case .cookies: findCookies()
        case .message: writeMessage()
        case .storedAnswer: askCache()
        case .way: findWay()
        case .submission: submit()
        }
    }

    /// Goes on with a step when an answer has come, unless the wait is over.
    func goOn(with step: Step, after wait: WaitNumber, _ note: (inout Hop) -> Void) {
        guard task.driver.endWait(wait) else { return }
        goOn(with: step, note)
    }

    /// Goes on with a step after something was found out.
    func goOn(with step: Step, _ note: (inout Hop) -> Void) {
        var preparation = self
        note(&preparation.hop)
        preparation.go(from: step)
    }

    /// Ends the task instead.
    func end(_ error: URLError) -> Step? {
        task.driver.endUnloaded(error)
        return nil
    }
}

extension TaskHops {
    /// Prepares a hop and sends it on its way.
    func load(_ request: URLRequest, body: TaskBody) {
        guard let session = task.session else { return }
        var preparation = HopPreparation(task: task, session: session, hop: Hop(request: request, body: body))
        preparation.go(from: .classes)
    }

    /// A hop that is not at its beginning any more; nil for a mock, which loads nothing.
    func preparation(of hop: Hop) -> HopPreparation? {
        task.session.map { HopPreparation(task: task, session: $0, hop: hop) }
    }
}
