// The program that talks to an owner, and what becomes of what is said (`TransferMessages` tells the conversation). One
// program at a time is served (B10.32).

import Foundation
import URLLoadingPolicy

extension TransferOwner {
    nonisolated func connected(_ channel: any TransferChannel) {}

    nonisolated func received(_ command: TransferCommand, from channel: any TransferChannel) {
        queue.async { self.assumeIsolated { $0.hear(command, from: channel) } }
    }

    nonisolated func disconnected(_ channel: any TransferChannel) {
        queue.async { self.assumeIsolated { $0.left(channel) } }
    }

    private func hear(_ command: TransferCommand, from channel: any TransferChannel) {
        if case .hello(let hello) = command { return greet(hello, channel) }
        // A channel that was refused, or that has never said hello, is not listened to.
        guard let program, program === channel, !isStopped else { return }
        switch command {
        case .hello: break
        case .start(let order): start(order)
        case .cancel(let number, let wantsResumeData): cancel(number, wantsResumeData: wantsResumeData)
        case .suspend(let number): suspend(number)
        case .resume(let number): resume(number)
        case .label(let number, let label): change(number) { $0.label = label }
        case .priority(let number, let priority):
            change(number) { $0.priority = priority }
            schedule.prioritised(number, priority)
            transfers[number]?.attempt?.priority = priority
        case .answer(let answer): take(answer)
        case .delivered(let number, let news): confirmed(number, upTo: news)
        case .invalidate(let cancelling):
            awaitsWords = false
            invalidate(cancelling: cancelling)
        case .list:
            if awaitsWords { awaitsWords = false } else { tell(.tasks(summaries)) }
        }
        settle()
    }

    private var summaries: [TransferSummary] {
        transfers.values.map(\.record.summary).sorted { $0.task < $1.task }
    }

    // MARK: Coming and going

    private func greet(_ hello: TransferHello, _ channel: any TransferChannel) {
        if let refusal = refusal(of: hello, channel) {
            channel.send(.refused(refusal))
            return channel.close()
        }
        program = channel
        self.hello = hello
        awaitsGreeting = false
        for number in waitingForDelegates { schedule.suspended(number) }
        awaitWords(of: channel)
        adopt(hello.settings)
        // Security: connections that the settings alone have judged are no good for what begins from now on (B10.37).
        if hello.judgesServers { retireSession() }
        for summary in summaries { channel.send(.met(summary)) }
        channel.send(.welcome)
        unconfirmed = []
        for number in transfers.keys.sorted() {
            guard let transfer = transfers[number] else { continue }
            if transfer.isUnsaved { save(number) }
            for news in transfer.record.events {
                unconfirmed.insert(NewsName(task: number, number: news.number))
                channel.send(.news(task: number, news))
            }
            if let question = transfer.question { put(question, about: number) }
        }
        owesAllDelivered = !unconfirmed.isEmpty
        settle()
    }

    private func refusal(of hello: TransferHello, _ channel: any TransferChannel) -> TransferRefusal? {
        if isStopped || isEnding { return .ending }
        if hello.version != TransferLimits.version { return .version(TransferLimits.version) }
        if let program { return program === channel ? .unintelligible("a second greeting") : .inUse }
        if let settings, settings.identifier != hello.settings.identifier { return .otherSession }
        return nil
    }

    /// Loads by these settings from now on; attempts under way go on as they began.
    private func adopt(_ new: TransferSettings) {
        guard new != settings else { return }
        settings = new
        schedule.places = Int(new.transfersAtATime)
        retireSession()
        do throws(BackgroundDirectoryFailure) {
            try directory.write(settings: new)
        } catch {
            arrangement.report("the journal of a background session cannot be written: \(error)")
        }
    }

    /// What begins from now on is another session's, with connections of its own; attempts under way go on.
    private func retireSession() {
        session?.finishTasksAndInvalidate()
        session = nil
    }

    private func left(_ channel: any TransferChannel) {
        guard let program, program === channel else { return }
        self.program = nil
        hello = nil
        awaitsWords = false
        owesAllDelivered = false
        unconfirmed = []
        // A program that has cancelled everything does not come back to hear of it; one that
        // wanted to wait may (B10.40).
        if isCancelling { return endForGood() }
        isEnding = false
        judgeServersBySettings()
        // No program is left that could ask a delegate: these begin at their dates (B10.26).
        for number in waitingForDelegates { schedule.resumed(number) }
        settle()
    }

