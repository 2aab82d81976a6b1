// Stream tasks against other people's TLS: `openssl s_server`, which turns lines around, and a server for mail by
// Python, which wants STARTTLS.

import Foundation
import Testing
import URLLoading

@Suite("Stream tasks, against openssl s_server", .enabled(if: Peers.openssl != nil, "openssl is not installed"))
struct OpenSSLStreamTests {
    @Test("B15.45, B15.48: lines inside TLS, and an end of ours that OpenSSL takes for one", arguments: ["1.2", "1.3"])
    func lines(version: String) async throws {
        let server = try await OpenSSLServer(version == "1.2" ? "-tls1_2" : "-tls1_3", "-state", mode: "-rev")
        let (task, watcher) = secureTask(server.directory, server.port)
        task.startSecureConnection()
        task.resume()
        // More than a record, and more than one at a time.
        for line in ["abc", "", String(repeating: "0123456789", count: 1000)] {
            try await task.say(line + "\n")
            #expect(try await task.line() == String(line.reversed()))
        }
        try await task.say("one\ntwo\n")
        #expect(try await task.line() == "eno")
        #expect(try await task.line() == "owt")
        task.closeWrite()
        #expect(try await task.rest() == Data())
        #expect(await watcher.completion() == nil)
        #expect(task.state == .completed && task.error == nil)
        try await server.printed("alert read:warning:close notify")
        try await server.printed("CONNECTION CLOSED")
    }

    @Test(
        "B15.40, B15.48: what comes behind the end of ours, up to the close_notify of OpenSSL",
        arguments: ["1.2", "1.3"])
    func halfClose(version: String) async throws {
        let server = try await OpenSSLServer(version == "1.2" ? "-tls1_2" : "-tls1_3", "-state")
        let (task, watcher) = secureTask(server.directory, server.port)
        task.resume()
        task.startSecureConnection()
        try await task.say("GET / HTTP/1.0\r\n")
        task.closeWrite()
        let page = String(decoding: try await task.rest(), as: UTF8.self)
        #expect(page.hasPrefix("HTTP/1.0 200 ok\r\n") && page.contains("New, TLSv\(version)"))
        #expect(page.lowercased().contains("</html>"), "\(page.suffix(40))")
        #expect(await watcher.completion() == nil)
        try await server.printed("alert write:warning:close notify")
        try await server.printed("alert read:warning:close notify")
    }

    @Test("B15.45: a server with an untrusted certificate gets no data, only the alert that says why")
    func untrusted() async throws {
        let server = try await OpenSSLServer("-tls1_3", "-state", mode: "-rev")
        let (task, watcher) = secureTask(try PeerDirectory(), server.port)
        task.resume()
        task.startSecureConnection()
        let error = await #expect(throws: URLError.self) { try await task.say("secret\n") }
        #expect(error?.code == .serverCertificateUntrusted)
        #expect((await watcher.completion() as? URLError)?.code == .serverCertificateUntrusted)
        try await server.printed("alert read:fatal:")
    }
}

