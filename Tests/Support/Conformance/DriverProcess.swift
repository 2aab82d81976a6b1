// A driver as its runner sees it: a process with pipes. Answers are waited for by their numbers, in any order.
//
// Must not know: what commands and answers mean. Driver protocol, section 1.

import Foundation
import Synchronization
import URLLoadingSystem

/// A running driver; it ends with this object at the latest.
package final class DriverProcess: Sendable {
    /// Why a driver is of no use.
    package struct Failure: Error, CustomStringConvertible {
        /// What happened.
        package let description: String
    }

    /// The number of the process.
    package let process: pid_t
    private let input: Mutex<Int32>
    private let lastID = Mutex<Int64>(0)
    private let answers = AnswerBoard()
    private let exit = Awaited<Int32>()

    /// Starts a driver: a path, or by default the program that was built beside the one that runs.
    package init(_ program: String = "urlloading-conformance-driver") throws {
        let (childInput, input) = try Self.pipe()
        let (output, childOutput) = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, childInput, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, childOutput, STDOUT_FILENO)

        let program = ChildRun.path(of: program)
        var words: [UnsafeMutablePointer<CChar>?] = [strdup(program), nil]
        defer { for word in words { free(word) } }
        var child = pid_t()
        let error = withSpawnAttributes { posix_spawn(&child, program, &actions, $0, &words, environ) }
        close(childInput)
        close(childOutput)
        guard error == 0 else {
            close(input)
            close(output)
            throw Failure(description: "\(program): error \(error)")
        }
        let process = child
        self.process = process
        self.input = Mutex(input)
        answers.begin(output)
        Thread.detachNewThread { [answers] in answers.readAll(output) }
        Thread.detachNewThread { [exit] in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            exit.complete(status)
        }
    }

    deinit {
        closeInput()
        if exit.value == nil { kill(process, SIGKILL) }
    }

    // MARK: Commands

    /// Sends a command and gives its number.
    @discardableResult
    package func send(_ op: String, _ members: JSONValue = [:]) -> Int64 {
        let id = lastID.withLock { last in
            last += 1
            return last
        }
        guard case .object(let members) = members else { return id }
        let head = [JSONMember(name: "id", value: .integer(id)), JSONMember(name: "op", value: .string(op))]
        send(line: JSONWriter.line(.object(head + members)))
        return id
    }

    /// Sends a line as it is.
    package func send(line: Data) {
        let line = line + [0x0A]
        input.withLock { descriptor in
            line.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    let count = sendQuietly(descriptor, part)
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    /// Waits for an answer.
    package func answer(_ id: Int64?) async throws -> JSONValue {
        guard let answer = await answers.answer(id) else {
            throw Failure(description: "the driver ended without the answer to \(id.map(String.init) ?? "a line")")
        }
        return answer
    }

    /// Sends a command and waits for its answer.
    package func call(_ op: String, _ members: JSONValue = [:]) async throws -> JSONValue {
        try await answer(send(op, members))
    }

    /// Sends a command that must be carried out, and gives its result.
    package func result(_ op: String, _ members: JSONValue = [:]) async throws -> JSONValue {
        try result(of: await call(op, members), op)
    }

    /// Waits for the result of a command that must be carried out.
    package func result(_ id: Int64) async throws -> JSONValue {
        try result(of: await answer(id), "\(id)")
    }

    private func result(of answer: JSONValue, _ command: String) throws -> JSONValue {
        guard answer["ok"] == true, let result = answer["result"] else {
            throw Failure(description: "\(command): \(answer)")
        }
        return result
    }

    // MARK: The end

    /// Whether the process has not ended yet, as far as is known.
    package var isRunning: Bool { exit.value == nil }

    /// The resident memory of the process; 0 where it has ended.
    package var residentKiB: Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// Ends the driver at once, whatever it does; every wait for an answer ends too.
    package func end() {
        if exit.value == nil { kill(process, SIGKILL) }
    }

    /// Ends the driver's input.
    package func closeInput() {
        input.withLock { descriptor in
            if descriptor >= 0 { close(descriptor) }
            descriptor = -1
        }
    }

    /// Stops reading answers, as a runner does that has ended.
    package func closeOutput() {
        answers.stopReading()
    }

    /// Waits for the process to end: its exit status, or nil where a signal ended it.
    package func exitStatus() async -> Int32? {
        let status = await exit.wait()
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }

    /// A pair of sockets used in one direction: unlike a pipe's, their ends are closed in the children of other tests
    /// from the first moment on.
    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw Failure(description: "socketpair: error \(errno)")
        }
        return (ends[0], ends[1])
    }
}

/// Something that becomes known once.
private final class Awaited<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value?
        var waiters: [Handover<Value, Never>] = []
    }

    private let state = Mutex(State())

    var value: Value? { state.withLock { $0.value } }

    func complete(_ value: Value) {
        let waiters = state.withLock { state in
            state.value = value
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(returning: value) }
    }

    func wait() async -> Value {
        await withHandover { continuation in
            let value = state.withLock { state in
                if state.value == nil { state.waiters.append(continuation) }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}

/// The answers that have come, and the tasks that wait for one.
private final class AnswerBoard: Sendable {
    private struct State: Sendable {
        var answers: [Int64?: JSONValue] = [:]
        var waiters: [(id: Int64?, continuation: Handover<JSONValue?, Never>)] = []
        var isOver = false
        /// Where answers come from. Taken out before it is closed: afterwards its number may stand for another file.
        var descriptor: Int32?
    }

    private let state = Mutex(State())

    func answer(_ id: Int64?) async -> JSONValue? {
        await withHandover { continuation in
            let known: JSONValue?? = state.withLock { state in
                if let answer = state.answers.removeValue(forKey: id) { return answer }
                if state.isOver { return .some(nil) }
                state.waiters.append((id, continuation))
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Answers will come from there.
    func begin(_ descriptor: Int32) { state.withLock { $0.descriptor = descriptor } }

    /// Lets no more answers come.
    func stopReading() {
        state.withLock { if let descriptor = $0.descriptor { shutdown(descriptor, Int32(SHUT_RDWR)) } }
    }

    /// Runs on a thread of its own until the driver has closed its output.
    func readAll(_ descriptor: Int32) {
        var reader = LineReader(descriptor: descriptor)
        while case .bytes(let line) = reader.next() {
            var parser = JSONParser(line)
            guard let answer = try? parser.parse() else { continue }
            add(answer)
        }
        state.withLock { $0.descriptor = nil }
        close(descriptor)
        let abandoned = state.withLock { state in
            state.isOver = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in abandoned { waiter.continuation.resume(returning: nil) }
    }

    private func add(_ answer: JSONValue) {
        let id: Int64? = if case .integer(let number)? = answer["id"] { number } else { nil }
        let waiter = state.withLock { state -> Handover<JSONValue?, Never>? in
            if let index = state.waiters.firstIndex(where: { $0.id == id }) {
                return state.waiters.remove(at: index).continuation
            }
            state.answers[id] = answer
            return nil
        }
        waiter?.resume(returning: answer)
    }
}

/// Writes to a socket; a driver that has ended must not end the tests.
private func sendQuietly(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
}
