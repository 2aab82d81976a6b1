// From the head of a hop's answer to its fate: the steps, listed once and in order. What a server says over
// whichever version of HTTP takes them all. What a cache has begins where an answer may lead elsewhere, and so
// does what another carrier brings. Transfers of background sessions are ordinary tasks where they are carried
// out, and take these steps there.
//
// A step says nothing, and the next one follows, or it says what becomes of the answer. A delegate that is asked about
// a redirect or a response answers later: what follows then stands at the end of this file. A suspension changes none
// of it. The questions are asked and the answers are taken while the task stands still, and what they lead to happens;
// the exchange alone stands still, so that nothing more of the body comes, nor the hop's end, before the task is
// resumed (`TaskMachine`). A redirect that is refused while the task is suspended is therefore the task's response at
// once, and the rest of it comes after the resumption.
//
// Must not know: where the answer comes from, and how its bytes come.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// The answer to one hop.
struct HopAnswer: Sendable {
    let task: TaskCore
    let plan: HopPlan

    /// The steps, in order.
    enum Step: Sendable {
        /// Its cookies are taken, before the program sees it (B8.47).
        case cookies
        /// The proof that went with the request was good, if the answer is no refusal.
        case proof
        /// It opens a web socket (B15.4).
        case upgrade
        /// An upload that may be resumed hears of it.
        case upload
        /// The answer asks for credentials (B2.12): nothing more of it goes anywhere before it is
        /// settled what becomes of it.
        case refusal
        /// It is for an upload's own eyes (B11.34).
        case concealment
        /// It confirms or takes the place of what a cache has.
        case cache
        /// It says that another time may be better, and a policy agrees (B6.33).
        case retry
        /// It leads to another request.
        case redirect
        /// It does not open a web socket, which is a failure (B15.5).
        case failedUpgrade
        /// It is what a download has begun with, or something else (B9.26 to B9.31).
        case download
        /// It is the task's response.
        case response
    }

    /// What becomes of the answer, and so of its body.
    enum Fate {
        /// It is the task's: the body goes where the task's result goes.
        case shown
        /// It is the task's once a delegate has said so; nothing of the body is read before.
        case asked
        /// It is not decided whether it is the task's or another request follows; nothing of the body goes
        /// anywhere before. `bindsConnection`: the other request may have to go over the same connection, which
        /// is not given back before.
        case undecided(bindsConnection: Bool)
        /// Its body is not delivered, and what follows does not wait for it, or only briefly where it is read all the
        /// same: a cache has a use for it (B4.33).
        case unwanted(isRead: Bool)
        /// A download's file has all of it already.
        case complete
        /// The hop is broken off, and the task has its error.
        case abandoned
        /// It opens a web socket.
        case agreed(WebSocketHandshake.Agreement)
    }

    /// How an answer has come from a server; confined to the loop.
    struct Arrival: ~Copyable {
        let framing: BodyFraming
        let decoding: Bool
        /// Something was shown on which the other side has still to say yes or no.
        let provesItself: Bool
        /// The cache's part, where it has one.
        let caching: HopCaching?
        let reactor: Reactor
        /// Whether it is no answer to the upload itself.
        fileprivate var isUploadsOwn = false
        /// What becomes of it, once that is said.
        fileprivate var fate = Fate.shown

        init(framing: BodyFraming, decoding: Bool, provesItself: Bool, caching: HopCaching?, on reactor: Reactor) {
            self.framing = framing
            self.decoding = decoding
            self.provesItself = provesItself
            self.caching = caching
            self.reactor = reactor
        }
    }

    /// Takes the steps until one of them has said what becomes of a server's answer. `response` is what the
    /// program sees of its head.
    func fate(of head: ResponseHead, _ response: HTTPURLResponse, _ arrival: consuming Arrival) -> Fate {
        var next: Step? = .cookies
        while let step = next { next = take(step, of: head, response, &arrival) }
        return arrival.fate
    }

