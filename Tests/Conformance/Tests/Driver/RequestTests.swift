// Requests and what is told about them. Driver protocol, sections 3, 4, 9 and 10.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Driver requests")
struct RequestTests {
    @Test("The example of the protocol")
    func example() async throws {
        try await withDriver(router: { _ in .text("ok") }) { driver, server in
            try await driver.open("a", ["timeout_ms": 2000])
            let result = try await driver.result(
                "request",
                [
                    "session": "a", "method": "GET", "url": .string(server.url("/x")), "headers": [["Accept", "*/*"]],
                ])
            let response = try #require(result["response"])
            #expect(response["url"] == .string(server.url("/x")))
            #expect(response["status"] == 200)
            #expect(response["headers"]?.elements.contains(["Content-Length", "2"]) == true)
            #expect(response["mime_type"] == "text/plain")
            #expect(response["text_encoding"] == "utf-8")
            #expect(response["suggested_filename"] == "x")
            #expect(response["expected_length"] == 2)
            #expect(result["body_base64"] == "b2s=")
            #expect(result["body_length"] == 2)
            #expect(
                result["body_sha256"] == "2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9fbc77c49699a4f1df")
            #expect(result["error"] == .null)
            for name in ["redirects", "challenges", "informational", "trailers"] { #expect(result[name] == []) }
            #expect(result["chunks"] == nil)
            let transaction = try #require(result["metrics"]?["transactions"]?.elements.first)
            #expect(transaction["fetch"] == "network")
            #expect(transaction["reused"] == false)
            #expect(transaction["status"] == 200)
            #expect(transaction["protocol"] == "http/1.1")
            #expect(transaction["remote_port"] == .integer(Int64(server.port)))
            _ = try await driver.result("session.close", ["session": "a"])
        }
    }

