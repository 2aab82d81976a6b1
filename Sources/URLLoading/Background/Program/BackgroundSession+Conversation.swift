// What a background session and the owner of its transfers say to each other: the greeting, the comparison of what both
// know of the tasks, and then what the owner tells (B10.33, B10.44).
//
// Which owner that is, `BackgroundSession+Owners` says; how it all ends is in `BackgroundSession+End`.
//
// Must not know: where the owner is, and how it is found.

import Foundation
import Synchronization
import URLLoadingPolicy

/// The session as one owner knows it: of a channel that has been replaced nothing is heard.
final class OwnerChannel: TransferChannel {
    private let session: Mutex<WeakSession>

    private struct WeakSession: Sendable {
        weak var session: BackgroundSession?
    }

    init(_ session: BackgroundSession) {
        self.session = Mutex(WeakSession(session: session))
    }

    func send(_ event: TransferEvent) { session.withLock { $0.session }?.heard(event, on: self) }

    func close() { session.withLock { $0.session }?.lost("it has closed the connection", on: self) }

    /// Nothing more is to be heard.
    func cut() { session.withLock { $0.session = nil } }
}

extension BackgroundSession {
    // MARK: The greeting

    /// Begins to speak to an owner, unless none is looked for any more.
    func greet(_ service: any TransferService, _ channel: OwnerChannel) {
        let isWanted = state.withLock { state in
            guard case .connecting = state.phase else { return false }
            state.service = service
            state.channel = channel
            state.phase = .greeting
            state.met = []
            state.hasSaidAll = false
            for task in state.entries.keys { state.entries[task]?.unaccepted = [] }
            return true
        }
        guard isWanted else { return channel.cut() }
        let hello = hello
        line.run {
            service.connected(channel)
            service.received(.hello(hello), from: channel)
        }
    }

    /// The first word to an owner: how the session loads, and which questions are answered here.
    private var hello: TransferHello {
        let view = state.withLock { $0.core }?.delegateView
        let delegatesAnswer =
            view.map { $0.mayImplement(.sessionChallenge) || $0.mayImplement(.taskChallenge) } ?? false
        return TransferHello(
            settings: settings, judgesServers: delegatesAnswer && values.asksDelegatesAboutServers,
            answersChallenges: delegatesAnswer || values.urlCredentialStorage != nil)
    }

    // MARK: What is heard

    /// An owner says something. Called on any thread, a loop's included; nothing waits here. What a task's files are
    /// needed for happens on the line: in its order, and before the session's directory is cleaned up.
    func heard(_ event: TransferEvent, on channel: OwnerChannel) {
        guard state.withLock({ $0.channel === channel }) else { return }
        switch event {
        case .met(let summary):
            state.withLock { if $0.channel === channel, case .greeting = $0.phase { $0.met.append(summary) } }
        case .welcome: welcomed()
        case .refused(let refusal): refused(refusal, on: channel)
        case .tasks: state.withLock { $0.awaitsEcho = false }
        case .accepted(let task): accepted(task)
        case .progress(let task, let counts): core(task)?.transfer.progressed(counts)
        case .redirected(let task, let request):
            let first = state.withLock { $0.entries[task]?.order?.original }
            if let first { core(task)?.transfer.redirected(to: request, from: first) }
        case .responded(let task, let head):
            settleOffer(of: task, on: channel) { _ in head.status != 401 && head.status != 407 }
            guard let transfer = core(task)?.transfer else { break }
            transfer.responded(head)
            line.run { transfer.takeCookies(of: head) }
        case .resumedAt(let task, let offset, let total): core(task)?.download.resumed(at: offset, total: total)
        // The end has the data, too. Order: until the end is written down the part is its owner's, or the next one's.
        case .resumeData: break
        case .challenged(let task, let challenge): inquiries.run { [self] in ask(challenge, of: task, on: channel) }
        case .withdrawn(let task, let number): inquiries.run { [self] in withdraw(question: number, of: task) }
        case .news(let task, let news): take(news, of: task)
        case .allDelivered: tellEventsAreOver()
        case .invalidated: invalidated()
        }
    }

