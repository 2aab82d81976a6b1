// The sequences of Tests/Vectors/cache.txt through sessions and a server: with a cache in memory, on disk, and on disk
// with a new cache and a new session for each request, as after a restart. Time is the sequence's.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Sequences of exchanges with a cache between")
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

    @Test(
        "B7.11, B7.16 to B7.19, B7.26 to B7.31, B7.33, B7.34, B7.36 to B7.86: every sequence ends as its lines say",
        arguments: Place.allCases)
    func sequences(place: Place) async throws {
        let server = try SequenceServer()
        // Only the session's own evaluation accepts the server's certificate: over TLS no other
        // session is served (B7.102).
        for script in Self.scripts where place != .reopened || !Self.asksForTLS(script) {
            // HTTP/2 has no Connection field.
            if ProtocolUnderTest.isHTTP2, script.title.contains("Connection cannot take away") { continue }
            var run = SequenceRun(script, place, server)
            try await run.run()
        }
        await server.stop()
    }

    private static func asksForTLS(_ script: ExchangeScript) -> Bool {
        script.urls.contains { $0.hasPrefix("https:") }
    }
}

extension ExchangeScript {
    /// The URLs that it asks for.
    fileprivate var urls: [String] {
        steps.compactMap { if case .request(_, let url, _) = $0 { url } else { nil } }
    }
}

/// One sequence on its way.
private struct SequenceRun {
    private let script: ExchangeScript
    private let place: CacheSequenceTests.Place
    private let server: SequenceServer
    private let folder = CacheFolder()
    private var cache: URLCache
    private var session: URLSession
    private let delegate: RefusingRedirects?
    private var policy = NSURLRequest.CachePolicy.useProtocolCachePolicy
    /// The bodies that the server has sent, as a program sees them; the first is number 1.
    private var bodies: [[UInt8]] = []
    private var asked: (request: URLRequest, fields: [ExchangeScript.Field])?
    private var seen: (response: HTTPURLResponse, body: Data)?
    private var isStored = false

    init(_ script: ExchangeScript, _ place: CacheSequenceTests.Place, _ server: SequenceServer) {
        self.script = script
        self.place = place
        self.server = server
        cache = place == .memory ? folder.cache(memory: 1 << 20, disk: 0) : folder.cache()
        session = server.session(cache, for: script.urls)
        // A redirect is to be seen, not followed.
        let redirects = script.steps.contains { step in
            if case .answer(300...399, _, _, let fields) = step {
                fields.contains { $0.name == "Location" }
            } else {
                false
            }
        }
        delegate = redirects ? RefusingRedirects() : nil
        server.clock.value = ExchangeScript.beginning
    }

    mutating func run() async throws {
        var steps = script.steps[...]
        while let step = steps.popFirst() {
            switch step {
            case .policy(let name): policy = try #require(Self.policies[name])
            case .wait(let seconds): server.clock.change { $0 += seconds }
            case .request(let method, let url, let fields):
                // The lines after the request give the server's answer and what a program must see.
                var decision: ExchangeScript.Decision?
                var answer: SequenceServer.Answer?
                while let next = steps.first {
                    if case .decision(let expected) = next {
                        decision = expected
                    } else if case .answer(let status, let isComplete, let delay, let fields) = next {
                        answer = self.answer(status, isComplete, delay, fields, isHead: method == "HEAD")
                    } else {
                        break
                    }
                    steps = steps.dropFirst()
                }
                try await ask(method, url, fields, decision, answer)
            case .result(let expected): compare(expected)
            case .stored(let url, let expected): try await compare(url, expected)
            case .decision, .answer, .nonsense: Issue.record("\(script.title): a line out of place: \(step)")
            }
        }
        session.invalidateAndCancel()
    }

    private mutating func answer(
        _ status: Int, _ isComplete: Bool, _ delay: Int64, _ fields: [ExchangeScript.Field], isHead: Bool
    ) -> SequenceServer.Answer {
        var body = Array("body \(bodies.count + 1)".utf8)
        if let length = fields.first(where: { $0.name == "Content-Length" }).flatMap({ Int($0.value) }), length < 7 {
            body = Array(body.prefix(length))
        }
        if status != 304 { bodies.append(body) }
        if fields.contains(where: { $0.name == "Content-Encoding" && $0.value == "gzip" }) {
            body = Gzip.compress(body, format: .gzip) ?? []
        }
        return SequenceServer.Answer(
            status: status, fields: fields, body: body, isComplete: isComplete, delay: delay)
    }