    @Test("A quick request is answered while slow ones are in progress")
    func quickAmongSlow() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            request.target == "/slow" ? .slow([.init("slow", when: gate)]) : .text("quick")
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open("a", ["max_connections_per_host": 10])
            let slow = (0..<5).map { _ in driver.get(server.url("/slow")) }
            await server.wait { $0.requests == 5 }
            #expect(
                try await driver.result(driver.get(server.url("/quick")))["body_base64"]?.data == Data("quick".utf8))
            gate.open()
            for id in slow { #expect(try await driver.result(id)["body_base64"]?.data == Data("slow".utf8)) }
        }
    }

    @Test("Bytes come back unchanged")
    func bytesUnchanged() async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
        var hash = SHA256()
        hash.update(body)
        let expected = JSONValue.string(hash.hexDigest())
        try await withDriver(router: { .echo($0) }) { driver, server in
            try await driver.open()
            let request: JSONValue = [
                "session": "a", "method": "POST", "url": .string(server.url()), "body_base64": .base64(body),
            ]
            let result = try await driver.result("request", request)
            #expect(result["body_base64"]?.data == body)
            #expect(result["body_length"] == 300_000)
            #expect(result["body_sha256"] == expected)
        }
    }

    @Test("Downloads and asynchronous sequences give the same body", arguments: ["data", "download", "bytes"])
    func forms(task: String) async throws {
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })
        let router: LoopbackServer.Router = { request in
            request.target == "/" ? .status(302).adding("Location", "/body") : .bytes(Array(body))
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            let options: JSONValue = ["task": .string(task)]
            let result = try await driver.result(driver.get(server.url(), options: options))
            #expect(result["body_base64"]?.data == body)
            #expect(result["response"]?["status"] == 200)
            #expect(result["redirects"]?.elements.count == 1)
            #expect(result["metrics"]?["transactions"]?.elements.count == 2)
            #expect(result["error"] == .null)
            let missing = try await driver.result(driver.get("http://127.0.0.1:1/", options: options))
            #expect(missing.errorName == "cannotConnectToHost")
        }
    }

    @Test("Downloads and asynchronous sequences are cancelled", arguments: ["download", "bytes"])
    func cancelForms(task: String) async throws {
        let gate = ServerGate()
        try await withDriver(router: { _ in .slow([.init("0123456789"), .init("more", when: gate)]) }) {
            driver, server in
            try await driver.open()
            let word = JSONValue.string(task)
            let long = try await driver.result(
                driver.get(server.url(), options: ["task": word, "cancel_after_bytes": 3]))
            #expect(long.errorName == "cancelled")
            let id = driver.get(server.url(), options: ["task": word])
            await server.wait { $0.requests == 2 }
            #expect(try await driver.result("cancel", ["target": .integer(id)]) == ["found": true])
            #expect(try await driver.result(id).errorName == "cancelled")
            gate.open()
        }
    }

    @Test("A body can be supplied piece by piece")
    func bodyStream() async throws {
        try await withDriver(router: { .echo($0) }) { driver, server in
            try await driver.open()
            let pieces: JSONValue = [
                ["base64": "AAEC"], ["base64": "", "delay_ms": 1], ["base64": "AwQ=", "delay_ms": 1],
            ]
            let request: JSONValue = [
                "session": "a", "method": "PUT", "url": .string(server.url()), "options": ["body_stream": pieces],
            ]
            #expect(try await driver.result("request", request)["body_base64"]?.data == Data([0, 1, 2, 3, 4]))
        }
    }

    @Test("A body goes through an upload task too, and again where a redirect wants it", arguments: ["data", "upload"])
    func uploads(task: JSONValue) async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/to" ? .echo(request) : .status(307).adding("Location", "/to")
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            let whole: JSONValue = [
                "session": "a", "method": "PUT", "url": .string(server.url("/from")), "body_base64": "AAECAwQ=",
                "options": ["task": task],
            ]
            #expect(try await driver.result("request", whole)["body_base64"]?.data == Data([0, 1, 2, 3, 4]))
            let pieces: JSONValue = [["base64": "AAEC"], ["base64": "AwQ=", "delay_ms": 1]]
            let streamed: JSONValue = [
                "session": "a", "method": "PUT", "url": .string(server.url("/from")),
                "options": ["task": task, "body_stream": pieces],
            ]
            #expect(try await driver.result("request", streamed)["body_base64"]?.data == Data([0, 1, 2, 3, 4]))
        }
    }

    @Test("Method and fields reach the server, those of the session too")
    func fields() async throws {
        let router: LoopbackServer.Router = { request in
            let names = ["x-a", "x-b", "x-c"]
            let fields = (0..<request.fields.count).map {
                "\(request.fields.name(at: $0)): \(request.fields.value(at: $0))"
            }
            return .text(
                ([request.method] + fields.filter { field in names.contains { field.lowercased().hasPrefix($0) } })
                    .joined(separator: "\n"))
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open("a", ["headers": [["X-A", "session"], ["X-B", "session"]]])
            let request: JSONValue = [
                "session": "a", "method": "OPTIONS", "url": .string(server.url()),
                "headers": [["X-B", "own"], ["X-C", "1"], ["X-C", "2"]],
            ]
            let body = try await driver.result("request", request)["body_base64"]?.data ?? Data()
            #expect(
                String(decoding: body, as: UTF8.self).split(separator: "\n").sorted()
                    == ["OPTIONS", "X-A: session", "X-B: own", "X-C: 1,2"])
        }
    }

    @Test("A scalar in a header list is the byte of its number")
    func fieldBytes() async throws {
        try await withDriver(router: { .text($0.fields.first("X-A") ?? "none") }) { driver, server in
            try await driver.open()
            func answer(_ value: String) async throws -> JSONValue {
                try await driver.call(
                    "request",
                    [
                        "session": "a", "method": "GET", "url": .string(server.url()),
                        "headers": [["X-A", .string(value)]],
                    ])
            }
            let sent = try await answer("gr\u{C3}\u{BC}n")
            #expect(sent["result"]?["body_base64"]?.data == Data("gr\u{FC}n".utf8))
            // The package's API has text only, of which it sends the UTF-8.
            #expect(try await answer("gr\u{FC}n")["problem"] == "unsupported")
            #expect(try await answer("gr\u{100}n")["problem"] == "bad_command")
            for (value, problem) in [("\u{FC}", "unsupported"), ("\u{100}", "bad_command")] as [(String, JSONValue)] {
                let fields: JSONValue = [["X-A", .string(value)]]
                let session = try await driver.call("session.open", ["session": "b", "config": ["headers": fields]])
                #expect(session["problem"] == problem)
                let socket = try await driver.call(
                    "ws.open", ["session": "a", "ws": "w", "url": .string(server.url()), "headers": fields])
                #expect(socket["problem"] == problem)
            }
        }
    }

    @Test("A sequence that is cancelled at a byte is cancelled, also where the whole body is there")
    func cancelSequence() async throws {
        try await withDriver(router: { _ in .text("0123456789") }) { driver, server in
            try await driver.open()
            for _ in 0..<20 {
                let result = try await driver.result(
                    driver.get(server.url(), options: ["task": "bytes", "cancel_after_bytes": 3]))
                #expect(result.errorName == "cancelled" && result["error"]?["code"] == -999)
                #expect(result["response"]?["status"] == 200)
            }
        }
    }

    @Test("The chunks of a download are those that were written, not those in which its file is read")
    func downloadChunks() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            request.path == "/whole"
                ? .generated(length: 3_000_000) : .slow([.init("0123456789"), .init("more", when: gate)])
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            func chunks(_ url: String, _ more: [JSONMember] = []) async throws -> (bytes: Int64, result: JSONValue) {
                let options: [(String, JSONValue)] = [
                    ("task", "download"), ("report_chunks", true), ("max_body_bytes", 0),
                ]
                let result = try await driver.result(
                    driver.get(url, options: .object(options.map { .init(name: $0, value: $1) } + more)))
                let lengths = result["chunks"]?.elements.map { $0.elements.last?.number ?? 0 } ?? []
                return (lengths.reduce(0, +), result)
            }
            let whole = try await chunks(server.url("/whole"))
            #expect(whole.bytes == 3_000_000 && whole.result["body_length"] == 3_000_000)
            // A file that was not finished is not read.
            let part = try await chunks(server.url("/part"), [.init(name: "cancel_after_bytes", value: 3)])
            #expect(part.bytes == 10 && part.result["body_length"] == 0)
            #expect(part.result.errorName == "cancelled")
            gate.open()
        }
    }

    @Test("Redirects are followed and listed, or stopped at")
    func redirects() async throws {
        let router: LoopbackServer.Router = { request in
            request.target == "/a" ? .text("moved", status: 302).adding("Location", "/b") : .text("there")
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            let followed = try await driver.result(driver.get(server.url("/a")))
            #expect(followed["response"]?["url"] == .string(server.url("/b")))
            #expect(
                followed["redirects"] == [
                    ["status": 302, "from": .string(server.url("/a")), "to": .string(server.url("/b"))]
                ])
            #expect(followed["metrics"]?["redirect_count"] == 1)
            let stopped = try await driver.result(driver.get(server.url("/a"), options: ["redirects": "stop"]))
            #expect(stopped["response"]?["status"] == 302)
            #expect(stopped["body_base64"]?.data == Data("moved".utf8))
            #expect(stopped["redirects"] == [])
            try await driver.open("b", ["redirects": "stop"])
            let again = try await driver.result(driver.get(server.url("/a"), session: "b"))
            #expect(again["response"]?["status"] == 302)
        }
    }

    @Test("Informational responses, chunks, and bodies beyond the limit")
    func reports() async throws {
        let steps: [ScriptStep] = [
            .lines("HTTP/1.1 103 Early Hints\nLink: </a>\n\nHTTP/1.1 200 OK\nContent-Length: 10\nX-A: \u{E9}\n\n"),
            .text("0123456789"),
        ]
        try await withDriver(router: { _ in .script(steps) }) { driver, server in
            try await driver.open()
            let options: JSONValue = ["report_chunks": true, "max_body_bytes": 4]
            let result = try await driver.result(driver.get(server.url(), options: options))
            #expect(result["informational"] == [["status": 103, "headers": [["Link", "</a>"]]]])
            #expect(result["response"]?["headers"]?.elements.contains(["X-A", "\u{E9}"]) == true)
            #expect(result["body_base64"]?.data == Data("0123".utf8))
            #expect(result["body_length"] == 10)
            #expect(
                result["body_sha256"] == "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882")
            let lengths = result["chunks"]?.elements.map { $0.elements.last?.number ?? 0 }
            #expect(lengths?.reduce(0, +) == 10)
        }
    }

    @Test("A request is cancelled by its number, once")
    func cancel() async throws {
        let gate = ServerGate()
        try await withDriver(router: { _ in .script([.wait(gate), .close]) }) { driver, server in
            try await driver.open()
            let id = driver.get(server.url())
            await server.wait { $0.requests == 1 }
            #expect(try await driver.result("cancel", ["target": .integer(id)]) == ["found": true])
            let result = try await driver.result(id)
            #expect(result.errorName == "cancelled")
            #expect(result["response"] == .null)
            #expect(try await driver.result("cancel", ["target": .integer(id)]) == ["found": false])
            gate.open()
        }
    }

    @Test("A request is cancelled after a time or a number of bytes")
    func cancelAfter() async throws {
        let gate = ServerGate()
        try await withDriver(router: { _ in .slow([.init("0123456789"), .init("more", when: gate)]) }) {
            driver, server in
            try await driver.open()
            let late = try await driver.result(driver.get(server.url(), options: ["cancel_after_ms": 1]))
            #expect(late.errorName == "cancelled")
            let long = try await driver.result(driver.get(server.url(), options: ["cancel_after_bytes": 3]))
            #expect(long.errorName == "cancelled")
            #expect(long["body_length"] == 10)
            let none = try await driver.result(driver.get(server.url(), options: ["cancel_after_bytes": 0]))
            #expect(none.errorName == "cancelled")
            #expect(none["response"]?["status"] == 200)
            gate.open()
        }
    }

    @Test("Closing a session cancels what it does; others go on with their own connections")
    func closeSession() async throws {
        let gate = ServerGate()
        try await withDriver(router: { _ in .slow([.init("0123"), .init("4567", when: gate)]) }) { driver, server in
            try await driver.open("a")
            try await driver.open("b")
            let first = driver.get(server.url(), session: "a")
            let second = driver.get(server.url(), session: "b")
            await server.wait { $0.requests == 2 }
            _ = try await driver.result("session.close", ["session": "a"])
            #expect(try await driver.result(first).errorName == "cancelled")
            gate.open()
            let result = try await driver.result(second)
            #expect(result["body_length"] == 8)
            #expect(result["metrics"]?["transactions"]?.elements.first?["reused"] == false)
        }
    }

    @Test("Errors by their names, with what came before them")
    func errors() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            switch request.path {
            case "/short": .script([.lines("HTTP/1.1 200 OK\nContent-Length: 9\n\n"), .text("short"), .close])
            case "/garbage": .script([.text("garbage\r\n\r\n"), .close])
            case "/reset": .script([.reset])
            default: .script([.wait(gate), .close])
            }
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open("a", ["timeout_ms": 60_000])
            let short = try await driver.result(driver.get(server.url("/short")))
            #expect(short["error"]?["domain"] == "NSURLErrorDomain")
            #expect(short["error"]?["code"] == -1005)
            #expect(short.errorName == "networkConnectionLost")
            #expect(short["body_base64"]?.data == Data("short".utf8))
            let urls: [(String, JSONValue)] = [
                (server.url("/garbage"), "cannotParseResponse"), (server.url("/reset"), "networkConnectionLost"),
                ("http://127.0.0.1:1/", "cannotConnectToHost"), ("http://[::1", "badURL"), ("", "badURL"),
                ("nonsense://a/", "unsupportedURL"),
            ]
            for (url, name) in urls {
                let result = try await driver.result(driver.get(url))
                #expect(result.errorName == name, "\(url)")
                #expect(result["response"] == .null)
            }
            let late = driver.get(server.url("/wait"), options: ["timeout_ms": 1])
            #expect(try await driver.result(late).errorName == "timedOut")
            gate.open()
        }
    }

    @Test("A cache policy that forbids the network finds nothing")
    func cacheOnly() async throws {
        try await withDriver(router: { _ in .text("ok") }) { driver, server in
            try await driver.open()
            let result = try await driver.result(driver.get(server.url(), options: ["cache_policy": "cache_only"]))
            #expect(result.errorName == "resourceUnavailable")
            let loaded = try await driver.result(driver.get(server.url(), options: ["cache_policy": "reload"]))
            #expect(loaded["body_length"] == 2)
        }
    }
}
