// Delivers what a cache has as the answer of a hop, in the order in which a server's would come (B7.97): a hit, and
// what a server has confirmed. And the way of changes into the cache.
//
// Must not know: why an answer may be used.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Something that happens to a cache.
enum CacheStep: Sendable {
    /// A delegate is asked about an answer that may be stored (B7.89).
    case propose(CachedURLResponse)
    /// What a load has brought.
    case store(CachedURLResponse)
    case remove([CacheKey])
}

/// A task as one whose answers come out of a cache, or go into one.
struct TaskCaching: Sendable {
    let task: TaskCore

    // MARK: Delivering

    /// Delivers what is stored as the hop's answer, from wherever the caller is. `records` are those of the exchange in
    /// which it was confirmed.
    ///
    /// Returns the async call that ended with it, for the caller to resume.
    func show(
        _ stored: CachedURLResponse, confirmedIn records: [TransactionRecord]? = nil, on reactor: Reactor? = nil
    ) -> EndedCall? {
        task.session?.totals.cacheAnswers.add(1, ordering: .relaxed)
        task.trace?.answeredFromCache()
        let sessionView = task.hops.tellingView
        let answer = task.state.withLock { state in
            state.isAnswerStored = true
            return HopAnswer(task: task, plan: task.hops.plan(of: state, sessionView))
        }
        let plan = answer.plan
        // B7.17: what answers HEAD has no body.
        let body = plan.request?.values.method == "HEAD" ? Data() : stored.data
        let end = HopEnd(
            failure: nil, url: plan.request?.url, body: plan.collectsBody ? body : nil,
            records: plan.keepsRecords ? records ?? [TransactionRecord(of: stored, for: plan.request)] : [])
        let fate: HopAnswer.Fate
        if let response = stored.response as? HTTPURLResponse, let request = plan.request,
            let next = RedirectedRequest.make(
                from: request,
                response: ResponseHead(status: response.statusCode, fields: response.arrivedFields))
        {
            // B4.34: followed without the network, and the delegate is still asked.
            fate = answer.lead(to: next, by: response, on: reactor)
        } else {
            fate = answer.show(stored.response, hasBody: !body.isEmpty, on: reactor)
        }
        switch fate {
        case .asked, .undecided: task.delivery.post(.storedBody(body), on: reactor)
        case .shown: passOn(body, plan) { task.delivery.post(body: $0, on: reactor) }
        case .unwanted, .complete, .abandoned, .agreed: break
        }
        return task.hops.ended(end, on: reactor)
    }

    /// Delivers a stored body on the delegate queue, unless the answer to a question was that it is not wanted.
    func deliver(_ body: Data) {
        let sessionView = task.hops.tellingView
        let plan = task.state.withLock { state -> HopPlan? in
            guard !state.isOver, state.ownFailure == nil, state.redirect.deliversBody != false else { return nil }
            return task.hops.plan(of: state, sessionView)
        }
        guard let plan else { return }
        if plan.savesFile {
            task.counters.received.store(Int64(body.count), ordering: .relaxed)
            return task.download.save(stored: body)
        }
        passOn(body, plan) { data in
            task.telling.tellData(data)
            return .more
        }
    }

    private func passOn(_ body: Data, _ plan: HopPlan, toDelegate: (Data) -> ReceiverDemand) {
        guard !body.isEmpty else { return }
        task.counting.bodyArrived(bytes: body.count)
        // A cache has all of the body: there is no sender to hold back.
        _ = plan.pipe?.post(body: body)
        if plan.streamsBody { _ = toDelegate(body) }
        task.counting.announceProgress()
    }

    // MARK: Changing the cache

    /// Does what an answer means for the cache; on the loop.
    func change(by step: CacheStep, of part: CachePart, on reactor: Reactor) {
        switch step {
        case .propose: task.delivery.post(.caching(step), on: reactor)
        case .store, .remove:
            if part.session.isPlain {
                changeSoon(by: step, of: part)
            } else {
                task.delivery.post(.caching(step), on: reactor)
            }
        }
    }

    private func changeSoon(by step: CacheStep, of part: CachePart) {
        switch step {
        case .propose: break
        case .store(let cached):
            guard let answer = cached.answer else { return }
            part.session.store.storeSoon(cached, answer, for: part.key, since: part.removalCount)
        case .remove(let keys):
            for key in keys { part.session.store.removeSoon(key) }
        }
    }

    /// Brings a change into a cache of the program's, or asks a delegate; on the delegate queue.
    func changeProgramsOwn(by step: CacheStep) {
        guard let cache = task.state.withLock({ $0.cachePart })?.session.cache else { return }
        switch step {
        case .propose(let cached):
            if !task.isOver { task.questions.ask(.storing(cached)) }
        case .store(let cached):
            storeInProgramsOwn(cached, cache)
        case .remove(let keys):
            for key in keys {
                if let url = URL(string: key.text) { cache.removeCachedResponse(for: URLRequest(url: url)) }
            }
        }
    }

    private func storeInProgramsOwn(_ cached: CachedURLResponse, _ cache: URLCache) {
        if let shown = task.face as? URLSessionDataTask, task.currentRequest?.httpMethod == "GET" {
            cache.storeCachedResponse(cached, for: shown)
        } else if var request = task.currentRequest {
            // What HEAD has told about the answer to GET (B7.80).
            request.httpMethod = "GET"
            cache.storeCachedResponse(cached, for: request)
        }
    }

    /// A delegate has said what is to be stored of an answer (B7.89).
    func store(_ given: CachedURLResponse?, proposed: CachedURLResponse) {
        // However it was changed, it came as the answer that was proposed.
        guard let given, let part = task.state.withLock({ $0.cachePart }) else { return }
        // B14.52: how an answer came that a class of the program's has brought is not known.
        if proposed.answer == nil { return storeInProgramsOwn(given, part.session.cache) }
        guard let answer = proposed.answer?.under(given.response) else { return }
        let cached = given.coming(as: answer)
        if part.session.isPlain {
            part.session.store.storeSoon(cached, answer, for: part.key, since: part.removalCount)
        } else {
            storeInProgramsOwn(cached, part.session.cache)
        }
    }

    /// Stores what a carrier has brought, or asks about it first (B14.52).
    func propose(_ cached: CachedURLResponse, of part: CachePart, asksDelegates: Bool) {
        if task.usesRelay {
            task.delivery.post(.caching(asksDelegates ? .propose(cached) : .store(cached)))
        } else if let request = task.currentRequest {
            part.session.cache.storeCachedResponse(cached, for: request)
        }
    }
}

extension TaskCore {
    /// What the task has to do with caches.
    var caching: TaskCaching { TaskCaching(task: self) }
}
