// Runs the built `fetch` as a user does, and keeps what it wrote and how it ended.

import Foundation

/// What a run of fetch came to.
struct FetchRun: Sendable {
    let output: String
    let complaints: String
    let exitCode: Int32

    /// Runs fetch on a thread of its own, so that the tests' threads go on.
    static func run(_ arguments: String...) async throws -> FetchRun {
        try await run(arguments)
    }

    static func run(_ arguments: [String]) async throws -> FetchRun {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try FetchRun(arguments) })
            }
        }
    }

    private init(_ arguments: [String]) throws {
        let process = Process()
        let (output, complaints) = (Pipe(), Pipe())
        process.executableURL = Self.executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = complaints
        process.environment = Self.environment
        try process.run()
        // Order: complaints are short and fit into their pipe; the output may not.
        self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        self.complaints = String(decoding: complaints.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        exitCode = process.terminationStatus
    }

    /// fetch ends by exit() while its session lives. AddressSanitizer's leak check would then take for lost what is
    /// held by an enum alone, because Swift keeps the case in spare bits of the pointer.
    private static let environment = ProcessInfo.processInfo.environment
        .merging(["ASAN_OPTIONS": "detect_leaks=0"]) { old, new in "\(old):\(new)" }

    /// The executable lies beside the one that holds the tests.
    private static let executable = URL(fileURLWithPath: CommandLine.arguments.first ?? "")
        .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("fetch")
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
