// The code of the articles does what they say.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6

@Suite("The articles")
struct ArticleTests {
    private static let answer: LoopbackServer.Router = { request in
        switch request.path {
        case "/page": .text("<p>hello</p>")
        case "/echo": .echo(request)
        default: .status(404)
        }
    }

    @Test("Getting started: a page, an order, and what goes wrong", arguments: LanguageMode.allCases)
    func gettingStarted(mode: LanguageMode) async throws {
        try await withServer(router: Self.answer) { server in
            let page = try #require(URL(string: server.url("/page")))
            let missing = try #require(URL(string: server.url("/missing")))
            let nowhere = try #require(URL(string: "http://no-such-host.invalid/"))
            switch mode {
            case .swift5:
                #expect(try await URLLoadingSamplesSwift5.GettingStarted.load(page) == "<p>hello</p>")
                #expect(try await URLLoadingSamplesSwift5.GettingStarted.order(at: missing) == 404)
                #expect(
                    await URLLoadingSamplesSwift5.GettingStarted.words(for: nowhere)
                        == "there is no no-such-host.invalid")
            case .swift6:
                #expect(try await URLLoadingSamplesSwift6.GettingStarted.load(page) == "<p>hello</p>")
                #expect(try await URLLoadingSamplesSwift6.GettingStarted.order(at: missing) == 404)
                #expect(
                    await URLLoadingSamplesSwift6.GettingStarted.words(for: nowhere)
                        == "there is no no-such-host.invalid")
            }
        }
    }

    @Test("Streaming: a compressed body that is too long is none", arguments: LanguageMode.allCases)
    func limits(mode: LanguageMode) async throws {
        let router: LoopbackServer.Router = { request in
            let count = request.path == "/long" ? 2 << 20 : 1000
            return ServerResponse.bytes([UInt8](repeating: 0x61, count: count)).compressed()
        }
        try await withServer(router: router) { server in
            for (path, length) in [("/short", 1000), ("/long", nil)] {
                let url = try #require(URL(string: server.url(path)))
                let page =
                    switch mode {
                    case .swift5: try await URLLoadingSamplesSwift5.LimitsGuide.page(url, in: .shared)
                    case .swift6: try await URLLoadingSamplesSwift6.LimitsGuide.page(url, in: .shared)
                    }
                #expect(page?.count == length)
            }
        }
    }

    @Test("Downloads and uploads of files", arguments: LanguageMode.allCases)
    func transfers(mode: LanguageMode) async throws {
        try await withServer(router: Self.answer) { server in
            let page = try #require(URL(string: server.url("/page")))
            let echo = try #require(URL(string: server.url("/echo")))
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("articles-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let kept = folder.appendingPathComponent("page")
            let again: URL
            let status: Int
            switch mode {
            case .swift5:
                try await URLLoadingSamplesSwift5.TransfersGuide.save(page, as: kept)
                again = try await URLLoadingSamplesSwift5.TransfersGuide.download(page, attempts: 3)
                status = try await URLLoadingSamplesSwift5.TransfersGuide.upload(kept, to: echo)
            case .swift6:
                try await URLLoadingSamplesSwift6.TransfersGuide.save(page, as: kept)
                again = try await URLLoadingSamplesSwift6.TransfersGuide.download(page, attempts: 3)
                status = try await URLLoadingSamplesSwift6.TransfersGuide.upload(kept, to: echo)
            }
            #expect(try String(contentsOf: kept, encoding: .utf8) == "<p>hello</p>")
            #expect(try String(contentsOf: again, encoding: .utf8) == "<p>hello</p>")
            try FileManager.default.removeItem(at: again)
            #expect(status == 200)
        }
    }
}
