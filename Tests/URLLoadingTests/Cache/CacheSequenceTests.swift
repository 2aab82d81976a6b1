// The sequences of Tests/Vectors/cache.txt against real caches: in memory, on disk, and on disk with a new cache object for
// each step, as after a restart. Time and server are still the script's.

import Foundation
import HTTPWire
import LoadingPolicy
import TestSupport
import Testing
import URLLoading

@Suite("Sequences of exchanges with a URLCache")
struct CacheSequenceTests {
    enum Place: CaseIterable { case memory, disk, reopened }

    static let scripts = ExchangeScript.load("cache.txt") { seconds, form in
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat =
            switch form {
            case "850": "EEEE, dd-MMM-yy HH:mm:ss 'GMT'"
            case "asctime": "EEE MMM d HH:mm:ss yyyy"
            default: "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
            }
        let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
        // A day of one digit has a space before it.
        guard form == "asctime", text.dropFirst(9).first == " " else { return text }
        return text.prefix(8) + " " + text.dropFirst(8)
    }

    @Test("B7.24: the configuration's policy counts for requests that keep the default one")
    func configuredPolicy() throws {
        func decision(_ policy: NSURLRequest.CachePolicy, _ configured: NSURLRequest.CachePolicy) throws
            -> CacheDecision
        {
            let request = URLRequest(url: try #require(URL(string: "http://h.example/")), cachePolicy: policy)
            return CachedLoad(
                request, sent: Fields(), configured: configured, found: nil, now: WallTime(seconds: 0)
            ).decision
        }
        #expect(try decision(.useProtocolCachePolicy, .returnCacheDataDontLoad) == .fail)
        #expect(try decision(.useProtocolCachePolicy, .useProtocolCachePolicy) == .load)
        #expect(try decision(.returnCacheDataElseLoad, .returnCacheDataDontLoad) == .load)
        #expect(try decision(.returnCacheDataDontLoad, .reloadIgnoringLocalCacheData) == .fail)
    }

    @Test("B7.55, B7.66: what a cache of the program's own gives out without saying how it came is as old as its Date")
    func unknownOrigin() throws {
        let url = "http://h.example/"
        let request = try Stored.request(url)
        let now = WallTime(seconds: ExchangeScript.beginning)
        func decision(_ fields: [String: String], after seconds: Int64) throws -> CacheDecision {
            CachedLoad(
                request, sent: Fields(), configured: .useProtocolCachePolicy,
                found: try Stored.response(url, fields: fields), now: now + seconds
            ).decision
        }
        let dated = ["Cache-Control": "max-age=60", "Date": HTTPDate.text(now)]
        #expect(try decision(dated, after: 59) == .use)
        #expect(try decision(dated, after: 60) == .load)
        #expect(try decision(["Cache-Control": "max-age=60"], after: 0) == .load)
    }

    @Test("B7.11, B7.16 to B7.18, B7.36 to B7.86: every sequence ends as its lines say", arguments: Place.allCases)
    func sequences(place: Place) throws {
        for script in Self.scripts {
            var run = RealCacheRun(place: place, title: script.title)
            for step in script.steps { try run.take(step) }
        }
    }
}

private struct RealCacheRun {
    private let place: CacheSequenceTests.Place
    private let title: String
    private let folder = CacheFolder()
    private let inMemory: URLCache
    private var now = WallTime(seconds: ExchangeScript.beginning)
    private var policy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    private var bodies = 0
    private var request: (url: URLRequest, fields: Fields)?
    private var load: CachedLoad?
    private var seen: (delivery: CachedLoad.Delivery, status: Int)?

    init(place: CacheSequenceTests.Place, title: String) {
        self.place = place
        self.title = title
        inMemory = place == .memory ? folder.cache(memory: 1 << 20, disk: 0) : folder.cache()
    }

    private var cache: URLCache { place == .reopened ? folder.cache() : inMemory }

