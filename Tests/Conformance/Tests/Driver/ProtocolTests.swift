// The form of the protocol: lines, numbers, refusals, the beginning and the end. Driver protocol, sections 1, 2 and 9.

import Foundation
import Testing
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Driver protocol")
struct ProtocolTests {
    /// Every name of the protocol's document.
    private static let names: [(list: String, names: [String])] = [
        (
            "ops",
            [
                "hello", "session.open", "session.close", "request", "cancel", "cookies.store", "cookies.header",
                "cookies.list", "cookies.clear", "cache.clear", "cache.usage", "trust.evaluate", "ws.open", "ws.send",
                "ws.receive", "ws.ping", "ws.close", "ws.echo",
            ]
        ),
        (
            "config",
            [
                "cookies", "cache", "timeout_ms", "resource_timeout_ms", "max_connections_per_host", "redirects",
                "headers", "credentials", "proxy", "resolve", "trust", "client_identity", "tls", "http2",
            ]
        ),
        (
            "options",
            [
                "task", "cache_policy", "timeout_ms", "cookies", "redirects", "body_stream", "cancel_after_ms",
                "cancel_after_bytes", "resume", "report_chunks", "max_body_bytes",
            ]
        ),
    ]

    @Test("hello lists every operation, configuration key and option of the document, and nothing else")
    func hello() async throws {
        let result = try await DriverProcess().result("hello")
        #expect(result["protocol"] == 1)
        #expect(result["name"] == "URLLoading")
        for (list, names) in Self.names {
            let listed = try #require(result[list]).elements.compactMap(\.text)
            #expect(listed.sorted() == names.sorted(), "\(list)")
        }
    }

    @Test(
        "Unknown and missing operations are refused",
        arguments: [
            "nonsense", "cookies.nonsense", "cache.nonsense", "ws.nonsense",
        ])
    func unknownOperation(op: String) async throws {
        let answer = try await DriverProcess().call(op, ["session": "a"])
        #expect(answer["ok"] == false)
        #expect(answer["problem"] == "unsupported")
    }

    @Test(
        "Unknown and missing configuration keys are refused",
        arguments: [
            ["nonsense": 1], ["cache": ["nonsense": 1]],
            ["credentials": [["user": "u", "password": "p", "nonsense": 1]]],
            ["credentials": [["user": "u", "password": "p", "scheme": "negotiate"]]],
            ["proxy": ["kind": "http", "host": "h", "port": 1, "nonsense": 1]],
            ["proxy": ["kind": "socks5", "host": "h", "port": 1, "schemes": ["http"]]],
            ["trust": ["mode": "system", "nonsense": 1]],
            ["trust": ["mode": "system", "check_host": false]], ["tls": ["nonsense": 1]],
        ] as [JSONValue])
    func unknownConfiguration(config: JSONValue) async throws {
        let answer = try await DriverProcess().call("session.open", ["session": "a", "config": config])
        #expect(answer["problem"] == "unsupported", "\(config)")
    }

    @Test("Keys that ask for what is so anyway are honoured")
    func harmlessConfiguration() async throws {
        let driver = try DriverProcess()
        try await driver.open(
            "a",
            [
                "cookies": false, "cache": .null, "credentials": [], "proxy": .null, "trust": ["mode": "system"],
                "client_identity": .null, "max_connections_per_host": .null,
            ])
    }

    @Test(
        "Unknown and missing options are refused",
        arguments: [
            ["nonsense": 1], ["task": "data", "nonsense": false],
        ] as [JSONValue])
    func unknownOption(options: JSONValue) async throws {
        let driver = try DriverProcess()
        try await driver.open()
        let answer = try await driver.answer(driver.get("http://127.0.0.1:1/", options: options))
        #expect(answer["problem"] == "unsupported")
    }

    @Test(
        "Options that make no sense are bad commands",
        arguments: [
            ["resume": true], ["resume": true, "task": "download"], ["resume": true, "cancel_after_bytes": 1],
            ["task": "fetch"], ["cancel_after_ms": -1], ["body_stream": [1]], ["cookies": "no"],
        ] as [JSONValue])
    func badOption(options: JSONValue) async throws {
        let driver = try DriverProcess()
        try await driver.open()
        let answer = try await driver.answer(driver.get("http://127.0.0.1:1/", options: options))
        #expect(answer["problem"] == "bad_command", "\(options)")
    }

