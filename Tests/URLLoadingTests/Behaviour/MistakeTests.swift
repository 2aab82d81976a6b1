// Behaviour 3.6 and chapter 17 for what goes wrong every day: the same mistakes met by a program and by `fetch`.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Mistakes and accidents")
struct MistakeTests {
    @Test(
        "B17.1, B17.2, B17.3, B17.4, B17.11, B17.13, B17.14, B17.15, B17.20: names and addresses, to a program",
        arguments: Mistake.addresses)
    func addresses(mistake: Mistake) async throws { try await meet(mistake) }

    @Test(
        "B3.69, B3.71, B3.72, B17.39, B17.40, B17.41, B17.42: certificates, to a program",
        arguments: Mistake.certificates)
    func certificates(mistake: Mistake) async throws { try await meet(mistake) }

    @Test(
        "B3.74, B17.16, B17.18, B17.23, B17.27, B17.29, B17.38, B17.44, B17.50: answers, to a program",
        .http1Only("The mistakes are HTTP/1.1's"),
        arguments: Mistake.answers)
    func answers(mistake: Mistake) async throws { try await meet(mistake) }

    @Test("B3.75, B17.12: times, to a program", arguments: Mistake.times)
    func times(mistake: Mistake) async throws { try await meet(mistake) }

    /// Whatever goes wrong has its code, the URL, a cause that tells it apart, and a text for people.
    private func meet(_ mistake: Mistake) async throws {
        let stage = try await mistake.stage()
        let session = URLSession.made {
            $0.hostOverrides = stage.overrides
            if let anchors = stage.anchors { $0.serverTrustEvaluation = .anchors(pem: anchors) }
            if let seconds = stage.maximumTime { $0.timeoutIntervalForResource = seconds }
            if let seconds = stage.idleTime { $0.timeoutIntervalForRequest = seconds }
        }
        let url = try #require(URL(string: stage.url))
        let load = await Load(url, in: session)
        let requests = stage.server?.stats.requests
        await stage.server?.stop()

        let error = try #require(load.error)
        #expect(mistake.allows(error.code), "\(error.code.rawValue) \(load.message)")
        #expect((error as NSError).domain == NSURLErrorDomain)
        if mistake.code != .httpTooManyRedirects { #expect(error.failingURL == url) }
        #expect(
            error.userInfo["NSErrorFailingURLStringKey"] as? String
                == (error.userInfo[NSURLErrorFailingURLErrorKey] as? URL)?.absoluteString)
        if let cause = mistake.cause {
            #expect(load.underlying?.domain == cause.domain)
            if let code = cause.code { #expect(load.underlying?.code == code, "\(load.message)") }
            #expect(load.underlying?.localizedDescription.isEmpty == false)
        }
        for word in mistake.words { #expect(load.message.contains(word), "\(load.message)") }
        if mistake.exitCode == 60 {
            #expect(load.message.contains("certificate"), "\(load.message)")
            #expect((error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String)?.isEmpty == false)
            #expect(requests == 0, "no byte of a request before the verdict")
        }
    }

    @Test(
        "B3.69, B3.74, B17.4: to a user of fetch each mistake has its exit code, a line that says it, and perhaps one that says what to do",
        .http1Only("The mistakes are HTTP/1.1's"), arguments: Mistake.all)
    func command(mistake: Mistake) async throws {
        let stage = try await mistake.stage()
        guard stage.idleTime == nil else {
            await stage.server?.stop()
            return
        }
        var arguments: [String] = []
        for (name, address) in stage.overrides { arguments += ["--resolve", "\(name):\(address)"] }
        var scratch: URL?
        if let anchors = stage.anchors {
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("anchors-\(UUID().uuidString).pem")
            try Data(anchors.utf8).write(to: file)
            scratch = file
            arguments += ["--cacert", file.path]
        }
        if let seconds = stage.maximumTime { arguments += ["--max-time", "\(seconds)"] }
        let run = try await FetchRun.run(arguments + [stage.url])
        if let scratch { try FileManager.default.removeItem(at: scratch) }
        await stage.server?.stop()

        #expect(mistake.allows(exitCode: run.exitCode), "\(run.exitCode) \(run.complaints)")
        let lines = run.complaints.split(separator: "\n", omittingEmptySubsequences: false)
        #expect([2, 3].contains(lines.count) && lines.last == "", "\(run.complaints)")
        #expect(lines.dropLast().allSatisfy { $0.hasPrefix("fetch: ") }, "\(run.complaints)")
        for word in mistake.words { #expect(run.complaints.contains(word), "\(run.complaints)") }
    }

    @Test("B17.51: a reset is −1004 while connecting, −1200 in the handshake, −1005 afterwards")
    func resets() async throws {
        // When the reset comes is the kernel's business; which code belongs to when is ours.
        for pause in [Duration.zero, .milliseconds(50)] {
            var options = LoopbackServer.Options()
            options.greeting = { _ in [.delay(pause), .reset] }
            try await withServer(options, router: { _ in .status(200) }) { server in
                let secure = await Load(try #require(URL(string: "https://127.0.0.1:\(server.port)/")))
                let isInTLS = secure.underlying?.domain == URLLoadingErrorDomain.tls
                #expect(secure.code == (isInTLS ? .secureConnectionFailed : .cannotConnectToHost))
                let plain = try await Load(server.at())
                let isConnecting = plain.message.contains("connect:")
                #expect(plain.code == (isConnecting ? .cannotConnectToHost : .networkConnectionLost))
                #expect(secure.underlying != nil && plain.underlying != nil)
            }
        }
    }

    @Test("B17.50: http to a port of https is −1005 or −1017, and says so at once")
    func plainToTLS() async throws {
        let (_, identity) = try CertificateFactory.server("127.0.0.1")
        try await withServer(LoopbackServer.Options(tls: .init(identity: identity)), router: { _ in .text("x") }) {
            server in
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
            let load = await Load(url)
            #expect(load.code == .networkConnectionLost || load.code == .cannotParseResponse)
            #expect(load.underlying != nil)
            let run = try await FetchRun.run([url.absoluteString])
            #expect([8, 52, 56].contains(run.exitCode))
        }
    }
}
