// The parts of the cache's rules that sequences of exchanges do not show: sizes, hostile bytes, digests, records.

import Testing
import URLLoadingPolicy
import URLLoadingWire

@Suite struct CacheRulesTests {
    private func fields(_ list: (String, String)...) -> Fields {
        var fields = Fields()
        for (name, value) in list { fields.append(name, value) }
        return fields
    }

    // MARK: Directives

    @Test("B7.57: hostile Cache-Control is read in one pass, whatever its quotes")
    func hostileDirectives() {
        let values = [
            String(repeating: "\"\\", count: 50_000), String(repeating: "a=\"", count: 50_000),
            String(repeating: ",", count: 100_000), String(repeating: "=", count: 100_000),
            String(repeating: "max-age=1,", count: 20_000), "\"", "\\", "=", ",=,", "=5", "max-age=\u{0}",
        ]
        for value in values {
            let control = CacheControl(fields(("Cache-Control", value)))
            #expect(control.isPresent)
            #expect(!control.noStore)
        }
        let hidden = CacheControl(
            fields(("Cache-Control", String(repeating: "\"\\\"", count: 30_001) + ", no-store")))
        #expect(hidden.noStore)
    }

    @Test("B7.57: no split of the list into fields changes what it says")
    func splitDirectives() {
        let members = ["no-cache", "max-age=60", "immutable", "ext=\"a, no-store\"", "min-fresh=5", "max-stale"]
        let whole = CacheControl(fields(("Cache-Control", members.joined(separator: ", "))))
        for cut in 1..<members.count {
            let two = CacheControl(
                fields(
                    ("Cache-Control", members[..<cut].joined(separator: ",")),
                    ("cache-control", members[cut...].joined(separator: " ,"))))
            #expect(two == whole)
        }
        #expect(whole.maxAge == .count(60) && whole.minFresh == .count(5) && whole.maxStale == .count(1 << 31))
        #expect(whole.noCache && whole.isImmutable && !whole.noStore && !whole.onlyIfCached && !whole.mustRevalidate)
    }

    // MARK: Storing

    @Test("B7.8: a body of more than five hundredths of the disk's capacity is not proposed")
    func sizes() {
        #expect(StoringRules.longestBody(memoryCapacity: 0, diskCapacity: 20_000) == 1000)
        #expect(StoringRules.longestBody(memoryCapacity: 1 << 40, diskCapacity: 20_019) == 1000)
        #expect(StoringRules.longestBody(memoryCapacity: 20_000, diskCapacity: 0) == 1000)
        #expect(StoringRules.longestBody(memoryCapacity: 0, diskCapacity: 0) == nil)
    }

    @Test("B7.44: 200 to 299 are proposed to a delegate, nothing else")
    func proposed() {
        #expect((100...599).filter(StoringRules.isProposed) == Array(200...299))
    }

    @Test("B7.34: what is marked no-store and is there all the same is not used without asking")
    func storedNoStore() {
        let time = WallTime(seconds: 1000)
        func decision(_ control: String) -> CacheDecision {
            let stored = StoredAnswer(
                status: 200, fields: fields(("Cache-Control", control), ("ETag", "\"v\"")), requestTime: time,
                responseTime: time,
                selection: Selection(answer: Fields(), request: Fields(), salt: SipHash.Words(1, 2)))
            return CacheRules.decision(
                policy: .protocolRules, method: "GET", request: Fields(), stored: stored, now: time + 1)
        }
        #expect(decision("max-age=60") == .use)
        #expect(decision("max-age=60, no-store") == .validate(fields(("If-None-Match", "\"v\""))))
    }

