// What the protocol's document shows: every command, every value of every key and option, and the members of answers.
// Driver protocol, sections 3 to 7 and 10; web sockets have tests of their own.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Driver document")
struct DocumentTests {
    private static let pem = try? CertificateFactory.root("a").issue(.server(hosts: ["a.test"])).certificate.pem

    private static let configurations: [JSONValue] = [
        ["cookies": true], ["cookies": false], ["cache": .null],
        ["cache": ["memory_bytes": 1000, "disk_bytes": 0]], ["timeout_ms": 1], ["resource_timeout_ms": 1],
        ["max_connections_per_host": 1], ["redirects": "follow"], ["redirects": "stop"], ["headers": [["A", "b"]]],
        ["credentials": [["user": "u", "password": "p", "proxy": false, "scheme": "basic"]]],
        ["credentials": [["user": "u", "password": "p", "host": "h", "port": 1, "realm": "r", "scheme": "digest"]]],
        ["credentials": [["user": "u", "password": "p", "scheme": "ntlm"]]],
        ["credentials": [["user": "u", "password": "p", "scheme": "any"]]],
        ["proxy": ["kind": "http", "host": "h", "port": 1, "user": "u", "password": "p", "schemes": ["http"]]],
        ["proxy": ["kind": "socks5", "host": "h", "port": 1, "schemes": ["http", "https"], "bypass": ["a.test"]]],
        ["resolve": ["a.test": "127.0.0.1", "b.test": "::1"]], ["trust": ["mode": "system"]],
        ["trust": ["mode": "accept_any"]], ["trust": ["mode": "ask", "answer": "use"]],
        ["trust": ["mode": "ask", "answer": "cancel"]], ["trust": ["mode": "ask", "answer": "default"]],
        ["trust": ["mode": "ask", "answer": "reject"]],
        ["trust": ["mode": "pin_keys", "pins_sha256": ["2689367b205c16ce32ed4200942b8b8b1e262dfc70d9bc9f"]]],
        ["tls": ["min": "1.0", "max": "1.1"]], ["tls": ["min": "1.2", "max": "1.3"]], ["http2": "auto"],
        ["http2": "off"], ["http2": "prior_knowledge"],
    ]

    @Test("Every value of every configuration key is honoured")
    func configuration() async throws {
        let driver = try DriverProcess()
        let pem = JSONValue.string(try #require(Self.pem))
        let withCertificates: [JSONValue] = [
            [
                "trust": [
                    "mode": "anchors", "anchors_pem": [pem], "check_host": false, "at_ms": 1_700_000_000_000,
                    "check_revocation": "none",
                ]
            ],
            ["trust": ["mode": "anchors", "anchors_pem": [pem], "check_host": true, "check_revocation": "soft"]],
            ["trust": ["mode": "anchors", "anchors_pem": [pem], "check_revocation": "hard", "crls_pem": []]],
            ["trust": ["mode": "pin_certificates", "pins_pem": [pem]]],
            ["trust": ["mode": "pin_certificates", "pins_pem": [pem], "anchors_pem": [pem]]],
        ]
        for (number, config) in (Self.configurations + withCertificates).enumerated() {
            let name = JSONValue.string("s\(number)")
            #expect(
                try await driver.call("session.open", ["session": name, "config": config])["ok"] == true, "\(config)")
            #expect(try await driver.call("session.close", ["session": name])["result"] == [:], "\(config)")
        }
    }

    private static let options: [JSONValue] = [
        ["task": "data"], ["task": "download"], ["task": "upload"], ["task": "bytes"], ["cache_policy": "protocol"],
        ["cache_policy": "reload"], ["cache_policy": "cache_else_load"], ["cache_policy": "cache_only"],
        ["cache_policy": "revalidate"], ["timeout_ms": 60_000], ["cookies": false], ["cookies": true],
        ["redirects": "follow"], ["redirects": "stop"],
        ["body_stream": [["base64": "YWJj"], ["base64": "", "delay_ms": 1]]], ["cancel_after_ms": 60_000],
        ["cancel_after_bytes": 1], ["task": "download", "cancel_after_bytes": 1, "resume": true], ["resume": false],
        ["report_chunks": true], ["max_body_bytes": 0],
    ]

