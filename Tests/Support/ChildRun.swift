// Runs a program that was built beside the tests to its end, and keeps what it wrote.
//
// Not by Foundation's Process: its start lists the open descriptors into memory of a size that it measured before, and
// a suite that opens many meanwhile crashes it.

import URLLoadingSystem

import class Foundation.Thread

/// What a run of a program came to.
package struct ChildRun: Sendable {
    /// The program could not be started.
    package struct StartFailure: Error, CustomStringConvertible {
        /// What failed, with its error number.
        package let description: String
    }

    /// Standard output.
    package private(set) var output: [UInt8] = []
    /// Standard error.
    package private(set) var complaints: [UInt8] = []
    /// The exit status; 128 and the signal's number where a signal ended the program.
    package private(set) var exitCode: Int32 = 0

    /// Standard output as text.
    package var outputText: String { String(decoding: output, as: UTF8.self) }
    /// Standard error as text.
    package var complaintsText: String { String(decoding: complaints, as: UTF8.self) }

    /// Runs `program`, a path or the name of one that lies beside the tests; `changing` sets or,
    /// with nil, unsets variables.
    package static func run(
        _ program: String, _ arguments: [String], changing environment: [String: String?] = [:]
    ) async throws -> ChildRun {
        // On a thread of its own: tasks have one for each core, and where two wait for programs
        // nothing else is done by any.
        try await withThrowingHandover { handover in
            Thread.detachNewThread {
                handover.resume(with: Result { try ChildRun(program, arguments, changing: environment) })
            }
        }
    }

    /// Runs one of the tests' own programs, which are one executable: Tests/Programs has them.
    package static func run(
        testProgram name: String, _ arguments: [String], changing environment: [String: String?] = [:]
    ) async throws -> ChildRun {
        try await run(testPrograms, [name] + arguments, changing: environment)
    }

    /// The name of that executable.
    package static let testPrograms = "URLLoadingTestPrograms"

    /// Runs `program` where no file may be longer than so many bytes, which is an error and no signal.
    package static func run(
        withRoomForFiles bytes: Int, _ program: String, _ arguments: [String],
        changing environment: [String: String?] = [:]
    ) async throws -> ChildRun {
        // ThreadSanitizer's runtime begins with half a MiB in a file of TMPDIR, and does without where there is none.
        let script = "trap '' XFSZ; ulimit -f \(bytes / 512); exec \"$0\" \"$@\""
        return try await run(
            "/bin/sh", ["-c", script, path(of: program)] + arguments,
            changing: environment.merging(["TMPDIR": "/nowhere"]) { given, _ in given })
    }

    /// Runs a program to its end on this thread, which may be none that tasks run on.
    package init(
        _ program: String, _ arguments: [String], changing environment: [String: String?] = [:]
    ) throws(StartFailure) {
        let output = try Self.pipe()
        let complaints = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output.write, 1)
        posix_spawn_file_actions_adddup2(&actions, complaints.write, 2)

        let path = Self.path(of: program)
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] =
            Self.environment(changing: environment).map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var child = pid_t()
        let error = withSpawnAttributes { posix_spawn(&child, path, &actions, $0, &words, &variables) }
        close(output.write)
        close(complaints.write)
        if error == 0 { readAll(output.read, complaints.read) }
        close(output.read)
        close(complaints.read)
        guard error == 0 else { throw StartFailure(description: "\(path): error \(error)") }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        exitCode = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Where a program is that was built with the tests; a path stays what it is.
    package static func path(of program: String) -> String {
        program.hasPrefix("/") ? program : directory + "/" + program
    }

    private static var directory: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let path = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
        return String(decoding: path.prefix(path.lastIndex(of: UInt8(ascii: "/")) ?? 0), as: UTF8.self)
    }

    private static func environment(changing: [String: String?]) -> [String] {
        var variables: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            let name = String(text.prefix { $0 != "=" })
            if !changing.keys.contains(name) { variables.append(text) }
            next += 1
        }
        for (name, value) in changing {
            if let value { variables.append("\(name)=\(value)") }
        }
        return variables
    }

    private static func pipe() throws(StartFailure) -> (read: Int32, write: Int32) {
        var ends: [Int32] = [-1, -1]
        // Sockets used in one direction: unlike a pipe's ends, which are marked only afterwards, these are closed in
        // the children of other tests from the first moment on.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw StartFailure(description: "socketpair: error \(errno)")
        }
        return (ends[0], ends[1])
    }

    /// Reads both until both have ended, whichever fills first.
    private mutating func readAll(_ output: Int32, _ complaints: Int32) {
        var waiting = [
            pollfd(fd: output, events: Int16(POLLIN), revents: 0),
            pollfd(fd: complaints, events: Int16(POLLIN), revents: 0),
        ]
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while waiting.contains(where: { $0.fd >= 0 }) {
            guard poll(&waiting, nfds_t(waiting.count), -1) >= 0 || errno == EINTR else { return }
            for index in waiting.indices where waiting[index].fd >= 0 && waiting[index].revents != 0 {
                let count = read(waiting[index].fd, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    waiting[index].fd = -1
                    continue
                }
                if index == 0 {
                    self.output += buffer.prefix(count)
                } else {
                    self.complaints += buffer.prefix(count)
                }
            }
        }
    }
}
