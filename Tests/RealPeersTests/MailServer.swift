// A server for mail as a peer, by Python's socketserver and ssl: SMTP that takes mail inside TLS only (RFC 3207), and
// says what it has heard. It shares no code with us, and its TLS is Python's.

import Foundation

/// Takes one mail for each connection, and prints what it has taken.
final class MailServer: Sendable {
    /// What came over one connection.
    struct Account: Decodable {
        /// The commands before TLS, and those inside.
        let plain: [String]
        let secure: [String]
        /// The name that the client has asked for, and the version of TLS.
        let name: String?
        let version: String?
        let sender: String?
        let recipients: [String]
        let body: String
        /// How the connection ended.
        let end: String
    }

    let directory: PeerDirectory
    let port: Int
    private let process: PeerProcess

    /// A server that speaks this version of TLS, by Python's name for it.
    init(_ version: String) async throws {
        guard let program = Peers.python else {
            throw PeerProcess.StartFailure(description: "python3 is not installed")
        }
        directory = try PeerDirectory()
        let path = directory.path
        try directory.write(Self.script, to: "mail.py")
        process = try PeerProcess(
            program, ["-u", "\(path)/mail.py", version, "\(path)/certificate.pem", "\(path)/key.pem"])
        let line = try await process.line(containing: "listening ")
        port = line.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }

    /// What came over the first connection, once it is over.
    func account() async throws -> Account {
        let line = try await process.line(containing: "account ")
        return try JSONDecoder().decode(Account.self, from: Data(line.dropFirst("account ".count).utf8))
    }

    private static let script = #"""
        import json, socketserver, ssl, sys

        version, certificate, key = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
        context.load_cert_chain(certificate, key)


        class Mail(socketserver.StreamRequestHandler):
            rbufsize = 0  # nothing that belongs to TLS is taken before it

            def handle(self):
                self.account = {"plain": [], "secure": [], "recipients": [], "body": ""}
                try:
                    self.talk()
                except Exception as error:
                    self.account["end"] = repr(error)
                print("account " + json.dumps(self.account))

            def say(self, *lines):
                self.connection.sendall("".join(line + "\r\n" for line in lines).encode())

            def talk(self):
                account, heard = self.account, self.account["plain"]
                self.say("220 peers.test ESMTP ready")
                while line := self.rfile.readline(2000):
                    command = line.decode().rstrip("\r\n")
                    heard.append(command)
                    word, isSecure = command.split(" ")[0].upper(), heard is account["secure"]
                    if word == "EHLO":
                        self.say("250-peers.test", "250-8BITMIME", "250 SIZE" if isSecure else "250 STARTTLS")
                    elif word == "STARTTLS" and not isSecure:
                        self.say("220 go ahead")
                        context.sni_callback = lambda _, name, __: account.__setitem__("name", name)
                        self.connection = context.wrap_socket(self.connection, server_side=True)
                        self.rfile = self.connection.makefile("rb")
                        account["version"] = self.connection.version()
                        heard = account["secure"]
                    elif word == "QUIT":
                        self.say("221 bye")
                        if isSecure:
                            # Sends close_notify, and is content with nothing but one.
                            self.connection.unwrap()
                        account["end"] = "close_notify" if isSecure else "plain"
                        return
                    elif not isSecure:
                        self.say("530 must issue a STARTTLS command first")
                    elif word == "MAIL":
                        account["sender"] = command
                        self.say("250 ok")
                    elif word == "RCPT":
                        account["recipients"].append(command)
                        self.say("250 ok")
                    elif word == "DATA":
                        self.say("354 end with a dot")
                        account["body"] = self.body()
                        self.say("250 taken %d bytes" % len(account["body"].encode()))
                    else:
                        self.say("500 what?")
                account["end"] = "early"

            def body(self):
                lines = []
                while line := self.rfile.readline(2000):
                    if line == b".\r\n":
                        return b"".join(lines).decode()
                    lines.append(line[1:] if line.startswith(b".") else line)
                raise EOFError


        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail) as server:
            server.daemon_threads = True
            print("listening %d" % server.server_address[1])
            server.serve_forever()
        """#
}
