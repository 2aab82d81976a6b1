// Commands that are all in order, in every variety that the protocol has; what they meet is the server's matter.
//
// Must not know: replies.

import Foundation
import URLLoadingTestSupport

/// Makes up commands.
struct FuzzCommands {
    private var random: SeededRandom
    /// Where servers are that reply with anything.
    private let places: [String]
    /// Ports that answer a proxy's client with anything.
    private let proxyPorts: [Int]

    init(seed: UInt64, of number: Int, places: [String], proxyPorts: [Int]) {
        random = SeededRandom(seed: seed, of: number)
        self.places = places
        self.proxyPorts = proxyPorts
    }

    mutating func chance(_ percent: Int) -> Bool { random.chance(percent) }

    /// The configuration of a session.
    mutating func configuration() -> JSONValue {
        var members: [JSONMember] = [
            JSONMember(name: "timeout_ms", value: .integer(Int64.random(in: 100...500, using: &random))),
            JSONMember(name: "resource_timeout_ms", value: 2000),
            JSONMember(name: "trust", value: ["mode": "accept_any"]),
        ]
        func add(_ name: String, _ value: JSONValue, _ percent: Int, _ random: inout SeededRandom) {
            if random.chance(percent) { members.append(JSONMember(name: name, value: value)) }
        }
        add("cookies", false, 20, &random)
        add("cache", ["memory_bytes": 1_000_000, "disk_bytes": 0], 40, &random)
        add("redirects", "stop", 20, &random)
        add("max_connections_per_host", .integer(Int64.random(in: 1...8, using: &random)), 50, &random)
        add("headers", [["X-A", "b"]], 20, &random)
        add(
            "credentials", [["user": "u", "password": "p"], ["user": "u", "password": "p", "proxy": true]], 60, &random)
        add("tls", ["max": "1.2"], 30, &random)
        add("http2", "prior_knowledge", 40, &random)
        if random.chance(15), let port = proxyPorts.randomElement(using: &random) {
            let kind: JSONValue = random.chance(50) ? "http" : "socks5"
            members.append(
                JSONMember(
                    name: "proxy",
                    value: [
                        "kind": kind, "host": "127.0.0.1", "port": .integer(Int64(port)), "user": "u", "password": "p",
                    ]))
        }
        return .object(members)
    }

    /// A request.
    mutating func request(in session: String) -> JSONValue {
        let place = places.randomElement(using: &random) ?? ""
        let method = ["GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"].randomElement(
            using: &random)
        var members: [JSONMember] = [
            JSONMember(name: "session", value: .string(session)),
            JSONMember(name: "url", value: .string(place + "/" + String(Int.random(in: 0..<5, using: &random)))),
            JSONMember(name: "method", value: .string(method ?? "GET")),
        ]
        var options: [JSONMember] = []
        let task = ["data", "data", "download", "upload", "bytes"].randomElement(using: &random) ?? "data"
        options.append(JSONMember(name: "task", value: .string(task)))
        if method == "POST" || method == "PUT" || method == "PATCH" {
            if random.chance(50) {
                members.append(
                    JSONMember(
                        name: "body_base64", value: .base64(Data(count: Int.random(in: 0...3000, using: &random)))))
            } else {
                let piece: JSONValue = ["base64": .base64(Data(count: 700)), "delay_ms": 1]
                options.append(JSONMember(name: "body_stream", value: .array([piece, piece])))
            }
        }
        let policies = ["protocol", "reload", "cache_else_load", "cache_only", "revalidate"]
        if random.chance(30), let policy = policies.randomElement(using: &random) {
            options.append(JSONMember(name: "cache_policy", value: .string(policy)))
        }
        if random.chance(10) {
            options.append(
                JSONMember(name: "cancel_after_ms", value: .integer(Int64.random(in: 0...50, using: &random))))
        }
        if random.chance(15) {
            options.append(
                JSONMember(name: "cancel_after_bytes", value: .integer(Int64.random(in: 0...4000, using: &random))))
            if task == "download", random.chance(70) { options.append(JSONMember(name: "resume", value: true)) }
        }
        if random.chance(10) { options.append(JSONMember(name: "cookies", value: false)) }
        if random.chance(20) { options.append(JSONMember(name: "report_chunks", value: true)) }
        if random.chance(20) {
            options.append(JSONMember(name: "redirects", value: random.chance(50) ? "stop" : "follow"))
        }
        members.append(JSONMember(name: "options", value: .object(options)))
        return .object(members)
    }
}
