// Which bytes of a request reach the server (behaviour 5.2 and 5.3), and which requests are never sent (chapter 17).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("Requests on the wire")
struct RequestSerialisationTests {
    /// One request as a server saw it.
    struct Seen: Sendable {
        var method = ""
        var target = ""
        var fields: [String] = []
        var body = ""

        func value(_ name: String) -> String? {
            fields.first { $0.lowercased().hasPrefix(name.lowercased() + ": ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
    }

    private func send(
        _ path: String = "/", prepare: (inout URLRequest) throws -> Void = { _ in }
    ) async throws -> Seen {
        let seen = Guarded(Seen())
        let router: LoopbackServer.Router = { request in
            seen.value = Seen(
                method: request.method, target: request.target,
                fields: (0..<request.fields.count).map {
                    "\(request.fields.name(at: $0)): \(request.fields.value(at: $0))"
                },
                body: String(decoding: request.body, as: UTF8.self))
            return .status(200)
        }
        return try await withServer(router: router) { server in
            var request = URLRequest(url: try server.at(path))
            try prepare(&request)
            _ = try await URLSession(configuration: .ephemeral).data(for: request)
            return seen.value
        }
    }

    private func code(_ text: String, prepare: (inout URLRequest) -> Void = { _ in }) async throws -> URLError.Code? {
        var request = URLRequest(url: try #require(URL(string: text)))
        prepare(&request)
        let prepared = request
        return await codeThrown { _ = try await URLSession(configuration: .ephemeral).data(for: prepared) }
    }

    @Test("B5.16, B5.18, B5.21: the defaults of a plain GET, Host first", .http1Only("The text of HTTP/1.1"))
    func defaults() async throws {
        let seen = try await send()
        #expect(seen.method == "GET")
        #expect(seen.fields.first?.hasPrefix("Host: 127.0.0.1:") == true)
        #expect(seen.value("Accept") == "*/*")
        #expect(seen.value("Accept-Encoding") == CodingLibraries.system.acceptEncoding)
        #expect(seen.value("Accept-Language") != nil)
        #expect(seen.value("Connection") == "keep-alive")
        #expect(seen.value("User-Agent")?.contains(" URLLoading/") == true)
        #expect(seen.value("Content-Length") == nil, "B5.30")
        #expect(seen.fields.count == 6)
    }

    @Test(
        "B5.22: the target is path and query as in the URL, without fragment",
        arguments: [
            ("/a%20b?c=%C3%A9&d#frag", "/a%20b?c=%C3%A9&d"), ("", "/"), ("?q", "/?q"), ("/#x", "/"),
            ("/a//b/../c", "/a//b/../c"),
            ("/ä", "/%C3%A4"),
        ])
    func targets(path: String, target: String) async throws {
        #expect(try await send(path).target == target)
    }

    @Test("B5.23: OPTIONS with an empty path is sent with /")
    func options() async throws {
        let seen = try await send("") { $0.httpMethod = "OPTIONS" }
        #expect(seen.method == "OPTIONS" && seen.target == "/")
        #expect(seen.value("Content-Length") == nil, "B5.30")
    }

    @Test(
        "B5.7, B5.12, B5.13: reserved fields and names that are no tokens are dropped, Authorization and Host are kept",
        .http1Only("Host is :authority"))
    func reservedFields() async throws {
        let seen = try await send { request in
            for name in [
                "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
                "Proxy-Authorization", "Content-Length",
            ] {
                request.setValue("mine", forHTTPHeaderField: name)
            }
            request.setValue("x", forHTTPHeaderField: "not a token")
            request.setValue("x", forHTTPHeaderField: "")
            request.setValue("x", forHTTPHeaderField: "evil\r\nX")
            request.setValue("Basic abc", forHTTPHeaderField: "Authorization")
            request.setValue("other.example", forHTTPHeaderField: "Host")
        }
        #expect(!seen.fields.contains { $0.hasSuffix(": mine") || $0.hasSuffix(": x") })
        #expect(seen.value("Authorization") == "Basic abc")
        #expect(seen.value("Host") == "other.example")
        #expect(seen.value("Connection") == "keep-alive")
    }

    @Test("B5.6, B5.25: a folded value is sent unfolded")
    func foldedValue() async throws {
        let seen = try await send { $0.setValue("a\r\n  b", forHTTPHeaderField: "X-Folded") }
        #expect(seen.value("X-Folded") == "a b")
    }

    @Test("B5.26, B5.27: Content-Length is computed, whatever the application says")
    func contentLength() async throws {
        let seen = try await send { request in
            request.httpMethod = "PUT"
            request.setValue("77", forHTTPHeaderField: "Content-Length")
            request.httpBody = Data("12345".utf8)
        }
        #expect(seen.value("Content-Length") == "5")
        #expect(seen.body == "12345")
        #expect(seen.value("Content-Type") == nil, "B5.32: POST only")
    }

    @Test(
        "B5.30, B5.31: POST, PUT and PATCH without body send length 0, and no type",
        arguments: [
            "POST", "PUT", "PATCH", "DELETE",
        ])
    func emptyBodies(method: String) async throws {
        for body in [nil, Data()] {
            let seen = try await send { request in
                request.httpMethod = method
                request.httpBody = body
            }
            #expect(seen.value("Content-Length") == (method == "DELETE" ? nil : "0"))
            #expect(seen.value("Content-Type") == nil)
        }
    }

    @Test("B5.32: a POST with a body and no type gets the form type")
    func formType() async throws {
        let seen = try await send { request in
            request.httpMethod = "POST"
            request.httpBody = Data("a=b".utf8)
        }
        #expect(seen.value("Content-Type") == "application/x-www-form-urlencoded")
        let typed = try await send { request in
            request.httpMethod = "POST"
            request.httpBody = Data("{}".utf8)
            request.setValue("application/json", forHTTPHeaderField: "content-type")
        }
        #expect(typed.value("Content-Type") == "application/json")
    }

    @Test("B5.33, B17.36: GET with a body fails with −1103 before connecting; with an empty one it is sent (B5.34)")
    func getWithBody() async throws {
        let get: (inout URLRequest) -> Void = { $0.httpBody = Data("x".utf8) }
        #expect(try await code("http://127.0.0.1:1/", prepare: get) == .dataLengthExceedsMaximum)
        #expect(
            try await code("http://127.0.0.1:1/") { $0.httpBodyStream = InputStream(data: Data("x".utf8)) }
                == .dataLengthExceedsMaximum)
        #expect(try await send { $0.httpBody = Data() }.method == "GET")
    }

    @Test("B5.33: HEAD with a body is sent")
    func headWithBody() async throws {
        let seen = try await send { request in
            request.httpMethod = "HEAD"
            request.httpBody = Data("x".utf8)
        }
        #expect(seen.body == "x")
    }

    @Test("B16.65: TRACE and custom methods are sent as they are", arguments: ["TRACE", "patch", "M-SEARCH"])
    func customMethods(method: String) async throws {
        #expect(try await send { $0.httpMethod = method }.method == method)
    }

    @Test("B5.10, B16.64, B17.13: no URL, CONNECT and foreign schemes fail with −1002")
    func unsupported() async throws {
        #expect(try await code("http://127.0.0.1:1/") { $0.url = nil } == .unsupportedURL)
        #expect(try await code("http://127.0.0.1:1/") { $0.httpMethod = "connect" } == .unsupportedURL)
        for text in ["gopher://example.com/", "mailto:x@example.com", "example.com/path", "/path", "httpx://a"] {
            #expect(try await code(text) == .unsupportedURL, "\(text)")
        }
    }

    @Test(
        "B17.11: no usable host, or a port out of range, fails with −1000",
        arguments: [
            "http:///path", "http:path", "http://host:65536/", "http://host:99999999999999999999/", "http://user@/",
            "https://", "http://:80/", "http://a..b:x/".replacingOccurrences(of: ":x", with: ""),
        ])
    func badURLs(text: String) async throws {
        guard URL(string: text) != nil else { return }
        let code = try await code(text)
        // A name with an empty label is for the resolver to refuse.
        #expect(code == .badURL || text.contains(".."))
    }

    @Test("A request whose method is not a token fails with −1002", arguments: ["", "A B", "G\u{E9}T", "GET\r\nX: y"])
    func illegalMethods(method: String) async throws {
        try await withServer(router: { _ in .status(200) }) { server in
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = method
            let prepared = request
            #expect(
                await codeThrown { _ = try await URLSession(configuration: .ephemeral).data(for: prepared) }
                    == .unsupportedURL)
        }
    }

    @Test("B5.22, B16.12: user information and upper case do not reach the server, IPv6 keeps its brackets")
    func hosts() async throws {
        let options = LoopbackServer.Options(host: "::1")
        let host = Guarded<String?>(nil)
        try await withServer(
            options,
            router: { request in
                host.value = request.fields.first(.host)
                return .status(200)
            }
        ) { server in
            let url = try #require(URL(string: "HTTP://user:secret@[::1]:\(server.port)/"))
            _ = try await URLSession(configuration: .ephemeral).data(from: url)
            #expect(host.value == "[::1]:\(server.port)")
        }
    }

    @Test(
        "B16.69: Unicode host names are sent as A-labels, written out or percent-encoded",
        arguments: ["bücher", "b%C3%BCcher", "B%c3%9ccher"])
    func unicodeHosts(name: String) async throws {
        let host = Guarded<String?>(nil)
        try await withServer(router: { request in
            host.value = request.fields.first(.host)
            return .status(200)
        }) { server in
            let configuration = URLSessionConfiguration.default
            configuration.hostOverrides = ["xn--bcher-kva.example": "127.0.0.1"]
            let url = try #require(URL(string: "http://\(name).example:\(server.port)/"))
            _ = try await URLSession(configuration: configuration).data(from: url)
            #expect(host.value == "xn--bcher-kva.example:\(server.port)")
        }
    }

    @Test("DNSSEC: a look-up that must be validated fails with −1006; an address needs none")
    func validatedLookups() async throws {
        #expect(
            try await code("http://example.com/") { $0.requiresDNSSECValidation = true } == .dnsLookupFailed)
        let seen = try await send { $0.requiresDNSSECValidation = true }
        #expect(seen.method == "GET")
    }

