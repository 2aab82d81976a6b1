// A real server of another project, run as a child process: started with its output on a pipe, asked nothing but what
// it prints, and ended with the test. Knows neither HTTP nor which program it runs.

import Foundation
import URLLoadingTestSupport

/// A running program and the lines that it has printed.
final class PeerProcess: Sendable {
    struct StartFailure: Error, CustomStringConvertible {
        let description: String
    }

    private let process: pid_t
    private let ending: Int32
    private let output = PeerOutput()

    /// Starts a program with standard output and standard error on one pipe. It is ended by this signal: by one that it
    /// can do nothing about, unless it has processes of its own that it has to end first.
    init(_ program: String, _ arguments: [String], endedBy ending: Int32 = SIGKILL) throws {
        self.ending = ending
        // A pipe indeed, and no pair of sockets: nginx opens /dev/stdout, which leads to no socket.
        let pipe = try OwnPipe()
        let (readEnd, writeEnd) = (pipe.read, pipe.write)

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, writeEnd, 1)
        posix_spawn_file_actions_adddup2(&actions, writeEnd, 2)

        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        let error = withSpawnAttributes { posix_spawn(&child, program, &actions, $0, &words, environ) }
        close(writeEnd)
        guard error == 0 else {
            close(readEnd)
            throw StartFailure(description: "\(program): error \(error)")
        }
        process = child
        let output = output
        Thread.detachNewThread { output.readAll(readEnd) }
    }

    deinit {
        end()
    }

    /// Ends the program, waits until it is gone, and answers the status that `waitpid` gives; nil for a second call.
    @discardableResult
    func end() -> Int32? {
        guard output.claimEnd() else { return nil }
        kill(process, ending)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Sends a signal to the program, unless it has been ended.
    func send(_ signal: Int32) { output.unlessEnded { kill(process, signal) } }

    /// The first line, printed already or later, that contains `text`; throws what was printed where none comes.
    @discardableResult
    func line(containing text: String) async throws -> String {
        guard let line = await output.line(where: { $0.contains(text) }) else {
            throw missing("no line with “\(text)”")
        }
        return line
    }

    /// Waits until so many lines contain `text`, and answers them all.
    func lines(_ count: Int, containing text: String) async throws -> [String] {
        let found = Guarded(0)
        let last = await output.line { line in
            guard line.contains(text) else { return false }
            return found.withLock { number in
                number += 1
                return number >= count
            }
        }
        guard last != nil else {
            throw missing("fewer than \(count) lines with “\(text)”")
        }
        return output.lines.filter { $0.contains(text) }
    }

    /// Waits until a port accepts connections, which is how a silent program shows that it is ready.
    ///
    /// A program of another project does not say when it listens: its port is tried again and again, with a rest in
    /// between in which it, and the tests beside this one, can run.
    func listens(on port: Int, isIPv6: Bool = false) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !LoopbackPort.isListening(port, isIPv6: isIPv6) {
            guard !hasEnded, ContinuousClock.now < deadline else { throw missing("nothing listens on port \(port)") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Whether the program has ended by itself.
    private var hasEnded: Bool {
        var information = siginfo_t()
        return waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT) == 0 && information.si_signo != 0
    }

    /// What did not come, how the program ended, and what it said.
    private func missing(_ what: String) -> StartFailure {
        let status = end().map { "status \($0)" } ?? "a status that is gone"
        return StartFailure(
            description: "\(what); reading ended with error \(output.readError), the program with \(status); "
                + "it printed last: " + output.lines.suffix(8).joined(separator: " | "))
    }

    /// Where a program is; nil where it is not installed.
    static func find(_ program: String) -> String? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/bin"])
            .map { "\($0)/\(program)" }
            .first { access($0, X_OK) == 0 }
    }
}

/// The lines, and the callers that wait for one.
private final class PeerOutput: Sendable {
    private struct State {
        var lines: [String] = []
        var unfinished: [UInt8] = []
        var isOver = false
        var readError: Int32 = 0
        var hasEnded = false
        var waiters: [(matches: (String) -> Bool, continuation: Handover<String?, Never>)] = []
    }

    private let state = Guarded(State())

    var lines: [String] { state.withLock { $0.lines } }

    /// The error with which reading ended; 0 where the program closed its output.
    var readError: Int32 { state.withLock { $0.readError } }

    /// True for the first caller only.
    func claimEnd() -> Bool {
        state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
    }

    /// Does something while the program is surely there, if only as a process whose status was not yet asked for.
    func unlessEnded(_ body: () -> Void) {
        state.withLock { if !$0.hasEnded { body() } }
    }

    func line(where matches: @escaping @Sendable (String) -> Bool) async -> String? {
        await withHandover { continuation in
            let answer: String?? = state.withLock { state in
                if let line = state.lines.first(where: matches) { return line }
                if state.isOver { return .some(nil) }
                state.waiters.append((matches, continuation))
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Reads the pipe until the program has closed it; runs on a thread of its own.
    func readAll(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var readError: Int32 = 0
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            readError = count < 0 ? errno : 0
            if readError == EINTR { continue }
            guard count > 0 else { break }
            add(buffer.prefix(count))
        }
        close(descriptor)
        let abandoned = state.withLock { state in
            state.isOver = true
            state.readError = readError
            defer { state.waiters = [] }
            return state.waiters.map(\.continuation)
        }
        for continuation in abandoned { continuation.resume(returning: nil) }
    }

    private func add(_ bytes: ArraySlice<UInt8>) {
        let answers: [(Handover<String?, Never>, String)] = state.withLock { state in
            var answers: [(Handover<String?, Never>, String)] = []
            // What came before has been looked through, and a line is moved once, however long it is.
            var rest = bytes
            while let end = rest.firstIndex(of: 10) {
                let line = String(decoding: state.unfinished + rest[..<end], as: UTF8.self)
                state.unfinished.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
                state.lines.append(line)
                state.waiters.removeAll { waiter in
                    guard waiter.matches(line) else { return false }
                    answers.append((waiter.continuation, line))
                    return true
                }
            }
            state.unfinished += rest
            return answers
        }
        for (continuation, line) in answers { continuation.resume(returning: line) }
    }
}
