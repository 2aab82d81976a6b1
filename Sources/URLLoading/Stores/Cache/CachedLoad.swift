// One hop of a load and what a cache has for it: the rules of `CacheRules` applied to responses as the API shows them.
// A value that calls nothing: it is handed what a cache has found, and says what is to be delivered and stored.
//
// Must not know: tasks, delegates, which cache it is. Behaviour 7.2 to 7.7.

import Foundation
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// What a cache has to do with one hop.
struct CachedLoad: Sendable {
    /// What the hop begins with.
    private(set) var decision: CacheDecision
    /// What is stored, if anything: the answer where the decision is to use it.
    let found: CachedURLResponse?
    /// What a server can confirm of it. An object of the program's is asked when it was found: the server's
    /// answer comes on the loop.
    private let confirmable: CachedURLResponse?
    private let method: String
    private let sent: Fields
    private let stored: StoredAnswer?
    private let demand: TrustDemand

    /// The head of a server's answer.
    struct Arrival: Sendable {
        /// The response as it came.
        let response: HTTPURLResponse
        /// When the request was sent.
        let requestTime: WallTime
        /// When the head came.
        let responseTime: WallTime
        /// How the server was accepted.
        let acceptance: ServerAcceptance
        /// Whether the server was judged by a judge of this load alone.
        let isJudgedApart: Bool
        /// Whether it may be the answer for a user of whom the request says nothing.
        let isUsers: Bool
    }

    /// What the application gets.
    enum Delivery: Sendable {
        /// The server's answer.
        case arrival
        /// What is stored, under the head that validation has given it (B7.73).
        case stored(CachedURLResponse)
        /// Nothing yet: the request has to be sent once more, without conditions.
        case sendAgain
    }

    /// What becomes of what is stored; only once the answer is there whole (B7.50).
    enum Change: Sendable {
        /// It stays.
        case none
        /// The answer takes its place.
        case store(Proposal)
        /// It has a new head.
        case renew(CachedURLResponse)
        /// It goes.
        case remove
    }

    /// An answer that may be stored, and waits for its body.
    struct Proposal: Sendable {
        /// The response without what belonged to the connection (B7.51).
        let response: HTTPURLResponse
        private let answer: StoredAnswer

        fileprivate init(_ arrived: HTTPURLResponse, _ answer: StoredAnswer) {
            response = HTTPURLResponse(arrived.url, answer, expectedLength: arrived.expectedContentLength)
            self.answer = answer
        }

        /// The answer with its body, the content coding undone (B7.53); may be kept anywhere (B7.95).
        func filled(with body: Data) -> CachedURLResponse {
            CachedURLResponse(
                response: response, data: body, userInfo: nil, storagePolicy: .allowed, answer: answer)
        }
    }

    /// Judges what a cache has found for a request.
    ///
    /// `sent` holds the fields as they are sent, those of the loader included; `answer` says how it came, where the
    /// cache knows; `demand` how its server must have been trusted.
    init(
        method: String, sent: Fields, policy: CachePolicy, demand: TrustDemand, found: CachedURLResponse?,
        answer: StoredAnswer? = nil, now: WallTime
    ) {
        self.method = method
        self.sent = sent
        self.demand = demand
        let stored = answer ?? found.map { Self.answer(of: $0, to: sent, now: now) }
        // B7.102, the one place where it is decided which load may use what is stored. What may not be used is no base
        // for a 304 either: a server that is not trusted can have put another body under a tag that is right.
        let isAdmitted = stored.map { demand.admits($0.trust) } ?? false
        self.found = isAdmitted ? found : nil
        self.stored = isAdmitted ? stored : nil
        confirmable = isAdmitted ? stored.flatMap { found?.plain(with: $0) } : nil
        decision = CacheRules.decision(policy: policy, method: method, request: sent, stored: self.stored, now: now)
    }

    /// A copy whose request is sent without conditions, whatever is stored.
    var withoutConditions: CachedLoad {
        var load = self
        load.decision = .load
        return load
    }

    /// What a server's answer comes to.
    func outcome(of arrival: Arrival) -> (delivery: Delivery, change: Change) {
        var isValidation = false
        if case .validate = decision { isValidation = true }
        var random = Chance()
        // B7.102, the one place where it is decided how an answer is marked.
        let trust = (arrival.isJudgedApart ? demand.withoutJudge : demand).trust(of: arrival.acceptance)
        let outcome = CacheRules.outcome(
            method: method, request: sent, status: arrival.response.statusCode,
            news: ValidationRules.News(
                fields: arrival.response.arrivedFields, requestTime: arrival.requestTime,
                responseTime: arrival.responseTime, trust: trust),
            stored: stored, isValidation: isValidation, isUsers: arrival.isUsers,
            salt: SipHash.Words(random.next(), random.next()))
        switch outcome {
        case .sendAgain: return (.sendAgain, .none)
        case .deliverStored(let answer, let change):
            guard let renewed = renewed(answer) else { return (.sendAgain, .none) }
            return (.stored(renewed), self.change(change, of: arrival))
        case .deliver(let change): return (.arrival, self.change(change, of: arrival))
        }
    }

    private func change(_ change: CacheChange, of arrival: Arrival) -> Change {
        switch change {
        case .none: .none
        case .forget: .remove
        case .freshen(let answer): renewed(answer).map(Change.renew) ?? .none
        case .store(let answer): .store(Proposal(arrival.response, answer))
        }
    }

    /// What is stored under a new head; the body, and what the program keeps with it, stay.
    private func renewed(_ answer: StoredAnswer) -> CachedURLResponse? {
        confirmable.map { found in
            CachedURLResponse(
                response: HTTPURLResponse(
                    found.response.url, answer, expectedLength: found.response.expectedContentLength),
                data: found.data, userInfo: found.userInfo, storagePolicy: found.storagePolicy, answer: answer)
        }
    }

    /// How a response came that a cache of the program's own may have kept without saying so: its Date then tells how
    /// old it is, and without one it counts as stale.
    private static func answer(of found: CachedURLResponse, to sent: Fields, now: WallTime) -> StoredAnswer {
        if let answer = found.answer { return answer }
        let fields = (found.response as? HTTPURLResponse)?.arrivedFields ?? Fields()
        let time = fields.contains(.date) ? now : WallTime(seconds: 0)
        var random = Chance()
        // For which request it was kept is the cache's business: it has given it out for this one.
        return StoredAnswer(
            status: (found.response as? HTTPURLResponse)?.statusCode ?? 0, fields: fields, requestTime: time,
            responseTime: time,
            selection: Selection(
                answer: fields, request: sent, salt: SipHash.Words(random.next(), random.next())),
            trust: found.trust)
    }
}

extension CachePolicy {
    /// The policy of a request; the configuration's where it keeps the default one (B7.24).
    init(_ policy: NSURLRequest.CachePolicy, configured: NSURLRequest.CachePolicy) {
        switch policy == .useProtocolCachePolicy ? configured : policy {
        case .useProtocolCachePolicy: self = .protocolRules
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: self = .reload
        case .returnCacheDataElseLoad: self = .storedElseLoad
        case .returnCacheDataDontLoad: self = .storedOnly
        case .reloadRevalidatingCacheData: self = .revalidate
        }
    }
}
