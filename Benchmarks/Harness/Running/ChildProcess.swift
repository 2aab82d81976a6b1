// A child process: started on a core, read to its end or stopped by a deadline, and its cost as the kernel saw it.

import Foundation

/// A program that was started and is still to be waited for.
struct ChildProcess {
    /// What a child left behind.
    struct Outcome {
        let output: String
        let complaints: String
        /// The exit status; nil where a signal ended it.
        let status: Int32?
        /// Processor time, both kinds, of the child and of those it waited for.
        let processorSeconds: Double
        /// From the start until the end.
        let elapsed: Duration
        let wasStopped: Bool
    }

    let identifier: pid_t
    /// What a signal goes to, as `kill` wants it: the process, or its group.
    private let receiver: pid_t
    private let input: Int32
    private let output: Int32
    private let complaints: Int32
    private let started = ContinuousClock.now

    /// Starts a program on a core, or anywhere.
    ///
    /// In a group of its own it is stopped with all that it has started, but a terminal's interrupt does not reach it.
    init(
        _ program: String, _ arguments: [String], on core: Int?, environment: [String: String] = [:],
        inOwnGroup: Bool = false
    ) throws {
        let (input, output, complaints) = try (ChildProcess.pipe(), ChildProcess.pipe(), ChildProcess.pipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.read, 0)
        posix_spawn_file_actions_adddup2(&actions, output.write, 1)
        posix_spawn_file_actions_adddup2(&actions, complaints.write, 2)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETPGROUP. The group is the one that the program leads, unless another is set.
        if inOwnGroup { posix_spawnattr_setflags(&attributes, 0x02) }

        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        var child: pid_t = 0
        let result = Processors.on(core) {
            ChildProcess.withStrings([program] + arguments) { argv in
                ChildProcess.withStrings(variables.map { "\($0)=\($1)" }) { envp in
                    posix_spawn(&child, program, &actions, &attributes, argv, envp)
                }
            }
        }
        for end in [input.read, output.write, complaints.write] { close(end) }
        if result != 0 {
            for end in [input.write, output.read, complaints.read] { close(end) }
            throw HarnessError("\(program) cannot be started: \(String(cString: strerror(result)))")
        }
        identifier = child
        receiver = inOwnGroup ? -child : child
        self.input = input.write
        self.output = output.read
        self.complaints = complaints.read
    }

    /// Runs a program to its end.
    static func run(
        _ program: String, _ arguments: [String], on core: Int? = nil, environment: [String: String] = [:],
        limit: Duration = .seconds(600)
    ) throws -> Outcome {
        try ChildProcess(program, arguments, on: core, environment: environment, inOwnGroup: true).wait(limit: limit)
    }

    /// The first line of its output, while it goes on.
    func firstLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Asks it to end.
    func terminate() {
        kill(receiver, SIGTERM)
    }

    /// Reads what it says until its end, or until the limit, which it does not survive.
    func wait(limit: Duration) -> Outcome {
        close(input)
        let deadline = started + limit
        var texts: [[UInt8]] = [[], []]
        var open = [output, complaints]
        var wasStopped = false
        while open.contains(where: { $0 >= 0 }) {
            var polled = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let left = max(0, ContinuousClock.now.duration(to: deadline) / .milliseconds(1))
            if poll(&polled, 2, Int32(min(left, 1e9))) == 0 {
                wasStopped = true
                kill(receiver, SIGKILL)
                // What it has started may live on in another group and hold the pipes open.
                break
            }
            for index in 0..<2 where polled[index].revents != 0 {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                let count = read(open[index], &buffer, buffer.count)
                if count > 0 {
                    texts[index] += buffer.prefix(count)
                } else {
                    close(open[index])
                    open[index] = -1
                }
            }
        }
        for end in open where end >= 0 { close(end) }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(identifier, &status, 0, &usage) < 0 && errno == EINTR {}
        return Outcome(
            output: String(decoding: texts[0], as: UTF8.self), complaints: String(decoding: texts[1], as: UTF8.self),
            status: status & 0x7F == 0 ? (status >> 8) & 0xFF : nil,
            processorSeconds: ChildProcess.seconds(usage.ru_utime) + ChildProcess.seconds(usage.ru_stime),
            elapsed: started.duration(to: .now), wasStopped: wasStopped)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw HarnessError("no pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// The strings as C wants them: an array of pointers with a null at its end.
    private static func withStrings<R>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() { pointers[index] = strdup(string) }
        pointers[strings.count] = nil
        defer {
            for index in strings.indices { free(pointers[index]) }
            pointers.deallocate()
        }
        return body(pointers)
    }
}

/// Why the harness cannot go on, in words.
struct HarnessError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
