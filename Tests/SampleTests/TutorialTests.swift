// The programs that the tutorials build: their last steps are programs of the samples, and do what the tutorials say.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("The tutorials", .timeLimit(.minutes(3)))
struct TutorialTests {
    @Test(
        "The last step of each tutorial is a program of the samples",
        arguments: [("PinAServer", "PinTutorial"), ("ResumeADownload", "ArchiveTutorial")])
    func programs(tutorial: String, program: String) throws {
        let catalog = "Sources/URLLoading/URLLoading.docc"
        let page = try #require(ProjectFiles.text(of: "\(catalog)/\(tutorial).tutorial"))
        let steps = page.matches(of: /@Code\(name: "main.swift", file: "([^"]+)"\)/).map { String($0.1) }
        #expect(steps.count > 2)
        let step = try #require(ProjectFiles.text(of: "\(catalog)/Resources/\(steps.last ?? "")"))
        let sample = try #require(ProjectFiles.text(of: "Tests/Samples/\(program)/main.swift"))
        #expect(firstDifference(step.components(separatedBy: "\n"), sample.components(separatedBy: "\n")) == nil)
    }

    @Test("Pin a server: it loads by the key in use and by the reserve, which it says, and by no other key")
    func pin() async throws {
        func pin(_ certificate: Certificate) -> String { Data(certificate.spkiSHA256).base64EncodedString() }
        let root = try CertificateFactory.root()
        let other = try CertificateFactory.root("Other")
        let leaf = try root.issue(.server("127.0.0.1"))
        let (own, wrong) = (pin(leaf.certificate), pin(other.certificate))
        try await withFolder { folder in
            func run(_ url: String, _ pins: [String], roots: Certificate) async throws -> ChildRun {
                // Stands for a root that the machine trusts.
                let file = folder.appendingPathComponent("roots-\(UUID().uuidString).pem")
                try Data(roots.pem.utf8).write(to: file)
                let environment = FetchRun.environment.merging(["SSL_CERT_FILE": file.path]) { $1 }
                return try await ChildRun.run("URLLoadingPinTutorial", [url] + pins, changing: environment)
            }
            try await withServer(
                LoopbackServer.Options(tls: ServerTLS(identity: leaf.identity)), router: { _ in .text("hello") }
            ) { server in
                let url = server.url()
                let current = try await run(url, [own, wrong], roots: root.certificate)
                #expect(current.outputText == "5 bytes from 127.0.0.1\n")
                #expect(current.exitCode == 0)

                let reserve = try await run(url, [wrong, own], roots: root.certificate)
                #expect(
                    reserve.outputText
                        == "the server uses the reserve key: make a new reserve\n5 bytes from 127.0.0.1\n")
                #expect(reserve.exitCode == 0)
                #expect(server.stats.requests == 2)

                let neither = try await run(url, [wrong, wrong], roots: root.certificate)
                #expect(neither.outputText.hasPrefix("-1202: ") && neither.outputText.contains("not one of the pinned"))
                #expect(neither.exitCode == 2)
                let unknown = try await run(url, [own, wrong], roots: other.certificate)
                #expect(unknown.outputText.hasPrefix("-1202: "))
                #expect(unknown.exitCode == 1)
                let mistaken = try await run(url, ["AAAA", wrong], roots: root.certificate)
                #expect(mistaken.outputText.contains("in place of 32"))
                #expect(mistaken.exitCode == 64)
                #expect(server.stats.requests == 2, "no byte of the request left")
            }
        }
    }

    @Test("Resume a download: it is stopped, breaks off, is refused, and goes on until the file is whole")
    func resume() async throws {
        let answers = [
            part("HTTP/1.1 200 OK\nContent-Length: 10\n", "hello", then: .waitForClose),
            part("HTTP/1.1 206 Partial Content\nContent-Length: 5\nContent-Range: bytes 5-9/10\n", "wo", then: .close),
            .status(404),
            .text("rld", status: 206).adding("Content-Range", "bytes 7-9/10").adding("ETag", "\"v1\""),
        ]
        try await withArchive(answers) { archive in
            async let stopped = archive.run()
            defer { endProcesses(naming: archive.file.path) }
            try await until { archive.hasBegun }
            for process in processes(naming: "URLLoadingArchiveTutorial", archive.file.path) { kill(process, SIGINT) }
            #expect(try await stopped.outputText == "cancelled\nrun again to go on\n")
            #expect(try await stopped.exitCode == 75)
            let attributes = try FileManager.default.attributesOfItem(atPath: archive.saved.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)

            let brokenOff = try await archive.run()
            #expect(brokenOff.outputText.hasPrefix("goes on behind 5 of 10 bytes\n"))
            #expect(brokenOff.outputText.hasSuffix("\nrun again to go on\n"))
            #expect(brokenOff.exitCode == 75)

            let refused = try await archive.run()
            #expect(refused.outputText == "there is no file: the server answers 404\n")
            #expect(refused.exitCode == 1)

            let whole = try await archive.run()
            #expect(whole.outputText == "goes on behind 7 of 10 bytes\n")
            #expect(whole.exitCode == 0)
            #expect(try String(contentsOf: archive.file, encoding: .utf8) == "helloworld")
            #expect(!FileManager.default.fileExists(atPath: archive.saved.path))
            #expect(archive.asked.value == ["", "bytes=5- \"v1\"", "bytes=7- \"v1\"", "bytes=7- \"v1\""])
        }
    }

    @Test("Resume a download: a file that has changed begins anew; data that cannot be read are thrown away")
    func begunAnew() async throws {
        let answers = [
            part("HTTP/1.1 200 OK\nContent-Length: 10\n", "hello", then: .close),
            .text("HELLOWORLD").adding("ETag", "\"v2\""), .text("again"),
        ]
        try await withArchive(answers) { archive in
            #expect(try await archive.run().exitCode == 75)
            let changed = try await archive.run()
            #expect(changed.outputText == "loaded anew: the file has changed, or what there was is gone\n")
            #expect(changed.exitCode == 0)
            #expect(try String(contentsOf: archive.file, encoding: .utf8) == "HELLOWORLD")

            try Data("no data".utf8).write(to: archive.saved)
            #expect(try await archive.run().exitCode == 1)
            #expect(!FileManager.default.fileExists(atPath: archive.saved.path))
            #expect(try await archive.run().exitCode == 0)
            #expect(try String(contentsOf: archive.file, encoding: .utf8) == "again")
            #expect(archive.asked.value == ["", "bytes=5- \"v1\"", ""])
        }
    }

    /// An answer of which only a part comes.
    private func part(_ head: String, _ body: String, then end: ScriptStep) -> ServerResponse {
        .script([.lines("\(head)ETag: \"v1\"\n\n"), .text(body), end])
    }

    private func withArchive(_ answers: [ServerResponse], _ body: (Archive) async throws -> Void) async throws {
        let answers = Guarded(answers)
        let asked = Guarded<[String]>([])
        let router: LoopbackServer.Router = { request in
            let part = [request.fields.first("Range"), request.fields.first("If-Range")].compactMap(\.self)
            asked.withLock { $0.append(part.joined(separator: " ")) }
            return answers.withLock { $0.isEmpty ? .status(500) : $0.removeFirst() }
        }
        try await withFolder { folder in
            try await withServer(router: router) { server in
                try await body(Archive(url: server.url("/archive.tar"), folder: folder, asked: asked))
            }
        }
    }
}

/// The program of the tutorial on downloads, with a folder of its own.
private struct Archive: Sendable {
    let url: String
    let folder: URL
    /// By what the server was asked for each part.
    let asked: Guarded<[String]>

    var file: URL { folder.appendingPathComponent("archive.tar") }
    var saved: URL { file.appendingPathExtension("resume") }

    func run() async throws -> ChildRun {
        let environment = FetchRun.environment.merging(["TMPDIR": folder.path]) { $1 }
        return try await ChildRun.run("URLLoadingArchiveTutorial", [url, file.path], changing: environment)
    }

    /// Whether something has come.
    var hasBegun: Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.contains { name in
            guard name.hasPrefix("CFNetworkDownload_") else { return false }
            let path = folder.appendingPathComponent(name).path
            return (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int ?? 0 > 0
        }
    }
}

private func withFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tutorials-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}
