// Starting a program that lives on without the one that has started it. It does not fork by itself: a process
// with threads may not do anything useful between fork and exec. The program starts the helper's file once as a
// child, which starts it again in a session of its own and ends, so that the child can be waited for and the
// helper is no child of the program.
//
// What is inherited: the environment, and nothing else. Standard descriptors lead nowhere, all others are closed by the
// first of the two before it starts the second, whatever flags they were opened with; no signal is blocked or ignored.
//
// Must not know what the helper does.

/// The two steps by which a helper is started.
package enum HelperProcess {
    /// What became of a helper that was to be started.
    package enum Start: Sendable, Equatable {
        /// It says that it is ready.
        case ready
        /// It has ended with this status, or with 128 and more by a signal.
        case ended(Int32)
        /// It was started; how it went on cannot be told, because the program itself waits for all its children.
        case unknown
        /// It was neither ready nor did it end in time, and is no more.
        case late
        /// The system has not started it.
        case failed(SystemError)
    }

    // MARK: In the program

    /// Starts the program at `path`, which has to call `detach`, and waits until it is ready or has given up.
    ///
    /// For threads that may wait: the helper takes the time that it needs. One that takes longer than `patience` is
    /// ended: its disk may not answer, or it has been stopped.
    package static func start(_ path: String, arguments: [String], patience: Duration) -> Start {
        var process: Int32 = 0
        let error = spawn(&process, path, arguments, kept: -1, ownSession: false)
        if error != 0 { return .failed(SystemError(errno: error, call: "posix_spawn")) }
        if let start = outcome(of: process, patience: patience) { return start }
        // It is a child whose status was not taken, so the number is no other process's.
        kill(process, SIGKILL)
        // One that waits for a disk does not end before that answers.
        _ = outcome(of: process, patience: .seconds(1))
        return .late
    }

    /// Starts the program at `path` as `start` does, and waits for nothing: for a program that ends now.
    package static func launch(_ path: String, arguments: [String]) {
        var process: Int32 = 0
        _ = spawn(&process, path, arguments, kept: -1, ownSession: false)
    }

    /// What has become of a child; nil where it still runs after this time.
    private static func outcome(of process: Int32, patience: Duration) -> Start? {
        let end = Platform.continuousNanoseconds &+ Int64(patience.wholeMilliseconds) &* 1_000_000
        while true {
            var status: Int32 = 0
            repeat { status = urlloading_look_for_child(process) } while status == -1 && errno == EINTR
            switch status {
            // It still runs.
            case -2: break
            // ECHILD: a program that ignores SIGCHLD, or waits for any child, has taken the status.
            case -1: return .unknown
            case 0: return .ready
            default: return .ended(status)
            }
            guard Platform.continuousNanoseconds < end else { return nil }
            Platform.pause(milliseconds: 2)
        }
    }

    // MARK: In the helper

    /// Starts this program once more, as a session of its own, and waits until that says that it is ready; the answer
    /// is the status to end with. For the first thing that a helper does: it closes whatever is open.
    package static func detach(_ path: String, arguments: [String]) -> Int32 {
        urlloading_close_from(3)
        // Not a directory that may have to be unmounted.
        _ = chdir("/")
        var (reading, writing): (Int32, Int32) = (-1, -1)
        guard urlloading_pipe(&reading, &writing) == 0 else { return couldNotStart }
        let pipe = Descriptor(owning: reading)
        var other = Descriptor(owning: writing)
        // Not the number that it will have over there, which would keep its close-on-exec flag.
        while other.raw == readyDescriptor {
            let copy = Platform.call { dup(other.raw) }
            guard !copy.failed else { return couldNotStart }
            other = Descriptor(owning: copy.value)
        }
        var process: Int32 = 0
        let error = spawn(&process, path, arguments, kept: other.raw, ownSession: true)
        other.close()
        guard error == 0 else { return couldNotStart }
        var status: UInt8 = 0
        let outcome = Platform.call { read(pipe.raw, &status, 1) }
        return outcome.value == 1 ? Int32(status) : couldNotStart
    }

    /// Tells the program that waits in `start` that the helper is ready (0), or why it ends; once.
    package static func report(_ status: UInt8) {
        var status = status
        // Nothing reads the pipe where a person has started the helper: that is no failure.
        _ = withUnsafeBytes(of: &status) { Platform.sendToPipe(readyDescriptor, $0) }
        Platform.closeDescriptor(readyDescriptor)
    }

    /// The status of a helper that could not go on.
    package static let couldNotStart: Int32 = 125

    private static let readyDescriptor: Int32 = 3

    /// Runs another program, in a session of its own, with one more variable in its environment, and waits for its end;
    /// the answer is its status. For threads that may wait.
    package static func runApart(_ command: [String], variable: String, value: String) -> Result<Int32, SystemError> {
        guard let path = command.first else { return .failure(SystemError(errno: EINVAL, call: "posix_spawn")) }
        var variables: [String] = []
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if !text.hasPrefix(variable + "=") { variables.append(text) }
            next += 1
        }
        var pointers: [UnsafeMutablePointer<CChar>?] = (variables + ["\(variable)=\(value)"]).map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        guard !pointers.contains(where: { $0 == nil }) else {
            return .failure(SystemError(errno: ENOMEM, call: "posix_spawn"))
        }
        pointers.append(nil)
        var process: Int32 = 0
        let error = spawn(
            &process, path, Array(command.dropFirst()), kept: -1, ownSession: true, environment: pointers)
        if error != 0 { return .failure(SystemError(errno: error, call: "posix_spawn")) }
        let status = Platform.call { urlloading_wait_for_child(process) }
        // Where this process's parent has had ended children ignored, nothing tells how this one has ended.
        if status.error == ECHILD { return .success(0) }
        return status.failed ? .failure(SystemError(errno: status.error, call: "waitpid")) : .success(status.value)
    }

    /// Becomes another program, with this umask. Where that cannot be: the status to end with.
    package static func become(_ command: [String], mask: mode_t) -> Int32 {
        guard let path = command.first else { return couldNotStart }
        umask(mask)
        var pointers: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        execv(path, pointers)
        return couldNotStart
    }

    private static func spawn(
        _ process: inout Int32, _ path: String, _ arguments: [String], kept: Int32, ownSession: Bool,
        environment: [UnsafeMutablePointer<CChar>?]? = nil
    ) -> Int32 {
        var pointers: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        guard !pointers.contains(where: { $0 == nil }) else { return ENOMEM }
        pointers.append(nil)
        if let environment {
            return urlloading_spawn(&process, path, pointers, environment, kept, ownSession ? 1 : 0)
        }
        return urlloading_spawn(&process, path, pointers, environ, kept, ownSession ? 1 : 0)
    }
}