    /// Takes a step; nil where it has said what becomes of the answer.
    // Measured: head and response go from step to step by themselves; as parts of the arrival they
    // would be copied once more.
    private func take(
        _ step: Step, of head: ResponseHead, _ response: HTTPURLResponse, _ arrival: inout Arrival
    ) -> Step? {
        switch step {
        case .cookies: takeCookies(of: head, arrival)
        case .proof: noteProof(head, &arrival)
        case .upgrade: meetUpgrade(head, response, &arrival)
        case .upload: tellUpload(head, &arrival)
        case .refusal: meetRefusal(head, response, &arrival)
        case .concealment: conceal(&arrival)
        case .cache: askCache(response, &arrival)
        case .retry: meetRetry(response, &arrival)
        case .redirect: meetRedirect(head, response, &arrival)
        case .failedUpgrade: failUpgrade(response, &arrival)
        case .download: meetDownload(head, response, &arrival)
        case .response: meetResponse(response, &arrival)
        }
    }

    // MARK: Before the program sees it

    private func takeCookies(of head: ResponseHead, _ arrival: borrowing Arrival) -> Step {
        task.cookies.take(from: head, to: plan.request, on: arrival.reactor)
        return .proof
    }

    private func noteProof(_ head: ResponseHead, _ arrival: inout Arrival) -> Step? {
        guard arrival.provesItself else { return .upgrade }
        let sendsBodyNow = task.authentication.sendsBodyNow(after: head)
        // Order: what a server accepts without a body may be a proxy's proof, too.
        task.authentication.noteAnswer(head, on: arrival.reactor)
        guard sendsBodyNow else { return .upgrade }
        arrival.fate = .undecided(bindsConnection: true)
        return nil
    }

    private func meetUpgrade(_ head: ResponseHead, _ response: HTTPURLResponse, _ arrival: inout Arrival) -> Step? {
        guard let webSocket = plan.webSocket, head.status == 101 else { return .upload }
        do throws(WebSocketHandshake.Refusal) {
            let agreement = try webSocket.handshake.agreement(with: head, asked: webSocket.fields)
            task.counting.responseArrived(response, hasBody: false)
            arrival.fate = .agreed(agreement)
        } catch {
            task.webSocket.refuse(response, error)
            arrival.fate = .abandoned
        }
        return nil
    }

    private func tellUpload(_ head: ResponseHead, _ arrival: inout Arrival) -> Step {
        if plan.upload != nil { arrival.isUploadsOwn = !task.upload.answered(head) }
        return .refusal
    }

    private func meetRefusal(_ head: ResponseHead, _ response: HTTPURLResponse, _ arrival: inout Arrival) -> Step? {
        guard let fate = task.authentication.fate(ofRefusal: head, response, on: arrival.reactor) else {
            return .concealment
        }
        arrival.fate = fate
        return nil
    }

    private func conceal(_ arrival: inout Arrival) -> Step? {
        guard arrival.isUploadsOwn else { return .cache }
        arrival.fate = .unwanted(isRead: false)
        return nil
    }

    private func askCache(_ response: HTTPURLResponse, _ arrival: inout Arrival) -> Step? {
        guard let caching = arrival.caching, let request = plan.request else { return .retry }
        let verdict = caching.meet(
            response, of: request, framing: arrival.framing, decoding: arrival.decoding,
            collects: plan.collectsBody,
            isJudgedApart: caching.acceptance.isOfJudge && task.trust.judgesApart,
            isUsers: task.authentication.mayUseBoundConnection)
        switch verdict {
        case .everything: return .retry
        case .nothing(let sendsAgain):
            if sendsAgain { task.state.withLock { $0.sendAgainWithoutConditions() } }
            arrival.fate = .unwanted(isRead: false)
            return nil
        }
    }

