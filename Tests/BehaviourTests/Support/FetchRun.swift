// Runs the built `fetch` as a user does, and keeps what it wrote and how it ended.

import Foundation

/// What a run of fetch came to.
struct FetchRun: Sendable {
    let output: String
    let complaints: String
    let exitCode: Int32

    /// Runs fetch on a thread of its own, so that the tests' threads go on.
    static func run(_ arguments: [String], program: URL = executable) async throws -> FetchRun {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FetchRun(arguments, program: program) })
            }
        }
    }

    /// Runs a program to its end on this thread.
    init(_ arguments: [String], program: URL) throws {
        let process = Process()
        let (output, complaints) = (Pipe(), Pipe())
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = complaints
        // A preloaded sanitizer is for the suite's own process.
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LD_") }
        try process.run()
        self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        self.complaints = String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        exitCode = process.terminationStatus
    }

    /// The executable lies beside the one that holds the tests.
    static let executable = URL(fileURLWithPath: CommandLine.arguments.first ?? "")
        .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("fetch")
}
