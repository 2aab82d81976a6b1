// Streams that were tasks (B15.51): they outlive task and session, and end with both of them.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Captured streams", .endsSessions, .timeLimit(.minutes(5)))
struct CapturedStreamTests {
    /// Reads up to the end, waiting for it.
    private func rest(of input: InputStream) async -> [UInt8]? {
        let box = StreamPair(input: input, output: OutputStream(toMemory: ()))
        return await withHandover { continuation in
            Thread.detachNewThread {
                var all: [UInt8] = []
                var piece = [UInt8](repeating: 0, count: 10_000)
                while true {
                    let count = box.input.read(&piece, maxLength: piece.count)
                    if count <= 0 { return continuation.resume(returning: count < 0 ? nil : all) }
                    all += piece[..<count]
                }
            }
        }
    }

    /// Writes all, waiting for room, and closes.
    private func write(_ bytes: [UInt8], to output: OutputStream) {
        let box = StreamPair(input: InputStream(data: Data()), output: output)
        Thread.detachNewThread {
            var left = bytes[...]
            while !left.isEmpty {
                let count = left.withUnsafeBufferPointer { buffer in
                    buffer.baseAddress.map { box.output.write($0, maxLength: buffer.count) } ?? 0
                }
                guard count > 0 else { break }
                left = left.dropFirst(count)
            }
            box.output.close()
        }
    }

    @Test(
        "B15.51: captured streams come unopened after the calls that wait, carry all bytes, and end the task's own calls",
        arguments: [false, true])
    func capture(isSecure: Bool) async throws {
        let identity = try MailIdentity()
        let sent = pattern(2 << 20)
        let received = Guarded<[UInt8]>([])
        try await withRawServer { peer in
            if isSecure { try peer.startTLS(identity.context) }
            _ = try peer.line()
            try peer.send("first, second")
            received.value = try peer.rest()
            try peer.send(sent)
            try peer.finish()
        } _: { server in
            let scribe = StreamScribe { _ in (.performDefaultHandling, nil) }
            let session = streamSession(scribe, anchor: identity.anchor)
            let task = session.streamTask(withHostName: "mail.test", port: server.port)
            if isSecure { task.startSecureConnection() }
            task.resume()
            let reading = Guarded("")
            task.readData(ofMinLength: 5, maxLength: 5, timeout: 60) { data, _, _ in
                reading.value = String(decoding: data ?? Data(), as: UTF8.self)
            }
            task.write(Data("go\r\n".utf8), timeout: 60) { _ in }
            task.captureStreams()
            await scribe.captured.wait()
            #expect(reading.value == "first")
            #expect(scribe.transcript.calls.last == "streams true")
            #expect(await task.readError()?.code == Int(ENOTCONN))
            #expect(task.state == .completed && task.error == nil)
            session.finishTasksAndInvalidate()
            await scribe.transcript.invalidated.wait()
            let streams = try #require(scribe.streams.value)
            scribe.streams.value = nil
            streams.input.open()
            streams.output.open()
            // Bytes that the task had not read belong to the stream.
            try await until { streams.input.hasBytesAvailable }
            write(sent, to: streams.output)
            #expect(await rest(of: streams.input) == Array(", second".utf8) + sent)
            #expect(streams.input.streamStatus == .atEnd)
            await server.ended()
            #expect(firstDifference(received.value, sent) == nil)
            #expect(scribe.transcript.calls.filter { $0.hasPrefix("complete") }.isEmpty)
        }
    }

    @Test("B15.51: streams that no delegate takes, or that are let go, end the connection", arguments: [false, true])
    func dropped(takes: Bool) async throws {
        try await withRawServer {
            try _ = $0.rest()
        } _: { server in
            let scribe = StreamScribe()
            let session = streamSession(takes ? scribe : nil)
            let task = session.streamTask(withHostName: "127.0.0.1", port: server.port)
            task.captureStreams()
            task.resume()
            if takes {
                await scribe.captured.wait()
                scribe.streams.value = nil
            }
            await server.ended()
        }
    }

    @Test("B15.51: a connection that is reset shows in the stream as an error")
    func reset() async throws {
        try await withRawServer { peer in
            _ = try peer.line()
            peer.reset()
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: server.port)
            task.captureStreams()
            task.resume()
            await scribe.captured.wait()
            let streams = try #require(scribe.streams.value)
            streams.input.open()
            streams.output.open()
            #expect(streams.output.write(Array("now\n".utf8), maxLength: 4) == 4)
            #expect(await rest(of: streams.input) == nil)
            #expect(streams.input.streamStatus == .error)
            #expect((streams.input.streamError as? POSIXError)?.code == .ECONNRESET)
        }
    }

    @Test("B15.51: events of captured streams come on a queue, like those of bound streams")
    func events() async throws {
        try await withRawServer { peer in
            try peer.send("hello \(peer.line())")
            try peer.finish()
        } _: { server in
            let scribe = StreamScribe()
            let task = streamSession(scribe).streamTask(withHostName: "127.0.0.1", port: server.port)
            task.captureStreams()
            task.resume()
            await scribe.captured.wait()
            let streams = try #require(scribe.streams.value)
            let reader = StreamReader()
            streams.input.delegate = reader
            CFReadStreamSetDispatchQueue(streams.input, DispatchQueue(label: "captured"))
            streams.input.open()
            streams.output.open()
            #expect(streams.output.write(Array("you\n".utf8), maxLength: 4) == 4)
            await reader.ended.wait()
            #expect(reader.text.value == "hello you")
            CFReadStreamSetDispatchQueue(streams.input, nil)
            streams.output.close()
        }
    }

    @Test(
        "B1.13, B1.97: session, task and delegate of a stream are released when the work is done",
        arguments: ["ended", "captured"])
    func leaks(kind: String) async throws {
        try await withRawServer { peer in
            try peer.send(peer.rest())
            try peer.finish()
        } _: { server in
            let watch = try await use(server, capturing: kind == "captured")
            try await until { watch.isEmpty }
            await server.ended()
        }
    }

    private func use(_ server: RawServer, capturing: Bool) async throws -> ReleaseWatch {
        let watch = ReleaseWatch()
        let scribe = StreamScribe()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        let session = URLSession(configuration: configuration, delegate: scribe, delegateQueue: nil)
        let task = session.streamTask(withHostName: "127.0.0.1", port: server.port)
        (watch.session, watch.task, watch.delegate) = (session, task, scribe)
        task.resume()
        try await task.say("x")
        if capturing {
            task.captureStreams()
            await scribe.captured.wait()
        } else {
            task.closeWrite()
            _ = try await task.rest()
            await scribe.transcript.completed.wait()
        }
        session.finishTasksAndInvalidate()
        await scribe.transcript.invalidated.wait()
        return watch
    }
}

/// Reads what comes whenever its stream says that something is there.
private final class StreamReader: NSObject, StreamDelegate, Sendable {
    let text = Guarded("")
    let ended = Signal()

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        guard let input = aStream as? InputStream else { return }
        if eventCode == .hasBytesAvailable {
            var piece = [UInt8](repeating: 0, count: 4)
            let count = input.read(&piece, maxLength: piece.count)
            text.change { $0 += String(decoding: piece.prefix(max(0, count)), as: UTF8.self) }
        }
        if eventCode == .endEncountered { ended.fire() }
    }
}
