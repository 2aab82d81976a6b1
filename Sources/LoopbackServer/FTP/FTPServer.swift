// An FTP server for tests: users, files in memory, EPSV and PASV, lists, resumption, uploads, AUTH TLS, and
// whatever a script says is done in place of it. On the loopback interface, on a loop thread of its own;
// knows nothing of the client.

import Synchronization
import URLLoadingSystem
import URLLoadingTLS

/// An FTP server on the loopback interface.
package final class FTPServer: Sendable {
    /// Where the server listens, which users it serves and which files it has.
    package struct Options: Sendable {
        /// The address.
        package var host = "127.0.0.1"
        /// What AUTH TLS brings; nil knows no such command.
        package var tls: ServerTLS?
        /// What data connections bring in place of that; nil for the same.
        package var dataTLS: ServerTLS?
        /// Whether data connections must resume the control connection's session, as vsftpd demands.
        package var requiresReuse = false
        /// Users and their passwords.
        package var users: [String: String] = [:]
        /// Whether "anonymous" is let in with any password.
        package var allowsAnonymous = true
        /// Files by their paths, which begin with a slash; directories are where files are.
        package var files: [String: [UInt8]] = [:]
        /// What MDTM says of every file.
        package var date = "20260102030405"
        /// What it says first.
        package var greeting = "220 ready"
        /// Asked about each command; nil does the usual.
        package var script: (@Sendable (Ask) -> Answer?)?

        /// Nothing but an empty root directory for anonymous users.
        package init() {}
    }

    /// One command.
    package struct Ask: Sendable {
        /// In upper case.
        package let verb: String
        /// What follows it.
        package let argument: String
        /// Counts the control connections.
        package let connection: Int
        /// Whether it came within TLS.
        package let isProtected: Bool
    }

    /// What is done about a command.
    package enum Answer: Sendable {
        /// These bytes are sent.
        case send(String)
        /// These are sent, and then the control connection is closed.
        case sendAndClose(String)
        /// The control connection is closed.
        case close
        /// Nothing at all.
        case silence
        /// The usual, but the transfer goes like this.
        case transfer(Transfer)

        /// One line.
        package static func reply(_ line: String) -> Answer { .send(line + "\r\n") }
    }

    /// How the data of a transfer goes.
    package struct Transfer: Sendable {
        /// Where it ends before its time.
        package var cutAfter: Int?
        /// What it waits for after the cut, or in front of everything; with it nothing is cut.
        package var gate: ServerGate?
        /// The last reply.
        package var final = "226 done"
        /// Whether TLS is ended in order.
        package var saysGoodbye = true
        /// Whether the control connection is closed in place of the last reply.
        package var closesControl = false

        /// As it should be.
        package init() {}
    }

    private let log: FTPServerLog
    private let thread: ServerThread<FTPServerCore>

    /// Starts a server; when this returns it accepts connections.
    package static func start(_ change: (inout Options) -> Void = { _ in }) throws -> FTPServer {
        var options = Options()
        change(&options)
        return try FTPServer(options)
    }

    private init(_ options: Options) throws {
        guard let wanted = SocketAddress(literal: options.host, port: 0) else {
            throw SystemError(errno: 22, call: "bind")
        }
        let context = try options.tls.map { try TLSContext(server: $0) }
        let dataContext = try options.dataTLS.map { try TLSContext(server: $0) } ?? context
        let log = FTPServerLog(files: options.files)
        thread = try ServerThread(name: "loopback-ftp", at: wanted) { key, reactor, _ in
            FTPServerCore(
                key: key, reactor: reactor, options: options, context: context, dataContext: dataContext, log: log)
        }
        self.log = log
    }

    /// Where it listens, with the port that it got.
    package var address: SocketAddress { thread.address }

    /// The port.
    package var port: Int { address.port ?? 0 }

    /// The commands until now, those of all connections in order, as "VERB argument".
    package var commands: [String] { log.commands }

    /// The files as they are now.
    package var files: [String: [UInt8]] { log.files }
}

/// What happens in a server, written on its loop and read from anywhere.
final class FTPServerLog: Sendable {
    private struct State {
        var commands: [String] = []
        var files: [String: [UInt8]]
    }

    private let state: Mutex<State>

    init(files: [String: [UInt8]]) {
        state = Mutex(State(files: files))
    }

    var commands: [String] { state.withLock(\.commands) }
    var files: [String: [UInt8]] { state.withLock(\.files) }

    func note(_ command: String) { state.withLock { $0.commands.append(command) } }

    func store(_ bytes: [UInt8], at path: String) { state.withLock { $0.files[path] = bytes } }
}