    private func meetRetry(_ response: HTTPURLResponse, _ arrival: inout Arrival) -> Step? {
        // B9.30: to a download that goes on a 416 says that nothing is missing.
        let isAboutRest = response.statusCode == 416 && plan.savesFile && task.download.asksForRest
        guard response.statusCode >= 400, !isAboutRest else { return .redirect }
        switch task.retry.meet(response, plan) {
        case .goesOn: return .redirect
        case .passes: arrival.fate = .unwanted(isRead: false)
        case .asked: arrival.fate = .undecided(bindsConnection: false)
        }
        return nil
    }

    // MARK: Where it leads

    private func meetRedirect(_ head: ResponseHead, _ response: HTTPURLResponse, _ arrival: inout Arrival) -> Step? {
        guard RedirectRules.isRedirect(status: head.status), let request = plan.redirectable,
            let next = RedirectedRequest.make(from: request, response: head)
        else { return .failedUpgrade }
        arrival.fate = lead(
            to: next, by: response, framing: arrival.framing, caching: arrival.caching, on: arrival.reactor)
        return nil
    }

    /// The answer leads to another request.
    func lead(
        to next: URLRequest, by response: HTTPURLResponse, framing: BodyFraming = .none, caching: HopCaching? = nil,
        on reactor: Reactor? = nil
    ) -> Fate {
        guard RedirectRules.mayFollow(afterRedirects: plan.redirectsSoFar) else {
            task.hops.willFail(LoadFailure.tooManyRedirects(plan.redirectable?.url, to: next.url))
            return .abandoned
        }
        // B4.11.
        let method = plan.redirectable?.values.method ?? ""
        let dropsBody = !RedirectRules.change(status: response.statusCode, method: method).keepsBody
        // B4.34.
        let keepsOwnBody = caching?.takesBody(ofRedirect: framing) ?? false
        if dropsBody || keepsOwnBody {
            task.state.withLock { state in
                if dropsBody { state.redirect.dropsBody = true }
                if keepsOwnBody { state.redirect.keepsOwnBody = true }
            }
        }
        guard plan.asksRedirect else {
            task.hops.follow(next, by: response)
            return .unwanted(isRead: keepsOwnBody)
        }
        task.delivery.post(.redirect(response, next), on: reactor)
        return .undecided(bindsConnection: false)
    }

    // MARK: The task's own

    private func failUpgrade(_ response: HTTPURLResponse, _ arrival: inout Arrival) -> Step? {
        guard plan.webSocket != nil else { return .download }
        task.webSocket.refuse(response)
        arrival.fate = .unwanted(isRead: false)
        return nil
    }

    private func meetDownload(_ head: ResponseHead, _ response: HTTPURLResponse, _ arrival: inout Arrival) -> Step? {
        guard plan.savesFile else { return .response }
        let reactor = arrival.reactor
        switch task.download.meetRest(head, response, plan.request) {
        case .deliver: return .response
        case .resume(let offset, let total):
            arrival.fate = show(response, hasBody: arrival.framing != .none, on: reactor)
            task.download.resumed(at: offset, total: total, on: reactor)
        case .complete(let shown, let count):
            task.counting.responseArrived(shown, hasBody: true)
            task.download.resumed(at: count, total: count, on: reactor)
            arrival.fate = .complete
        case .startOver:
            arrival.fate = .unwanted(isRead: false)
        }
        return nil
    }

    private func meetResponse(_ response: HTTPURLResponse, _ arrival: inout Arrival) -> Step? {
        arrival.fate = show(response, hasBody: arrival.framing != .none, on: arrival.reactor)
        return nil
    }

    /// What becomes of an answer that another carrier has brought. `isFirst`: nothing of the load was told before it.
    func fateOfCarried(_ response: URLResponse, isFirst: Bool) -> Fate {
        // B6.33: what was told cannot be taken back. What is stored stays the same.
        if isFirst, let answer = response as? HTTPURLResponse, answer.statusCode >= 400,
            !task.state.withLock({ $0.isAnswerStored })
        {
            switch task.retry.meet(answer, plan) {
            case .goesOn: break
            case .passes: return .unwanted(isRead: false)
            case .asked: return .undecided(bindsConnection: false)
            }
        }
        // B1.50: what is no HTTP knows no HEAD.
        let isOfHEAD = response is HTTPURLResponse && plan.request?.values.method == "HEAD"
        return show(response, hasBody: !isOfHEAD)
    }