    /// The tasks whose delegate is to be asked at their date, and that are not suspended.
    private var waitingForDelegates: [UInt64] {
        transfers.filter { $0.value.record.awaitsDelegate && !$0.value.record.isSuspended }.map(\.key)
    }

    private func invalidate(cancelling: Bool) {
        isEnding = true
        guard cancelling else { return }
        isCancelling = true
        for number in transfers.keys.sorted() {
            guard let transfer = transfers[number], transfer.record.state != .over else { continue }
            cancel(number, wantsResumeData: false)
        }
    }

    // MARK: Tasks

    private func start(_ order: TransferOrder) {
        guard !isEnding else {
            return refuse(order, code: .unknown, "The background session is being invalidated.")
        }
        let known = transfers[order.task]
        // A program that has not heard the answer sends the order again; and it writes the first journal itself. It may
        // have been told to go on before the greeting, with a task that an earlier run has suspended.
        if let known, known.attempt != nil || known.record.state == .over {
            if order.isSuspended { suspend(order.task) } else { resume(order.task) }
            return tell(.accepted(task: order.task))
        }
        var record = TransferRecord(
            order, allowed: settings?.resourceTimeout, isDiscretionary: settings?.isDiscretionary ?? false, now: now)
        if let known {
            record.lifetime = known.record.lifetime
            record.created = known.record.created
            record.resumption = known.record.resumption ?? order.resumption
        }
        transfers[order.task] = LiveTransfer(record: record)
        // Order: on the disk before anything is loaded or told (B10.30). Where the journal has the same request, what
        // else has changed is written down with the next change, as other words are.
        let isWrittenDown = known?.record.original == order.original
        if let failure = save(order.task), !isWrittenDown {
            transfers[order.task] = nil
            schedule.ended(order.task)
            directory.remove(task: order.task)
            return refuse(
                order, code: failure.code, "The task cannot be written down, so it is not begun: \(failure)")
        }
        schedule.added(order.task, TransferSchedule.Entry(record))
        // The program is there, and says when the delegate has been asked.
        if record.awaitsDelegate { schedule.suspended(order.task) }
        tell(.accepted(task: order.task))
    }

    private func refuse(_ order: TransferOrder, code: URLError.Code, _ text: String) {
        var failure = TransferFailure(code, text, url: order.original.url)
        // Nothing of it has been touched.
        failure.resumeData = order.resumption
        tell(.news(task: order.task, TransferNews(number: 0, content: .completed(failure))))
    }

    private func change(_ number: UInt64, _ body: (inout TransferRecord) -> Void) {
        guard let transfer = transfers[number], transfer.record.state != .over else { return }
        body(&transfer.record)
        save(number)
    }

    private func suspend(_ number: UInt64) {
        guard let transfer = transfers[number], !transfer.record.isSuspended else { return }
        change(number) { $0.isSuspended = true }
        schedule.suspended(number)
        transfer.attempt?.suspend()
    }

    private func resume(_ number: UInt64) {
        guard let transfer = transfers[number], transfer.record.standsStill else { return }
        change(number) { ($0.isSuspended, $0.awaitsDelegate) = (false, false) }
        schedule.resumed(number)
        // One that waits for an answer has no turn to wait for: it goes on with the answer.
        if transfer.question != nil { transfer.attempt?.resume() }
    }

    /// The program has heard of a task's news: they are forgotten, and so are their files (B10.34).
    private func confirmed(_ number: UInt64, upTo news: UInt64) {
        guard let transfer = transfers[number] else { return }
        let heard = transfer.record.events.filter { $0.number <= news }
        guard transfer.record.heard(upTo: news) else { return }
        for one in heard {
            unconfirmed.remove(NewsName(task: number, number: one.number))
            switch one.content {
            case .downloaded(let path), .answered(let path): directory.removeFile(at: path)
            case .measured, .completed: break
            }
        }
        if transfer.record.isDone {
            transfers[number] = nil
            directory.remove(task: number)
        } else {
            save(number)
        }
        if owesAllDelivered, unconfirmed.isEmpty {
            owesAllDelivered = false
            tell(.allDelivered)
        }
    }
}
