// The server of a crowd: this program once more, as a child.

import Foundation

/// A server in a process of its own, which ends with this object.
final class EchoServer {
    /// What it has seen.
    struct Report {
        let opened: Int
        let open: Int
        let messages: Int
        /// Web sockets on which both sides have said goodbye.
        let closed: Int
        let residentBytes: Int
    }

    struct Failure: Error {}

    let port: Int
    private let process = Process()
    private let questions = Pipe()
    private let answers = Pipe()

    init() throws {
        process.executableURL = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = ["websocket", "serve"]
        process.standardInput = questions
        process.standardOutput = answers
        try process.run()
        guard let port = try Self.numbers(answers).first else { throw Failure() }
        self.port = port
    }

    func report() throws -> Report {
        try questions.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        let numbers = try Self.numbers(answers)
        guard numbers.count == 5 else { throw Failure() }
        return Report(
            opened: numbers[0], open: numbers[1], messages: numbers[2], closed: numbers[3], residentBytes: numbers[4])
    }

    func end() throws {
        try questions.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The numbers of the next line; the child writes each in one piece.
    private static func numbers(_ pipe: Pipe) throws -> [Int] {
        let line = pipe.fileHandleForReading.availableData
        return String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
    }
}