    /// The owner has not taken this program, and nothing more is to be heard of it.
    private func refused(_ refusal: TransferRefusal, on channel: OwnerChannel) {
        switch refusal {
        case .inUse, .ending:
            // The program before this one is just about to be missed, or its session to be gone: this one has the lock.
            channel.cut()
            lost("it has another program, or is about to end", on: channel, hasRefused: true)
        case .version:
            // One that an earlier run has started, before the program was renewed: another one takes its place.
            channel.cut()
            let service = state.withLock { state in
                defer { (state.service, state.channel) = (nil, nil) }
                return state.service
            }
            line.run { [self] in
                if let helper = service as? RemoteOwner { _ = end(helper: helper) }
                lost("it is of another version", on: nil)
            }
        case .otherSession, .unintelligible:
            fail(everythingWith: { url in
                refusal.failure(url: url?.absoluteString).error(of: .download) as? URLError
                    ?? LoadFailure.make(.backgroundSessionWasDisconnected, url, "The owner of the transfers refuses.")
            })
            channel.cut()
            state.withLock { ($0.service, $0.channel) = (nil, nil) }
        }
    }

    /// A task that something is heard of: its owner is of use.
    private func core(_ task: UInt64) -> TaskCore? {
        state.withLock { state in
            state.losses = 0
            return state.entries[task]?.core
        }
    }

    /// What both sides know of tasks when an owner has told of all that it has.
    private struct Knowledge: Sendable {
        var met: [TransferSummary] = []
        var entries: [UInt64: Entry] = [:]
        var heard: [UInt64: UInt64] = [:]
        var unanswered: Set<UInt64> = []
        var sessionEnds = false
    }

    /// The owner has told of all tasks that it knows. It is told those that it does not know, or knows otherwise.
    private func welcomed() {
        let known = takeKnowledge()
        let met = Set(known.met.map(\.task))
        // Of the others this owner has nothing to answer. Order: behind the removal of their journals.
        let unmet = known.unanswered.subtracting(met)
        line.run { [self] in state.withLock { $0.unanswered.subtract(unmet) } }
        for summary in known.met {
            if let entry = known.entries[summary.task] {
                meet(summary, entry)
            } else if known.heard[summary.task] == UInt64.max, !summary.isOver {
                tell(.cancel(task: summary.task, wantsResumeData: false))
            }
        }
        for (task, entry) in known.entries.sorted(by: { $0.key < $1.key }) where !met.contains(task) {
            miss(task, entry)
        }
        // Order: last, since what waits begins then, and may be cancelled or suspended by now.
        if known.sessionEnds { return sayGoodbye() }
        tell(.list)
        line.run { [self] in
            state.withLock { $0.hasSaidAll = true }
            askForEcho()
        }
    }

    /// Begins to speak to an owner that has greeted; with nothing where none was expected to.
    private func takeKnowledge() -> Knowledge {
        state.withLock { state in
            guard case .greeting = state.phase else { return Knowledge() }
            state.phase = .connected
            if state.isLeaving { state.awaitsEcho = true }
            state.refusals = 0
            // As it was before: a task that only its journal has told of has not been begun by this program.
            defer {
                for summary in state.met { state.entries[summary.task]?.isKnown = true }
                state.met = []
            }
            return Knowledge(
                met: state.met, entries: state.entries, heard: state.heard, unanswered: state.unanswered,
                sessionEnds: state.onEnd != nil)
        }
    }

    /// The owner does not know of a task. It is told to begin it, unless it has had it, or the task is over.
    private func miss(_ task: UInt64, _ entry: Entry) {
        if entry.order != nil, !entry.isKnown, !entry.isEnding {
            tellStart(of: task)
            if entry.core.phase == .canceling { entry.load.cancel() }
            return
        }
        guard claimEnd(of: task) else { return }
        guard entry.order != nil || entry.isKnown else { return forget(entry.core) }
        state.withLock { $0.entries[task]?.isMissed = true }
        inquiries.run { [self] in withdrawQuestions(of: task) }
        entry.core.transfer.fail(
            with: LoadFailure.make(
                .backgroundSessionWasDisconnected, entry.core.originalRequest?.url,
                "What was written down of the task is lost."))
    }

    /// A task was over when its journal was read, and the owner does not know it any more: the run before this one has
    /// heard of its end, and the owner has learnt of that since. The task goes without a word.
    private func forget(_ core: TaskCore) {
        state.withLock { _ = $0.entries.removeValue(forKey: UInt64(core.identifier)) }
        // Order: on the delegate queue, as every end. This may be a loop, and a notification
        // calls the program's own code.
        core.session?.relay.run { core.completion.concludeUntold {} }
    }

