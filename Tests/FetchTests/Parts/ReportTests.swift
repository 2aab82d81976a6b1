// What is told at the end: waterfall, archive, variables, secrets. Drawn and written in this process.

import Foundation
import Testing
import URLLoadingFetch
import URLLoadingPolicy

@Suite("fetch: reports in parts")
struct ReportTests {
    @Test("The waterfall draws each step where it was, at least one mark wide, and never outside")
    func waterfall() {
        let phases = [
            Phase(name: "look-up", start: 0, duration: 0.01), Phase(name: "connect", start: 0.01, duration: 0.04),
            Phase(name: "wait", start: 0.05, duration: 0.05), Phase(name: "transfer", start: 0.1, duration: 0.00001),
        ]
        let drawing = Waterfall([Waterfall.Exchange(title: "GET http://a/ 200", phases: phases)], total: 0.1)
        #expect(
            drawing.lines(width: 43) == [
                "GET http://a/ 200",
                "  look-up    10.0 ms |##                  |", "  connect    40.0 ms |  ########          |",
                "  wait       50.0 ms |          ##########|", "  transfer    0.0 ms |                   #|",
                "in all 100.0 ms",
            ])
        for width in 1...150 {
            #expect(drawing.lines(width: width).allSatisfy { TextWidth.columns($0) <= max(width, 1) })
        }
    }

    @Test("A title cannot steer the terminal, and no time at all is drawn too")
    func hostile() {
        let phases = [
            Phase(name: "wait", start: .nan, duration: .infinity), Phase(name: "TLS", start: -1, duration: 0),
        ]
        let lines = Waterfall([Waterfall.Exchange(title: "GET \u{1B}[2J", phases: phases)], total: 0).lines(width: 60)
        #expect(lines[0] == "GET \\x1b[2J" && lines.count == 4)
    }

    @Test("The times of an archive are in milliseconds, TLS is a part of connecting, and their sum is the whole")
    func timings() {
        let phases = [
            Phase(name: "look-up", start: 0.005, duration: 0.01), Phase(name: "connect", start: 0.015, duration: 0.02),
            Phase(name: "TLS", start: 0.035, duration: 0.03), Phase(name: "request", start: 0.065, duration: 0.001),
            Phase(name: "wait", start: 0.066, duration: 0.1), Phase(name: "transfer", start: 0.166, duration: 0.2),
        ]
        let timings = HAR.Timings(phases, total: 0.366)
        #expect(abs(timings.connect - 50) < 1e-6 && abs(timings.ssl - 30) < 1e-6 && abs(timings.blocked - 5) < 1e-6)
        #expect(abs(timings.sum - 366) < 1e-6)
        let reused = HAR.Timings([Phase(name: "wait", start: 0, duration: 0.1)], total: 0.05)
        #expect(reused.dns == -1 && reused.connect == -1 && reused.ssl == -1 && reused.blocked == 0)
    }

    private struct Source: WriteOutSource {
        var isFailure = false
        func value(of variable: WriteOutVariable) -> String? {
            switch variable {
            case .timeTotal: "0.5"
            case .responseCode: "007"
            case .referer: nil
            default: "<\(variable.rawValue)\u{1B}>"
            }
        }
        func field(_ name: String) -> String { "[\(name)]" }
        var fields: [HeaderField] {
            [
                HeaderField(name: "A", value: "1"), HeaderField(name: "B", value: "\"\u{9B}"),
                HeaderField(name: "a", value: "2"),
            ]
        }

        func text(_ format: WriteOutFormat, terminals: Set<WriteOutFormat.Stream> = [.output]) -> String {
            format.parts(self, terminals: terminals).map(\.text).joined()
        }
    }

    @Test("--write-out as JSON, on standard error, and after failures alone")
    func writeOutForms() throws {
        let json = Source().text(try WriteOutFormat("%{json}"))
        #expect(json.hasPrefix("{\"content_type\":\"<content_type\\u001b>\",") && json.hasSuffix("}"))
        #expect(
            json.contains("\"time_total\":0.5,") && json.contains("\"response_code\":7,")
                && json.contains("\"referer\":null,"))
        #expect(try JSONSerialization.jsonObject(with: Data(json.utf8)) is [String: Any])
        #expect(
            Source().text(try WriteOutFormat("%{header_json}")) == "{\"a\":[\"1\",\"2\"],\n\"b\":[\"\\\"\\u009b\"]\n}")
        let format = try WriteOutFormat("a%{stderr}b%{stdout}c%{onerror}d")
        #expect(format.parts(Source(), terminals: []).map(\.text) == ["a", "b", "c"])
        #expect(format.parts(Source(), terminals: []).map(\.stream) == [.output, .errors, .output])
        #expect(Source(isFailure: true).text(format) == "abcd", "and what follows a failure")
    }

    @Test("Variables, escapes and percent signs of --write-out; what a server says cannot steer the terminal")
    func writeOut() throws {
        let format = try WriteOutFormat("a%%b %{http_code}\\n%header{ETag}\\t\\\\%{newline}100% \\x%")
        #expect(Source().text(format) == "a%b <http_code\\x1b>\n[ETag]\t\\\\\n100% \\x%")
        let name = try WriteOutFormat("%{filename_effective}%{stderr}%{filename_effective}")
        let (raw, shown) = ("<filename_effective\u{1B}>", "<filename_effective\\x1b>")
        #expect(Source().text(name, terminals: []) == raw + raw, "bytes for a script")
        #expect(Source().text(name, terminals: [.output]) == shown + raw)
        #expect(Source().text(name, terminals: [.errors]) == raw + shown)
        #expect(throws: UsageError.self) { _ = try WriteOutFormat("%{nonsense}") }
        let unclosed = try WriteOutFormat("%{unclosed")
        #expect(Source().text(unclosed) == "%{unclosed")
    }

    @Test(
        "B17.57: a user and a password in a URL are hidden wherever it stands in a text; addresses of mail are not",
        arguments: [
            ("http://me:secret@a/b", "http://***@a/b"), ("//me:secret@a", "//***@a"),
            ("http://me@a?b@c", "http://***@a?b@c"),
            ("<https://a:b@c@d/>; rel=x, <http://e:f@g>", "<https://***@d/>; rel=x, <http://***@g>"),
            ("0; url=http://u:p@h/#x@y", "0; url=http://***@h/#x@y"), ("me@example.com", "me@example.com"),
            ("http://a/b@c", "http://a/b@c"), ("http:///u:p@h", "http:///u:p@h"), ("a // b@c", "a // b@c"), ("", ""),
            ("\u{1F600}://ü:ö@a", "\u{1F600}://***@a"), ("http://@", "http://***@"), ("http://", "http://"),
        ])
    func urls(text: String, shown: String) {
        #expect(URLSecrets.hidden(text) == shown)
        #expect(SecretFields.shown("Location", text) == shown)
    }

    @Test("B4.27: what the library takes for a secret on redirects is shown nowhere, but for challenges")
    func sameSecrets() {
        let names = [
            "Authorization", "Authentication", "Token", "DPoP", "Cookie", "Cookie2", "Set-Cookie", "Accept", "Host",
            "Key", "X-Api-Key", "Api-Key", "ApiKey", "X-Goog-Api-Key", "Access-Key", "Ocp-Apim-Subscription-Key",
            "X-Key", "Client-Secret", "X-Auth-Password", "Private-Token", "X-Amz-Security-Token",
            "X-Forwarded-Authorization", "Proxy-Authorization", "Content-Type", "Sec-WebSocket-Key", "X-My-Cookie",
            "Authentication-Control",
        ]
        #expect(names.count { RedirectRules.isCredential($0) } > 20)
        for name in names + names.map({ "X-Other-\($0)" }) + names.map({ $0.uppercased() }) {
            #expect(!RedirectRules.isCredential(name) || SecretFields.holds(name), "\(name)")
        }
        for name in ["WWW-Authenticate", "Proxy-Authenticate"] {
            #expect(RedirectRules.isCredential(name) && !SecretFields.holds(name))
        }
    }

    @Test("Fields with secrets are known in any case")
    func secrets() {
        for name in ["Authorization", "PROXY-AUTHORIZATION", "cookie", "Set-Cookie", "X-API-Key", "X-My-Token"] {
            #expect(SecretFields.shown(name, "secret") == SecretFields.mask)
        }
        for name in ["Content-Type", "WWW-Authenticate", "Host", "Sec-WebSocket-Key"] {
            #expect(SecretFields.shown(name, "value") == "value")
        }
    }
}
