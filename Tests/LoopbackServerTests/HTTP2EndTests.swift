// When a client of HTTP/2 ends its side while a script still has something to do.

import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("LoopbackServer and clients of HTTP/2 that end", .timeLimit(.minutes(5)))
struct HTTP2EndTests {
    @Test("A script that waits when the client ends keeps the connection until it is over, and no longer")
    func waiting() async throws {
        let gate = ServerGate()
        let ping = HTTP2Frames.ping(2397)
        var options = LoopbackServer.Options()
        options.http2 = .required
        options.http2.script = { _ in .beside([.until(.end), .send(ping), .wait(gate)]) }
        try await withServer(options, router: { _ in .text("fine") }) { server in
            let client = try RawClient(port: server.port)
            var bytes: [UInt8] = []
            HTTP2FrameEncoder.encodePreface(into: &bytes)
            try client.send(bytes + HTTP2Frames.settings())
            client.finishSending()
            #expect(try !client.read(throughBytes: ping).isEmpty)
            gate.open()
            #expect(try client.readToEnd().end == .finished)
            #expect(await server.wait { $0.connectionsOpen == 0 } != nil)
        }
    }
}