    @Test(
        "Wrong values are bad commands",
        arguments: [
            ["session": "a", "config": ["timeout_ms": "1"]], ["session": "a", "config": ["timeout_ms": 0]],
            ["session": "a", "config": ["redirects": "sometimes"]], ["session": "a", "config": ["headers": ["A"]]],
            ["session": "a", "config": ["headers": [["A"]]]], ["session": "a", "config": ["trust": [:]]],
            ["session": "a", "config": ["trust": ["mode": "anchors"]]],
            ["session": "a", "config": ["trust": ["mode": "pin_keys"]]],
            ["session": "a", "config": ["trust": ["mode": "pin_certificates"]]],
            ["session": "a", "config": ["trust": ["mode": "ask"]]],
            ["session": "a", "config": ["client_identity": ["chain_pem": "", "key_pem": ""]]],
            ["session": "a", "config": ["client_identity": ["chain_pem": ""]]],
            ["session": "a", "config": ["tls": ["min": "2"]]], ["session": "a", "config": ["http2": "on"]],
            ["session": "a", "config": ["http2": true]],
            ["session": "a", "config": ["credentials": [["user": "u"]]]],
            ["session": "a", "config": ["credentials": [["user": "u", "password": "p", "scheme": "oauth"]]]],
            ["session": "a", "config": ["proxy": [:]]],
            ["session": "a", "config": ["proxy": ["kind": "http", "host": "h"]]],
            ["session": "a", "config": ["proxy": ["kind": "gopher", "host": "h", "port": 1]]],
            ["session": "a", "config": ["proxy": ["kind": "http", "host": "h", "port": 1, "password": "p"]]],
            ["session": "a", "config": ["proxy": ["kind": "http", "host": "", "port": 1]]],
            ["session": "a", "config": ["client_identity": [:]]],
            ["session": "a", "config": ["max_connections_per_host": 0]],
            ["session": "a", "config": ["max_connections_per_host": -1]],
            ["session": "a", "config": ["proxy": ["kind": "http", "host": "h", "port": 1, "schemes": ["ftp"]]]],
            ["session": "a", "config": ["resolve": ["a.test": 1]]], ["session": "a", "config": []], ["session": 1], [:],
        ] as [JSONValue])
    func wrongValue(members: JSONValue) async throws {
        let answer = try await DriverProcess().call("session.open", members)
        #expect(answer["problem"] == "bad_command", "\(members)")
    }

    @Test("Sessions are opened once, used while open, closed once")
    func sessionNames() async throws {
        let driver = try DriverProcess()
        try await driver.open()
        #expect(try await driver.call("session.open", ["session": "a"])["problem"] == "bad_command")
        _ = try await driver.result("session.close", ["session": "a"])
        #expect(try await driver.call("session.close", ["session": "a"])["problem"] == "bad_command")
        #expect(try await driver.answer(driver.get("http://127.0.0.1:1/"))["problem"] == "bad_command")
        try await driver.open()
    }

    @Test(
        "A line that is no command is answered with its number if that can be read",
        arguments: [
            (#"{"id":7,"op":"hello""#, 7), (#"{"id":7,"op":"hello"} x"#, 7), (#"{"id":7,"id":8,"op":"hello"}"#, 7),
            (#"{"id":7}"#, 7), (#"{"id":7,"op":1}"#, 7), (#"{"op":"hello"}"#, nil), (#"{"id":"7","op":"hello"}"#, nil),
            ("[]", nil), ("", nil), ("nonsense", nil),
        ] as [(String, Int64?)])
    func badLine(line: String, id: Int64?) async throws {
        let driver = try DriverProcess()
        driver.send(line: Data(line.utf8))
        #expect(try await driver.answer(id)["problem"] == "bad_command")
    }

    @Test("The end of the input ends the driver, with every command answered")
    func endOfInput() async throws {
        let gate = ServerGate()
        try await withDriver(router: { _ in .script([.wait(gate), .close]) }) { driver, server in
            try await driver.open()
            let waiting = driver.get(server.url())
            await server.wait { $0.requests == 1 }
            driver.closeInput()
            #expect(try await driver.result(waiting).errorName == "cancelled")
            #expect(await driver.exitStatus() == 0)
            gate.open()
        }
    }

    @Test("A runner that reads no more does not end the driver")
    func closedOutput() async throws {
        try await withDriver(router: { _ in .text("ok") }) { driver, server in
            try await driver.open()
            driver.closeOutput()
            for _ in 0..<3 { _ = driver.get(server.url()) }
            await server.wait { $0.requests == 3 }
            driver.closeInput()
            #expect(await driver.exitStatus() == 0)
        }
    }

    @Test("A last line without its end is carried out")
    func unfinishedLastLine() async throws {
        let driver = try DriverProcess()
        driver.send(line: Data(#"{"id":1,"op":"hello"}"#.utf8) + [0x0A] + Data(#"{"id":2,"op":"hello"}"#.utf8))
        driver.closeInput()
        _ = try await driver.result(2)
        #expect(await driver.exitStatus() == 0)
    }
}