    @Test(
        "B5.17: Accept-Language from the environment",
        arguments: [
            ([:], "en"), (["LANG": "C"], "en"), (["LANG": "POSIX", "LANGUAGE": "de"], "en"),
            (["LANG": "en_GB.UTF-8"], "en-GB,en;q=0.9"), (["LANG": "de"], "de"),
            (["LANG": "de_AT.UTF-8@euro", "LC_ALL": "fr_CH"], "fr-CH,fr;q=0.9"),
            (["LANG": "de_AT", "LC_MESSAGES": "it_IT"], "it-IT,it;q=0.9"),
            (["LANG": "de_AT", "LANGUAGE": "de_AT:de:en_GB:en"], "de-AT,de;q=0.9,en-GB;q=0.8,en;q=0.7"),
            (["LANG": "C.UTF-8"], "en"), (["LANG": "../../etc"], "en"), (["LANG": "e\r\nX: y"], "en"),
        ] as [([String: String], String)])
    func acceptLanguage(environment: [String: String], value: String) {
        #expect(AcceptLanguage.value(environment: environment) == value)
    }

    @Test("B5.20: User-Agent holds the process's name and the library's version")
    func userAgent() {
        let version = URLSession.libraryVersion
        #expect(version.split(separator: ".").compactMap { Int($0) }.count == 3)
        #expect(UserAgent.value(processName: "my tool (x)/1") == "my%20tool%20%28x%29%2F1 URLLoading/\(version)")
        #expect(UserAgent.value(processName: "\r\n") == "%0D%0A URLLoading/\(version)")
        #expect(UserAgent.value(processName: "") == "unknown URLLoading/\(version)")
    }
}
