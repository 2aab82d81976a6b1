// The client's web socket in a case.
//
// Must not know: other cases, and where results go.

import Foundation
import URLLoadingTestSupport

extension CaseRun {
    mutating func webSocket(_ line: WebSocketLine) async throws {
        switch line {
        case .open(let url, let options, let fields): try await open(url, options, fields)
        case .opened(let chosen):
            guard (result["error"] ?? .null) == .null else { throw CaseFailure("it was not opened: \(found)") }
            guard (result["protocol"] ?? .null) == .text(chosen) else {
                throw CaseFailure("the protocol is \(Checks.describe(result["protocol"]))")
            }
        case .refused(let name, let status):
            try expectError(name)
            let got = result["response"]?["status"] ?? .null
            guard got == status.map({ .integer(Int64($0)) }) ?? .null else {
                throw CaseFailure("the response has status \(Checks.describe(got))")
            }
        case .send(let isText, let text):
            result = try await call("ws.send", [driverSocket] + [try message(isText, text)])
        case .gotMessage(let isText, let text):
            try await receive()
            let expected = try message(isText, text)
            guard result[expected.name] == expected.value else { throw CaseFailure("it got \(found)") }
        case .gotClose(let code, let reason):
            try await receive()
            try expectClose(code, reason)
        case .gotError(let name):
            try await receive()
            try expectError(name)
        case .ping:
            result = try await call("ws.ping", [driverSocket, Self.patience])
            guard result["pong"] == true else { throw CaseFailure("there is no pong: \(found)") }
        case .close(let code, let reason):
            let reason = try stage.words.text(reason)
            result = try await call(
                "ws.close",
                [
                    driverSocket, JSONMember(name: "code", value: .integer(Int64(code))),
                    JSONMember(name: "reason", value: reason.isEmpty ? .null : .string(reason)),
                ])
        case .closed(let code, let reason):
            try expectClose(code, reason)
        }
    }

    private mutating func open(
        _ url: CaseText, _ options: [(name: String, value: String)], _ fields: [CaseLine.Part]
    ) async throws {
        var url = try stage.words.text(url)
        if url.hasPrefix("/") { url = "ws" + (try stage.server("a").url(url)).dropFirst("http".count) }
        let values = Dictionary(options.map { ($0.name, $0.value) }) { $1 }
        var members = [
            JSONMember(name: "session", value: try await useSession(values["session"] ?? "s")), driverSocket,
            JSONMember(name: "url", value: .string(url)),
        ]
        if let protocols = values["protocols"]?.split(separator: ",") {
            let names = JSONValue.array(protocols.map { .string(String($0)) })
            members.append(JSONMember(name: "protocols", value: names))
        }
        if let most = values["max"] {
            guard let most = Int64(most) else { throw CaseFailure("max is no number") }
            members.append(JSONMember(name: "max_message_bytes", value: .integer(most)))
        }
        let pairs = try fields.map { field -> JSONValue in
            [.string(field.name), .string(try field.value.map(stage.words.text) ?? "")]
        }
        if !pairs.isEmpty { members.append(JSONMember(name: "headers", value: .array(pairs))) }
        result = try await call("ws.open", members)
    }

    private mutating func receive() async throws {
        result = try await call("ws.receive", [driverSocket, Self.patience])
    }

    private func call(_ op: String, _ members: [JSONMember]) async throws -> JSONValue {
        try await call(op, .object(members))
    }

    private func message(_ isText: Bool, _ text: CaseText) throws -> JSONMember {
        isText
            ? JSONMember(name: "text", value: .string(try stage.words.text(text)))
            : JSONMember(name: "binary_base64", value: .string(Data(try stage.words.bytes(text)).base64EncodedString()))
    }

    private func expectError(_ name: String) throws(CaseFailure) {
        guard let error = result["error"], error != .null else { throw CaseFailure("there is no error: \(found)") }
        // Those that are not URLError's have a domain and a number.
        let other = "\(Checks.plain(error["domain"])).\(Checks.plain(error["code"]))"
        guard error["name"] == .string(name) || other == name else { throw CaseFailure("the error is \(found)") }
    }

    private func expectClose(_ code: Int, _ reason: CaseText) throws {
        let reason = try stage.words.text(reason)
        let expected: JSONValue = ["code": .integer(Int64(code)), "reason": reason.isEmpty ? .null : .string(reason)]
        guard result["closed"] == expected else { throw CaseFailure("it was not closed so: \(found)") }
    }

    private var found: String { Checks.describe(result) }

    /// The case's only web socket, unless it opens more by `do`.
    private var driverSocket: JSONMember { JSONMember(name: "ws", value: .string(driverName("w"))) }

    /// A safety net: the case has less time.
    private static var patience: JSONMember { JSONMember(name: "timeout_ms", value: 15_000) }
}
