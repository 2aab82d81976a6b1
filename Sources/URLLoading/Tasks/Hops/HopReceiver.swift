// The loop's side of one hop: takes in what the engine reports and passes it to where the task's result goes. What
// becomes of the answer's head, `HopAnswer` says.
//
// Confined to the loop, so it has no lock of its own. Must not know: delegate queues, and what a delegate says.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Receives one hop of a task.
final class HopReceiver: TransactionReceiver {
    // `@exclusivity(unchecked)`: this object never leaves its loop, and nothing is called while a property is changed.
    private let answer: HopAnswer
    let beginning: LoadBeginning
    private let reactor: Reactor
    @exclusivity(unchecked) private var response: HTTPURLResponse?
    @exclusivity(unchecked) private var body = WholeBody()
    @exclusivity(unchecked) private var sink: FileSink?
    @exclusivity(unchecked) private var fate = BodyFate.deliver
    /// The other side has still to say yes or no to what went with the request, or opened the tunnel for it.
    @exclusivity(unchecked) private var provesItself: Bool
    /// How much of a body that is not wanted was read.
    @exclusivity(unchecked) private var discarded = 0
    /// The cache's part, where it has one.
    @exclusivity(unchecked) private let caching: HopCaching?
    /// What was in a download's file is all there is.
    @exclusivity(unchecked) private var isComplete = false
    /// What was agreed on about a web socket.
    @exclusivity(unchecked) private var agreement: WebSocketHandshake.Agreement?

    /// What becomes of the bytes of the body.
    private enum BodyFate {
        /// They go where the task's result goes.
        case deliver
        /// They are taken apart, and the parts go to the task's delegate one by one.
        case deliverParts(MixedReplaceBody)
        /// It is being decided about a redirect or a refusal; nothing comes before.
        case undecided(BodyFraming, decoding: Bool)
        /// Another request follows: what comes is of no interest (B2.99, B4.33).
        case discard
        /// The hop was cancelled, and the error is noted.
        case abandoned
    }

    private var task: TaskCore { answer.task }

    var wantsTimelines: Bool { answer.plan.keepsRecords }

    init(_ answer: HopAnswer, beginning: LoadBeginning, reactor: Reactor) {
        self.answer = answer
        self.beginning = beginning
        provesItself = answer.plan.provesItself
        caching = answer.plan.cache.map { HopCaching($0) }
        self.reactor = reactor
    }

    var answersQuestions: Bool { task.trust.answersChallenges }

    /// The settings and the storage may know where no delegate does.
    var answersProxies: Bool { true }

    func confirms(_ judge: ConnectionJudge) -> ConnectionJudge { task.trust.confirms(judge) }

    func asked(_ question: ConnectionQuestion) {
        if case .proxy(let question) = question {
            provesItself = true
            task.authentication.refused(by: question, on: reactor)
        } else {
            task.delivery.post(.challenge(question), on: reactor)
        }
    }

    func waitsForConnectivity() {
        if answer.plan.tellsDelegate { task.delivery.post(.waiting, on: reactor) }
    }

    func warmedUp(_ warmth: PoolMachine.Warmth) { task.kind.warmUp?.note(warmth) }

    func answers(acceptedAs acceptance: ServerAcceptance) {
        if let caching { caching.acceptance = acceptance }
    }

    func received(informational head: ResponseHead) {
        if let upload = answer.plan.upload {
            if task.upload.informed(head) { return abandon() }
            if upload.isHelper { return }
        }
        guard answer.plan.tellsDelegate || answer.plan.pipe?.scope == .everything else { return }
        let response = HTTPURLResponse(url: answer.plan.request?.url, head: head, framing: .none, bodyIsDecoded: false)
        if answer.plan.tellsDelegate { task.delivery.post(.informational(response), on: reactor) }
        task.telling.announce { .informational(response) }
    }

    var decodingLimits: DecodingLimits {
        let session = task.session
        return session?.settings.decoding.limits(of: answer.plan.request, isCollected: answer.plan.collectsBody)
            ?? DecodingLimits()
    }

