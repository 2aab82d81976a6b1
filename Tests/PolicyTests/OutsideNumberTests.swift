// Numbers that servers, files and programs name, at the ends of what there is and beyond: nothing stops, and what comes
// of them makes sense. Fields are read by the fuzz targets too; these are the numbers that do not come as text.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite("Numbers from outside")
struct OutsideNumberTests {
    private static let ends: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
    private static let durations = ends.map { Duration.seconds($0) }
    private let manyDigits = String(repeating: "9", count: 40)

    private func fields(_ list: [(String, String)]) -> Fields {
        var fields = Fields()
        for (name, value) in list { fields.append(name, value) }
        return fields
    }

    // MARK: Dates

    @Test("B7.59, B7.61, B7.70: ages and lifetimes between any moments", arguments: ends, ends)
    func ages(requested: Int64, answered: Int64) {
        let dates = [
            "Sat, 01 Jan 0000 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 99999 23:59:59 GMT",
        ]
        let limits = ["min-fresh", "max-age", "max-stale"].map { "\($0)=\(manyDigits)" }
        let asked = fields([("Cache-Control", limits.joined(separator: ", "))])
        for (date, other) in zip(dates, dates.reversed()) {
            let stored = StoredAnswer(
                status: 200, fields: fields([("Date", date), ("Expires", other), ("Age", manyDigits)]),
                requestTime: WallTime(seconds: requested), responseTime: WallTime(seconds: answered),
                selection: Selection(isUnrepeatable: false, members: [], salt: SipHash.Words(0, 0)))
            #expect(stored.lifetime(stored.control).seconds >= 0)
            for now in Self.ends {
                #expect(stored.age(at: WallTime(seconds: now)) >= 1 << 31)
                let decision = CacheRules.decision(
                    policy: .protocolRules, method: "GET", request: asked, stored: stored, now: WallTime(seconds: now))
                #expect(decision == .load || decision == .use)
            }
        }
    }

    @Test("B7.69: any moment has a date, and years of two digits belong to any century", arguments: ends)
    func dates(seconds: Int64) {
        let time = WallTime(seconds: seconds)
        #expect(HTTPDate.text(time).hasSuffix(" GMT") && (0...6).contains(time.weekday))
        let read = HTTPDate.parse("Wednesday, 01-Jan-20 12:30:00 GMT", now: time)
        #expect((read != nil) == (0...9999).contains(time.date.year))
        #expect(time + .min <= time && time + .max >= time)
    }

    @Test(
        "B8.28, B8.29: ages and dates of cookies, however far",
        arguments: [
            ("Max-Age=9223372036854775807", 34_560_000), ("Max-Age=99999999999999999999999999", 34_560_000),
            ("Max-Age=-99999999999999999999999999", -.greatestFiniteMagnitude),
            ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", 34_560_000), ("Expires=Fri, 31 Dec 99999 23:59:59 GMT", nil),
            ("Expires=Mon, 01 Jan 1601 00:00:00 GMT", -12_622_780_800), ("Expires=Sun, 31 Dec 1600 00:00:00 GMT", nil),
            ("Expires=Mon, 01 Jan 0000 00:00:00 GMT", -31_622_400),
        ] as [(String, Double?)])
    func cookies(attribute: String, end: Double?) throws {
        let place = try #require(CookiePlace(scheme: "https", host: "a.example", port: .min, path: "/"))
        let cookie = Cookie(try #require(SetCookie("a=1; \(attribute)".utf8)), from: place, now: 0)
        #expect(cookie.expires == end)
    }

    @Test("B2.94: the time of a proof, whatever the clock says")
    func times() {
        let times = Self.ends.map { AuthenticationFreshness(bytes: [], secondsSince1970: $0).fileTime }
        #expect(times == times.sorted() && times.first == 0)
    }

    // MARK: Sizes and spans

    @Test("B7.8: the longest body of any capacities", arguments: ends, ends)
    func bodies(memory: Int64, disk: Int64) {
        let longest = StoringRules.longestBody(memoryCapacity: Int(memory), diskCapacity: Int(disk))
        #expect((longest == nil) == (memory <= 0 && disk <= 0) && longest ?? 0 >= 0)
    }

    private struct NoDial: Error {}

    @Test(
        "B16.1, B16.6: a pool of any limits, and servers that keep a connection for any time",
        arguments: durations, durations)
    func pool(kept: Duration, allowed: Duration) throws {
        for limit in [Int.min, .max] {
            var pool = PoolMachine(limits: PoolLimits(perHost: limit, idleTimeout: kept, idle: limit))
            let key = PoolKey(origin: try #require(Origin(scheme: .http, host: "a.example")))
            let now = Duration.seconds(1 << 40)
            pool.requested(1, key: key, priority: .infinity, now: now)
            guard case .dial(let dial) = pool.nextAction() else { throw NoDial() }
            pool.established(dial, now: now)
            #expect(pool.nextAction() == .use(1, dial))
            pool.released(dial, idleLimit: allowed, now: now)
            if allowed > .zero {
                guard case .setTimer(let deadline) = pool.nextAction() else {
                    Issue.record("no end of the idle time")
                    continue
                }
                #expect(deadline >= now && deadline <= now + .seconds(366 * 86_400))
                pool.timerFired(now: deadline)
            }
            #expect(pool.nextAction() == .close(dial))
            #expect(pool.counts == PoolCounts())
        }
    }

    @Test("B6.1, B16.10: any idle time, any resource time, any rhythm of attempts", arguments: durations)
    func spans(span: Duration) {
        let now = Duration.seconds(1 << 40)
        var deadlines = DeadlineMachine(idle: span, resource: span)
        deadlines.started(now)
        deadlines.held(now)
        deadlines.released(now + .seconds(1 << 40))
        deadlines.moved(now)
        #expect(deadlines.next != nil)
        _ = deadlines.expired(now)
        var race = AddressRace(families: [.ipv4, .ipv6], attemptDelay: span)
        guard case .set(let next) = race.start(now: now).timer else {
            Issue.record("no second attempt")
            return
        }
        #expect(next > now && next <= now + .seconds(2))
    }

    @Test("B14.4: a port outside 0 to 65535 makes no origin", arguments: [Int.min, -1, 65_536, .max])
    func ports(port: Int) {
        #expect(Origin(scheme: .http, host: "a.example", port: port) == nil)
    }
}
