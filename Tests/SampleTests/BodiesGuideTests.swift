// The code of docs/bodies.md: it is that of the samples, and does what the document says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6
import URLLoadingTestSupport
import URLLoadingWire

@Suite("The guide to bodies that are made while they are sent")
struct BodiesGuideTests {
    @Test(
        "Lines are sent as they are made, and those of a file again after a redirect", arguments: LanguageMode.allCases)
    func lines(mode: LanguageMode) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("lines-\(UUID().uuidString)")
        try Data("one\ntwo\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await withServer(router: { request in
            request.path == "/moved" ? .status(307).adding("Location", "/") : .echo(request)
        }) { server in
            let session = URLSession(configuration: .ephemeral)
            let moved = try #require(URL(string: server.url("/moved")))
            var request = URLRequest(url: try #require(URL(string: server.url("/"))))
            request.httpMethod = "POST"
            let sent: (Int, String)
            let put: (Int, String)
            switch mode {
            case .swift5:
                sent = try await URLLoadingSamplesSwift5.sendLines(["a", "b"], by: request, in: session)
                put = try await URLLoadingSamplesSwift5.putLines(of: file, to: moved, in: session)
            case .swift6:
                sent = try await URLLoadingSamplesSwift6.sendLines(["a", "b"], by: request, in: session)
                put = try await URLLoadingSamplesSwift6.putLines(of: file, to: moved, in: session)
            }
            #expect(sent == (200, "a\nb\n"))
            #expect(put == (200, "one\ntwo\n"))
            session.invalidateAndCancel()
        }
    }

    @Test("Answers are heard while questions are still being asked", arguments: LanguageMode.allCases)
    func conversation(mode: LanguageMode) async throws {
        let second = ServerGate()
        var options = LoopbackServer.Options()
        options.earlyRouter = { _ in
            var response = ServerResponse.status(200)
            response.body = .pieces([.init("the first.\n"), .init("the last.\n", when: second)])
            response.framing = .chunked
            return response
        }
        try await withServer(options, router: { .echo($0) }) { server in
            let session = URLSession(configuration: .ephemeral)
            let url = try #require(URL(string: server.url("/")))
            let heard = Guarded<[String]>([])
            let hear: @Sendable (String) -> Void = { line in
                heard.withLock { $0.append(line) }
                second.open()
            }
            switch mode {
            case .swift5: try await URLLoadingSamplesSwift5.converse(with: url, in: session, heard: hear)
            case .swift6: try await URLLoadingSamplesSwift6.converse(with: url, in: session, heard: hear)
            }
            #expect(heard.withLock { $0 } == ["the first.", "the last."])
            await server.wait { $0.requests == 1 }
            session.invalidateAndCancel()
        }
    }

    @Test("A count is sent behind the rows, and a sum comes behind the answer", arguments: LanguageMode.allCases)
    func trailers(mode: LanguageMode) async throws {
        try await withServer(router: { request in
            let response = ServerResponse.text(request.trailers.first("X-Row-Count") ?? "none")
            return request.fields.hasToken(.te, "trailers") ? response.addingTrailer("X-Sum", "7") : response
        }) { server in
            let session = URLSession(configuration: .ephemeral)
            let request = URLRequest(url: try #require(URL(string: server.url("/"))))
            let (count, sum): (String, String?)
            switch mode {
            case .swift5:
                (count, sum) = try await URLLoadingSamplesSwift5.sendCounted(["a", "b", "c"], by: request, in: session)
            case .swift6:
                (count, sum) = try await URLLoadingSamplesSwift6.sendCounted(["a", "b", "c"], by: request, in: session)
            }
            #expect(count == "3" && sum == "7")
            session.invalidateAndCancel()
        }
    }
}
