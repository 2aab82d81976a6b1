// Shortcuts of the tests of this target.

import Foundation
import URLLoadingConformanceDriver
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Runs `body` with a server and a driver, and ends both afterwards.
func withDriver(
    _ options: LoopbackServer.Options = LoopbackServer.Options(), router: @escaping LoopbackServer.Router,
    _ body: (DriverProcess, LoopbackServer) async throws -> Void
) async throws {
    let driver = try DriverProcess()
    try await withServer(options, router: router) { try await body(driver, $0) }
    driver.closeInput()
    _ = await driver.exitStatus()
}

extension DriverProcess {
    /// Opens a session.
    func open(_ name: String = "a", _ config: JSONValue = [:]) async throws {
        _ = try await result("session.open", ["session": .string(name), "config": config])
    }

    /// Starts a GET.
    func get(_ url: String, session: String = "a", options: JSONValue = [:]) -> Int64 {
        send("request", ["session": .string(session), "method": "GET", "url": .string(url), "options": options])
    }
}

extension JSONValue {
    /// The bytes of a string in base64.
    var data: Data? {
        if case .string(let text) = self { Data(base64Encoded: text) } else { nil }
    }

    /// The text, where it is one.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The elements of an array.
    var elements: [JSONValue] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The number, where it is one.
    var number: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The name of the error in a result.
    var errorName: JSONValue? { self["error"]?["name"] }
}
