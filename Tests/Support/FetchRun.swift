// Runs the built `fetch` as a user does, and keeps what it wrote and how it ended.

import Foundation

/// What a run of fetch came to.
package struct FetchRun: Sendable {
    package let output: String
    package let complaints: String
    package let exitCode: Int32

    package static func run(_ arguments: String...) async throws -> FetchRun {
        try await run(arguments)
    }

    /// Runs fetch, or another program that runs it; `changes` sets or, with nil, unsets variables; those about proxies
    /// are unset otherwise.
    package static func run(
        _ arguments: [String], changing changes: [String: String?] = [:], program: String = "fetch"
    ) async throws -> FetchRun {
        let child = try await ChildRun.run(program, arguments, changing: environment.merging(changes) { $1 })
        return FetchRun(output: child.outputText, complaints: child.complaintsText, exitCode: child.exitCode)
    }

    /// fetch ends by exit() while its session lives. AddressSanitizer's leak check would then take for lost what is
    /// held by an enum alone, because Swift keeps the case in spare bits of the pointer.
    package static var environment: [String: String?] {
        let options = ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? ""
        // No file of options of the user who runs the tests.
        var changes: [String: String?] = [
            "ASAN_OPTIONS": options + "detect_leaks=0", "XDG_CONFIG_HOME": "/nonexistent", "NO_COLOR": nil,
        ]
        for name in ["http", "https", "ftp", "all", "no"] {
            changes.updateValue(nil, forKey: "\(name)_proxy")
            changes.updateValue(nil, forKey: "\(name.uppercased())_PROXY")
        }
        return changes
    }
}
