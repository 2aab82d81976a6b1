import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Resolver", .timeLimit(.minutes(5)))
struct ResolverTests {
    private typealias Answer = Result<[SocketAddress], ResolverFailure>

    /// Resolves with a resolver made by `make`, and waits for the answer.
    private func resolve(
        _ host: String, port: Int = 80, on loop: Loop, _ make: @escaping @Sendable (Reactor) -> SystemResolver
    ) async throws -> Result<[String], ResolverFailure> {
        try await onLoop(loop) { reactor, finish in
            let resolver = make(reactor)
            var hasReturned = false
            _ = resolver.resolve(host, port: port) { result in
                #expect(hasReturned, "the completion ran inside resolve")
                #expect(reactor.loop.isCurrent)
                finish(result.map { $0.map(\.description) })
            }
            hasReturned = true
        }
    }

    /// A look-up that no test may reach.
    private static let noLookup: @Sendable (String) -> Answer = { host in
        Issue.record("\(host) was looked up")
        return .failure(ResolverFailure(reason: .failed, code: 0, host: host, message: ""))
    }

    private func address(_ literal: String) throws -> SocketAddress {
        try required(SocketAddress(literal: literal, port: 0), literal)
    }

    @Test(
        "B16.12: literals are answered without a look-up, zones included",
        arguments: [
            ("10.1.2.3", "10.1.2.3:80"), ("::1", "[::1]:80"), ("fe80::1%lo", "[fe80::1%lo]:80"),
            ("fe80::1%25lo", "[fe80::1%lo]:80"),
        ])
    func literals(host: String, expected: String) async throws {
        try await withLoop { loop in
            let answer = try await resolve(host, on: loop) {
                SystemResolver(reactor: $0, pool: .shared, lookUp: Self.noLookup)
            }
            #expect(answer == .success([expected]))
        }
    }