    /// The owner knows of a task, and is told in what it stands otherwise here.
    private func meet(_ summary: TransferSummary, _ entry: Entry) {
        let core = entry.core
        if let first = entry.order?.original {
            let current = summary.current(after: first)
            if current.url != core.currentRequest?.url?.absoluteString {
                core.transfer.redirected(to: current, from: first)
            }
        }
        if let head = summary.head, core.response == nil { core.transfer.responded(head) }
        core.transfer.progressed(summary.counts)
        guard !summary.isOver else { return }
        // It is over for its delegate, which may not have heard that yet.
        if entry.isEnding { return tell(.cancel(task: summary.task, wantsResumeData: false)) }
        let awaitsDelegate = entry.order?.awaitsDelegate == true
        let isHeld = awaitsDelegate && summary.isSuspended
        if awaitsDelegate, !isHeld {
            state.withLock { $0.entries[summary.task]?.order?.awaitsDelegate = false }
            core.transfer.begunUnasked(entry.load)
        }
        switch core.phase {
        case .canceling: entry.load.cancel()
        case .suspended where isHeld, .running where isHeld: tellOfWaiting(core)
        // The one that it has been told before may be another request, or at another date.
        case .suspended where entry.hasNewOrder, .running where entry.hasNewOrder: tellStart(of: summary.task)
        case .suspended where summary.isSuspended: break
        case .suspended: tell(.suspend(task: summary.task))
        case .running:
            guard summary.isSuspended, entry.isDue else { break }
            if entry.order != nil, !entry.isKnown {
                tellStart(of: summary.task)
            } else {
                tell(.resume(task: summary.task))
            }
        case .completed: break
        }
        if core.settings.hints.description != summary.label { tellLabel(of: core) }
        // As it travels: a number that is none would end the conversation.
        let priority = TaskSettings.usable(core.settings.priority)
        if priority != summary.priority { tell(.priority(task: summary.task, priority)) }
    }

    // MARK: News

    private func take(_ news: TransferNews, of task: UInt64) {
        enum Step: Sendable { case confirm, none, end(Entry, TransferFailure?) }
        let step = state.withLock { state -> Step in
            state.losses = 0
            if let heard = state.heard[task], state.entries[task] == nil {
                state.unanswered.remove(task)
                return heard >= news.number ? .confirm : .none
            }
            // What could not be read is left to a later run, with its files.
            guard var entry = state.entries[task] else { return state.unopened.contains(task) ? .none : .confirm }
            // One without a number is a task's that could not be written down.
            guard news.number > entry.taken || news.number == 0 else { return .none }
            entry.taken = max(entry.taken, news.number)
            if news.number > 0 { entry.isKnown = true }
            defer { state.entries[task] = entry }
            switch news.content {
            case .downloaded(let path):
                entry.path = path
                entry.fileNumber = news.number
                return .none
            case .answered(let path):
                entry.path = path
                return .none
            case .measured(let measures):
                entry.measures = measures
                return .none
            case .completed(let failure):
                state.unanswered.remove(task)
                entry.endNumber = news.number
                guard !entry.isEnding else { return .none }
                entry.isEnding = true
                return .end(entry, failure)
            }
        }
        switch step {
        case .none: break
        case .confirm: tell(.delivered(task: task, number: news.number))
        case .end(let entry, let failure):
            inquiries.run { [self] in withdrawQuestions(of: task) }
            if entry.order?.awaitsDelegate == true { entry.core.transfer.begunUnasked(entry.load) }
            line.run {
                entry.core.transfer.take(entry.measures)
                entry.core.transfer.end(failure, file: entry.path, load: entry.load)
            }
        }
    }

    /// Whether the task was not ended before.
    private func claimEnd(of task: UInt64) -> Bool {
        state.withLock { state in
            guard state.entries[task]?.isEnding == false else { return false }
            state.entries[task]?.isEnding = true
            return true
        }
    }

    private func tellEventsAreOver() {
        let (session, core, isAwaited) = state.withLock { state in
            defer { state.awaitsEndOfEvents = false }
            return (state.session, state.core, state.awaitsEndOfEvents)
        }
        guard isAwaited, let session, let core else { return }
        core.relay.run { core.delegate?.urlSessionDidFinishEvents(forBackgroundURLSession: session) }
    }
}
