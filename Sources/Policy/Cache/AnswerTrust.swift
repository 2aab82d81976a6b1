// How the server of a stored answer was trusted, and for which loads that is enough: behaviour B7.102. An answer of a
// server that the default evaluation would have refused serves only loads with the judge or rule that has accepted it.
// An answer that was kept before this was written down serves no load over TLS. It must not know evaluators, delegates
// or sessions: those are marks here.

/// How the server of an answer was trusted.
package enum AnswerTrust: Sendable, Hashable {
    /// It did not have to be: the answer came without TLS.
    case plain
    /// The program itself has stored the answer, and vouches for it.
    case program
    /// Its certificates were believed: by a rule that is never wider than the default evaluation, by a session of this
    /// run, or by both. With neither it is not known how.
    indirect case judged(rule: Mark?, judge: Mark?)

    /// What tells one rule, or one judge, from every other.
    package typealias Mark = SipHash.Words

    /// It is not known how, so that the answer serves no load over TLS.
    package static let unknown = AnswerTrust.judged(rule: nil, judge: nil)

    /// Whether there is a load that the answer may serve.
    var isOfUse: Bool { self != .unknown }

    /// How what is made of an answer and of news about it was trusted; nil where the two must not be put together.
    package func joined(with news: AnswerTrust) -> AnswerTrust? {
        switch (self, news) {
        case (_, .program): return self
        case (_, .unknown): return nil
        case (.program, _): return news
        case (.plain, .plain): return .plain
        case (.judged(let rule, let judge), .judged(let otherRule, let otherJudge)):
            // What both have; of a rule it is enough, whichever load has applied it.
            let commonRule = rule == otherRule ? rule : nil
            let commonJudge = judge == otherJudge ? judge : nil
            if commonRule == nil, commonJudge == nil { return nil }
            return .judged(rule: commonRule, judge: commonJudge)
        case (.plain, .judged), (.judged, .plain): return nil
        }
    }

    // MARK: As bytes

    /// As it stands in files and archives.
    package var encoded: [UInt8] {
        var writer = ByteWriter(capacity: 40)
        write(to: &writer)
        return writer.bytes
    }

    /// Reads what `encoded` has written; nil for anything else.
    package init?(encoded: [UInt8]) {
        let read = encoded.withUnsafeBytes { bytes -> AnswerTrust? in
            var reader = ByteReader(bytes)
            let trust = AnswerTrust(from: &reader)
            return reader.isAtEnd ? trust : nil
        }
        guard let read else { return nil }
        self = read
    }

    func write(to writer: inout ByteWriter) {
        switch self {
        case .plain: writer.number(UInt8(0))
        case .program: writer.number(UInt8(1))
        case .judged(let rule, let judge):
            writer.number(UInt8(2 | (rule == nil ? 0 : 4) | (judge == nil ? 0 : 8)))
            if let rule { writer.words(rule) }
            if let judge { writer.words(judge) }
        }
    }

    init?(from reader: inout ByteReader) {
        guard let kind = reader.number(UInt8.self) else { return nil }
        switch kind {
        case 0: self = .plain
        case 1: self = .program
        case 2, 6, 10, 14:
            let rule = kind & 4 == 0 ? nil : reader.words()
            let judge = kind & 8 == 0 ? nil : reader.words()
            guard (rule == nil) == (kind & 4 == 0), (judge == nil) == (kind & 8 == 0) else { return nil }
            self = .judged(rule: rule, judge: judge)
        default: return nil
        }
    }
}

/// How the server at the other end of a connection was accepted.
package enum ServerAcceptance: Sendable, Hashable {
    /// There was nothing to accept: no TLS.
    case plain
    /// The session's evaluation has believed it.
    case evaluated
    /// A delegate's answer accepted it in place of the evaluation.
    case vouchedFor
    /// It was accepted in one of these ways, and knows a certificate of ours: it may answer for
    /// its owner alone (B7.106).
    case identified

    /// Whether what comes from the server is for those alone who share a delegate's decisions.
    package var isOfJudge: Bool { self == .vouchedFor || self == .identified }
}

/// What a load asks of the trust by which an answer came, and how its own answer is marked.
package struct TrustDemand: Sendable, Hashable {
    private let isSecure: Bool
    private let rule: AnswerTrust.Mark?
    private let judge: AnswerTrust.Mark?
    private let ruleSuffices: Bool

    /// What a load over TLS asks.
    ///
    /// - rule: the mark of the rule by which its session's evaluation judges; nil for one that may accept a server that
    ///   the default evaluation refuses.
    /// - judge: the mark of the delegate that decides in this run; nil where no later load has the same.
    /// - ruleSuffices: whether the rule alone decides.
    package init(rule: AnswerTrust.Mark?, judge: AnswerTrust.Mark?, ruleSuffices: Bool) {
        isSecure = true
        self.rule = rule
        self.judge = judge
        self.ruleSuffices = ruleSuffices
    }

    private init() {
        isSecure = false
        rule = nil
        judge = nil
        ruleSuffices = false
    }

    /// What a load without TLS asks.
    package static let plain = TrustDemand()

    /// Whether an answer that came so may serve the load.
    package func admits(_ trust: AnswerTrust) -> Bool {
        switch trust {
        case .program: true
        case .plain: !isSecure
        case .judged(let rule, let judge):
            isSecure
                && (judge != nil && judge == self.judge || ruleSuffices && rule != nil && rule == self.rule)
        }
    }

    /// How the load's own answer came.
    package func trust(of acceptance: ServerAcceptance) -> AnswerTrust {
        switch acceptance {
        case .plain: .plain
        case .evaluated: .judged(rule: rule, judge: judge)
        case .vouchedFor, .identified: .judged(rule: nil, judge: judge)
        }
    }

    /// This demand for an answer whose judge no later load shares.
    package var withoutJudge: TrustDemand {
        isSecure ? TrustDemand(rule: rule, judge: nil, ruleSuffices: ruleSuffices) : self
    }
}
