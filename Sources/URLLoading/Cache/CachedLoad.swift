// One hop of a load and what a cache has for it: the rules of `CacheRules` applied to responses as the API shows them.
// A value that calls nobody: it is handed what a cache has found, and says what is to be delivered and stored.
//
// Must not know: tasks, delegates, which cache it is. Behaviour 7.2 to 7.7.

import Foundation
import HTTPWire
import LoadingPolicy

/// What a cache has to do with one hop.
package struct CachedLoad: Sendable {
    /// What the hop begins with.
    package let decision: CacheDecision
    /// What is stored, if anything: the answer where the decision is to use it.
    package let found: CachedURLResponse?
    private let request: URLRequest
    private let sent: Fields
    private let stored: StoredAnswer?

    /// The answer of a server, its body complete or not.
    package struct Arrival: Sendable {
        /// The response as it came.
        package let response: HTTPURLResponse
        /// The body, its content coding undone (B7.53).
        package let body: Data
        /// Whether all of it came (B7.50).
        package let isComplete: Bool
        /// When the request was sent.
        package let requestTime: WallTime
        /// When the head came.
        package let responseTime: WallTime

        /// Makes one of its parts.
        package init(
            response: HTTPURLResponse, body: Data, isComplete: Bool, requestTime: WallTime, responseTime: WallTime
        ) {
            self.response = response
            self.body = body
            self.isComplete = isComplete
            self.requestTime = requestTime
            self.responseTime = responseTime
        }
    }

    /// What the application gets.
    package enum Delivery: Sendable {
        /// The server's answer.
        case arrival
        /// What is stored, under the head that validation has given it (B7.73).
        case stored(CachedURLResponse)
        /// Nothing yet: the request has to be sent once more, without conditions.
        case sendAgain
    }

    /// What becomes of what is stored.
    package enum Change: Sendable {
        /// It stays.
        case none
        /// This takes its place; where a delegate has a say it is the proposal.
        case store(CachedURLResponse)
        /// It has a new head.
        case renew(CachedURLResponse)
        /// It goes.
        case remove
    }

    /// Judges what a cache has found for a request.
    ///
    /// `sent` holds the fields as they are sent, those of the loader included.
    package init(
        _ request: URLRequest, sent: Fields, configured: NSURLRequest.CachePolicy, found: CachedURLResponse?,
        now: WallTime
    ) {
        self.request = request
        self.sent = sent
        self.found = found
        stored = found.map { Self.answer(of: $0, for: request, now: now) }
        decision = CacheRules.decision(
            policy: CachePolicy(request.values.cachePolicy, configured: configured), method: request.values.method,
            request: sent, stored: stored, now: now)
    }

    /// What a server's answer comes to.
    package func outcome(of arrival: Arrival) -> (delivery: Delivery, change: Change) {
        var isValidation = false
        if case .validate = decision { isValidation = true }
        var random = SystemRandomNumberGenerator()
        let outcome = CacheRules.outcome(
            method: request.values.method, request: sent, status: arrival.response.statusCode,
            news: ValidationRules.News(
                fields: arrival.response.arrivedFields, requestTime: arrival.requestTime,
                responseTime: arrival.responseTime),
            stored: stored, isValidation: isValidation, isComplete: arrival.isComplete,
            salt: SipHash.Words(random.next(), random.next()))
        switch outcome {
        case .sendAgain: return (.sendAgain, .none)
        case .deliverStored(let answer):
            guard let renewed = renewed(answer) else { return (.sendAgain, .none) }
            return (.stored(renewed), .renew(renewed))
        case .deliver(.none): return (.arrival, .none)
        case .deliver(.forget): return (.arrival, .remove)
        case .deliver(.freshen(let answer)): return (.arrival, renewed(answer).map(Change.renew) ?? .none)
        case .deliver(.store(let answer)):
            let length = arrival.response.expectedContentLength
            let response = Self.response(arrival.response.url, answer, expectedLength: length)
            return (
                .arrival,
                .store(
                    CachedURLResponse(
                        response: response, data: arrival.body, userInfo: nil, storagePolicy: .allowed, answer: answer))
            )
        }
    }

    /// What is stored under a new head; the body, and what the program keeps with it, stay.
    private func renewed(_ answer: StoredAnswer) -> CachedURLResponse? {
        found.map { found in
            CachedURLResponse(
                response: Self.response(
                    found.response.url, answer, expectedLength: found.response.expectedContentLength),
                data: found.data, userInfo: found.userInfo, storagePolicy: found.storagePolicy, answer: answer)
        }
    }

    private static func response(_ url: URL?, _ answer: StoredAnswer, expectedLength: Int64) -> HTTPURLResponse {
        HTTPURLResponse(
            url: url, status: answer.status, fields: answer.fields, expectedContentLength: expectedLength)
    }

    /// How a response came that a cache of the program's own may have kept without saying so: its Date then tells how
    /// old it is, and without one it counts as stale.
    private static func answer(of found: CachedURLResponse, for request: URLRequest, now: WallTime) -> StoredAnswer {
        if let answer = found.answer { return answer }
        var answer = found.prepared(for: request, at: now).1
        if !answer.fields.contains(.date) {
            answer.requestTime = WallTime(seconds: 0)
            answer.responseTime = WallTime(seconds: 0)
        }
        return answer
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
