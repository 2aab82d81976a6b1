// The code of docs/websockets.md: it is that of the samples, and does what the document says.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSamplesSwift5
import URLLoadingSamplesSwift6

@Suite("The guide to web sockets")
struct WebSocketGuideTests {
    @Test("A conversation, and a question")
    func conversation() async throws {
        var route = WebSocketRoute(.script([.expect(text: "hello"), .text("you"), .binary([1, 2]), .close(1000)]))
        route.protocols = ["chat.v2"]
        let chat = route
        let server = try LoopbackServer.start { request in
            request.path == "/chat" ? .webSocket(chat) : .webSocket([.expectAnything, .text("late")])
        }
        let configuration = URLSessionConfiguration.ephemeral
        URLLoadingSamplesSwift6.offerCompression(in: configuration)
        let session = URLSession(configuration: configuration)
        let url = try #require(URL(string: "ws://127.0.0.1:\(server.port)/chat"))
        let (words, speak) = AsyncStream.makeStream(of: String.self)
        try await URLLoadingSamplesSwift6.chat(at: url, in: session) { speak.yield($0) }
        try await URLLoadingSamplesSwift5.chat(at: url, in: session) { speak.yield($0) }
        speak.finish()
        var heard: [String] = []
        for await word in words { heard.append(word) }
        #expect(heard == ["you", "2 bytes", "you", "2 bytes"])
        let question = try #require(URL(string: "ws://127.0.0.1:\(server.port)/time"))
        #expect(try await URLLoadingSamplesSwift6.askOnce(session.webSocketTask(with: question)) == "late")
        session.finishTasksAndInvalidate()
        await server.stop()
    }

    @Test("A delegate that knows when, and a ping")
    func delegate() async throws {
        let server = try LoopbackServer.start { _ in .webSocket([.expectAnything, .close(1000)]) }
        let (notes, write) = AsyncStream.makeStream(of: String.self)
        let session = URLSession(
            configuration: .ephemeral, delegate: URLLoadingSamplesSwift6.Doorkeeper { write.yield($0) },
            delegateQueue: nil)
        let task = session.webSocketTask(with: try #require(URL(string: "ws://127.0.0.1:\(server.port)/")))
        task.resume()
        var iterator = notes.makeAsyncIterator()
        #expect(await iterator.next() == "open, with no protocol")
        URLLoadingSamplesSwift6.ask(task) { write.yield($0) }
        #expect(await iterator.next() == "still there")
        try await task.send(.string("goodbye"))
        #expect(await iterator.next() == "closed with 1000")
        session.finishTasksAndInvalidate()
        await server.stop()
    }
}
