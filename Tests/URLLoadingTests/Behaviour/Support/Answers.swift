// Answers as raw bytes, and what a program must see of them.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

/// What a program sees of an answer.
struct Seen: Sendable, Equatable, CustomStringConvertible {
    var status = 0
    var body = ""
    var code: URLError.Code?
    /// Whether the next request went over the same connection.
    var isReused = false

    /// A response that arrives whole.
    static func answer(_ status: Int = 200, _ body: String = "", reused: Bool = true) -> Seen {
        Seen(status: status, body: body, isReused: reused)
    }

    /// A load that fails, after which the connection is gone.
    static func failure(_ code: URLError.Code) -> Seen { Seen(code: code) }

    var description: String {
        if let code { return "error \(code.rawValue)\(isReused ? ", reused" : "")" }
        return "\(status) \"\(body.prefix(80))\"\(isReused ? ", reused" : "")"
    }
}

/// Lets a server answer with `steps`, loads once, then loads something ordinary, and says what was seen.
func see(_ steps: [ScriptStep], method: String = "GET") async throws -> Seen {
    try await withServer(router: { $0.path == "/next" ? .text("next") : .script(steps) }) { server in
        let session = URLSession.made()
        let load = try await Load(URLRequest(method, server.at()), in: session)
        let next = try await Load(server.at("/next"), in: session)
        #expect(next.text == "next" && next.status == 200, "what follows is not disturbed")
        session.invalidateAndCancel()
        return Seen(
            status: load.status, body: load.text, code: load.code, isReused: server.stats.connectionsAccepted == 1)
    }
}

/// What a program sees of an answer that is text whose line feeds stand for CR LF.
func see(_ text: String, then steps: [ScriptStep] = [], method: String = "GET") async throws -> Seen {
    try await see([.lines(text)] + steps, method: method)
}

/// What a program sees of an answer that is sent byte for byte as the text has it.
func see(raw text: String, then steps: [ScriptStep] = [], method: String = "GET") async throws -> Seen {
    try await see([.text(text)] + steps, method: method)
}

/// The start of most answers.
let ok = "HTTP/1.1 200 OK\n"
