// Web sockets through the driver: every operation, and what is told of openings and ends.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("The driver's web sockets")
struct WebSocketTests {
    private func members(_ name: String = "w", _ more: [JSONMember] = []) -> JSONValue {
        .object([JSONMember(name: "ws", value: .string(name))] + more)
    }

    private func url(_ server: LoopbackServer, _ path: String = "/") -> JSONValue {
        .string(server.url(path).replacingOccurrences(of: "http:", with: "ws:"))
    }

    private func open(
        _ driver: DriverProcess, _ server: LoopbackServer, _ more: [JSONMember] = []
    ) async throws -> JSONValue {
        try await driver.result(
            "ws.open",
            members(
                "w", [JSONMember(name: "session", value: "a"), JSONMember(name: "url", value: url(server))] + more))
    }

    private func receive(_ driver: DriverProcess, within milliseconds: Int64 = 20_000) async throws -> JSONValue {
        try await driver.result(
            "ws.receive", members("w", [JSONMember(name: "timeout_ms", value: .integer(milliseconds))]))
    }

    @Test("Messages of both kinds, a ping and goodbye")
    func conversation() async throws {
        var route = WebSocketRoute()
        route.protocols = ["chat"]
        try await withDriver(router: { [route] _ in .webSocket(route) }) { driver, server in
            try await driver.open()
            let opened = try await open(
                driver, server,
                [
                    JSONMember(name: "protocols", value: ["chat", "other"]),
                    JSONMember(name: "headers", value: [["Origin", "http://app.test"]]),
                ])
            #expect(opened == ["protocol": "chat"])
            let sent = try await driver.result("ws.send", ["ws": "w", "text": "Grüße"])
            #expect(sent == [:])
            #expect(try await receive(driver) == ["text": "Grüße"])
            _ = try await driver.result("ws.send", ["ws": "w", "binary_base64": "AP+A"])
            #expect(try await receive(driver)["binary_base64"] == "AP+A")
            #expect(try await driver.result("ws.ping", ["ws": "w", "timeout_ms": 20_000]) == ["pong": true])
            let closed = try await driver.result("ws.close", ["ws": "w", "code": 4000, "reason": "bye"])
            #expect(closed == ["closed": ["code": 4000, "reason": "bye"]])
            #expect(try await driver.result("ws.send", ["ws": "w", "text": "x"])["error"]?["code"] == 107)
            // A name is free when its web socket has ended.
            #expect(try await open(driver, server)["error"] == nil)
        }
    }

    @Test("The server's goodbye, its silence, and an end without a word")
    func ends() async throws {
        let router: LoopbackServer.Router = { request in
            switch request.target {
            case "/bye": .webSocket([.text("last"), .close(1001, "away")])
            case "/drop": .webSocket([.drop])
            case "/silent": .webSocket([.expect(text: "go"), .text("late")])
            default: .text("no web socket here")
            }
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            func open(_ name: String, _ path: String) async throws -> JSONValue {
                try await driver.result("ws.open", ["session": "a", "ws": .string(name), "url": url(server, path)])
            }
            func receive(_ name: String, within milliseconds: Int64 = 20_000) async throws -> JSONValue {
                try await driver.result("ws.receive", ["ws": .string(name), "timeout_ms": .integer(milliseconds)])
            }
            _ = try await open("bye", "/bye")
            #expect(try await receive("bye") == ["text": "last"])
            #expect(try await receive("bye") == ["closed": ["code": 1001, "reason": "away"]])

            _ = try await open("drop", "/drop")
            #expect(try await receive("drop").errorName == "networkConnectionLost")

            // A message that comes too late for one call goes to the next.
            _ = try await open("silent", "/silent")
            #expect(try await receive("silent", within: 1).errorName == "timedOut")
            _ = try await driver.result("ws.send", ["ws": "silent", "text": "go"])
            #expect(try await receive("silent") == ["text": "late"])

            let refused = try await open("none", "/page")
            #expect(refused.errorName == "badServerResponse")
            #expect(refused["response"]?["status"] == 200)
        }
    }