    private mutating func ask(
        _ method: String, _ url: String, _ fields: [ExchangeScript.Field], _ decision: ExchangeScript.Decision?,
        _ answer: SequenceServer.Answer?
    ) async throws {
        if place == .reopened {
            await session.flush()
            session.invalidateAndCancel()
            cache = folder.cache()
            session = server.session(cache, for: script.urls)
        }
        var request = try server.request(method, url, fields)
        request.cachePolicy = policy
        asked = (request, fields)
        seen = nil
        server.prepare(answer)
        var code: URLError.Code?
        do {
            let (body, response) = try await session.data(for: request, delegate: delegate)
            seen = ((try #require(response as? HTTPURLResponse)), body)
        } catch let error as URLError {
            code = error.code
        }
        #expect(code == expectedCode(decision, answer), "\(script.title)")
        compare(decision, server.takeRequests(), fields)
    }

    private func expectedCode(
        _ decision: ExchangeScript.Decision?, _ answer: SequenceServer.Answer?
    ) -> URLError.Code? {
        if decision == .fail { return .resourceUnavailable }
        return answer?.isComplete == false ? .networkConnectionLost : nil
    }

    // MARK: Comparing

    /// What the server has seen of a request.
    private mutating func compare(
        _ expected: ExchangeScript.Decision?, _ requests: [ServerRequest], _ own: [ExchangeScript.Field]
    ) {
        guard let expected else { return }
        let conditions = requests.map { request in
            ["If-None-Match", "If-Modified-Since", "Cache-Control"].flatMap { name in
                request.fields.values(FieldName(name)).filter { value in
                    !own.contains { $0.name.lowercased() == name.lowercased() && $0.value == value }
                }.map { "\(name): \($0)" }
            }
        }
        isStored = true
        switch expected {
        case .use, .fail: #expect(conditions.isEmpty, "\(script.title)")
        case .load:
            #expect(conditions == [[]], "\(script.title)")
            isStored = false
        case .validate(let fields):
            #expect(conditions.first == fields.map { "\($0.name): \($0.value)" }, "\(script.title)")
            isStored = requests.count == 1
        }
    }

    private func compare(_ expected: ExchangeScript.Result) {
        guard let seen else {
            Issue.record("\(script.title): \(expected), but nothing has come")
            return
        }
        switch expected {
        case .again:
            // The server had no answer prepared for the second request, which had no conditions.
            #expect(seen.response.statusCode == 500 && !isStored, "\(script.title)")
        case .new(let status):
            #expect(seen.response.statusCode == status, "\(script.title)")
            if !isWithoutBody, ![204, 205, 304].contains(status), let last = bodies.last {
                #expect(seen.body == Data(last), "\(script.title)")
            }
        case .stored(let status, let number, let expectation):
            #expect(seen.response.statusCode == status && isStored, "\(script.title)")
            if let number { #expect(seen.body == body(number), "\(script.title)") }
            compare(seen.response, expectation)
        }
    }

    private func compare(_ url: String, _ expected: ExchangeScript.Expectation?) async throws {
        // The stored response is looked up by hand, with the fields of the last request, which Vary may name.
        var request = URLRequest(url: try #require(URL(string: url)))
        request.allHTTPHeaderFields = asked?.request.allHTTPHeaderFields
        if place == .reopened { await session.flush() }
        let cache = place == .reopened ? folder.cache() : cache
        let found = cache.cachedResponse(for: request)
        #expect((found == nil) == (expected == nil), "\(script.title)")
        if let found, let expected { compare(found.response as? HTTPURLResponse, expected) }
    }

    private func compare(_ response: HTTPURLResponse?, _ expected: ExchangeScript.Expectation) {
        for field in expected.fields {
            #expect(response?.value(forHTTPHeaderField: field.name) == field.value, "\(script.title)")
        }
        for name in expected.absent { #expect(response?.value(forHTTPHeaderField: name) == nil, "\(script.title)") }
    }

    private var isWithoutBody: Bool { asked?.request.httpMethod == "HEAD" }

    private func body(_ number: Int) -> Data {
        isWithoutBody || !bodies.indices.contains(number - 1) ? Data() : Data(bodies[number - 1])
    }

    private static let policies: [String: NSURLRequest.CachePolicy] = [
        "protocol": .useProtocolCachePolicy, "reload": .reloadIgnoringLocalCacheData,
        "else": .returnCacheDataElseLoad, "only": .returnCacheDataDontLoad,
        "revalidate": .reloadRevalidatingCacheData,
    ]
}

/// Takes redirects as they are.
private final class RefusingRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}
