// Names that are asked of a service that answers some time later, or never: which look-ups share a question, how long
// an answer is good, and what is called off.

import Testing
import URLLoadingSystem
import URLLoadingTestSupport

/// A name service that a test answers for.
private final class ScriptedNames: NameService {
    struct Question: Sendable {
        let host: String
        let answer: @Sendable (NameAnswer) -> Void
        let call: Call
    }

    /// What can be called off.
    final class Call: NameQuestion {
        private let state = Guarded(false)
        var isCancelled: Bool { state.withLock { $0 } }
        func withdraw() -> Bool { true }
        func cancel() { state.withLock { $0 = true } }
    }

    private let state = Guarded<[Question]>([])
    /// Answers at once, where there is one.
    let standing: NameAnswer?
    let knowsLocalNames: Bool
    var questions: [Question] { state.withLock { $0 } }
    var hosts: [String] { questions.map(\.host) }

    init(standing: NameAnswer? = nil, knowsLocalNames: Bool = false) {
        self.standing = standing
        self.knowsLocalNames = knowsLocalNames
    }

    func ask(_ host: String, answer: @escaping @Sendable (NameAnswer) -> Void) -> (any NameQuestion)? {
        let call = Call()
        state.withLock { $0.append(Question(host: host, answer: answer, call: call)) }
        if let standing { answer(standing) }
        return call
    }
}

@Suite("Name services")
struct NameServiceTests {
    private let reactor = Reactor(virtualTime: ())

