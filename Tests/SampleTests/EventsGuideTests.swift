// The code of docs/events.md: it is that of the samples, and does what the document says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6

@Suite("The guide to events")
struct EventsGuideTests {
    @Test("Lines, records and pieces", arguments: LanguageMode.allCases)
    func bodies(mode: LanguageMode) async throws {
        try await withEvents { server in
            let session = URLSession(configuration: .ephemeral)
            let url = try #require(URL(string: server.url("/events")))
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString)")
            #expect(FileManager.default.createFile(atPath: file.path, contents: nil))
            defer { try? FileManager.default.removeItem(at: file) }
            let handle = try FileHandle(forWritingTo: file)
            var read: [String] = []
            var records: [[String]] = []
            switch mode {
            case .swift5:
                try await URLLoadingSamplesSwift5.printLines(of: url, in: session) { read.append($0) }
                try await URLLoadingSamplesSwift5.records(url, in: session) { records.append($0) }
                try await URLLoadingSamplesSwift5.copy(url, to: handle, in: session)
            case .swift6:
                try await URLLoadingSamplesSwift6.printLines(of: url, in: session) { read.append($0) }
                try await URLLoadingSamplesSwift6.records(url, in: session) { records.append($0) }
                try await URLLoadingSamplesSwift6.copy(url, to: handle, in: session)
            }
            #expect(read == ["data: one", "data: two", "data: three"])
            #expect(records == [["data: one", "data: two"], ["data: three"]])
            #expect(try String(contentsOf: file, encoding: .utf8) == Self.events)
            session.invalidateAndCancel()
        }
    }

    @Test("Server-sent events", arguments: LanguageMode.allCases)
    func serverSentEvents(mode: LanguageMode) async throws {
        let router: LoopbackServer.Router = { request in
            if request.path == "/refused" { return .status(403) }
            guard request.fields.first("Last-Event-ID") != "2" else { return .status(204) }
            return .bytes(
                Array("retry: 0\nevent: tick\ndata: one\ndata: two\n\nid: 2\ndata: three\n\n".utf8),
                type: "text/event-stream")
        }
        try await withServer(router: router) { server in
            let session = URLSession(configuration: .ephemeral)
            let url = try #require(URL(string: server.url("/")))
            let refused = try #require(URL(string: server.url("/refused")))
            var heard: [String] = []
            let handle = { (first: String, data: String) in heard.append("\(first): \(data)") }
            switch mode {
            case .swift5:
                try await URLLoadingSamplesSwift5.listen(to: url, in: session, handle: handle)
                try await URLLoadingSamplesSwift5.listen(to: url, behind: "1", in: session, handle: handle)
                try await URLLoadingSamplesSwift5.listen(to: refused, behind: "1", in: session, handle: handle)
            case .swift6:
                try await URLLoadingSamplesSwift6.listen(to: url, in: session, handle: handle)
                try await URLLoadingSamplesSwift6.listen(to: url, behind: "1", in: session, handle: handle)
                try await URLLoadingSamplesSwift6.listen(to: refused, behind: "1", in: session, handle: handle)
            }
            #expect(
                heard == [
                    "tick: one\ntwo", "message: three", "1: one\ntwo", "2: three", ": the server refuses: 403",
                ])
            session.invalidateAndCancel()
        }
    }

    @Test("Every event of a load", arguments: LanguageMode.allCases)
    func everyEvent(mode: LanguageMode) async throws {
        try await withEvents { server in
            let session = URLSession(configuration: .ephemeral)
            let request = URLRequest(url: try #require(URL(string: server.url("/moved"))))
            var told: [String] = []
            switch mode {
            case .swift5: await URLLoadingSamplesSwift5.follow(request, in: session) { told.append($0) }
            case .swift6: await URLLoadingSamplesSwift6.follow(request, in: session) { told.append($0) }
            }
            #expect(
                told.filter { !$0.hasSuffix("so far") && !$0.hasPrefix("a piece") } == [
                    "redirected to /events", "\(Self.events.utf8.count) bytes to come", "2 transactions", "done",
                ])
            session.invalidateAndCancel()
        }
    }

    @Test("Closures and notifications", arguments: LanguageMode.allCases)
    func closures(mode: LanguageMode) async throws {
        try await withEvents { server in
            let good = try #require(URL(string: server.url("/events")))
            let bad = try #require(URL(string: server.url("/missing?\(mode)")))
            let (ends, sink) = AsyncStream.makeStream(of: String.self)
            let (notes, noteSink) = AsyncStream.makeStream(of: String.self)
            // Other tests have sessions too; only this one's loads count.
            let note: @Sendable (URL?, (any Error)?) -> Void = { url, error in
                if url == bad { noteSink.yield("\((error as? URLError)?.code.rawValue ?? 0)") }
            }
            let report: @Sendable (Int, (any Error)?) -> Void = { identifier, error in
                sink.yield("\(identifier) \((error as? URLError)?.code.rawValue ?? 0)")
            }
            let observer: any NSObjectProtocol
            switch mode {
            case .swift5:
                observer = URLLoadingSamplesSwift5.observeEnds(report: note)
                let manager = URLLoadingSamplesSwift5.LoadManager(report: report)
                manager.load(good)
                manager.load(bad)
                manager.finish()
            case .swift6:
                observer = URLLoadingSamplesSwift6.observeEnds(report: note)
                let manager = URLLoadingSamplesSwift6.LoadManager(report: report)
                manager.load(good)
                manager.load(bad)
                manager.finish()
            }
            var told: Set<String> = []
            for await end in ends.prefix(2) { told.insert(end) }
            #expect(told == ["1 0", "2 -999"])
            for await end in notes.prefix(1) { #expect(end == "-999") }
            NotificationCenter.default.removeObserver(observer)
        }
    }

    @Test("A body that is written while it is sent", arguments: LanguageMode.allCases)
    func writing(mode: LanguageMode) async throws {
        try await withEvents { server in
            let session = URLSession(configuration: .ephemeral)
            let url = try #require(URL(string: server.url("/echo")))
            // More than the pair holds.
            let texts = (0..<1000).map { "\($0): \(String(repeating: "x", count: 200))\n" }
            let (answers, sink) = AsyncStream.makeStream(of: Data?.self)
            Thread.detachNewThread {
                switch mode {
                case .swift5:
                    URLLoadingSamplesSwift5.uploadWhileWriting(texts, to: url, in: session) { data, _, _ in
                        sink.yield(data)
                    }
                case .swift6:
                    URLLoadingSamplesSwift6.uploadWhileWriting(texts, to: url, in: session) { data, _, _ in
                        sink.yield(data)
                    }
                }
            }
            for await answer in answers.prefix(1) { #expect(answer == Data(texts.joined().utf8)) }
            session.invalidateAndCancel()
        }
    }

    private static let events = "data: one\ndata: two\n\ndata: three\n\n"

    private func withEvents(_ body: (LoopbackServer) async throws -> Void) async throws {
        try await withServer(
            router: { request in
                switch request.path {
                case "/events": .text(Self.events)
                case "/moved": .status(302).adding("Location", "/events")
                case "/echo": .echo(request)
                default: .status(404)
                }
            }, body)
    }
}
