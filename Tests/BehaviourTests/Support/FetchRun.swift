// Runs the built `fetch` as a user does, and keeps what it wrote and how it ended.

import Foundation
import TestSupport

/// What a run of fetch came to.
struct FetchRun: Sendable {
    let output: String
    let complaints: String
    let exitCode: Int32

    /// Runs fetch on a thread of its own, so that the tests' threads go on.
    static func run(_ arguments: [String], program: String = "fetch") async throws -> FetchRun {
        try await withThrowingHandover { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FetchRun(arguments, program: program) })
            }
        }
    }

    /// Runs a program to its end on this thread.
    init(_ arguments: [String], program: String) throws {
        // fetch ends by exit() while its session lives: a leak check would take for lost what an enum alone holds.
        let options = ProcessInfo.processInfo.environment["ASAN_OPTIONS"].map { $0 + ":" } ?? ""
        let child = try ChildRun(program, arguments, changing: ["ASAN_OPTIONS": options + "detect_leaks=0"])
        output = child.outputText
        complaints = child.complaintsText
        exitCode = child.exitCode
    }

    /// The program as it was built.
    static var executable: String { ChildRun.path(of: "fetch") }
}
