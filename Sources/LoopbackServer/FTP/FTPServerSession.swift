// One control connection of the FTP server: commands in, replies out. Confined to the server's loop. What concerns data
// connections is in `FTPServerSession+Data`.

import URLLoadingSystem
import URLLoadingTLS

/// One client.
final class FTPServerSession {
    let number: Int
    unowned let core: FTPServerCore
    let control: FTPServerChannel
    private var unread: [UInt8] = []
    private var user = ""
    private var isLoggedIn = false
    private var isDataProtected = false
    /// Always with a slash at its end.
    private var directory = "/"
    private var offset = 0

    // The data connection (+Data)
    var listener: Listener?
    var data: FTPServerChannel?
    var isDataReady = false
    var whenReady: (() -> Void)?
    var received: [UInt8] = []
    var target: (path: String, transfer: FTPServer.Transfer)?
    var hasEnded = false

    init(number: Int, stream: SocketStream, core: FTPServerCore) {
        self.number = number
        self.core = core
        control = FTPServerChannel(stream, session: nil, core: core)
    }

    func begin() {
        control.onBytes = { [unowned self] in read($0) }
        control.onEnd = { [unowned self] in close() }
        reply(core.options.greeting)
        control.begin()
    }

    func close() {
        closeData()
        control.close()
        core.closed(self)
    }

    func reply(_ line: String) {
        control.send(Array((line + "\r\n").utf8))
    }

    var protects: Bool { isDataProtected }

    private func read(_ bytes: [UInt8]) {
        unread += bytes
        while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
            let line = String(decoding: unread[..<end], as: UTF8.self)
            unread.removeFirst(end + 1)
            // Swift takes CR LF for one character.
            command(line.last == "\r" ? String(line.dropLast()) : line)
            if control.isClosed { return }
        }
    }

    private func command(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        let verb = parts[0].uppercased()
        let argument = parts.count > 1 ? String(parts[1]) : ""
        core.log.note(argument.isEmpty ? verb : "\(verb) \(argument)")
        let ask = FTPServer.Ask(
            verb: verb, argument: argument, connection: number, isProtected: control.isEncrypted)
        switch core.options.script?(ask) {
        case nil: serve(verb, argument, FTPServer.Transfer())
        case .transfer(let transfer): serve(verb, argument, transfer)
        case .send(let text): control.send(Array(text.utf8))
        case .sendAndClose(let text):
            control.send(Array(text.utf8))
            close()
        case .close: close()
        case .silence: break
        }
    }

    private func serve(_ verb: String, _ argument: String, _ transfer: FTPServer.Transfer) {
        switch verb {
        case "AUTH", "PBSZ", "PROT", "USER", "PASS", "QUIT": introduce(verb, argument)
        default:
            guard isLoggedIn else { return reply("530 log in first") }
            work(verb, argument, transfer)
        }
    }

    private func introduce(_ verb: String, _ argument: String) {
        switch verb {
        case "AUTH":
            guard let context = core.context, let session = try? TLSSession(server: context) else {
                return reply("502 no")
            }
            reply("234 go on")
            control.protect(session)
        case "PBSZ": reply("200 ok")
        case "PROT":
            isDataProtected = argument == "P"
            reply("200 ok")
        case "USER":
            user = argument
            reply("331 password?")
        case "PASS":
            isLoggedIn =
                user == "anonymous" ? core.options.allowsAnonymous : core.options.users[user] == argument
            reply(isLoggedIn ? "230 welcome" : "530 no")
        default:
            reply("221 goodbye")
            close()
        }
    }

    private func work(_ verb: String, _ argument: String, _ transfer: FTPServer.Transfer) {
        switch verb {
        case "TYPE": reply("200 ok")
        case "CWD":
            let path = place(argument)
            guard isDirectory(path) else { return reply("550 no such directory") }
            directory = path == "/" ? path : path + "/"
            reply("250 ok")
        case "SIZE":
            guard let file = core.log.files[place(argument)] else { return reply("550 no such file") }
            reply("213 \(file.count)")
        case "MDTM":
            guard core.log.files[place(argument)] != nil else { return reply("550 no such file") }
            reply("213 \(core.options.date)")
        case "EPSV": listenForData { "229 Entering Extended Passive Mode (|||\($0)|)" }
        // An address that clients should not connect to (B14.22).
        case "PASV": listenForData { "227 Entering Passive Mode (192,0,2,1,\($0 >> 8),\($0 & 255))." }
        case "REST":
            guard let place = Int(argument), place >= 0 else { return reply("501 no such place") }
            offset = place
            reply("350 from there")
        case "RETR":
            guard let file = core.log.files[place(argument)] else { return reply("550 no such file") }
            give(Array(file.dropFirst(offset)), transfer)
            offset = 0
        case "LIST": give(Array(list(isLong: true).utf8), transfer)
        case "NLST": give(Array(list(isLong: false).utf8), transfer)
        case "STOR": take(to: place(argument), transfer)
        default: reply("500 unknown")
        }
    }

    // MARK: Files

    private func place(_ argument: String) -> String {
        let path = argument.hasPrefix("/") ? argument : directory + argument
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    private func isDirectory(_ path: String) -> Bool {
        path == "/" || core.log.files.keys.contains { $0.hasPrefix(path + "/") }
    }

    private func list(isLong: Bool) -> String {
        var names: [String: Int?] = [:]
        for (path, bytes) in core.log.files where path.hasPrefix(directory) {
            let rest = path.dropFirst(directory.count).split(separator: "/", maxSplits: 1)
            guard let first = rest.first else { continue }
            names.updateValue(rest.count == 1 ? bytes.count : nil, forKey: String(first))
        }
        return names.sorted { $0.key < $1.key }.map { name, size in
            guard isLong else { return "\(name)\r\n" }
            return "\(size == nil ? "drwxr-xr-x" : "-rw-r--r--") 1 ftp ftp \(size ?? 0) Jan 02 2026 \(name)\r\n"
        }.joined()
    }
}
