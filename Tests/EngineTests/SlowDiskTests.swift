// A disk that hangs, under an engine on a real loop: its own transfer waits, the others of the loop do not.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

@Suite("Slow disks")
struct SlowDiskTests {
    @Test("B9.1, B9.15: a disk that hangs stops its own sender and no other transfer of the loop")
    func hangingDisk() async throws {
        let server = try LoopbackServer.start(router: { request in
            request.path == "/large" ? .generated(length: 30_000_000) : .text("hello")
        })
        let live = LiveEngine()
        let pipe = try Pipe()
        let origin = try #require(Origin(scheme: .http, host: "host.test", port: server.port))
        var head = RequestHead(method: "GET", target: "/large")
        head.fields.append("Host", origin.hostField)
        let (results, report) = AsyncStream.makeStream(of: EngineError?.self)
        let lane = pipe.lane
        let raw = pipe.write
        _ = live.engine.submit(
            TransactionRequest(origin: origin, head: head) { handle, _ in
                let sink = FileSink(lane: lane) {
                    .success(TemporaryFile(path: "/nowhere/at/all", descriptor: Descriptor(owning: raw)))
                } report: { event in
                    if case .room = event { handle.resumeReading() }
                }
                return SinkReceiver(sink) { report.yield($0) }
            })
        // The server is stopped by TCP, since the file takes no more.
        await server.wait { $0.blockedWriters > 0 }
        for _ in 0..<20 {
            let answer = try await live.get(server, "/small", scheme: .http)
            #expect(answer.text == "hello")
        }
        let reader = Task { await pipe.readAll() }
        var iterator = results.makeAsyncIterator()
        let error = try #require(await iterator.next())
        #expect(error == nil)
        #expect(await reader.value == 30_000_000)
        await server.stop()
    }
}

/// Writes a response's body to a file.
private final class SinkReceiver: TransactionReceiver {
    private let sink: FileSink
    private let done: @Sendable (EngineError?) -> Void

    init(_ sink: FileSink, done: @escaping @Sendable (EngineError?) -> Void) {
        self.sink = sink
        self.done = done
    }

    func received(informational head: ResponseHead) {}

    func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand { .more }

    func received(body piece: BodyPiece) -> ReceiverDemand { sink.write(piece) }

    func sent(bodyBytes: Int64) {}

    func finished(_ outcome: TransactionOutcome) {
        let error = outcome.error
        sink.finish { [done] _ in done(error) }
    }
}
