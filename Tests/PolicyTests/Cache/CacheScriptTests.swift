// The sequences of Tests/Vectors/cache.txt against the pure rules: a table of what is stored stands for a cache,
// numbers stand for bodies. URLLoadingTests run these sequences against real caches.

import Testing
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@Suite struct CacheScriptTests {
    static let scripts = ExchangeScript.load("cache.txt") { seconds, form in
        CacheScriptTests.date(WallTime(seconds: seconds), form)
    }

    @Test("At least two hundred sequences are there, and no title twice")
    func count() {
        #expect(Self.scripts.count >= 200)
        #expect(Set(Self.scripts.map(\.title)).count == Self.scripts.count)
    }

    @Test("Every sequence ends as its lines say", arguments: scripts)
    func sequence(script: ExchangeScript) {
        var run = PureCacheRun()
        for step in script.steps { run.take(step) }
        #expect(run.wasAnythingExpected, "a sequence that expects nothing proves nothing")
    }

    /// A date in one of the three forms.
    private static func date(_ time: WallTime, _ form: String) -> String {
        let fixed = HTTPDate.text(time)
        let words = fixed.split(separator: " ").map(String.init)
        switch form {
        case "850":
            let days = ["Sun": "Sunday", "Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday"]
            let others = ["Fri": "Friday", "Sat": "Saturday"]
            let day = String(words[0].prefix(3))
            let name = days[day] ?? others[day] ?? ""
            return "\(name), \(words[1])-\(words[2])-\(words[3].suffix(2)) \(words[4]) GMT"
        case "asctime":
            let day = words[1].hasPrefix("0") ? " " + words[1].suffix(1) : words[1]
            return "\(words[0].prefix(3)) \(words[2]) \(day) \(words[4]) \(words[3])"
        default: return fixed
        }
    }
}

/// A cache made of the rules and nothing else.
private struct PureCacheRun {
    private var now = WallTime(seconds: ExchangeScript.beginning)
    private var policy = CachePolicy.protocolRules
    private var stored: [CacheKey: (answer: StoredAnswer, body: Int)] = [:]
    private var bodies = 0
    private var request: (method: String, url: String, fields: Fields)?
    private var decision: CacheDecision?
    private var outcome: (seen: CacheOutcome, status: Int, head: Fields, body: Int)?
    private(set) var wasAnythingExpected = false

    private let salt = SipHash.Words(1, 2)

    mutating func take(_ step: ExchangeScript.Step) {
        switch step {
        case .policy(let name): setPolicy(name)
        case .wait(let seconds): now = now + seconds
        case .request(let method, let url, let fields): ask(method, url, Self.fields(fields))
        case .decision(let expected):
            wasAnythingExpected = true
            #expect(decision == Self.decision(expected))
        case .answer(let status, let isComplete, let delay, let fields):
            answer(status, isComplete: isComplete, delay: delay, Self.fields(fields))
        case .result(let expected):
            wasAnythingExpected = true
            compare(expected)
        case .stored(let url, let expected):
            wasAnythingExpected = true
            compare(CacheKey(url).flatMap { stored[$0]?.answer }, expected)
        case .nonsense(let line): Issue.record("a line that is not understood: \(line)")
        }
    }

    private mutating func setPolicy(_ name: String) {
        switch name {
        case "protocol": policy = .protocolRules
        case "reload": policy = .reload
        case "else": policy = .storedElseLoad
        case "only": policy = .storedOnly
        case "revalidate": policy = .revalidate
        default: Issue.record("no policy: \(name)")
        }
    }

    private mutating func ask(_ method: String, _ url: String, _ fields: Fields) {
        guard let key = CacheKey(url) else {
            Issue.record("no key: \(url)")
            return
        }
        request = (method, url, fields)
        let entry = stored[key]
        decision = CacheRules.decision(
            policy: policy, method: method, request: fields, stored: entry?.answer, now: now)
        if decision == .use, let entry {
            outcome = (.deliverStored(entry.answer, .none), entry.answer.status, entry.answer.fields, entry.body)
        } else {
            outcome = nil
        }
    }

    private mutating func answer(_ status: Int, isComplete: Bool, delay: Int64, _ fields: Fields) {
        guard let request, let key = CacheKey(request.url) else { return }
        let sent = now
        now = now + delay
        if status != 304 { bodies += 1 }
        let entry = stored[key]
        var isValidation = false
        if case .validate = decision { isValidation = true }
        let news = ValidationRules.News(fields: fields, requestTime: sent, responseTime: now)
        let seen = CacheRules.outcome(
            method: request.method, request: request.fields, status: status, news: news, stored: entry?.answer,
            isValidation: isValidation, isComplete: isComplete, salt: salt)
        switch seen {
        case .deliver(let change):
            outcome = (seen, status, fields, bodies)
            apply(change, key)
        case .deliverStored(let answer, let change):
            apply(change, key)
            outcome = (seen, answer.status, answer.fields, entry?.body ?? 0)
        case .sendAgain:
            outcome = (seen, status, fields, bodies)
        }
        for key in InvalidationRules.keys(
            method: request.method, url: request.url, status: status, fields: fields)
        {
            stored[key] = nil
        }
    }

    private mutating func apply(_ change: CacheChange, _ key: CacheKey) {
        switch change {
        case .none: break
        case .store(let answer): stored[key] = (answer, bodies)
        case .freshen(let answer): stored[key]?.answer = answer
        case .forget: stored[key] = nil
        }
    }

    private func compare(_ expected: ExchangeScript.Result) {
        guard let outcome else {
            Issue.record("nothing has come yet")
            return
        }
        switch expected {
        case .again: #expect(outcome.seen == .sendAgain)
        case .new(let status):
            #expect(outcome.status == status)
            if case .deliver = outcome.seen { break }
            Issue.record("expected the server's answer: \(outcome.seen)")
        case .stored(let status, let body, let expectation):
            #expect(outcome.status == status)
            if let body { #expect(outcome.body == body) }
            if case .deliverStored = outcome.seen {
                compare(outcome.head, expectation)
            } else {
                Issue.record("expected what is stored: \(outcome.seen)")
            }
        }
    }

    private func compare(_ answer: StoredAnswer?, _ expected: ExchangeScript.Expectation?) {
        #expect((answer == nil) == (expected == nil))
        if let answer, let expected { compare(answer.fields, expected) }
    }

    private func compare(_ fields: Fields, _ expected: ExchangeScript.Expectation) {
        for field in expected.fields { #expect(fields.combined(FieldName(field.name)) == field.value) }
        for name in expected.absent { #expect(!fields.contains(FieldName(name))) }
    }

    private static func decision(_ expected: ExchangeScript.Decision) -> CacheDecision {
        switch expected {
        case .load: .load
        case .use: .use
        case .fail: .fail
        case .validate(let conditions): .validate(fields(conditions))
        }
    }

    private static func fields(_ list: [ExchangeScript.Field]) -> Fields {
        var fields = Fields()
        for field in list { fields.append(field.name, field.value) }
        return fields
    }
}