    func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand {
        if answer.plan.upload != nil, case .abandoned = fate { return .more }
        let response = HTTPURLResponse(url: answer.plan.url, head: head, framing: framing, bodyIsDecoded: decoding)
        self.response = response
        let fate = answer.fate(
            of: head, response,
            HopAnswer.Arrival(
                framing: framing, decoding: decoding, provesItself: provesItself, caching: caching, on: reactor))
        switch fate {
        case .shown:
            expectBody(of: head, framing, decoding: decoding)
            return .more
        case .asked:
            expectBody(of: head, framing, decoding: decoding)
            return .pause
        case .undecided(let bindsConnection):
            self.fate = .undecided(framing, decoding: decoding)
            return bindsConnection ? .pause : .hold
        case .unwanted(let isRead):
            self.fate = .discard
            return isRead ? .briefly : .discard
        case .complete:
            isComplete = true
            self.fate = .discard
            return .discard
        case .abandoned:
            abandon()
            return .more
        case .agreed(let agreement):
            self.agreement = agreement
            return .detach
        }
    }

    /// The body that comes is the task's.
    private func expectBody(of head: ResponseHead, _ framing: BodyFraming, decoding: Bool) {
        if answer.plan.streamsBody, case .delegate = answer.plan.outlet,
            let parts = MixedReplaceBody(head, url: answer.plan.request?.url)
        {
            fate = .deliverParts(parts)
            caching?.drop()
        }
        if answer.plan.collectsBody { body.expect(framing, decoding: decoding) }
    }

    /// Nothing more of this hop is wanted, and the error is noted.
    private func abandon() {
        fate = .abandoned
        task.hops.cancel()
    }

