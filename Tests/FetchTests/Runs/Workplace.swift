// A directory to run fetch in, by a shell as a user does, and a terminal to run it on.

import Foundation
import URLLoadingTestSupport

/// A directory that is removed with its owner.
final class Workplace: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "fetch-work-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Runs a line of the shell here, with fetch on the path.
    func shell(_ line: String, changing: [String: String?] = [:]) async throws -> FetchRun {
        let folder = (ChildRun.path(of: "fetch") as NSString).deletingLastPathComponent
        return try await FetchRun.run(
            ["-c", "cd '\(path)' && PATH='\(folder)':\"$PATH\"; \(line)"], changing: changing, program: "/bin/sh")
    }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    func size(_ name: String) -> Int? { FileManager.default.contents(atPath: "\(path)/\(name)")?.count }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }

    /// The rights of a file, in the lower nine bits.
    func rights(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    /// The names of what is here, in order.
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
}

/// A run on a terminal of its own.
struct TerminalRun: Sendable {
    /// Everything that the terminal was sent.
    let screen: String
    let exitCode: Int32

    struct Failure: Error {
        let step: String
    }

    /// Runs fetch on a terminal of so many columns; `replies` are typed when the text before them has appeared.
    static func run(
        _ arguments: [String], columns: UInt16 = 80, output: String? = nil, environment: [String: String?] = [:],
        replies: [(after: String, type: String)] = []
    ) async throws -> TerminalRun {
        try await withThrowingHandover { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try TerminalRun(arguments, columns, output, environment, replies) })
            }
        }
    }

    private init(
        _ arguments: [String], _ columns: UInt16, _ output: String?, _ environment: [String: String?],
        _ replies: [(after: String, type: String)]
    ) throws {
        // posix_openpt and its kin are hidden from Swift; these are what they do (TIOCSPTLCK, TIOCGPTN).
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (lock, number): (Int32, Int32) = (0, 0)
        guard terminal >= 0, ioctl(terminal, 0x4004_5431, &lock) == 0, ioctl(terminal, 0x8004_5430, &number) == 0 else {
            throw Failure(step: "no terminal: error \(errno)")
        }
        let name = "/dev/pts/\(number)"
        defer { close(terminal) }
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that the head of a session opens is its own.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        if let output {
            posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        } else {
            posix_spawn_file_actions_adddup2(&actions, 0, 1)
        }
        posix_spawn_file_actions_adddup2(&actions, 0, 2)

        let path = ChildRun.path(of: "fetch")
        let variables = FetchRun.environment.merging(["TERM": "xterm"]) { $1 }.merging(environment) { $1 }
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var values: [UnsafeMutablePointer<CChar>?] =
            ProcessInfo.processInfo.environment.map { ($0.key, Optional($0.value)) }
            .filter { !variables.keys.contains($0.0) }.map { strdup("\($0.0)=\($0.1 ?? "")") }
            + variables.compactMap { name, value in value.map { strdup("\(name)=\($0)") } } + [nil]
        defer { for word in words + values { free(word) } }
        var child = pid_t()
        let error = withSpawnAttributes(ownSession: true) { posix_spawn(&child, path, &actions, $0, &words, &values) }
        guard error == 0 else { throw Failure(step: "no start: error \(error)") }

        var text: [UInt8] = []
        var waiting = replies[...]
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(terminal, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            // The terminal's other end is gone: that is how its end shows.
            guard count > 0 else { break }
            text += buffer.prefix(count)
            if let next = waiting.first, String(decoding: text, as: UTF8.self).contains(next.after) {
                waiting.removeFirst()
                let bytes = Array(next.type.utf8)
                _ = Foundation.write(terminal, bytes, bytes.count)
            }
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        screen = String(decoding: text, as: UTF8.self)
        exitCode = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
}
