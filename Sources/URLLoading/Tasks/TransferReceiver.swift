// The loop's side of one hop: takes in what the engine reports and passes it to where the task's result goes.
//
// Confined to the loop, so it has no lock of its own. Must not know: delegate queues, and what a delegate says beyond
// what `TaskCore` notes.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Receives one hop of a task.
final class TransferReceiver: TransactionReceiver {
    // `@exclusivity(unchecked)`: this object never leaves its loop, and nobody is called while a property is changed.
    private let core: TaskCore
    private let plan: HopPlan
    let beginning: LoadBeginning
    private let reactor: Reactor
    @exclusivity(unchecked) private var response: HTTPURLResponse?
    @exclusivity(unchecked) private var body = WholeBody()
    @exclusivity(unchecked) private var sink: FileSink?
    @exclusivity(unchecked) private var fate = BodyFate.deliver
    /// The other side has still to say yes or no to what went with the request, or opened the tunnel for it.
    @exclusivity(unchecked) private var provesItself: Bool
    /// How much of a body was read that nobody wants.
    @exclusivity(unchecked) private var discarded = 0
    /// The cache's part, where it has one.
    @exclusivity(unchecked) private let caching: HopCaching?
    /// What was in a download's file is all there is.
    @exclusivity(unchecked) private var isComplete = false
    /// What was agreed on about a web socket.
    @exclusivity(unchecked) private var agreement: WebSocketHandshake.Agreement?

    /// What becomes of the bytes of the body.
    private enum BodyFate {
        case deliver
        /// The same, part by part.
        case deliverParts(MixedReplaceBody)
        /// It is being decided about a redirect or a refusal; nothing comes before.
        case undecided(BodyFraming, decoding: Bool)
        /// Another request follows: what comes is of no interest (B2.99, B4.33).
        case discard
        /// The hop was cancelled, and the error is noted.
        case abandoned
    }

    var wantsAddresses: Bool { plan.keepsRecords }

    init(core: TaskCore, plan: HopPlan, beginning: LoadBeginning, reactor: Reactor) {
        self.core = core
        self.plan = plan
        self.beginning = beginning
        provesItself = plan.provesItself
        caching = plan.cache.map { HopCaching($0) }
        self.reactor = reactor
    }

    var answersQuestions: Bool { core.trust.answersChallenges }

    /// The settings and the storage may know where no delegate does.
    var answersProxies: Bool { true }

    func confirms(_ judge: ConnectionJudge) -> ConnectionJudge { core.trust.confirms(judge) }

    func asked(_ question: ConnectionQuestion) {
        if case .proxy(let question) = question {
            provesItself = true
            core.authentication.refused(by: question, on: reactor)
        } else {
            core.post(.challenge(question), on: reactor)
        }
    }

    func waitsForConnectivity() {
        if plan.tellsDelegate { core.post(.waiting, on: reactor) }
    }

    func answers(acceptedAs acceptance: ServerAcceptance) {
        if let caching { caching.acceptance = acceptance }
    }

    func received(informational head: ResponseHead) {
        if let upload = plan.upload {
            if core.upload.informed(head) {
                fate = .abandoned
                return core.cancelHop()
            }
            if upload.isHelper { return }
        }
        guard plan.tellsDelegate || plan.pipe?.scope == .everything else { return }
        let response = HTTPURLResponse(url: plan.request?.url, head: head, framing: .none, bodyIsDecoded: false)
        if plan.tellsDelegate { core.post(.informational(response), on: reactor) }
        core.announce { .informational(response) }
    }

    func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand {
        if plan.upload != nil, case .abandoned = fate { return .more }
        core.takeCookies(of: head, to: plan.request, on: reactor)
        let response = HTTPURLResponse(url: plan.url, head: head, framing: framing, bodyIsDecoded: decoding)
        self.response = response
        if provesItself { core.authentication.noteAnswer(head, on: reactor) }
        if let webSocket = plan.webSocket, head.status == 101 { return meet(head, response, webSocket) }
        let isHidden = plan.upload != nil && !core.upload.answered(head)
        if core.authentication.isRefused(head, response, on: reactor) {
            fate = .undecided(framing, decoding: decoding)
            return .pause
        }
        if isHidden {
            fate = .discard
            return .more
        }
        if let caching, let request = plan.request {
            let verdict = caching.take(
                response, of: request, framing: framing, decoding: decoding, collects: plan.collectsBody,
                isJudgedApart: caching.acceptance == .vouchedFor && core.trust.judgesApart)
            if case .nothing(let sendsAgain) = verdict {
                if sendsAgain { core.omitConditions() }
                fate = .discard
                return .more
            }
        }
        guard RedirectRules.isRedirect(status: head.status), let request = plan.redirectable,
            let next = RedirectedRequest.make(from: request, response: head)
        else {
            if plan.streamsBody, case .delegate = plan.outlet,
                let parts = MixedReplaceBody(head, url: plan.request?.url)
            {
                fate = .deliverParts(parts)
                caching?.drop()
            }
            if plan.webSocket != nil {
                core.webSocket.refuse(response)
                fate = .discard
                return .discard
            }
            if plan.savesFile { return beginDownload(head, response, framing: framing, decoding: decoding) }
            return begin(response, framing: framing, decoding: decoding)
        }
        return redirect(to: next, by: response, framing: framing, decoding: decoding)
    }

