// Which loads a stored answer may serve, by how its server was trusted (B7.102), as values.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite struct AnswerTrustTests {
    private static let rule = SipHash.Words(1, 2)
    private static let otherRule = SipHash.Words(1, 3)
    private static let judge = SipHash.Words(5, 6)
    private static let otherJudge = SipHash.Words(5, 7)

    private static let all: [AnswerTrust] = [
        .plain, .program, .unknown, .judged(rule: rule, judge: nil), .judged(rule: nil, judge: judge),
        .judged(rule: rule, judge: judge), .judged(rule: otherRule, judge: otherJudge),
    ]

    @Test("B7.102: without a delegate an answer serves every session with its rule, and none with another rule")
    func byRule() {
        let demand = TrustDemand(rule: Self.rule, judge: Self.judge, ruleSuffices: true)
        #expect(demand.admits(.judged(rule: Self.rule, judge: nil)))
        #expect(demand.admits(.judged(rule: Self.rule, judge: Self.otherJudge)))
        #expect(demand.admits(.judged(rule: nil, judge: Self.judge)), "its own session let it in")
        #expect(demand.admits(.program))
        #expect(!demand.admits(.judged(rule: Self.otherRule, judge: Self.otherJudge)))
        #expect(!demand.admits(.judged(rule: nil, judge: Self.otherJudge)))
        #expect(!demand.admits(.unknown) && !demand.admits(.plain))
    }

    @Test("B7.102: a session with a delegate, or with a rule without a name, is served only its own answers")
    func byJudge() {
        let asking = TrustDemand(rule: Self.rule, judge: Self.judge, ruleSuffices: false)
        let wide = TrustDemand(rule: nil, judge: Self.judge, ruleSuffices: true)
        for demand in [asking, wide] {
            #expect(demand.admits(.judged(rule: Self.rule, judge: Self.judge)))
            #expect(!demand.admits(.judged(rule: Self.rule, judge: nil)))
            #expect(!demand.admits(.judged(rule: nil, judge: nil)))
        }
        let alone = TrustDemand(rule: Self.rule, judge: nil, ruleSuffices: false)
        #expect(Self.all.filter(alone.admits) == [.program])
        #expect(Self.all.filter(TrustDemand.plain.admits) == [.plain, .program])
    }

    @Test("B7.102: an answer is marked by how its server was accepted")
    func marking() {
        let demand = TrustDemand(rule: Self.rule, judge: Self.judge, ruleSuffices: true)
        #expect(demand.trust(of: .plain) == .plain)
        #expect(demand.trust(of: .evaluated) == .judged(rule: Self.rule, judge: Self.judge))
        #expect(demand.trust(of: .vouchedFor) == .judged(rule: nil, judge: Self.judge))
        #expect(demand.withoutJudge.trust(of: .vouchedFor) == .unknown)
        #expect(TrustDemand.plain.withoutJudge == .plain)
    }

    @Test("B7.106: an answer of a server that knows a certificate of ours stays with its session, or serves nobody")
    func identified() {
        let demand = TrustDemand(rule: Self.rule, judge: Self.judge, ruleSuffices: true)
        #expect(demand.trust(of: .identified) == .judged(rule: nil, judge: Self.judge))
        #expect(demand.withoutJudge.trust(of: .identified) == .unknown)
    }

    @Test("B7.102: an answer joined with news serves no load that either of the two may not serve")
    func joining() {
        let demands = [Self.rule, Self.otherRule, nil].flatMap { rule in
            [Self.judge, Self.otherJudge, nil].flatMap { judge in
                [true, false].map { TrustDemand(rule: rule, judge: judge, ruleSuffices: $0) }
            }
        }
        for stored in Self.all {
            for news in Self.all {
                guard let joined = stored.joined(with: news) else { continue }
                for demand in demands + [.plain] where demand.admits(joined) {
                    #expect(demand.admits(stored) && demand.admits(news), "\(stored) and \(news)")
                }
            }
        }
        let both = AnswerTrust.judged(rule: Self.rule, judge: Self.judge)
        #expect(both.joined(with: both) == both)
        #expect(AnswerTrust.plain.joined(with: .plain) == .plain)
        #expect(AnswerTrust.program.joined(with: both) == both)
        #expect(both.joined(with: .judged(rule: nil, judge: Self.judge)) == .judged(rule: nil, judge: Self.judge))
        #expect(both.joined(with: .judged(rule: Self.otherRule, judge: Self.otherJudge)) == nil)
        #expect(AnswerTrust.program.joined(with: .unknown) == nil)
    }

    @Test("B7.102: a mark is read back from its bytes; other bytes are refused")
    func bytes() {
        for trust in Self.all {
            let encoded = trust.encoded
            #expect(AnswerTrust(encoded: encoded) == trust)
            for length in 0..<encoded.count { #expect(AnswerTrust(encoded: Array(encoded[..<length])) == nil) }
            #expect(AnswerTrust(encoded: encoded + [0]) == nil)
        }
        for kind in UInt8.min...UInt8.max where ![0, 1, 2, 6, 10, 14].contains(kind) {
            #expect(AnswerTrust(encoded: [kind] + [UInt8](repeating: 1, count: 32)) == nil)
        }
    }

    @Test("B7.102: an https answer that an earlier version has stored is marked as of unknown trust")
    func earlierVersions() throws {
        for (key, trust) in [("https://h.example/", AnswerTrust.unknown), ("http://h.example/", .plain)] {
            let record = CacheRecord(
                key: key, url: key, answer: Self.answer(.plain), isHTTP: true, expectedLength: 0, storedAt: 0)
            let file = try #require(record.encoded(bodyLength: 0, bodyDigest: 0))
            #expect(file.starts(with: Array("URLLCV02".utf8)))
            // Earlier heads end before the one byte that stands for `plain`.
            let head = file[CacheRecord.Preamble.length...].dropLast()
            let read = Array(head).withUnsafeBytes { CacheRecord(head: $0, form: .first) }
            #expect(read?.answer.trust == trust)
            #expect(Array(head).withUnsafeBytes { CacheRecord(head: $0) } == nil, "no head of today")
        }
    }

    @Test("B7.102: an answer is stored with its mark; one that could serve no load removes the stored one instead")
    func storing() {
        func outcome(_ trust: AnswerTrust, over stored: StoredAnswer?) -> CacheOutcome {
            CacheRules.outcome(
                method: "GET", request: Fields(), status: 200, news: Self.news(trust), stored: stored,
                isValidation: false, salt: SipHash.Words(0, 0))
        }
        for trust in Self.all where trust != .unknown {
            guard case .deliver(.store(let answer)) = outcome(trust, over: nil) else {
                Issue.record("\(trust) is not stored")
                continue
            }
            #expect(answer.trust == trust)
        }
        #expect(outcome(.unknown, over: nil) == .deliver(.none))
        #expect(outcome(.unknown, over: Self.answer(.program)) == .deliver(.forget))
    }

    @Test("B7.104: an answer that may be a user's of whom its request says nothing is stored only where it is public")
    func usersAnswers() {
        func outcome(_ control: String, over stored: StoredAnswer?, isUsers: Bool = true) -> CacheOutcome {
            var fields = Self.fields
            fields.append(.cacheControl, control)
            return CacheRules.outcome(
                method: "GET", request: Fields(), status: 200,
                news: ValidationRules.News(
                    fields: fields, requestTime: WallTime(seconds: 0), responseTime: WallTime(seconds: 0), trust: .plain
                ),
                stored: stored, isValidation: false, isUsers: isUsers, salt: SipHash.Words(0, 0))
        }
        func isStored(_ outcome: CacheOutcome) -> Bool {
            if case .deliver(.store) = outcome { true } else { false }
        }
        for control in ["max-age=60", "private", "public=\"x\"", "max-age=60, must-revalidate"] {
            #expect(outcome(control, over: nil) == .deliver(.none), "\(control)")
            #expect(outcome(control, over: Self.answer(.plain)) == .deliver(.forget), "\(control)")
            #expect(isStored(outcome(control, over: nil, isUsers: false)), "\(control)")
        }
        #expect(isStored(outcome("max-age=60, Public", over: nil)))
    }

    @Test("B7.102: a 304 under another trust confirms nothing, and the request is sent again without conditions")
    func validating() {
        func outcome(_ stored: AnswerTrust, _ news: AnswerTrust) -> CacheOutcome {
            CacheRules.outcome(
                method: "GET", request: Fields(), status: 304, news: Self.news(news), stored: Self.answer(stored),
                isValidation: true, salt: SipHash.Words(0, 0))
        }
        let own = AnswerTrust.judged(rule: Self.rule, judge: Self.judge)
        guard case .deliverStored(let answer, .freshen) = outcome(.judged(rule: Self.rule, judge: nil), own) else {
            Issue.record("it is not confirmed")
            return
        }
        #expect(answer.trust == .judged(rule: Self.rule, judge: nil))
        #expect(outcome(own, .judged(rule: Self.otherRule, judge: Self.otherJudge)) == .sendAgain)
        #expect(outcome(own, .unknown) == .sendAgain)
    }

    private static func answer(_ trust: AnswerTrust) -> StoredAnswer {
        StoredAnswer(
            status: 200, fields: fields, requestTime: WallTime(seconds: 0), responseTime: WallTime(seconds: 0),
            selection: Selection(isUnrepeatable: false, members: [], salt: SipHash.Words(0, 0)), trust: trust)
    }

    private static func news(_ trust: AnswerTrust) -> ValidationRules.News {
        ValidationRules.News(
            fields: fields, requestTime: WallTime(seconds: 0), responseTime: WallTime(seconds: 0), trust: trust)
    }

    private static var fields: Fields {
        var fields = Fields()
        fields.append("ETag", "\"v\"")
        return fields
    }
}