@Suite("Stream tasks, against mail by Python", .enabled(if: Peers.python != nil, "python3 is not installed"))
struct MailStreamTests {
    @Test("B15.39, B15.43, B15.45: a whole mail by STARTTLS", arguments: ["TLSv1_2", "TLSv1_3"])
    func mail(version: String) async throws {
        let server = try await MailServer(version)
        let (task, watcher) = secureTask(server.directory, server.port)
        task.resume()
        #expect(try await task.reply() == ["220 peers.test ESMTP ready"])
        #expect(try await task.ask("EHLO client.test").last == "250 STARTTLS")
        #expect(try await task.ask("MAIL FROM:<early@peers.test>").first?.hasPrefix("530 ") == true)
        #expect(try await task.ask("STARTTLS") == ["220 go ahead"])
        task.startSecureConnection()
        #expect(try await task.ask("EHLO client.test") == ["250-peers.test", "250-8BITMIME", "250 SIZE"])
        let commands = ["MAIL FROM:<a@client.test>", "RCPT TO:<b@peers.test>", "RCPT TO:<c@peers.test>"]
        for command in commands { #expect(try await task.ask(command) == ["250 ok"]) }
        #expect(try await task.ask("DATA").first?.hasPrefix("354 ") == true)
        let body = Self.body.map { $0 + "\r\n" }.joined()
        // Dots at the beginning of lines are doubled (RFC 5321, section 4.5.2).
        let stuffed = Self.body.map { ($0.hasPrefix(".") ? "." : "") + $0 + "\r\n" }.joined()
        try await task.say(stuffed)
        try await task.say(".\r\n")
        #expect(try await task.reply() == ["250 taken \(body.utf8.count) bytes"])
        #expect(try await task.ask("QUIT") == ["221 bye"])
        #expect(try await task.rest() == Data())
        task.closeWrite()
        #expect(await watcher.completion() == nil)

        let account = try await server.account()
        #expect(account.plain == ["EHLO client.test", "MAIL FROM:<early@peers.test>", "STARTTLS"])
        #expect(account.secure == ["EHLO client.test"] + commands + ["DATA", "QUIT"])
        #expect(account.name == "peers.test")
        #expect(account.version == version.replacingOccurrences(of: "_", with: "."))
        #expect(account.sender == commands[0] && account.recipients == Array(commands[1...]))
        #expect(account.body == body)
        #expect(account.end == "close_notify")
    }

    @Test("B15.45: nothing of a mail is told to a server that is not believed")
    func untrusted() async throws {
        let server = try await MailServer("TLSv1_3")
        let (task, watcher) = secureTask(try PeerDirectory(), server.port)
        task.resume()
        _ = try await task.reply()
        #expect(try await task.ask("STARTTLS") == ["220 go ahead"])
        task.startSecureConnection()
        let error = await #expect(throws: URLError.self) { try await task.say("EHLO client.test\r\n") }
        #expect(error?.code == .serverCertificateUntrusted)
        #expect((await watcher.completion() as? URLError)?.code == .serverCertificateUntrusted)
        let account = try await server.account()
        #expect(account.plain == ["STARTTLS"] && account.secure.isEmpty)
        #expect(account.end.contains("ALERT"), "\(account.end)")
    }

    /// The lines of a mail: fields, dots, letters of several bytes, and more than a record of TLS holds.
    private static let body =
        ["From: a@client.test", "To: b@peers.test", "Subject: Streams", "", ".", "..two", "Grüße, 日本"]
        + (0..<6000).map { "\($0 % 7 == 0 ? "." : "")line \($0) of a long mail" }
}

/// A task to peers.test, for a session that believes the directory's server; the session ends with it.
private func secureTask(_ directory: PeerDirectory, _ port: Int) -> (URLSessionStreamTask, StreamWatcher) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.serverTrustEvaluation = .anchors(pem: directory.anchor)
    configuration.hostOverrides = ["peers.test": "127.0.0.1"]
    configuration.connectionProxyDictionary = [:]
    let watcher = StreamWatcher()
    let session = URLSession(configuration: configuration, delegate: watcher, delegateQueue: nil)
    let task = session.streamTask(withHostName: "peers.test", port: port)
    session.finishTasksAndInvalidate()
    return (task, watcher)
}

/// Waits for the end of one task.
private final class StreamWatcher: NSObject, URLSessionStreamDelegate {
    private let ends = AsyncStream<(any Error)?>.makeStream()

    func completion() async -> (any Error)? {
        for await end in ends.stream { return end }
        return URLError(.unknown)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.continuation.yield(error)
    }
}

extension URLSessionStreamTask {
    fileprivate func say(_ text: String) async throws { try await write(Data(text.utf8), timeout: 60) }

    /// A line without its end, read byte by byte so that nothing behind it is taken.
    fileprivate func line() async throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let (data, isAtEnd) = try await readData(ofMinLength: 1, maxLength: 1, timeout: 60)
            line += data ?? Data()
            if isAtEnd { break }
        }
        return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The lines of one answer of SMTP: all but the last have a hyphen behind the number.
    fileprivate func reply() async throws -> [String] {
        var lines = [try await line()]
        while lines.last?.dropFirst(3).first == "-" { lines.append(try await line()) }
        return lines
    }

    fileprivate func ask(_ command: String) async throws -> [String] {
        try await say(command + "\r\n")
        return try await reply()
    }

    /// Everything up to the end.
    fileprivate func rest() async throws -> Data {
        var all = Data()
        while true {
            let (data, isAtEnd) = try await readData(ofMinLength: 1, maxLength: 1 << 20, timeout: 60)
            all += data ?? Data()
            if isAtEnd { return all }
        }
    }
}