    /// The response leads to another request.
    private func redirect(
        to next: URLRequest, by response: HTTPURLResponse, framing: BodyFraming, decoding: Bool
    ) -> ReceiverDemand {
        let redirection = plan.redirect(core, to: next, by: response, on: reactor) {
            fate = .undecided(framing, decoding: decoding)
            let keepsBody = caching?.takesBody(ofRedirect: framing) ?? false
            if keepsBody { core.state.withLock { $0.redirect.keepsOwnBody = true } }
        }
        switch redirection {
        case .asked: return .pause
        case .followed:
            fate = .discard
            return caching?.takesBody(ofRedirect: framing) ?? false ? .more : .discard
        case .refused:
            fate = .abandoned
            core.cancelHop()
            return .more
        }
    }

    func received(body piece: BodyPiece) -> ReceiverDemand {
        if case .undecided(let framing, let decoding) = fate, let delivers = core.deliversRedirectBody {
            fate = delivers ? .deliver : .discard
            if delivers { body.expect(framing, decoding: decoding) }
        }
        caching?.take(piece.bytes)
        switch fate {
        case .deliver:
            return passOn(piece)
        case .deliverParts(let parts):
            return passOnParts(piece.bytes, parts)
        case .discard:
            // Also where a connection is to be kept for the next request: not at any price.
            discarded += piece.bytes.count
            guard discarded > RedirectRules.discardedBodyLimit else { return .more }
            caching?.drop()
            return .discard
        case .undecided, .abandoned:
            return .more
        }
    }

    func sent(bodyBytes: Int64) {
        core.bodySent(total: (plan.upload?.base ?? 0) + bodyBytes, tellsDelegate: plan.tellsDelegate, on: reactor)
    }

    func finished(_ outcome: TransactionOutcome) {
        if case .deliverParts(let parts) = fate {
            let rest = parts.finish()
            if !rest.isEmpty { _ = tellDelegate(rest) }
        }
        let failure = outcome.error.flatMap { counts($0) ? $0 : nil }
        if let caching {
            if plan.savesFile(of: core) { caching.drop() }
            tell(caching, isComplete: outcome.error == nil)
            if failure == nil, let confirmed = caching.confirmed {
                return finish(with: confirmed, outcome)
            }
        }
        let end = HopEnd(
            failure: failure, url: plan.url, body: plan.collectsBody ? body.data : nil,
            records: plan.keepsRecords ? records(outcome.timelines) : [], again: outcome.again)
        if failure == nil, isComplete {
            core.download.hopEnded(end, withFileOf: fileSink)
        } else if failure == nil, plan.savesFile(of: core), case .deliver = settledFate {
            core.download.hopEnded(end, withFileOf: fileSink)
        } else if let sink {
            core.download.hopEnded(end, without: sink)
        } else if let call = core.hopEnded(end, on: reactor) {
            EndedCalls.of(reactor).add(call)
        }
    }

    /// The server has switched: to what was asked for, or to something else (B15.4, B15.5).
    private func meet(
        _ head: ResponseHead, _ response: HTTPURLResponse, _ webSocket: WebSocketHop
    ) -> ReceiverDemand {
        do throws(WebSocketHandshake.Refusal) {
            agreement = try webSocket.handshake.agreement(with: head, asked: webSocket.fields)
            core.responseArrived(response, hasBody: false)
            return .detach
        } catch {
            core.webSocket.refuse(response, error)
            fate = .abandoned
            core.cancelHop()
            return .more
        }
    }

    func detached(_ connection: consuming DetachedConnection, outcome: TransactionOutcome) {
        caching?.drop()
        let records = plan.keepsRecords ? records(outcome.timelines) : []
        if let agreement { return core.webSocket.open(connection, agreement, records, on: reactor) }
        if core.stream.take(connection, records, reactor) { return }
        // Order: cancelled in between, and the connection is closed by now.
        fate = .abandoned
        finished(outcome)
    }