    @Test("B16.12: what needs no look-up is at hand: literals, overrides, answers that are still good")
    func atHand() async throws {
        let target = try address("10.0.0.1")
        try await withLoop { loop in
            let found: [[String]?] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, overrides: ["set.example": "10.0.0.7"], pool: .shared) {
                    _ in .success([target])
                }
                func atHand(_ host: String) -> [String]? {
                    resolver.addressesAtHand(host, port: 80)?.map(\.description)
                }
                var found = ["127.0.0.1", "::1", "Set.Example", "", "a\0b", "name.example"].map(atHand)
                _ = resolver.resolve("name.example", port: 1) { _ in
                    found.append(atHand("NAME.example"))
                    resolver.forget("Name.example", port: 80)
                    found.append(atHand("name.example"))
                    found.append(resolver.addressesAtHand("127.0.0.1", port: 70_000)?.map(\.description))
                    finish(found)
                }
            }
            #expect(
                found == [["127.0.0.1:80"], ["[::1]:80"], ["10.0.0.7:80"], nil, nil, nil, ["10.0.0.1:80"], nil, nil])
        }
        try await withLoop { loop in
            let found: [String]? = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, cacheLifetime: .zero, pool: .shared) { _ in
                    .success([target])
                }
                _ = resolver.resolve("name.example", port: 1) { _ in
                    finish(resolver.addressesAtHand("name.example", port: 80)?.map(\.description))
                }
            }
            #expect(found == nil, "an answer without a lifetime is not kept")
        }
    }

    @Test("numbers that are not an address are names, which the system reads in its own way")
    func shortNumbers() async throws {
        #expect(SocketAddress(literal: "127.1", port: 80) == nil)
        try await withLoop { loop in
            let answer = try await resolve("127.1", on: loop) { SystemResolver(reactor: $0) }
            #expect(answer == .success(["127.0.0.1:80"]))
        }
    }

    @Test("an override is used instead of a look-up, whatever the case of the name")
    func overrides() async throws {
        try await withLoop { loop in
            let make: @Sendable (Reactor) -> SystemResolver = {
                SystemResolver(
                    reactor: $0, overrides: ["Api.Example": "10.0.0.7", "six.example": "::7", "bad": "10.0.0.256"],
                    pool: .shared, lookUp: Self.noLookup)
            }
            #expect(try await resolve("api.EXAMPLE", port: 8080, on: loop, make) == .success(["10.0.0.7:8080"]))
            #expect(try await resolve("six.example", on: loop, make) == .success(["[::7]:80"]))
            let bad = try await resolve("bad", on: loop, make)
            guard case .failure(let failure) = bad else {
                Issue.record("an override that is no address was accepted")
                return
            }
            #expect(failure.reason == .notAName && failure.message.contains("10.0.0.256"))
        }
    }

    @Test("overrides may be lists, for one port, or for every other name; the nearest counts, and literals stay")
    func overridesByPlace() async throws {
        try await withLoop { loop in
            let make: @Sendable (Reactor) -> SystemResolver = {
                SystemResolver(
                    reactor: $0,
                    overrides: [
                        "a.example:443": "::1,10.0.0.1", "a.example": "10.0.0.2", "*:8080": "10.0.0.3", "*": "10.0.0.4",
                        "bad": "10.0.0.5,",
                    ], pool: .shared, lookUp: Self.noLookup)
            }
            #expect(
                try await resolve("A.example", port: 443, on: loop, make) == .success(["[::1]:443", "10.0.0.1:443"]))
            #expect(try await resolve("a.example", port: 8080, on: loop, make) == .success(["10.0.0.2:8080"]))
            #expect(try await resolve("b.example", port: 8080, on: loop, make) == .success(["10.0.0.3:8080"]))
            #expect(try await resolve("b.example", on: loop, make) == .success(["10.0.0.4:80"]))
            #expect(try await resolve("10.9.9.9", port: 8080, on: loop, make) == .success(["10.9.9.9:8080"]))
            guard case .failure = try await resolve("bad", on: loop, make) else {
                Issue.record("a list with an empty address was accepted")
                return
            }
        }
    }

    @Test(
        "text that cannot be a host name is not looked up",
        arguments: ["", "good.example\u{0}.evil", String(repeating: "a", count: 255)])
    func impossibleNames(host: String) async throws {
        try await withLoop { loop in
            let answer = try await resolve(host, on: loop) {
                SystemResolver(reactor: $0, pool: .shared, lookUp: Self.noLookup)
            }
            guard case .failure(let failure) = answer else {
                Issue.record("\(host) was resolved")
                return
            }
            #expect(failure.reason == .notAName && failure.host == host)
        }
    }

    @Test("B17.14: a name under .invalid does not exist, or the name service is out of reach")
    func invalidName() async throws {
        try await withLoop { loop in
            let answer = try await resolve("urlloading-test.invalid", on: loop) { SystemResolver(reactor: $0) }
            guard case .failure(let failure) = answer else {
                Issue.record("a name under .invalid was resolved")
                return
            }
            #expect(failure.reason == .noSuchHost || failure.reason == .temporary)
            #expect(failure.code != 0)
            #expect(failure.host == "urlloading-test.invalid")
            #expect(failure.description.hasPrefix("urlloading-test.invalid: "))
        }
    }

    @Test(
        "localhost, and every name under it, is this machine", arguments: ["localhost", "LocalHost.", "a.b.localhost"])
    func localhost(host: String) async throws {
        try await withLoop { loop in
            let addresses: [SocketAddress] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor)
                _ = resolver.resolve(host, port: 443) { finish((try? $0.get()) ?? []) }
            }
            #expect(!addresses.isEmpty)
            #expect(addresses.allSatisfy { $0.isLoopback && $0.port == 443 })
        }
    }

    @Test("a name under localhost never reaches the name service, and loopback answers when localhost is unknown")
    func localhostFallback() async throws {
        try await withLoop { loop in
            let asked = Log<String>()
            let answer = try await resolve("secret.localhost", on: loop) {
                SystemResolver(reactor: $0, pool: .shared) { host in
                    asked.append(host)
                    return .failure(ResolverFailure(reason: .noSuchHost, code: -2, host: host, message: "unknown"))
                }
            }
            #expect(answer == .success(["[::1]:80", "127.0.0.1:80"]))
            #expect(asked.all == ["localhost"])
        }
    }

    @Test("B16.80: an answer is kept for its lifetime, and asked for again when it is older or forgotten")
    func cache() async throws {
        let target = try address("10.0.0.1")
        try await withLoop { loop in
            let asked = Counter()
            let counts: [Int] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, pool: .shared) { _ in
                    asked.increment()
                    return .success([target])
                }
                var counts: [Int] = []
                _ = resolver.resolve("Name.example", port: 1) { first in
                    counts.append(asked.value)
                    _ = resolver.resolve("name.example", port: 2) { second in
                        #expect((try? first.get().first?.port) == 1 && (try? second.get().first?.port) == 2)
                        counts.append(asked.value)
                        resolver.forget("NAME.example", port: 80)
                        _ = resolver.resolve("name.example", port: 3) { _ in
                            counts.append(asked.value)
                            finish(counts)
                        }
                    }
                }
            }
            #expect(counts == [1, 1, 2])
        }
        try await withLoop { loop in
            let asked = Counter()
            let make: @Sendable (Reactor) -> SystemResolver = { reactor in
                SystemResolver(reactor: reactor, cacheLifetime: .zero, pool: .shared) { _ in
                    asked.increment()
                    return .success([target])
                }
            }
            let count: Int = try await onLoop(loop) { reactor, finish in
                let resolver = make(reactor)
                _ = resolver.resolve("name.example", port: 1) { _ in
                    _ = resolver.resolve("name.example", port: 1) { _ in finish(asked.value) }
                }
            }
            #expect(count == 2)
        }
    }

    @Test("B16.80: a failure is not kept")
    func failuresAreNotCached() async throws {
        let target = try address("10.0.0.1")
        try await withLoop { loop in
            let asked = Counter()
            let answers: [Bool] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, pool: .shared) { host in
                    asked.increment() == 1
                        ? .failure(ResolverFailure(reason: .temporary, code: -3, host: host, message: "later"))
                        : .success([target])
                }
                _ = resolver.resolve("name.example", port: 1) { first in
                    _ = resolver.resolve("name.example", port: 1) { second in
                        finish([(try? first.get()) != nil, (try? second.get()) != nil])
                    }
                }
            }
            #expect(answers == [false, true])
        }
    }

    @Test("the cache is bounded: the oldest answers go first")
    func cacheIsBounded() async throws {
        let target = try address("10.0.0.1")
        try await withLoop { loop in
            let asked = Counter()
            let counts: [Int] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, cacheLifetime: .seconds(3600), pool: .shared) { _ in
                    asked.increment()
                    return .success([target])
                }
                func resolveNext(_ number: Int) {
                    guard number < 300 else {
                        // The newest is still known, the first is not.
                        let before = asked.value
                        _ = resolver.resolve("299.example", port: 1) { _ in
                            let between = asked.value
                            _ = resolver.resolve("0.example", port: 1) { _ in finish([before, between, asked.value]) }
                        }
                        return
                    }
                    _ = resolver.resolve("\(number).example", port: 1) { _ in resolveNext(number + 1) }
                }
                resolveNext(0)
            }
            #expect(counts == [300, 300, 301])
        }
    }

    @Test("equal look-ups that are under way are one look-up, also across the resolvers of a loop")
    func coalescing() async throws {
        let target = try address("10.0.0.1")
        try await withLoop { loop in
            let gate = Gate()
            let asked = Counter()
            let count: Int = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, pool: .shared) { _ in
                    asked.increment()
                    gate.pass()
                    return .success([target])
                }
                var answers = 0
                for _ in 0..<20 {
                    _ = resolver.resolve("name.example", port: 80) { _ in
                        answers += 1
                        if answers == 20 {
                            finish(asked.value)
                        }
                    }
                }
                gate.open()
            }
            #expect(count == 1)
        }
    }

    @Test("B16.14: a cancelled look-up is forgotten at once; others that wait for its name get their answer")
    func cancelled() async throws {
        let target = try address("10.0.0.1")
        try await withLoop { loop in
            let gate = Gate()
            let log: [String] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, pool: .shared) { _ in
                    gate.pass()
                    return .success([target])
                }
                var log: [String] = []
                let first = resolver.resolve("name.example", port: 80) { _ in log.append("first") }
                _ = resolver.resolve("name.example", port: 80) { _ in
                    log.append("second")
                    reactor.later { reactor.later { finish(log) } }
                }
                let third = resolver.resolve("127.0.0.1", port: 80) { _ in log.append("literal") }
                first.cancel()
                first.cancel()
                third.cancel()
                gate.open()
            }
            #expect(log == ["second"])
        }
    }

    @Test("B16.14: a look-up that nobody waits for is not begun, and one that has begun serves whoever asks next")
    func calledOffInLine() async throws {
        let target = try address("10.0.0.1")
        let pool = BlockingPool(limit: 1, idleTime: .seconds(10), name: "test-names")
        try await withLoop { loop in
            let (begun, gate) = (Gate(), Gate())
            let asked = Log<String>()
            let answered: [String] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, pool: pool) { host in
                    asked.append(host)
                    begun.open()
                    gate.pass()
                    return .success([target])
                }
                var answered: [String] = []
                let slow = resolver.resolve("slow.example", port: 80) { _ in answered.append("cancelled slow") }
                begun.pass()
                let unwanted = resolver.resolve("unwanted.example", port: 80) { _ in answered.append("unwanted") }
                slow.cancel()
                unwanted.cancel()
                _ = resolver.resolve("slow.example", port: 80) { _ in answered.append("slow") }
                _ = resolver.resolve("last.example", port: 80) { _ in
                    answered.append("last")
                    finish(answered)
                }
                gate.open()
            }
            #expect(asked.all == ["slow.example", "last.example"])
            #expect(answered == ["slow", "last"])
        }
    }

    @Test(
        "B16.14: what this machine knows by itself does not wait for names that servers are asked for",
        arguments: ["localhost", "a.localhost", "127.1", "0x7f000001"])
    func besideSlowNames(host: String) async throws {
        let target = try address("127.0.0.1")
        let pool = BlockingPool(limit: 1, idleTime: .seconds(10), name: "test-names")
        try await withLoop { loop in
            let gate = Gate()
            let answered: [String] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, pool: pool) { host in
                    if host == "slow.example" { gate.pass() }
                    return .success([target])
                }
                var answered: [String] = []
                _ = resolver.resolve("slow.example", port: 80) { _ in
                    answered.append("slow")
                    finish(answered)
                }
                _ = resolver.resolve(host, port: 80) { _ in
                    answered.append(host)
                    gate.open()
                }
            }
            #expect(answered == [host, "slow"])
        }
    }

    @Test("B16.14: a name that the table of hosts has does not wait where the others have all threads")
    func besideFullThreads() async throws {
        let path = "/tmp/urlloading-\(getpid())-hosts"
        let file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0o600)
        let line = Array("10.0.0.1\tknown.example\n".utf8)
        #expect(write(file, line, line.count) == line.count)
        close(file)
        let target = try address("10.0.0.1")
        let pool = BlockingPool(limit: 1, idleTime: .seconds(10), name: "test-names")
        try await withLoop { loop in
            let (begun, gate) = (Gate(), Gate())
            let asked = Log<String>()
            let answered: [String] = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, pool: pool, hosts: HostsFile(path: path)) { host in
                    asked.append(host)
                    if host == "slow.example" {
                        begun.open()
                        gate.pass()
                    }
                    return .success([target])
                }
                var answered: [String] = []
                _ = resolver.resolve("slow.example", port: 80) { _ in answered.append("slow") }
                begun.pass()
                _ = resolver.resolve("other.example", port: 80) { _ in
                    answered.append("other")
                    finish(answered)
                }
                _ = resolver.resolve("Known.example", port: 80) { _ in
                    answered.append("known")
                    gate.open()
                }
            }
            #expect(answered == ["known", "slow", "other"])
            // Each is looked up once, whichever thread comes first.
            #expect(asked.all == ["slow.example", "known.example", "other.example"])
        }
        unlink(path)
    }

    @Test("a look-up whose caller cancelled releases what the completion held")
    func cancelReleases() async throws {
        final class Token {}
        let gate = Gate()
        try await withLoop { loop in
            let isGone: Bool = try await onLoop(loop) { reactor, finish in
                let resolver = SystemResolver(reactor: reactor, pool: .shared) { _ in
                    gate.pass()
                    return .success([])
                }
                weak var watched: Token?
                let resolution = {
                    let token = Token()
                    watched = token
                    return resolver.resolve("name.example", port: 80) { _ in _ = token }
                }()
                resolution.cancel()
                finish(watched == nil)
            }
            gate.open()
            #expect(isGone)
        }
    }

    @Test("a port outside 0...65535 is a failure")
    func ports() async throws {
        let target = try address("10.0.0.1")
        try await withLoop { loop in
            let answer = try await resolve("name.example", port: 70000, on: loop) {
                SystemResolver(reactor: $0, pool: .shared) { _ in .success([target]) }
            }
            guard case .failure(let failure) = answer else {
                Issue.record("port 70000 was accepted")
                return
            }
            #expect(failure.reason == .failed)
        }
    }
}
