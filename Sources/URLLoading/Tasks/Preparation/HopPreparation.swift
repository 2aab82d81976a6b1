// From a task's request to whoever carries it: the steps of every hop, listed once and in order. The first request, one after a
// redirect, one with a proof of who we are, and one of an upload that goes on all take them.
//
// A step hands what it has found to the next one at once. Or it waits for an answer (`TaskCore+Waits`), whose coming goes on from
// the next step. Or the way ends there: a carrier has the hop, a cache has its answer, or the task is over.
//
// Must not know: what comes of the hop.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy

/// One hop of a task, until it is on its way.
struct HopPreparation: Sendable {
    let task: TaskCore
    let session: SessionCore
    let request: URLRequest

    /// What is to be done next, with what was found so far.
    enum Step: Sendable {
        /// The program's classes are asked whether one of them carries the hop (+Classes).
        case classes(TaskBody)
        /// What the request is sent with (+Body).
        case body(TaskBody)
        /// The cookies that go along (+Cookies).
        case cookies(HopContent)
        /// Everything is written down as it is sent; what is no HTTP leaves here (+Message, +Scheme).
        case message(HopContent, HopCookies)
        /// What a cache has instead, or wants to be asked (+StoredAnswer).
        case storedAnswer(Hop)
        /// By which proxies it may be sent (+Way).
        case way(Hop)
        /// The engine gets it, for the first of its ways, with what proves who we are (+Submission, +Proof).
        case submission(Hop, by: Route, otherwise: ArraySlice<Route>)
    }

    /// Takes a step, and those after it as far as nothing has to be waited for.
    func go(from step: Step) {
        var next = take(step)
        while let step = next { next = take(step) }
    }

    /// Goes on with a step when an answer has come, unless nobody waits for it any more.
    func go(from step: @autoclosure () -> Step, after wait: WaitNumber) {
        if task.endWait(wait) { go(from: step()) }
    }

    /// Takes a step; nil where the next one is not to be taken, or not yet.
    private func take(_ step: consuming Step) -> Step? {
        switch step {
        case .classes(let body): askClasses(with: body)
        case .body(let body): find(body)
        case .cookies(let content): findCookies(with: content)
        case .message(let content, let cookies): write(content, cookies)
        case .storedAnswer(let hop): askCache(about: hop)
        case .way(let hop): findWay(of: hop)
        case .submission(let hop, let route, let others): submit(hop, by: route, otherwise: others)
        }
    }

    /// Ends the task instead.
    func end(_ error: URLError) -> Step? {
        task.endUnloaded(error)
        return nil
    }
}

extension TaskCore {
    /// Prepares a hop and sends it on its way.
    func load(_ request: URLRequest, body: TaskBody) {
        preparation(of: request)?.go(from: .classes(body))
    }

    /// A hop that is yet to be prepared; nil for a mock, which loads nothing.
    func preparation(of request: URLRequest) -> HopPreparation? {
        session.map { HopPreparation(task: self, session: $0, request: request) }
    }
}