    mutating func take(_ step: ExchangeScript.Step) throws {
        switch step {
        case .policy(let name):
            let policies: [String: NSURLRequest.CachePolicy] = [
                "protocol": .useProtocolCachePolicy, "reload": .reloadIgnoringLocalCacheData,
                "else": .returnCacheDataElseLoad, "only": .returnCacheDataDontLoad,
                "revalidate": .reloadRevalidatingCacheData,
            ]
            policy = try #require(policies[name])
        case .wait(let seconds): now = now + seconds
        case .request(let method, let url, let fields): try ask(method, url, fields)
        case .decision(let expected): #expect(load?.decision == Self.decision(expected), "\(title)")
        case .answer(let status, let isComplete, let delay, let fields):
            try answer(status, isComplete: isComplete, delay: delay, fields)
        case .result(let expected): compare(expected)
        case .stored(let url, let expected):
            // By hand, whatever is stored: the fields that Vary names are those of the last request.
            var request = URLRequest(url: try #require(URL(string: url)))
            request.allHTTPHeaderFields = self.request?.url.allHTTPHeaderFields
            let found = cache.cachedResponse(for: request)
            #expect((found == nil) == (expected == nil), "\(title)")
            if let found, let expected { compare(found, expected) }
        case .nonsense(let line): Issue.record("a line that is not understood: \(line)")
        }
    }

    private mutating func ask(_ method: String, _ url: String, _ fields: [ExchangeScript.Field]) throws {
        var urlRequest = URLRequest(url: try #require(URL(string: url)), cachePolicy: policy)
        urlRequest.httpMethod = method
        for field in fields { urlRequest.addValue(field.value, forHTTPHeaderField: field.name) }
        let sent = Self.fields(fields)
        request = (urlRequest, sent)
        let load = CachedLoad(
            urlRequest, sent: sent, configured: .useProtocolCachePolicy, found: cache.cachedResponse(for: urlRequest),
            now: now)
        self.load = load
        seen = nil
        if load.decision == .use, let found = load.found {
            seen = (.stored(found), (found.response as? HTTPURLResponse)?.statusCode ?? 0)
        }
    }

    private mutating func answer(
        _ status: Int, isComplete: Bool, delay: Int64, _ list: [ExchangeScript.Field]
    ) throws {
        let (request, load) = (try #require(request), try #require(load))
        let sent = now
        now = now + delay
        if status != 304 { bodies += 1 }
        let url = try #require(request.url.url)
        let response = HTTPURLResponse(
            url: url, status: status, fields: Self.fields(list), expectedContentLength: -1)
        let outcome = load.outcome(
            of: CachedLoad.Arrival(
                response: response, body: Data("body \(bodies)".utf8), isComplete: isComplete, requestTime: sent,
                responseTime: now))
        switch outcome.change {
        case .none: break
        case .store(let cached), .renew(let cached):
            var stored = request.url
            stored.httpMethod = "GET"
            cache.storeCachedResponse(cached, for: stored)
        case .remove: cache.removeCachedResponse(for: request.url)
        }
        switch outcome.delivery {
        case .stored(let cached):
            seen = (outcome.delivery, (cached.response as? HTTPURLResponse)?.statusCode ?? 0)
        case .arrival, .sendAgain: seen = (outcome.delivery, status)
        }
        let keys = InvalidationRules.keys(
            method: request.url.httpMethod ?? "", url: url.absoluteString, status: status, fields: Self.fields(list))
        for key in keys {
            cache.removeCachedResponse(for: URLRequest(url: try #require(URL(string: key.text))))
        }
    }

    private func compare(_ expected: ExchangeScript.Result) {
        switch (expected, seen?.delivery) {
        case (.again, .sendAgain): break
        case (.new(let status), .arrival): #expect(seen?.status == status, "\(title)")
        case (.stored(let status, let body, let expectation), .stored(let cached)):
            #expect(seen?.status == status, "\(title)")
            if let body { #expect(cached.data == Data("body \(body)".utf8), "\(title)") }
            compare(cached, expectation)
        default: Issue.record("\(title): \(expected), but it is \(String(describing: seen))")
        }
    }

    private func compare(_ cached: CachedURLResponse, _ expected: ExchangeScript.Expectation) {
        let response = cached.response as? HTTPURLResponse
        for field in expected.fields {
            #expect(response?.value(forHTTPHeaderField: field.name) == field.value, "\(title)")
        }
        for name in expected.absent { #expect(response?.value(forHTTPHeaderField: name) == nil, "\(title)") }
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
