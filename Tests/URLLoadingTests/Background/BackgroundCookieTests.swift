// Cookies of responses that came to a background session while no program was there: which of them the next run takes.

import Foundation
import Testing
import URLLoadingPolicy
import URLLoadingTestSupport

@testable import URLLoading

@Suite("Background sessions: cookies that came without a program", .timeLimit(.minutes(2)))
struct BackgroundCookieTests {
    private let folder = BackgroundFolder()

    @Test(
        "B8.47: the cookies of a response that came while no program was there are taken by the next run, and no others",
        arguments: [false, true])
    func cookies(wasTold: Bool) async throws {
        try folder.leave(.data) { record, _ in
            let url = try #require(URL(string: record.original.url))
            record.original = try #require(TransferRequest(URLRequest(url: url)))
            record.current = record.original
            var exchange = TransferExchange(record.original)
            let head = TransferHead(
                url: record.original.url, status: 200, fields: [TransferField("Set-Cookie", "a=b")], expectedLength: 0)
            exchange.head = head
            record.measures.add([exchange], redirects: 0)
            if wasTold { record.measures.told(head) }
            record.head = head
            record.state = .over
            record.end(nil)
        }
        let configuration = folder.configuration()
        let storage = HTTPCookieStorage()
        configuration.httpCookieStorage = storage
        try await withBackgroundSession(configuration) { _, scribe in
            await scribe.ended.wait()
            #expect(storage.cookies?.map(\.name) == (wasTold ? [] : ["a"]))
        }
    }

    @Test("B8.58: a redirect's cookie takes the place of the storage's also where its value begins with an accent")
    func cookiesByBytes() throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        var first = try #require(TransferRequest(URLRequest(url: url)))
        first.flags |= TransferRequest.followsCookies | TransferRequest.cookiesFitEverywhere
        first.fields = [TransferField("Cookie", "a=\u{301}x; \u{E9}=1; b=1")]
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: ["Set-Cookie": "a=2"]))
        var cookies = AttemptCookies()
        let next = cookies.followed(URLRequest(url: url), after: response, from: first)
        #expect(next.value(forHTTPHeaderField: "Cookie") == "\u{E9}=1; b=1; a=2")
    }

    /// A response of an hour ago that set cookies.
    private func exchange(_ request: TransferRequest, _ status: UInt16, _ cookies: String...) -> TransferExchange {
        var exchange = TransferExchange(request)
        exchange.head = TransferHead(
            url: request.url, status: status, fields: cookies.map { TransferField("Set-Cookie", $0) }, expectedLength: 0
        )
        exchange.times.responseStart = (TransferInstant.now.wall - 3_600_000) * 1000
        return exchange
    }

    @Test(
        "B8.47: a cookie that came while no program was there does not come back where what replaced it has ended since"
    )
    func cookiesReplacedSince() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try folder.leave(.data) { record, _ in
            record.original = try #require(TransferRequest(URLRequest(url: url)))
            record.current = record.original
            let hop = exchange(record.original, 302, "sid=guest", "hop=1")
            let last = exchange(record.original, 200, "last=old", "sid=user; Max-Age=60", "last=new; Max-Age=60")
            record.measures.add([hop, last], redirects: 1)
            record.head = last.head
            record.state = .over
            record.end(nil)
        }
        let configuration = folder.configuration()
        let storage = HTTPCookieStorage()
        configuration.httpCookieStorage = storage
        try await withBackgroundSession(configuration) { _, scribe in
            await scribe.ended.wait()
            #expect(storage.cookies?.map(\.name) == ["hop"])
        }
    }

    @Test("B8.47: cookies that were taken are not taken again behind a hop's, whose lives count from when they came")
    func cookiesBehindRedirect() async throws {
        let url = try #require(URL(string: "http://127.0.0.1:9/"))
        try folder.leave(.data) { record, _ in
            record.original = try #require(TransferRequest(URLRequest(url: url)))
            record.current = record.original
            let hop = exchange(
                record.original, 302, "hop=1", "both=old", "brief=1; Max-Age=60", "long=1; Max-Age=7200",
                "gone=; Max-Age=0")
            let last = exchange(record.original, 200, "both=new", "sid=1")
            record.measures.add([hop, last], redirects: 1)
            record.head = last.head
            record.measures.told(try #require(last.head))
            record.state = .over
            record.end(nil)
        }
        let configuration = folder.configuration()
        let storage = HTTPCookieStorage()
        configuration.httpCookieStorage = storage
        storage.setCookies(
            HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": "gone=1"], for: url), for: url,
            mainDocumentURL: nil)
        try await withBackgroundSession(configuration) { _, scribe in
            await scribe.ended.wait()
            let cookies = storage.cookies ?? []
            #expect(cookies.map(\.name).sorted() == ["hop", "long"])
            let end = try #require(cookies.first { $0.name == "long" }?.expiresDate)
            #expect(end < Date(timeIntervalSinceNow: 3601))
        }
    }
}