    private func answer(_ literal: String = "10.0.0.1", lifetime: Duration? = nil) throws -> NameAnswer {
        NameAnswer(.success([try #require(SocketAddress(literal: literal, port: 0))]), lifetime: lifetime)
    }

    private func resolver(
        _ names: ScriptedNames, overrides: [String: String] = [:], cacheLifetime: Duration = .seconds(30)
    ) -> SystemResolver {
        SystemResolver(
            reactor: reactor, overrides: overrides, cacheLifetime: cacheLifetime, names: LookupTable(names))
    }

    @Test("B16.78: look-ups of one name share one question, and each gets the answer with the port it wants")
    func shared() throws {
        let names = ScriptedNames()
        let resolver = resolver(names)
        var found: [String] = []
        for (host, port) in [("a.test", 80), ("A.test", 443), ("b.test", 80), ("a.TEST", 80)] {
            _ = resolver.resolve(host, port: port) { found.append((try? $0.get().first?.description) ?? "none") }
        }
        #expect(names.hosts == ["a.test", "b.test"])
        names.questions[0].answer(try answer())
        names.questions[1].answer(
            NameAnswer(.failure(ResolverFailure(reason: .noSuchHost, code: 0, host: "b.test", message: "unknown"))))
        reactor.runPending()
        #expect(found == ["10.0.0.1:80", "10.0.0.1:443", "10.0.0.1:80", "none"])
        reactor.tearDown()
    }

    @Test("B16.78: an answer that comes before the question has returned reaches its look-up, and is not called off")
    func atOnce() throws {
        let names = ScriptedNames(standing: try answer())
        let resolver = resolver(names)
        var found: [String] = []
        _ = resolver.resolve("a.test", port: 80) { found += (try? $0.get().map(\.description)) ?? [] }
        #expect(found.isEmpty, "never before resolve has returned")
        reactor.runPending()
        #expect(found == ["10.0.0.1:80"] && !names.questions[0].call.isCancelled)
        reactor.tearDown()
    }

    @Test(
        "B16.78: an answer is kept for as long as its service says, or for the usual time where it does not say",
        arguments: [
            (Duration?.none, [1, 1, 2]), (.seconds(60), [1, 1, 1]), (.zero, [1, 2, 3]), (.seconds(-5), [1, 2, 3]),
            (.milliseconds(9_500), [1, 1, 2]),
        ])
    func lifetime(_ lifetime: Duration?, _ expected: [Int]) throws {
        let names = ScriptedNames(standing: try answer(lifetime: lifetime))
        let resolver = resolver(names, cacheLifetime: .seconds(12))
        var asked: [Int] = []
        // At once, after some 6 seconds, and after some 18.
        for pause in [Duration.zero, .seconds(6), .seconds(12)] {
            reactor.advance(by: pause)
            if resolver.addressesAtHand("a.test", port: 1) == nil { _ = resolver.resolve("a.test", port: 1) { _ in } }
            reactor.runPending()
            asked.append(names.questions.count)
        }
        #expect(asked == expected)
        reactor.tearDown()
    }

    @Test("B16.78: a question is called off with the last look-up that waits for it, and a late answer is dropped")
    func calledOff() throws {
        let names = ScriptedNames()
        let resolver = resolver(names)
        var found: [String] = []
        let first = resolver.resolve("a.test", port: 80) { _ in found.append("first") }
        let second = resolver.resolve("a.test", port: 80) { _ in found.append("second") }
        first.cancel()
        first.cancel()
        #expect(!names.questions[0].call.isCancelled)
        second.cancel()
        #expect(names.questions[0].call.isCancelled)
        _ = resolver.resolve("a.test", port: 80) { found += (try? $0.get().map(\.description)) ?? [] }
        #expect(names.questions.count == 2, "a new question")
        names.questions[0].answer(try answer("10.0.0.9"))
        reactor.runPending()
        #expect(found.isEmpty && resolver.addressesAtHand("a.test", port: 80) == nil)
        names.questions[1].answer(try answer("10.0.0.2"))
        names.questions[1].answer(try answer("10.0.0.3"))
        reactor.runPending()
        #expect(found == ["10.0.0.2:80"] && !names.questions[1].call.isCancelled)
        reactor.tearDown()
    }

    @Test("B16.78: literals, localhost, overridden names and impossible names are not asked for")
    func unasked() throws {
        let names = ScriptedNames()
        let resolver = resolver(names, overrides: ["set.test": "10.0.0.7"])
        for (host, expected) in [
            ("127.0.0.1", ["127.0.0.1:80"]), ("::1", ["[::1]:80"]), ("Set.test", ["10.0.0.7:80"]),
            ("LOCALHOST", ["[::1]:80", "127.0.0.1:80"]), ("a.localhost.", ["[::1]:80", "127.0.0.1:80"]),
        ] {
            #expect(resolver.addressesAtHand(host, port: 80)?.map(\.description) == expected, "\(host)")
        }
        var failures = 0
        for host in ["", "good.test\0.evil", String(repeating: "a", count: 255)] {
            _ = resolver.resolve(host, port: 80) { if case .failure = $0 { failures += 1 } }
        }
        reactor.runPending()
        #expect(names.hosts.isEmpty && failures == 3)
        reactor.tearDown()
    }

    @Test("B16.82: a name that stands in for a host is looked up in its stead, and forgotten where it leads nowhere")
    func standIn() throws {
        let names = ScriptedNames(standing: try answer(lifetime: .seconds(3_600)))
        let resolver = resolver(names, overrides: ["a.test": "b.test:8443", "c.test:80": ":81"])
        var found: [String] = []
        for host in ["A.test", "c.test"] {
            _ = resolver.resolve(host, port: 80) { found.append((try? $0.get().first?.description) ?? "none") }
        }
        reactor.runPending()
        #expect(names.hosts == ["b.test", "c.test"] && found == ["10.0.0.1:8443", "10.0.0.1:81"])
        #expect(resolver.addressesAtHand("a.test", port: 80)?.map(\.description) == ["10.0.0.1:8443"])
        #expect(resolver.addressesAtHand("b.test", port: 80)?.map(\.description) == ["10.0.0.1:80"])
        resolver.forget("a.test", port: 80)
        #expect(resolver.addressesAtHand("b.test", port: 80) == nil)
        reactor.tearDown()
    }

    @Test("B16.78: an answer without any address that could be connected to is forgotten")
    func forgotten() throws {
        let names = ScriptedNames(standing: try answer(lifetime: .seconds(3_600)))
        let resolver = resolver(names)
        _ = resolver.resolve("a.test", port: 80) { _ in }
        reactor.runPending()
        #expect(resolver.addressesAtHand("a.test", port: 80) != nil)
        resolver.forget("A.test", port: 80)
        #expect(resolver.addressesAtHand("a.test", port: 80) == nil)
        reactor.tearDown()
    }

    @Test("B16.78: what one loop has the table forget no other remembers, whatever it was that it found last")
    func forgottenElsewhere() throws {
        let table = LookupTable(ScriptedNames(standing: try answer(lifetime: .seconds(3_600))))
        let (one, other) = (
            SystemResolver(reactor: reactor, names: table), SystemResolver(reactor: reactor, names: table)
        )
        for host in ["a.test", "b.test"] { _ = one.resolve(host, port: 80) { _ in } }
        reactor.runPending()
        for resolver in [one, other, one, other] { #expect(resolver.addressesAtHand("a.test", port: 80) != nil) }
        one.forget("b.test", port: 80)
        #expect(other.addressesAtHand("a.test", port: 80) != nil)
        one.forget("a.test", port: 80)
        #expect(other.addressesAtHand("a.test", port: 80) == nil)
        #expect(one.addressesAtHand("a.test", port: 80) == nil)
        reactor.tearDown()
    }

    @Test("B16.78: an answer that made room for others is not remembered by a loop")
    func pushedOut() throws {
        let table = LookupTable(ScriptedNames(standing: try answer(lifetime: .seconds(3_600))))
        let (one, other) = (
            SystemResolver(reactor: reactor, names: table), SystemResolver(reactor: reactor, names: table)
        )
        _ = one.resolve("a.test", port: 80) { _ in }
        reactor.runPending()
        #expect(one.addressesAtHand("a.test", port: 80) != nil)
        for number in 0..<256 {
            _ = other.resolve("n\(number).test", port: 80) { _ in }
            reactor.runPending()
        }
        #expect(one.addressesAtHand("a.test", port: 80) == nil)
        reactor.tearDown()
    }

    @Test(
        "B16.78: a service that keeps what it answers with keeps its session's table only until the answer, or until it is called off",
        arguments: [true, false])
    func released(isCalledOff: Bool) throws {
        let names = ScriptedNames()
        weak var table: LookupTable?
        var wasFound = false
        do {
            let made = LookupTable(names)
            table = made
            let look = SystemResolver(reactor: reactor, names: made).resolve("a.test", port: 80) { _ in wasFound = true
            }
            if isCalledOff { look.cancel() }
        }
        #expect((table == nil) == isCalledOff)
        names.questions[0].answer(try answer())
        reactor.runPending()
        #expect(table == nil && wasFound != isCalledOff)
        reactor.tearDown()
    }

    @Test("Of more answers than are kept the oldest goes; one that was forgotten and came again is new")
    func oldest() throws {
        let names = ScriptedNames(standing: try answer(lifetime: .seconds(3_600)))
        let resolver = resolver(names)
        func asks(_ host: String) -> Bool {
            let before = names.hosts.count
            _ = resolver.resolve(host, port: 80) { _ in }
            reactor.runPending()
            return names.hosts.count > before
        }
        // As many as are kept, the first of them more often than the line of all that came is long.
        for number in 0..<256 { #expect(asks("h\(number).test")) }
        for _ in 0..<2_000 {
            resolver.forget("h0.test", port: 80)
            #expect(asks("h0.test"))
        }
        #expect(asks("new.test"))
        #expect(!asks("h0.test") && !asks("new.test") && !asks("h2.test"))
        #expect(asks("h1.test"))
        // In its place went the next one.
        #expect(!asks("h3.test") && asks("h2.test"))
        reactor.tearDown()
    }
}
