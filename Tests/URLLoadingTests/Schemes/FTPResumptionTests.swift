// Downloads by FTP that are cancelled or break off, and go on (behaviour 9.2, B14.22): what is said on the wire, and
// what stands in the file.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer

@Suite("Resumed downloads by FTP", .endsSessions, .timeLimit(.minutes(5)))
struct FTPResumptionTests {
    private static let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }

    /// A server that stops after half of the file in its first transfer, and waits or leaves it at that.
    private func server(
        holding gate: ServerGate? = nil, _ change: (inout FTPServer.Options) -> Void = { _ in }
    ) throws -> FTPServer {
        try FTPServer.start { options in
            options.files = ["/pub/large.bin": Self.content]
            options.script = { ask in
                guard ask.verb == "RETR", ask.connection == 1 else { return nil }
                var transfer = FTPServer.Transfer()
                transfer.cutAfter = 100_000
                transfer.gate = gate
                return .transfer(transfer)
            }
            change(&options)
        }
    }

    private func url(_ server: FTPServer, user: String = "") throws -> URL {
        try #require(URL(string: "ftp://\(user)127.0.0.1:\(server.port)/pub/large.bin"))
    }

    /// What a whole download has in its file.
    private func isWhole(_ location: URL) throws -> Bool {
        defer { try? FileManager.default.removeItem(at: location) }
        return try Data(contentsOf: location) == Data(Self.content)
    }

    @Test(
        "B9.16, B9.25, B9.27, B14.22: a download that is cancelled for resume data goes on from where it was, by REST")
    func resumed() async throws {
        let gate = ServerGate()
        let server = try server(holding: gate)
        let data = try await halfOf(try url(server))
        gate.open()
        let count = try #require(try parts(of: data)["bytes"] as? Int)
        #expect((1...100_000).contains(count))
        let scribe = await goOn(with: data)
        let calls = scribe.transcript.calls
        #expect(calls.prefix(2) == ["created 1", "resumed \(count) of 200000"])
        #expect(calls.suffix(2) == ["finished 200000 bytes", "complete nil"])
        #expect(server.commands.filter { $0.hasPrefix("REST") } == ["REST \(count)"])
        #expect(server.commands.filter { $0.hasPrefix("MDTM") }.count == 2)
    }

    @Test("B9.20, B14.20: a transfer that breaks off has resume data in its error, and goes on by them")
    func lost() async throws {
        let server = try server()
        let session = visitor()
        let failure = await #expect(throws: URLError.self) { _ = try await session.download(from: url(server)) }
        #expect(failure?.code == .networkConnectionLost)
        let data = try #require(failure?.downloadTaskResumeData)
        let (location, response) = try await session.download(resumeFrom: data)
        #expect(try isWhole(location))
        #expect(response.expectedContentLength == 100_000 && response.mimeType == "application/octet-stream")
        #expect(server.commands.contains("REST 100000"))
    }

    @Test("B9.20: a download from a server that falls silent ends with resume data too")
    func silent() async throws {
        let gate = ServerGate()
        let server = try server(holding: gate)
        let session = visitor { $0.timeoutIntervalForRequest = 5 }
        let failure = await #expect(throws: URLError.self) { _ = try await session.download(from: url(server)) }
        gate.open()
        #expect(failure?.code == .timedOut)
        let data = try #require(failure?.downloadTaskResumeData)
        let (location, _) = try await visitor().download(resumeFrom: data)
        #expect(try isWhole(location))
        #expect(server.commands.contains("REST 100000"))
    }

    @Test(
        "B9.29: a file whose length or date has changed is loaded from its beginning, and no resumption is told",
        arguments: ["date", "size"])
    func changed(what: String) async throws {
        let count = Guarded(0)
        let server = try server {
            let usual = $0.script
            $0.script = { ask in
                if ask.connection > 1, what == "date", ask.verb == "MDTM" { return .reply("213 20260102030406") }
                if ask.connection > 1, what == "size", ask.verb == "SIZE" { return .reply("213 199999") }
                count.change { if ask.verb == "RETR" { $0 += 1 } }
                return usual?(ask)
            }
        }
        let failure = await #expect(throws: URLError.self) { _ = try await visitor().download(from: url(server)) }
        let data = try #require(failure?.downloadTaskResumeData)
        let scribe = await goOn(with: data)
        #expect(scribe.transcript.calls.last == "complete nil")
        #expect(scribe.transcript.calls.contains("finished 200000 bytes"))
        #expect(!scribe.transcript.calls.contains { $0.hasPrefix("resumed") })
        #expect(!server.commands.contains { $0.hasPrefix("REST") })
        #expect(count.value == 2)
        #expect(!FileManager.default.fileExists(atPath: try partialFile(of: data).path))
    }

    @Test("B9.29: a server that refuses REST sends the whole file, which replaces the partial one")
    func refused() async throws {
        let server = try server {
            let usual = $0.script
            $0.script = { $0.verb == "REST" ? .reply("502 no") : usual?($0) }
        }
        let failure = await #expect(throws: URLError.self) { _ = try await visitor().download(from: url(server)) }
        let scribe = await goOn(with: try #require(failure?.downloadTaskResumeData))
        #expect(scribe.transcript.calls.contains("finished 200000 bytes"))
        #expect(!scribe.transcript.calls.contains { $0.hasPrefix("resumed") })
    }

    @Test("B9.21: a download from a server without SIZE or MDTM has no resume data", arguments: ["SIZE", "MDTM"])
    func unknown(verb: String) async throws {
        let server = try server {
            let usual = $0.script
            $0.script = { ask in
                if ask.verb == verb { return .reply("500 unknown") }
                guard case .transfer(var transfer) = usual?(ask) else { return nil }
                // Without a length an end is taken for the end.
                transfer.final = "426 broken"
                return .transfer(transfer)
            }
        }
        let failure = await #expect(throws: URLError.self) { _ = try await visitor().download(from: url(server)) }
        #expect(failure?.code == .networkConnectionLost)
        #expect(failure?.downloadTaskResumeData == nil)
    }

    @Test("B9.24: resume data hold no user and no password: the task that goes on takes them from the storage")
    func users() async throws {
        let server = try server {
            $0.allowsAnonymous = false
            $0.users = ["me": "secret"]
        }
        let failure = await #expect(throws: URLError.self) {
            _ = try await visitor().download(from: url(server, user: "me:secret@"))
        }
        let data = try #require(failure?.downloadTaskResumeData)
        let text = String(decoding: data, as: UTF8.self)
        #expect(!text.contains("secret") && !text.contains("me@") && !text.contains("me:"))
        let storage = URLCredentialStorage()
        let space = URLProtectionSpace(
            host: "127.0.0.1", port: server.port, protocol: NSURLProtectionSpaceFTP, realm: nil,
            authenticationMethod: NSURLAuthenticationMethodDefault)
        storage.setDefaultCredential(
            URLCredential(user: "me", password: "secret", persistence: .forSession), for: space)
        let (location, _) = try await visitor(storage: storage).download(resumeFrom: data)
        #expect(try isWhole(location))
        #expect(server.commands.contains("REST 100000"))
    }

    @Test("B9.24, B9.32: resume data of ftp with values that only http has, or with wrong lengths, are refused")
    func mixed() async throws {
        let server = try server()
        let failure = await #expect(throws: URLError.self) { _ = try await visitor().download(from: url(server)) }
        let data = try #require(failure?.downloadTaskResumeData)
        let right = try parts(of: data)
        let changes: [(String, Any?)] = [
            ("size", nil), ("size", 7), ("total", 7), ("validator", "yesterday"), ("validator", "2026010203040"),
            ("total", nil),
        ]
        for (name, value) in changes {
            var wrong = right
            wrong[name] = value
            #expect(
                await goOn(with: try JSONSerialization.data(withJSONObject: wrong)).transcript.calls
                    == ["created 1", "complete -1002"], "\(name)")
        }
        try FileManager.default.removeItem(at: try partialFile(of: data))
    }
}