    func received(body piece: BodyPiece) -> ReceiverDemand {
        if case .undecided(let framing, let decoding) = fate, let delivers = task.hops.deliversUndecidedBody {
            fate = delivers ? .deliver : .discard
            if delivers { body.expect(framing, decoding: decoding) }
        }
        caching?.keep(piece.bytes)
        switch fate {
        case .deliver:
            return passOn(piece)
        case .deliverParts(let parts):
            return answer.plan.savesFile(of: task) ? passOn(piece) : passOnParts(piece.bytes, parts)
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

    /// What has come of a redirect's body is not all of it.
    func restIsLate() { caching?.drop() }

    func received(trailers: Fields) { response?.ended(with: trailers) }

    func sent(bodyBytes: Int64) {
        task.counting.bodySent(
            bodyBytes, behind: answer.plan.upload?.base ?? 0, tellsDelegate: answer.plan.tellsDelegate, on: reactor)
    }

    func finished(_ outcome: TransactionOutcome) {
        if case .deliverParts(let parts) = settledFate {
            let rest = parts.finish()
            if !rest.isEmpty { _ = tellDelegate(rest) }
        }
        let failure = outcome.error.flatMap { counts($0) ? $0 : nil }
        if let caching {
            if answer.plan.savesFile(of: task) { caching.drop() }
            if task.retry.followsHop { caching.ignore() }
            tell(caching, isComplete: outcome.error == nil)
            if failure == nil, let confirmed = caching.confirmed {
                return finish(with: confirmed, outcome)
            }
        }
        let end = HopEnd(
            failure: failure, url: answer.plan.url, body: answer.plan.collectsBody ? body.data : nil,
            records: records(of: outcome), again: outcome.again, isUnseen: isUnseen)
        if failure == nil, isComplete {
            task.download.endHop(end, withFileOf: fileSink)
        } else if failure == nil, answer.plan.savesFile(of: task), case .deliver = settledFate {
            task.download.endHop(end, withFileOf: fileSink)
        } else if let sink {
            task.download.endHop(end, without: sink)
        } else if let call = task.hops.ended(end, on: reactor) {
            EndedCalls.of(reactor).add(call)
        }
    }

    func detached(_ connection: consuming DetachedConnection, outcome: TransactionOutcome) {
        caching?.drop()
        let records = records(of: outcome)
        if let agreement { return task.webSocket.open(connection, agreement, records, on: reactor) }
        if task.stream.take(connection, records, reactor) { return }
        // Order: cancelled in between, and the connection is closed by now.
        fate = .abandoned
        finished(outcome)
    }

    /// Brings into the cache what the answer means for it.
    private func tell(_ caching: HopCaching, isComplete: Bool) {
        let steps = caching.finish(isComplete: isComplete, whole: body.data, asksDelegates: answer.plan.asksStoring)
        for step in steps { task.caching.change(by: step, of: caching.part, on: reactor) }
    }

    /// What is stored is the answer, since the server has confirmed it.
    private func finish(with stored: CachedURLResponse, _ outcome: TransactionOutcome) {
        var records = records(of: outcome)
        if let last = records.popLast() { records.append(last.confirming(stored)) }
        if let call = task.caching.show(stored, confirmedIn: records, on: reactor) { EndedCalls.of(reactor).add(call) }
    }

    /// Whether the program has seen nothing of the answer: there is none, or it was only collected.
    private var isUnseen: Bool {
        response == nil || answer.plan.collectsBody && !answer.plan.isBodySeen && !answer.plan.asksResponse
    }

    private var fileSink: FileSink {
        if let sink { return sink }
        let made = task.download.makeSink(for: answer.plan)
        sink = made
        return made
    }

    /// Whether an error ends the task. The end that the receiver itself brought about does not, and neither does a
    /// redirect's body that breaks off: where it leads is known.
    private func counts(_ error: EngineError) -> Bool {
        switch settledFate {
        case .abandoned: if case .cancelled = error { false } else { true }
        case .discard: !error.isOfTheExchange
        case .deliver, .deliverParts, .undecided: true
        }
    }

    /// What has become of the body, also when not one byte of it came after the delegate's answer.
    private var settledFate: BodyFate {
        switch fate {
        case .undecided: task.hops.deliversUndecidedBody.map { $0 ? BodyFate.deliver : .discard } ?? fate
        // B9.14: a file gets the body as it comes, with what stands around its parts.
        case .deliverParts where answer.plan.savesFile(of: task): .deliver
        case .deliver, .deliverParts, .discard, .abandoned: fate
        }
    }

    /// Delivers the parts of a body; nothing more is read until the delegate has been asked about the last of them.
    private func passOnParts(_ bytes: UnsafeRawBufferPointer, _ parts: MixedReplaceBody) -> ReceiverDemand {
        var demand = ReceiverDemand.more
        do throws(WireError) {
            try parts.read(bytes) { element in
                switch element {
                case .part(let response) where answer.plan.asksResponse:
                    task.delivery.post(.part(response), on: reactor)
                    demand = .pause
                case .part(let response):
                    task.counting.responseArrived(response, hasBody: true)
                case .data(let data):
                    if case .pause = tellDelegate(data) { demand = .pause }
                }
            }
        } catch {
            task.hops.willFail(ErrorMapping.urlError(.wire(error), url: answer.plan.request?.url))
            abandon()
        }
        return demand
    }

    private func tellDelegate(_ data: Data) -> ReceiverDemand {
        task.counting.bodyArrived(bytes: data.count)
        return task.delivery.post(body: data, on: reactor)
    }

    private func passOn(_ piece: BodyPiece) -> ReceiverDemand {
        task.counting.bodyArrived(bytes: piece.bytes.count)
        if answer.plan.savesFile(of: task) {
            caching?.drop()
            return fileSink.write(piece)
        }
        if answer.plan.collectsBody { body.append(piece.bytes) }
        return answer.plan.isBodySeen ? answer.pass(Data(piece), on: reactor) : .more
    }

    /// Only the last attempt got the response (B6.30).
    private func records(of outcome: TransactionOutcome) -> [TransactionRecord] {
        guard answer.plan.keepsRecords, let request = answer.plan.request else { return [] }
        func record(_ timeline: Timeline, _ response: URLResponse?) -> TransactionRecord {
            TransactionRecord(
                request: request, sentFields: answer.plan.sentFields, response: response, timeline: timeline)
        }
        var records = outcome.earlier.map { record($0, nil) }
        if let last = outcome.last { records.append(record(last, response)) }
        return records
    }
}
