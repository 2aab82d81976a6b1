// Runs the built `fetch` as a user does, and keeps what it wrote and how it ended.

import Foundation
import TestSupport

/// What a run of fetch came to.
struct FetchRun: Sendable {
    let output: String
    let complaints: String
    let exitCode: Int32

    /// Runs fetch on a thread of its own, so that the tests' threads go on.
    static func run(_ arguments: String...) async throws -> FetchRun {
        try await run(arguments)
    }

    /// `changes` sets or, with nil, unsets variables; those about proxies are unset otherwise.
    static func run(
        _ arguments: [String], changing changes: [String: String?] = [:], program: String = "fetch"
    ) async throws -> FetchRun {
        try await withThrowingHandover { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FetchRun(arguments, changes, program) })
            }
        }
    }

    private init(_ arguments: [String], _ changes: [String: String?], _ program: String) throws {
        let environment = Self.environment.merging(changes) { $1 }
        let child = try ChildRun(program, arguments, changing: environment)
        output = child.outputText
        complaints = child.complaintsText
        exitCode = child.exitCode
    }

    /// fetch ends by exit() while its session lives. AddressSanitizer's leak check would then take for lost what is
    /// held by an enum alone, because Swift keeps the case in spare bits of the pointer.
    static var environment: [String: String?] {
        let options = ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? ""
        var changes: [String: String?] = ["ASAN_OPTIONS": options + "detect_leaks=0"]
        for name in ["http", "https", "ftp", "all", "no"] {
            changes.updateValue(nil, forKey: "\(name)_proxy")
            changes.updateValue(nil, forKey: "\(name.uppercased())_PROXY")
        }
        return changes
    }
}

/// A file that is removed with its owner.
final class ScratchFile: Sendable {
    let path = NSTemporaryDirectory() + "fetch-\(UUID().uuidString)"

    init(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