    @Test("B7.51: fields of the connection are not stored, however their names are written")
    func connectionFields() {
        let came = fields(
            ("content-type", "text/plain"), ("CONNECTION", "close, X-Hop, ETag"), ("x-hop", "1"), ("keep-alive", "x"),
            ("ETag", "\"v\""), ("X-Hop-Not", "2"), ("te", "x"), ("Set-Cookie", "a"), ("set-cookie", "b"))
        let stored = StoringRules.storedFields(came)
        #expect(
            stored
                == fields(
                    ("content-type", "text/plain"), ("ETag", "\"v\""), ("X-Hop-Not", "2"), ("Set-Cookie", "a"),
                    ("set-cookie", "b")))
        #expect((0..<stored.count).map { stored.name(at: $0) }.contains("content-type"))
    }

    @Test(
        "B7.74: a 304's fields take the place of those of their name, but for those of the body and the connection",
        arguments: [0, 100])
    func replacedFields(others: Int) throws {
        let time = WallTime(seconds: 0)
        let stored = StoredAnswer(
            status: 200,
            fields: fields(
                ("date", "old"), ("AGE", "1"), ("Content-Length", "5"), ("x-same", "old"), ("X-Old", "kept"),
                ("Warning", "110 old"), ("warning", "214 kept"), ("X-SAME", "older"), ("X-Hop", "kept")),
            requestTime: time, responseTime: time,
            selection: Selection(answer: Fields(), request: Fields(), salt: SipHash.Words(1, 2)))
        var news = fields(
            ("X-Same", "new"), ("content-length", "0"), ("Date", "new"), ("Connection", "x-hop"), ("x-hop", "new"),
            ("X-New", "1"), ("x-new", "2"))
        // More than are compared one by one.
        for number in 0..<others { news.append("Other\(number)", "") }
        let fresh = try #require(
            ValidationRules.freshened(
                stored, by: ValidationRules.News(fields: news, requestTime: time, responseTime: time)))
        var expected = fields(
            ("Content-Length", "5"), ("X-Old", "kept"), ("warning", "214 kept"), ("X-Hop", "kept"), ("X-Same", "new"),
            ("Date", "new"), ("X-New", "1"), ("x-new", "2"))
        for number in 0..<others { expected.append("Other\(number)", "") }
        #expect(fresh.fields == expected)
    }

    @Test("B7.74: what a 304 or HEAD makes longer than an answer may be is not kept", arguments: [500, 501])
    func manyFields(news count: Int) {
        func numbered(_ count: Int, _ name: String) -> Fields {
            var list = fields(("Date", "Thu, 01 Jan 1970 00:00:00 GMT"))
            for number in 1..<count { list.append("\(name)\(number)", "") }
            return list
        }
        let time = WallTime(seconds: 0)
        let stored = StoredAnswer(
            status: 200, fields: numbered(501, "old"), requestTime: time, responseTime: time,
            selection: Selection(answer: Fields(), request: Fields(), salt: SipHash.Words(1, 2)))
        func outcome(_ method: String, _ status: Int) -> CacheOutcome {
            CacheRules.outcome(
                method: method, request: Fields(), status: status,
                news: ValidationRules.News(fields: numbered(count, "new"), requestTime: time, responseTime: time),
                stored: stored, isValidation: status == 304, salt: SipHash.Words(1, 2))
        }
        guard case .deliverStored(let answer, let change) = outcome("GET", 304) else {
            Issue.record("it is not confirmed")
            return
        }
        // Date is in both.
        #expect(answer.fields.count == 500 + count)
        #expect(change == (count == 500 ? .freshen(answer) : .forget))
        #expect((outcome("HEAD", 200) == .deliver(.forget)) == (count == 501))
    }

    @Test(
        "B7.74: a request that stores nothing gets the stored body under the new head, and the stored one stays as it is"
    )
    func requestNoStore() {
        let time = WallTime(seconds: 0)
        let stored = StoredAnswer(
            status: 200, fields: fields(("ETag", "\"v\"")), requestTime: time, responseTime: time,
            selection: Selection(answer: Fields(), request: Fields(), salt: SipHash.Words(1, 2)))
        func outcome(_ method: String, _ status: Int, _ request: Fields, _ news: Fields) -> CacheOutcome {
            CacheRules.outcome(
                method: method, request: request, status: status,
                news: ValidationRules.News(fields: news, requestTime: time, responseTime: time), stored: stored,
                isValidation: status == 304, salt: SipHash.Words(1, 2))
        }
        let noStore = fields(("Cache-Control", "no-store"))
        let news = fields(("ETag", "\"v\""), ("X-New", "1"))
        guard case .deliverStored(let answer, .none) = outcome("GET", 304, noStore, news) else {
            Issue.record("it is not confirmed, or the head is stored")
            return
        }
        #expect(answer.fields.contains("X-New"))
        #expect(outcome("HEAD", 200, noStore, news) == .deliver(.none))
        // What the server forbids to keep goes all the same.
        guard case .deliverStored(_, .forget) = outcome("GET", 304, noStore, noStore) else {
            Issue.record("it is kept")
            return
        }
    }

    @Test("B7.71, B7.75: a tag that is not UTF-8 is compared, and not sent back as other bytes")
    func otherBytes() {
        let time = WallTime(seconds: 0)
        func tagged(_ tag: String) -> Fields {
            var fields = Fields()
            fields.append("ETag", latin1: "\"\(tag)\"")
            return fields
        }
        let stored = StoredAnswer(
            status: 200, fields: tagged("é"), requestTime: time, responseTime: time,
            selection: Selection(answer: Fields(), request: Fields(), salt: SipHash.Words(1, 2)))
        #expect(stored.validators.isEmpty && stored.validators.conditions.isEmpty)
        func isConfirmed(byHead fields: Fields) -> Bool {
            let news = ValidationRules.News(fields: fields, requestTime: time, responseTime: time)
            return ValidationRules.freshened(stored, byHead: news) != nil
        }
        #expect(isConfirmed(byHead: tagged("é")))
        #expect(!isConfirmed(byHead: tagged("ê")))
    }

    // MARK: Selection

    @Test(
        "B7.81: the fields that a Vary names select the answer from then on when it comes with a 304, and with HEAD",
        arguments: [("GET", 304), ("HEAD", 200)])
    func newVary(method: String, status: Int) {
        let time = WallTime(seconds: 0)
        let cached = fields(("Cache-Control", "max-age=600"))
        let (alice, bob) = (fields(("Cookie", "user=alice")), fields(("Cookie", "user=bob")))
        let stored = StoredAnswer(
            status: 200, fields: cached, requestTime: time, responseTime: time,
            selection: Selection(answer: cached, request: alice, salt: SipHash.Words(1, 2)))
        func freshened(_ vary: String?) -> StoredAnswer? {
            var news = cached
            if let vary { news.append(.vary, vary) }
            let outcome = CacheRules.outcome(
                method: method, request: alice, status: status,
                news: ValidationRules.News(fields: news, requestTime: time, responseTime: time), stored: stored,
                isValidation: status == 304, salt: SipHash.Words(3, 4))
            return switch outcome {
            case .deliverStored(_, .freshen(let answer)), .deliver(.freshen(let answer)): answer
            default: nil
            }
        }
        func decision(_ vary: String?, _ request: Fields) -> CacheDecision {
            CacheRules.decision(
                policy: .protocolRules, method: "GET", request: request, stored: freshened(vary), now: time)
        }
        #expect(decision(nil, bob) == .use)
        #expect(decision("Cookie", alice) == .use)
        #expect(decision("Cookie", bob) == .load)
        #expect(decision("*", alice) == .load)
    }

    @Test("B7.48, B7.82: what is kept of a secret field is a digest under the answer's own salt")
    func secrets() {
        let answer = fields(("Vary", "Cookie, Accept"))
        let request = fields(("Authorization", "Basic cGFzc3dvcmQ="), ("Cookie", "id=secret"), ("Accept", "*/*"))
        let one = Selection(answer: answer, request: request, salt: SipHash.Words(1, 2))
        let other = Selection(answer: answer, request: request, salt: SipHash.Words(3, 4))
        #expect(one.matches(request) && other.matches(request))
        let text = String(describing: one)
        #expect(!text.contains("cGFzc3dvcmQ=") && !text.contains("id=secret") && text.contains("*/*"))
        #expect(Set(one.members) != Set(other.members))
        #expect(one.members.map(\.name) == ["cookie", "accept", "authorization"])
    }

    @Test("B7.48: a salt is made once for an answer that a request selects, and for no other")
    func salts() {
        let time = WallTime(seconds: 0)
        let stored = StoredAnswer(
            status: 200, fields: fields(("ETag", "\"v\"")), requestTime: time, responseTime: time,
            selection: Selection(answer: Fields(), request: Fields(), salt: SipHash.Words(1, 2)))
        func salts(_ method: String, _ status: Int, _ request: Fields, _ news: Fields) -> Int {
            var count = 0
            func salt() -> SipHash.Words {
                count += 1
                return SipHash.Words(3, 4)
            }
            _ = CacheRules.outcome(
                method: method, request: request, status: status,
                news: ValidationRules.News(fields: news, requestTime: time, responseTime: time), stored: stored,
                isValidation: status == 304, salt: salt())
            return count
        }
        let (plain, user) = (Fields(), fields(("Authorization", "Basic cGFzc3dvcmQ=")))
        let varying = fields(("ETag", "\"v\""), ("Vary", "Cookie"))
        #expect(salts("GET", 200, plain, varying) == 1)
        #expect(salts("GET", 200, user, plain) == 1)
        #expect(salts("GET", 304, plain, varying) == 1)
        #expect(salts("HEAD", 200, plain, varying) == 1)
        // Nothing selects, or nothing is stored.
        #expect(salts("GET", 200, plain, plain) == 0)
        #expect(salts("GET", 304, plain, fields(("ETag", "\"v\""))) == 0)
        #expect(salts("GET", 200, user, fields(("Cache-Control", "no-store"), ("Vary", "Cookie"))) == 0)
        #expect(salts("POST", 200, user, varying) == 0)
        #expect(salts("GET", 500, user, varying) == 0)
    }

    @Test("B7.11, B7.48: by hand an answer is found without the fields that the loader adds for the user")
    func withoutSecrets() {
        let answer = fields(("Vary", "Cookie, X"))
        let sent = fields(("Authorization", "a"), ("Cookie", "b"), ("X", "1"))
        let selection = Selection(answer: answer, request: sent, salt: SipHash.Words(1, 2))
        #expect(selection.matchesWithoutSecrets(fields(("X", "1"))))
        #expect(!selection.matches(fields(("X", "1"))))
        #expect(!selection.matchesWithoutSecrets(fields(("X", "2"))))
    }

    @Test("B7.49: an answer that varies by more than 32 fields is treated as one that varies by everything")
    func manyNames() {
        let names = (0..<33).map { "x\($0)" }.joined(separator: ",")
        let request = fields(("x0", "1"))
        #expect(
            !Selection(answer: fields(("Vary", names)), request: request, salt: SipHash.Words(1, 2)).matches(request))
        let fewer = (0..<32).map { "x\($0)" }.joined(separator: ",")
        #expect(
            Selection(answer: fields(("Vary", fewer)), request: request, salt: SipHash.Words(1, 2)).matches(request))
    }

    // MARK: Keys

    @Test("B7.16: text that is not a URL has no key", arguments: ["", ":", "/a", "a", "://x", "1 2:x", "a b:c", "#:"])
    func noKey(text: String) {
        #expect(CacheKey(text) == nil)
    }

    @Test("B7.16: a URL of more than 64 KiB has no key, and no URL is read beyond its end")
    func longKeys() {
        #expect(CacheKey("http://h/" + String(repeating: "a", count: 1 << 16)) == nil)
        let url = Array("http://u@[::1]:80/a?b#c".utf8)
        for length in 0...url.count { _ = CacheKey(String(decoding: url[..<length], as: UTF8.self)) }
        #expect(CacheKey("http://u@[::1]:80/a?b#c")?.text == "http://[::1]/a?b")
        #expect(CacheKey("data:text/plain,A#b")?.text == "data:text/plain,A")
        #expect(CacheKey("http://h:/a") == CacheKey("http://h/a"))
    }

    // MARK: Digests

    @Test("SipHash-2-4 as its authors' vectors have it")
    func sipHash() {
        let key = SipHash.Words(0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
        let message = (0..<15).map { UInt8($0) }
        func digest(_ count: Int) -> UInt64 { message[..<count].withUnsafeBytes { SipHash.digest($0, key: key) } }
        #expect(digest(0) == 0x726f_db47_dd0e_0e31)
        #expect(digest(1) == 0x74f8_39c5_93dc_67fd)
        #expect(digest(8) == 0x93f5_f579_9a93_2462)
        #expect(digest(15) == 0xa129_ca61_49be_45e5)
    }
}
