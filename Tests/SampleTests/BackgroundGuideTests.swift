// The code of the article on background sessions does what it says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6
import URLLoadingTestSupport

@Suite("The guide to background sessions")
struct BackgroundGuideTests {
    @Test("A download is begun once, and what comes is put into the folder", arguments: LanguageMode.allCases)
    func download(mode: LanguageMode) async throws {
        let server = try LoopbackServer.start { _ in .text("all of it") }
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("background-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: place) }
        let configuration = URLSessionConfiguration.background(withIdentifier: UUID().uuidString)
        configuration.backgroundStateDirectory = place.appendingPathComponent("state")
        configuration.usesBackgroundHelper = false
        let url = try #require(URL(string: server.url("/archive")))
        let (ends, tell) = AsyncStream.makeStream(of: String.self)
        let ended: @Sendable (URLSessionTask, (any Error)?) -> Void = { task, error in
            tell.yield("\(task.taskDescription ?? "") \(error.map { "\($0)" } ?? "done")")
        }
        let session: URLSession
        switch mode {
        case .swift5:
            session = await URLLoadingSamplesSwift5.BackgroundGuide.meet(
                url, configuration: configuration,
                delegate: URLLoadingSamplesSwift5.BackgroundGuide.Keeper(folder: place, ended: ended))
        case .swift6:
            session = await URLLoadingSamplesSwift6.BackgroundGuide.meet(
                url, configuration: configuration,
                delegate: URLLoadingSamplesSwift6.BackgroundGuide.Keeper(folder: place, ended: ended))
        }
        var iterator = ends.makeAsyncIterator()
        #expect(await iterator.next() == "archive.tar done")
        let kept = place.appendingPathComponent("archive.tar")
        #expect(try String(contentsOf: kept, encoding: .utf8) == "all of it")
        session.invalidateAndCancel()
        await server.stop()
    }
}
