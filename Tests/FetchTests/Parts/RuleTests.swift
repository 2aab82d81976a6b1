// The rules behind retries, resumption, names and cookies.

import Foundation
import Testing
import URLLoading
import URLLoadingFetch

@Suite("fetch: rules")
struct RuleTests {
    @Test("What may pass is tried again; what may have been done is not done twice")
    func retries() {
        func passes(_ status: Int, _ method: String = "GET") -> Bool { pause(method, status: status) != nil }
        func passes(_ code: URLError.Code, _ method: String = "GET") -> Bool { pause(method, error: code) != nil }
        #expect([408, 429, 500, 502, 503, 504].allSatisfy { passes($0) })
        #expect(![200, 304, 400, 401, 404, 501].contains { passes($0) })
        #expect(passes(.timedOut) && !passes(.timedOut, "POST"))
        #expect(passes(.cannotConnectToHost, "POST") && !passes(.serverCertificateUntrusted))
        #expect(passes(503, "POST") && !passes(500, "POST"))
    }

    /// The pause after an answer or an error.
    private func pause(
        _ method: String = "GET", status: Int = 503, retryAfter: String? = nil, error: URLError.Code? = nil,
        delay: Double? = nil, failures: Int = 0
    ) -> Double? {
        let url = URL(fileURLWithPath: "/")
        var request = URLRequest(url: url)
        request.httpMethod = method
        let answer = HTTPURLResponse(
            url: url, statusCode: status, httpVersion: nil, headerFields: retryAfter.map { ["Retry-After": $0] })
        return RetryRules(retries: 2_000, delay: delay).pause(
            after: request, error == nil ? answer : nil, error.map { URLError($0) }, earlierFailures: failures)
    }

    @Test("Pauses double, are the user's, or the server's; none is longer than ten minutes")
    func pauses() {
        #expect((0...3).map { pause(failures: $0) } == [1, 2, 4, 8])
        #expect(pause(failures: 999) == 600)
        #expect(pause(delay: 0.5, failures: 2) == 0.5)
        #expect(pause(retryAfter: "7", delay: 0.5, failures: 2) == 7)
        #expect(pause(retryAfter: "soon") == 1)
        // A server that asks for more than ten minutes is not asked again.
        #expect(pause(retryAfter: "1000000000") == nil)
    }

    @Test("A login is for the scheme, the host and the port of the URL that was named, and for no proxy")
    func logins() throws {
        func isAsked(_ scheme: String, _ host: String, _ port: Int, at text: String) throws -> Bool {
            let space = URLProtectionSpace(
                host: host, port: port, protocol: scheme, realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            return Login.isAsked(by: space, at: try #require(URL(string: text)))
        }
        #expect(try isAsked("https", "a.test", 443, at: "https://A.test/x"))
        #expect(
            try isAsked("https", "a.test", 443, at: "wss://a.test/") && isAsked("http", "a.test", 80, at: "ws://a.test")
        )
        #expect(try isAsked("ftp", "a.test", 21, at: "ftp://a.test/"))
        #expect(try !isAsked("http", "a.test", 443, at: "https://a.test/"))
        #expect(try !isAsked("http", "a.test", 8443, at: "https://a.test:8443/"))
        #expect(
            try !isAsked("https", "a.test", 80, at: "http://a.test/")
                && !isAsked("http", "b.test", 80, at: "http://a.test/"))
        #expect(try !isAsked("http", "a.test", 81, at: "http://a.test/"))
        let proxy = URLProtectionSpace(
            proxyHost: "a.test", port: 80, type: NSURLProtectionSpaceHTTPProxy, realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        #expect(try !Login.isAsked(by: proxy, at: #require(URL(string: "http://a.test/"))))
    }

    @Test("--negotiate: the ticket is for the URL's own server and for proxies, a password is never taken for it")
    func tickets() throws {
        let url = try #require(URL(string: "https://a.test/x"))
        func answer(_ options: Options, _ scheme: String, _ host: String, method: String) -> URLCredential? {
            let space =
                scheme == "proxy"
                ? URLProtectionSpace(
                    proxyHost: host, port: 3128, type: NSURLProtectionSpaceHTTPSProxy, realm: nil,
                    authenticationMethod: method)
                : URLProtectionSpace(
                    host: host, port: scheme == "https" ? 443 : 80, protocol: scheme, realm: nil,
                    authenticationMethod: method)
            let challenge = URLAuthenticationChallenge(
                protectionSpace: space, proposedCredential: nil, previousFailureCount: 0, failureResponse: nil,
                error: nil, sender: Nobody())
            return options.credential(for: challenge, at: url)
        }
        func options(_ arguments: String...) throws -> Options {
            let reading = try CommandLineReading.read(["-u", "me:secret"] + arguments + [url.absoluteString])
            guard case .fetch(let groups) = reading, let options = groups.first else {
                throw CocoaError(.featureUnsupported)
            }
            return options
        }
        let plain = try options()
        let negotiate = NSURLAuthenticationMethodNegotiate
        #expect(answer(plain, "https", "a.test", method: negotiate) == nil)
        #expect(answer(plain, "proxy", "p.test", method: negotiate) == nil)
        let named = try options("--negotiate")
        #expect(answer(named, "https", "A.test", method: negotiate) == .kerberosTicket)
        #expect(answer(named, "proxy", "p.test", method: negotiate) == .kerberosTicket)
        #expect(answer(named, "http", "a.test", method: negotiate) == nil)
        #expect(answer(named, "https", "b.test", method: negotiate) == nil)
        #expect(answer(named, "https", "a.test", method: NSURLAuthenticationMethodHTTPBasic)?.user == "me")
    }

    /// Takes no answers.
    private final class Nobody: NSObject, URLAuthenticationChallengeSender {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }

    @Test("Only the rest that was asked for is put behind what is there")
    func resumption() {
        func answer(_ status: Int, _ range: String?) -> ResumeAnswer {
            ResumeAnswer(status: status, contentRange: range, offset: 500)
        }
        for range in ["bytes 500-999/1000", "bytes 500-599/1000", "bytes 500-999/*"] {
            #expect(answer(206, range) == .rest(length: 1000), "\(range)")
        }
        #expect(answer(200, nil) == .whole && answer(416, "bytes */500") == .nothingLeft)
        for (status, range) in [
            (206, "bytes 0-999/1000"), (206, nil), (206, "500-999/1000"), (206, "bytes x"), (416, nil),
            (416, "bytes */400"), (404, nil), (206, "bytes */500"), (206, "bytes 9223372036854775808-/*"),
            (206, "bytes 500-/1000"), (206, "bytes 500/1000"), (206, "bytes 500-499/1000"), (206, "bytes 500-999/999"),
            (206, "bytes 500-9223372036854775807/*"), (206, "bytes 500-999/x"), (206, "bytes +500-999/1000"),
        ] as [(Int, String?)] {
            guard case .other = answer(status, range) else {
                Issue.record("\(status) \(range ?? "")")
                continue
            }
        }
        #expect(ResumeAnswer.length(500, and: 7) == 507)
        #expect(ResumeAnswer.length(500, and: .max) == nil && ResumeAnswer.length(.max, and: 1) == nil)
    }

    @Test("A part is only gone on with where a strong validator tells versions apart")
    func notes() throws {
        let url = try #require(URL(string: "http://me:secret@a/b?c#d"))
        func note(
            _ tag: String?, _ modified: String? = nil, _ date: String? = nil, status: Int = 200, coding: String? = nil
        )
            -> String?
        {
            ResumeNote(url: url, status: status, entityTag: tag, lastModified: modified, date: date, coding: coding)?
                .validator
        }
        #expect(note("\"v\"") == "\"v\"" && note("W/\"v\"") == nil && note("v") == nil && note("\"") == nil)
        let old = "Wed, 21 Oct 2015 07:28:00 GMT"
        #expect(note(nil, old, "Wed, 21 Oct 2015 07:29:00 GMT") == old)
        #expect(note(nil, old, "Wed, 21 Oct 2015 07:28:59 GMT") == nil && note(nil, old) == nil)
        #expect(
            note("\"v\"", coding: "gzip") == nil && note("\"v\"", status: 404) == nil
                && note("\"v\"", status: 206) == nil)
        #expect(ResumeNote.name(of: url) == "http://a/b?c")
    }

