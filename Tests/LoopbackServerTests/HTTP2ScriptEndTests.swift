// How scripts over HTTP/2 end connections, or keep silent on them.

import Testing
import URLLoadingLoopbackServer
import URLLoadingWire

@Suite("LoopbackServer scripts over HTTP/2: ends and silence", .timeLimit(.minutes(5)))
struct HTTP2ScriptEndTests {
    @Test("The connection ends without a GOAWAY", arguments: [HTTP2Step.close, .drop, .halfClose])
    func ends(step: HTTP2Step) async throws {
        try await withScript(.beside([.until(.requests(2)), step])) { server in
            let client = try RawHTTP2(port: server.port)
            try client.request(on: 1)
            try client.read(through: HTTP2Frames.data(Array("fine".utf8), on: 1, ends: true))
            try client.request(on: 3)
            let rest = try client.readToEnd()
            #expect(rest.text.isEmpty)
            #expect(rest.end == .finished)
        }
    }

    @Test("A reset of the connection is one")
    func reset() async throws {
        try await withScript(.beside([.until(.heads(1)), .reset])) { server in
            let client = try RawHTTP2(port: server.port)
            try client.request(on: 1)
            #expect(try client.readToEnd().end == .reset)
        }
    }

    @Test("A script for HTTP/1.1 that only waits and ends does so over HTTP/2, too")
    func oldScript() async throws {
        let gate = ServerGate()
        try await withScript(router: { $0.path == "/" ? .text("x") : .script([.wait(gate), .drop]) }) { server in
            let client = try HTTP2Client(port: server.port)
            let silent = try client.send("GET", "/silent")
            // Twice, so that the server has read everything the client sends: an end before that would be a reset.
            #expect(try client.exchange().text == "x")
            #expect(try client.exchange().text == "x")
            gate.open()
            try client.readToEnd()
            #expect(client.answers[silent]?.end == .connectionLost)
            #expect(await server.wait { $0.connectionsOpen == 0 } != nil)
        }
    }

    @Test("Silence: nothing is sent at all, and the client's leaving is no loss")
    func silence() async throws {
        let record = HTTP2Record()
        try await withScript(.instead([]), record) { server in
            do {
                let client = try HTTP2Client(port: server.port)
                try client.send()
                #expect(await record.wait { !$0.frames(.headers).isEmpty } != nil)
            }
            let stats = try #require(await server.wait { $0.connectionsOpen == 0 })
            #expect(stats.bytesWritten == 0)
            #expect(stats.connectionsLost == 0)
        }
    }

    @Test("A script stops reading, and reads on")
    func stopReading() async throws {
        let gate = ServerGate()
        let script = HTTP2Script.beside([.until(.answers(1)), .stopReading, .wait(gate), .startReading])
        try await withScript(script) { server in
            let client = try HTTP2Client(port: server.port)
            #expect(try client.exchange().text == "fine")
            let stream = try client.send()
            gate.open()
            #expect(try client.answer(on: stream).text == "fine")
        }
    }
}
