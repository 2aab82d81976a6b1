// The way of a carrier's reports to the delegates, handlers, iterators and files of a task, and the end of its hop.
//
// Called by one thread at a time, in order. Must not know: which carrier has the hop.

import Foundation
import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension SchemeLoad {
    /// Tells one report.
    func deliver(_ report: SchemeReport) {
        switch report {
        case .response(let response, let policy): show(response, policy)
        case .resumed(let offset, let total): core.download.resumed(at: offset, total: total)
        case .data(let data): passOn(data)
        // As if its parts had been reported.
        case .stored(let cached): state.withLock { $0.appendStored(cached) }
        case .redirect(let next, let response): redirect(to: next, by: response)
        case .end: break
        }
    }

    /// Pauses where a decision about the answer is waited for, unless it has been made already.
    private func pauseIfUndecided(_ decide: () -> HopAnswer.Fate) {
        let noted = state.withLock { $0.continuations }
        switch decide() {
        case .asked, .undecided: state.withLock { $0.pause(since: noted) }
        case .shown, .unwanted, .complete, .abandoned, .agreed: break
        }
    }

    // MARK: Response and body

    private func show(_ response: URLResponse, _ policy: URLCache.StoragePolicy) {
        let (before, isFirst) = state.withLock { state -> (URLResponse?, Bool) in
            defer { state.response = response }
            state.policy = policy
            if state.firstResponse == nil { state.firstResponse = LoopClock.elapsed }
            let isFirst = state.response == nil && state.bytes == 0
            if !isFirst { state.isOfSeveral = true }
            return (state.response, isFirst)
        }
        pauseIfUndecided {
            let fate = answer.fateOfCarried(response, isFirst: isFirst)
            if case .unwanted = fate { dropRest() }
            return fate
        }
        // Order: the response of before, which the task has had too until now, goes without a lock: its
        // deinit may call the task.
        withExtendedLifetime(before) {}
    }

    private func passOn(_ data: Data) {
        let (noted, isWanted, isKept) = state.withLock { state -> (Int, Bool, Bool) in
            guard !state.discards else { return (0, false, false) }
            state.bytes += Int64(data.count)
            return (state.continuations, true, plan.collectsBody || state.mayBeStored)
        }
        guard isWanted else { return }
        core.counting.bodyArrived(bytes: data.count)
        let demand: ReceiverDemand
        if plan.savesFile(of: core) {
            demand = data.withUnsafeBytes { sink.write(copying: $0) }
        } else {
            if isKept { keep(data) }
            demand = answer.pass(data)
        }
        if case .pause = demand { state.withLock { $0.pause(since: noted) } }
    }

    /// Keeps the body where it is wanted whole; where only a cache wants it, up to a length.
    private func keep(_ data: Data) {
        let most = plan.collectsBody ? nil : plan.cache?.session.longestBody
        // Order: what is copied or dropped goes without the lock: these may be the program's bytes, whose deallocator
        // may call the task. No other thread wants the body meanwhile.
        var body = state.withLock { state -> Data in
            defer { state.body = Data() }
            return state.body
        }
        if let most, Int64(body.count) + Int64(data.count) > most {
            state.withLock { $0.isTooLong = true }
        } else {
            if body.isEmpty { body = data } else { body.append(data) }
            state.withLock { [body] in $0.body = body }
        }
    }

    private var sink: FileSink {
        if let made = state.withLock({ $0.sink }) { return made }
        let new = core.download.makeSink(for: plan)
        state.withLock { $0.sink = new }
        return new
    }

    // MARK: What is of no interest

    /// Drops what is left of the answer: what follows does not wait for it (B4.33).
    func dropRest() {
        // Order: what is not told any more goes here, when the lock is free.
        state.withLockLettingGo { $0.dropRest() }?.stop()
    }

    // MARK: Redirects

    private func redirect(to next: URLRequest, by response: URLResponse) {
        state.withLock { $0.append([.end(nil)]) }
        let head =
            response as? HTTPURLResponse
            ?? HTTPURLResponse(url: response.url, status: 302, fields: Fields(), expectedContentLength: 0)
        // Order: as in `show`.
        state.letGo { exchange(&$0.response, with: head) }
        pauseIfUndecided { answer.lead(to: next, by: head) }
    }

    // MARK: Challenges

    /// Asks the delegates (B14.50); where there is none, the answer is default handling. The idle time stands still
    /// meanwhile.
    @discardableResult
    func ask(
        _ challenge: URLAuthenticationChallenge,
        answer: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) -> SchemeQuestion {
        let question = SchemeQuestion(challenge) { [weak self] question, disposition, credential in
            self?.state.withLock { state in
                state.openQuestions.removeAll { $0 === question }
                state.quietSince = LoopClock.elapsed
            }
            answer(disposition, credential)
        }
        let isWanted = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.openQuestions.append(question)
            return true
        }
        guard isWanted else { return question }
        question.ask(of: core)
        return question
    }

    /// The question about this challenge is not to be answered any more.
    func withdraw(_ challenge: URLAuthenticationChallenge) {
        let question = state.withLock { state -> SchemeQuestion? in
            guard let index = state.openQuestions.firstIndex(where: { $0.challenge === challenge }) else { return nil }
            return state.openQuestions.remove(at: index)
        }
        question?.withdraw(from: core)
    }

    // MARK: The end

    /// Ends the hop.
    func end(_ error: (any Error)?, isCancelled: Bool) {
        let (ended, watch) = state.withLock { state -> (SchemeLoadState, Alarm?) in
            defer {
                state.body = Data()
                state.openQuestions = []
                state.watch = nil
            }
            return (state, state.watch)
        }
        watch?.cancel()
        let isWhole = error == nil && !isCancelled
        let savesFile = plan.savesFile(of: core)
        if isWhole, !ended.discards, !savesFile { store(ended) }
        let end = HopEnd(
            failure: isCancelled ? .cancelled : ended.lackOfWay, url: plan.request?.url,
            body: plan.collectsBody ? ended.body : nil, records: plan.keepsRecords ? records(ended) : [],
            foreignError: error, isUnseen: ended.response == nil)
        if isWhole, savesFile, !ended.discards,
            core.state.withLock({ $0.redirect.next == nil && $0.ownFailure == nil })
        {
            core.download.endHop(end, withFileOf: sink)
        } else if let sink = ended.sink {
            core.download.endHop(end, without: sink)
        } else {
            core.hops.ended(end)?.resume()
        }
    }

    /// B14.55: no network has been seen.
    private func records(_ ended: SchemeLoadState) -> [TransactionRecord] {
        guard let request = plan.request else { return [] }
        var record = TransactionRecord(
            request: request, sentFields: nil, response: ended.response,
            timeline: .elsewhere(
                start: ended.start, response: ended.firstResponse, end: LoopClock.elapsed, bodyBytes: ended.bytes))
        record.source = .unknown
        return [record]
    }

    /// Proposes what has come to the cache (B14.52).
    private func store(_ ended: SchemeLoadState) {
        guard ended.mayBeStored, let part = plan.cache, let response = ended.response else { return }
        core.caching.propose(
            CachedURLResponse(response: response, data: ended.body, storagePolicy: ended.policy), of: part,
            asksDelegates: plan.asksStoring)
    }
}

extension SchemeLoadState {
    /// Whether what comes is kept for a cache, so far as is known.
    var mayBeStored: Bool { policy != .notAllowed && !isTooLong && !isOfSeveral }

    /// Puts the parts of a stored answer at the end of the line.
    mutating func appendStored(_ cached: CachedURLResponse) {
        append(
            cached.data.isEmpty
                ? [.response(cached.response, .notAllowed), .end(nil)]
                : [.response(cached.response, .notAllowed), .data(cached.data), .end(nil)])
    }
}