    @Test("Names of files are one part of a path, and servers choose no hidden ones")
    func names() throws {
        func name(_ url: String) throws -> String? { OutputName.of(try #require(URL(string: url))) }
        #expect(
            try name("http://a/b/c.tar.gz?x=y") == "c.tar.gz" && name("http://a/") == nil && name("http://a") == nil)
        #expect(try name("http://a/%2e%2e") == nil && name("http://a/x%2F..%2Fy") != "../y")
        #expect(OutputName.safe("../../etc/passwd", hidden: false) == "_._.._etc_passwd")
        #expect(OutputName.safe(".bashrc", hidden: false) == "_bashrc" && OutputName.safe(".a", hidden: true) == ".a")
        #expect(OutputName.safe("a\u{1B}b\0\n", hidden: true) == "ab" && OutputName.safe("..", hidden: true) == nil)
        #expect(OutputName.safe(String(repeating: "x", count: 300), hidden: true) == nil)
    }

    @Test("Cookies are read and written as curl and wget do; what is no cookie is passed over")
    func cookies() throws {
        let text = """
            # Netscape HTTP Cookie File
            example.com\tFALSE\t/\tFALSE\t0\tplain\tone
            #HttpOnly_.example.com\tTRUE\t/x\tTRUE\t4102444800\tfull\ttwo=2

            nonsense
            example.com\tFALSE\t/\tFALSE\tnever\tbad\tthree
            example.com\tFALSE\t/\tFALSE\t1e400\tbad\tfour
            """
        let cookies = CookieFile.cookies(in: text)
        #expect(cookies.map(\.name).prefix(2) == ["plain", "full"])
        let full = try #require(cookies.first { $0.name == "full" })
        #expect(full.domain == ".example.com" && full.path == "/x" && full.isSecure && full.isHTTPOnly)
        #expect(full.value == "two=2" && full.expiresDate == Date(timeIntervalSince1970: 4_102_444_800))
        let tabs = CookieFile.cookies(in: "example.com\tFALSE\t/\tFALSE\t0\tsid\ta\tb\t")
        #expect(tabs.map(\.value) == ["a\tb\t"] && CookieFile.cookies(in: CookieFile.text(of: tabs)) == tabs)
        let again = CookieFile.cookies(in: CookieFile.text(of: cookies))
        #expect(Set(again) == Set(cookies))
        #expect(
            CookieFile.text(of: [full]).contains("#HttpOnly_.example.com\tTRUE\t/x\tTRUE\t4102444800\tfull\ttwo=2\n"))
    }
}