    @Test("Every value of every option is honoured, and every answer has the members of the document")
    func options() async throws {
        try await withDriver(router: { _ in .text("ok") }) { driver, server in
            try await driver.open()
            for options in Self.options {
                let result = try await driver.result(driver.get(server.url(), options: options))
                var members: Set<String> = [
                    "response", "body_base64", "body_length", "body_sha256", "error", "redirects", "challenges",
                    "informational", "trailers", "metrics",
                ]
                if options["report_chunks"] == true { members.insert("chunks") }
                guard case .object(let given) = result else {
                    Issue.record("no object: \(result)")
                    return
                }
                #expect(Set(given.map(\.name)) == members, "\(options)")
            }
        }
    }

    @Test("Every command of the document is answered as it says")
    func commands() async throws {
        try await withDriver(router: { _ in .text("ok").adding("Cache-Control", "max-age=60") }) { driver, server in
            try await driver.open("a", ["cache": ["memory_bytes": 1_000_000, "disk_bytes": 0]])
            let url = JSONValue.string(server.url("/x"))
            _ = try await driver.result(driver.get(server.url("/x")))
            #expect(try await driver.result("cancel", ["target": 999]) == ["found": false])
            let cookie: JSONValue = ["session": "a", "url": url, "set_cookie": ["a=1; Max-Age=60; HttpOnly"]]
            #expect(try await driver.result("cookies.store", cookie) == [:])
            let header = try await driver.result("cookies.header", ["session": "a", "url": url])
            #expect(header == ["value": "a=1"])
            let list = try await driver.result("cookies.list", ["session": "a"])
            let listed = try #require(list["cookies"]?.elements.first)
            #expect(listed["name"] == "a" && listed["value"] == "1" && listed["domain"] == "127.0.0.1")
            #expect(listed["path"] == "/" && listed["secure"] == false && listed["http_only"] == true)
            #expect(try await driver.result("cookies.clear", ["session": "a"]) == [:])
            #expect(try await driver.result("cookies.header", ["session": "a", "url": url]) == ["value": .null])
            let usage = try await driver.result("cache.usage", ["session": "a"])
            #expect((usage["memory_bytes"]?.number ?? 0) > 0 && usage["disk_bytes"] == 0)
            #expect(try await driver.result("cache.clear", ["session": "a"]) == [:])
            #expect(try await driver.result("cache.usage", ["session": "a"])["memory_bytes"] == 0)
            let pem = JSONValue.string(try #require(Self.pem))
            let evaluation: JSONValue = [
                "chain_pem": [pem], "anchors_pem": [pem], "host": "other.test", "at_ms": .null, "crls_pem": [],
                "max_depth": .null,
            ]
            let verdict = try await driver.result("trust.evaluate", evaluation)
            #expect(verdict["trusted"] == false)
            #expect(verdict["error"]?.text != nil)
            #expect(try await driver.result("session.close", ["session": "a"]) == [:])
        }
    }

    @Test("A download that is stopped and goes on is answered whole, by its second transfer")
    func resume() async throws {
        let length: Int64 = 3_000_000
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            if request.path == "/weak" {
                return .slow([.init([UInt8](repeating: 1, count: 200_000)), .init("end", when: gate)])
            }
            guard request.fields.first(.range) == nil else {
                return .generated(length: length, tag: "\"a\"", to: request)
            }
            // The first transfer stands still until it is stopped.
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nETag: \"a\"\r\nAccept-Ranges: bytes\r\n\r\n"
            return .script([.text(head), .sendGenerated(length: 500_000), .waitForClose, .close])
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            let options: JSONValue = [
                "task": "download", "cancel_after_bytes": 100_000, "resume": true, "max_body_bytes": 10,
            ]
            let result = try await driver.result(driver.get(server.url("/x"), options: options))
            #expect(result["error"] == .null)
            #expect(result["response"]?["status"] == 206)
            #expect(result["body_length"] == .integer(length))
            #expect(result["body_base64"]?.data == Data(0..<10))
            #expect(server.stats.requests == 2)
            // What cannot go on is told as stopped.
            let weak = try await driver.result(driver.get(server.url("/weak"), options: options))
            #expect(weak.errorName == "cancelled")
            gate.open()
        }
    }
}