    /// The answer is the task's.
    func show(_ response: URLResponse, hasBody: Bool, on reactor: Reactor? = nil) -> Fate {
        task.counting.responseArrived(response, hasBody: hasBody)
        guard plan.asksResponse else {
            plan.pipe?.post(.response(response))
            return .shown
        }
        task.delivery.post(.response(response), on: reactor)
        return .asked
    }

    /// Delivers a piece of the body as it comes; says whether more can be taken.
    func pass(_ piece: Data, on reactor: Reactor? = nil) -> ReceiverDemand {
        let pipes = plan.pipe?.post(body: piece) ?? .more
        let delegates = plan.streamsBody ? task.delivery.post(body: piece, on: reactor) : .more
        task.counting.announceProgress()
        return (pipes, delegates) == (.more, .more) ? .more : .pause
    }
}

// MARK: What was decided later

extension TaskHops {
    /// Whether the body that now comes is the task's; `nil` until that is decided.
    var deliversUndecidedBody: Bool? { task.state.withLock { $0.redirect.deliversBody } }

    /// A delegate has agreed to a redirect, perhaps to another place.
    func followAsked(_ next: URLRequest, by response: HTTPURLResponse) {
        let keepsBody = task.state.withLock { state in
            state.redirect.deliversBody = false
            return state.redirect.keepsOwnBody
        }
        follow(next, by: response)
        // B4.33: the next hop does not wait for what is left of this one, and only briefly for what is kept.
        if keepsBody { resumeReadingBriefly() } else { discardRest() }
    }

    /// The hop's response leads elsewhere: to a next hop, or to an error if it leads out of HTTP (B4.31).
    fileprivate func follow(_ next: URLRequest, by response: HTTPURLResponse) {
        let target = task.webSocketCalls == nil ? next : next.overHTTP
        if let refusal = RedirectedRequest.refusal(target, handled: task.session?.protocols?.mayCarry ?? false) {
            willFail(refusal)
            cancel()
        } else {
            task.telling.announce { .redirect(response, next) }
            task.state.withLock { $0.redirect.next = next }
        }
    }

    /// A redirect that a delegate has refused (B4.3), or a refusal to which there was no answer (B2.45), is the task's
    /// response. Reading goes on once the question about it is answered too. `isFirst`: other events stand behind a
    /// question that is just being answered, and the response comes before them.
    func show(undecided response: HTTPURLResponse, isFirst: Bool) {
        if task.kindName == .webSocket { return task.webSocket.refuseUndecided(response) }
        if task.isUpload, task.upload.hidesAnswer {
            task.state.withLock { $0.redirect.deliversBody = false }
            return resumeReading()
        }
        let toHEAD = task.state.withLock { state in
            state.redirect.deliversBody = true
            return state.currentRequest?.values.method == "HEAD"
        }
        if task.savesFile { task.download.meetOther(response) }
        task.counting.responseArrived(response, hasBody: !toHEAD && response.expectedContentLength != 0)
        guard task.usesRelay, task.outlet.audience != .noDelegate else {
            task.outlet.pipe?.post(.response(response))
            return resumeReading()
        }
        if isFirst {
            task.mailbox.withLock { $0.putFirst(.response(response)) }
        } else {
            task.delivery.post(.response(response))
        }
    }
}

extension TaskState {
    /// The answer was about something else than what a cache has: the hop's request is sent once
    /// more, without conditions.
    fileprivate mutating func sendAgainWithoutConditions() {
        omitsConditions = true
        sentFields = nil
    }
}