    /// Brings into the cache what the answer means for it.
    private func tell(_ caching: HopCaching, isComplete: Bool) {
        let steps = caching.finish(isComplete: isComplete, whole: body.data, asksDelegates: plan.asksStoring)
        for step in steps { core.caching.change(by: step, of: caching.part, on: reactor) }
    }

    /// What is stored is the answer, since the server has confirmed it.
    private func finish(with stored: CachedURLResponse, _ outcome: TransactionOutcome) {
        var records = plan.keepsRecords ? records(outcome.timelines) : []
        if let last = records.popLast() { records.append(last.confirming(stored)) }
        if let call = core.caching.show(stored, confirmedIn: records, on: reactor) { EndedCalls.of(reactor).add(call) }
    }

    private var fileSink: FileSink {
        if let sink { return sink }
        let made = core.download.makeSink(for: plan)
        sink = made
        return made
    }

    /// Whether an error ends the task. The end that the receiver itself brought about does not, and neither does a
    /// redirect's body that breaks off: where it leads is known.
    private func counts(_ error: EngineError) -> Bool {
        switch (settledFate, error) {
        case (.abandoned, .cancelled), (.discard, .connectionLost), (.discard, .wire), (.discard, .http2),
            (.discard, .idleTimeout):
            false
        case (.deliver, _), (.deliverParts, _), (.undecided, _), (.abandoned, _), (.discard, _): true
        }
    }

    /// What has become of the body, also when not one byte of it came after the delegate's answer.
    private var settledFate: BodyFate {
        guard case .undecided = fate, let delivers = core.deliversRedirectBody else { return fate }
        return delivers ? .deliver : .discard
    }

    /// The response is the task's.
    private func begin(_ response: HTTPURLResponse, framing: BodyFraming, decoding: Bool) -> ReceiverDemand {
        if plan.collectsBody { body.expect(framing, decoding: decoding) }
        return plan.show(response, of: core, hasBody: framing != .none, on: reactor) ? .pause : .more
    }

    /// The same of a download, which may be the rest of one.
    private func beginDownload(
        _ head: ResponseHead, _ response: HTTPURLResponse, framing: BodyFraming, decoding: Bool
    ) -> ReceiverDemand {
        switch core.download.meetRest(head, response, plan.request) {
        case .deliver:
            return begin(response, framing: framing, decoding: decoding)
        case .resume(let offset, let total):
            let demand = begin(response, framing: framing, decoding: decoding)
            core.download.resumed(at: offset, total: total, on: reactor)
            return demand
        case .complete(let shown, let count):
            core.responseArrived(shown, hasBody: true)
            core.download.resumed(at: count, total: count, on: reactor)
            isComplete = true
        case .startOver: break
        }
        fate = .discard
        return .discard
    }

    /// Delivers the parts of a body; nothing more is read until the delegate has been asked about the last of them.
    private func passOnParts(_ bytes: UnsafeRawBufferPointer, _ parts: MixedReplaceBody) -> ReceiverDemand {
        var demand = ReceiverDemand.more
        do throws(WireError) {
            try parts.read(bytes) { element in
                switch element {
                case .part(let response) where plan.asksResponse:
                    core.post(.part(response), on: reactor)
                    demand = .pause
                case .part(let response):
                    core.responseArrived(response, hasBody: true)
                case .data(let data):
                    if case .pause = tellDelegate(data) { demand = .pause }
                }
            }
        } catch {
            core.willFail(ErrorMapping.urlError(.wire(error), url: plan.request?.url))
            fate = .abandoned
            core.cancelHop()
        }
        return demand
    }

    private func tellDelegate(_ data: Data) -> ReceiverDemand {
        core.bodyArrived(bytes: data.count)
        return core.post(body: data, on: reactor)
    }

    private func passOn(_ piece: BodyPiece) -> ReceiverDemand {
        core.bodyArrived(bytes: piece.bytes.count)
        if plan.savesFile(of: core) {
            caching?.drop()
            return fileSink.write(piece)
        }
        if plan.collectsBody { body.append(piece.bytes) }
        return plan.isBodySeen ? plan.pass(Data(piece), of: core, on: reactor) : .more
    }

    /// Only the last attempt got the response (B6.30).
    private func records(_ timelines: [Timeline]) -> [TransactionRecord] {
        guard let request = plan.request else { return [] }
        return timelines.enumerated().map { index, timeline in
            TransactionRecord(
                request: request, sentFields: plan.sentFields,
                response: index == timelines.count - 1 ? response : nil, timeline: timeline)
        }
    }
}
