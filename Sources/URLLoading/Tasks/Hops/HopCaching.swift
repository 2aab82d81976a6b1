// The loop's side of a cache's part in one hop: it hears the answer's head, keeps its body where nothing else does, and
// says at the end what it means for the cache.
//
// Confined to the loop, so it has no lock of its own. Must not know: where answers are kept, which delegate is asked
// about it.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

/// What a cache makes of one answer.
final class HopCaching {
    // `@exclusivity(unchecked)`: never leaves its loop, and nothing is called while a property is changed.
    let part: CachePart
    @exclusivity(unchecked) private var change = CachedLoad.Change.none
    @exclusivity(unchecked) private var worthless: [CacheKey] = []
    @exclusivity(unchecked) private var copy: WholeBody?
    /// How much more of the body may be kept.
    @exclusivity(unchecked) private var room: Int64 = 0
    /// What the server has confirmed: the answer in place of its own.
    @exclusivity(unchecked) private(set) var confirmed: CachedURLResponse?

    /// What is shown of an answer.
    enum Verdict {
        case everything
        /// Nothing: what is stored is the answer, or the request is sent again.
        case nothing(sendsAgain: Bool)
    }

    init(_ part: CachePart) {
        self.part = part
    }

    /// How the server of the next answer was accepted.
    @exclusivity(unchecked) var acceptance = ServerAcceptance.vouchedFor

    /// Hears the head of an answer. `collects`: the task keeps the whole body itself. `isJudgedApart`: the judge of
    /// the server decides for this load alone. `isUsers`: the connection may belong to a user.
    func meet(
        _ response: HTTPURLResponse, of request: URLRequest, framing: BodyFraming, decoding: Bool, collects: Bool,
        isJudgedApart: Bool, isUsers: Bool
    ) -> Verdict {
        worthless = InvalidationRules.keys(
            method: request.values.method, url: request.url?.absoluteString ?? "", status: response.statusCode,
            fields: response.arrivedFields)
        guard let load = part.load else { return .everything }
        let outcome = load.outcome(
            of: CachedLoad.Arrival(
                response: response, requestTime: part.requestTime, responseTime: part.session.clock(),
                acceptance: acceptance, isJudgedApart: isJudgedApart, isUsers: isUsers))
        change = outcome.change
        switch outcome.delivery {
        case .stored(let cached):
            confirmed = cached
            return .nothing(sendsAgain: false)
        case .sendAgain: return .nothing(sendsAgain: true)
        case .arrival: break
        }
        guard case .store(let proposal) = change else { return .everything }
        guard let limit = part.longestBody, proposal.response.expectedContentLength <= limit else {
            drop()
            return .everything
        }
        room = limit
        if !collects {
            copy = WholeBody()
            copy?.expect(framing, decoding: decoding)
        }
        return .everything
    }

    /// Whether the body of a redirect that is followed is kept: only if the redirect does not
    /// wait long for that (B4.33).
    func takesBody(ofRedirect framing: BodyFraming) -> Bool {
        guard case .store = change else { return false }
        switch framing {
        case .length(let length) where length > RedirectRules.discardedBodyLimit: drop()
        case .untilClose: drop()
        case .none, .chunked, .length:
            // The task collects nothing that is not delivered.
            if copy == nil { copy = WholeBody() }
            return true
        }
        return false
    }

    /// The next bytes of the body, decoded.
    func keep(_ bytes: UnsafeRawBufferPointer) {
        guard case .store = change else { return }
        room -= Int64(bytes.count)
        if room >= 0 { copy?.append(bytes) } else { drop() }
    }

    /// The answer is not stored after all (B7.8); what it would have taken the place of is not right any more.
    func drop() {
        guard case .store = change else { return }
        change = part.load?.found == nil ? .none : .remove
        copy = nil
    }

    /// The answer is no result, since another attempt follows: it changes nothing, and its body
    /// was read for no purpose.
    func ignore() {
        change = .none
        copy = nil
    }

    /// What the answer means for the cache. `whole` is the body where the task has kept it; nil for an answer that has
    /// broken off, which changes nothing (B7.50).
    func finish(isComplete: Bool, whole: Data, asksDelegates: Bool) -> [CacheStep] {
        var steps: [CacheStep] = worthless.isEmpty ? [] : [.remove(worthless)]
        guard isComplete else { return steps }
        switch change {
        case .none: break
        case .remove: steps.append(.remove([part.key]))
        case .renew(let cached): steps.append(.store(cached))
        case .store(let proposal):
            let cached = proposal.filled(with: copy?.data ?? whole)
            let isProposed = asksDelegates && StoringRules.isProposed(status: proposal.response.statusCode)
            steps.append(isProposed ? .propose(cached) : .store(cached))
        }
        return steps
    }
}