    @Test("An echo runs until the end, and counts")
    func echo() async throws {
        let record = WebSocketRecord()
        let router: LoopbackServer.Router = { _ in
            .webSocket(
                [
                    .text("one"), .expect(text: "one"), .binary([1, 2]),
                    .expect(.message(.init(.binary, [1, 2]))), .close(1000, "enough"),
                ], record: record)
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            let result = try await driver.result("ws.echo", ["session": "a", "url": url(server), "timeout_ms": 20_000])
            #expect(result["messages"] == 2 && result["bytes"] == 5)
            #expect(result["closed"] == ["code": 1000, "reason": "enough"])
            #expect(result["error"] == .null)
            #expect(record.contents.problems.isEmpty)
        }
    }

    @Test("A message of 16 MiB goes back as it came")
    func longEcho() async throws {
        let long = [UInt8](repeating: 7, count: 16 << 20)
        let router: LoopbackServer.Router = { _ in
            .webSocket([.binary(long), .expect(.message(.init(.binary, long))), .close(1000)])
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            let echo = try await driver.result(
                "ws.echo", ["session": "a", "url": url(server), "timeout_ms": 300_000])
            #expect(echo["messages"] == 1 && echo["bytes"] == .count(long.count), "\(echo)")
            #expect(echo["closed"]?["code"] == 1000 && echo["error"] == .null)
        }
    }

    @Test("An echo does not wait for ever for a peer that sends nothing, that reads nothing, or that does not end")
    func stuckEcho() async throws {
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            switch request.path {
            case "/silent": .webSocket([.wait(gate)])
            case "/deaf":
                .webSocket(
                    [.stopReading] + (0..<256).map { _ in .binary([UInt8](repeating: 1, count: 1 << 17)) }
                        + [.wait(gate)])
            default: .script([.wait(gate), .close])
            }
        }
        try await withDriver(router: router) { driver, server in
            try await driver.open()
            for (path, patience) in [("/silent", 100), ("/deaf", 2000), ("/no-answer", 100)] as [(String, Int64)] {
                let result = try await driver.result(
                    "ws.echo", ["session": "a", "url": url(server, path), "timeout_ms": .integer(patience)])
                #expect(result.errorName == "timedOut", "\(path)")
                #expect(result["closed"] == .null, "\(path)")
                #expect(path == "/deaf" || result["messages"] == 0, "\(path)")
            }
            gate.open()
        }
    }

    @Test("An echo at a URL that is none has counted nothing")
    func impossibleEcho() async throws {
        let driver = try DriverProcess()
        try await driver.open()
        let result = try await driver.result("ws.echo", ["session": "a", "url": "", "timeout_ms": 100])
        guard case .object(let members) = result else {
            Issue.record("no object: \(result)")
            return
        }
        #expect(members.map(\.name).sorted() == ["bytes", "closed", "error", "messages"])
        #expect(result["messages"] == 0 && result["bytes"] == 0 && result["closed"] == .null)
        #expect(result.errorName == "badURL")
    }

    @Test("A number that no close frame can hold is no code")
    func closeCodes() async throws {
        try await withDriver(router: { _ in .webSocket() }) { driver, server in
            try await driver.open()
            _ = try await open(driver, server)
            for code in [-1, 65_536, .max] as [Int64] {
                let answer = try await driver.call("ws.close", ["ws": "w", "code": .integer(code)])
                #expect(answer["problem"] == "bad_command", "\(code)")
            }
            let closed = try await driver.result("ws.close", ["ws": "w", "code": 1000])
            #expect(closed["closed"]?["code"] == 1000)
        }
    }

    @Test("What is no command on a web socket is refused, and a long message fails by its limit")
    func refusals() async throws {
        try await withDriver(router: { _ in .webSocket() }) { driver, server in
            try await driver.open()
            #expect(try await driver.call("ws.send", ["ws": "none", "text": "x"])["problem"] == "bad_command")
            #expect(
                try await driver.call("ws.open", ["session": "none", "ws": "w", "url": url(server)])["problem"]
                    == "bad_command")
            #expect(
                try await driver.call("ws.open", ["session": "a", "ws": "w", "url": url(server), "x": 1])["problem"]
                    == "unsupported")
            #expect(try await open(driver, server, [JSONMember(name: "max_message_bytes", value: 3)])["error"] == nil)
            #expect(
                try await driver.call("ws.open", ["session": "a", "ws": "w", "url": url(server)])["problem"]
                    == "bad_command")
            #expect(try await driver.call("ws.send", ["ws": "w"])["problem"] == "bad_command")
            _ = try await driver.result("ws.send", ["ws": "w", "text": "four"])
            #expect(try await receive(driver)["error"]?["code"] == 90)
        }
    }
}
