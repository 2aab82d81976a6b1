// Files and URLs as bytes, and bound streams (api-surface section 19).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Files and URLs as bytes")
struct ResourceBytesTests {
    private func withFile<R>(_ content: Data, _ body: (URL) async throws -> R) async throws -> R {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try content.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url)
    }

    @Test("A file's URL gives its bytes and its lines")
    func file() async throws {
        try await withFile(Data("one\ntwo\n".utf8)) { url in
            var bytes: [UInt8] = []
            for try await byte in url.resourceBytes { bytes.append(byte) }
            #expect(bytes == Array("one\ntwo\n".utf8))
            var lines: [String] = []
            for try await line in url.lines { lines.append(line) }
            #expect(lines == ["one", "two"])
        }
    }

    @Test("A large file comes whole")
    func largeFile() async throws {
        let content = Data(GeneratedBytes.bytes(300_000))
        try await withFile(content) { url in
            var bytes = Data()
            for try await byte in url.resourceBytes { bytes.append(byte) }
            #expect(firstDifference(bytes, content) == nil)
        }
    }

    @Test("A file that is not there throws")
    func missingFile() async throws {
        let url = URL(fileURLWithPath: "/nowhere/\(UUID().uuidString)")
        await #expect(throws: CocoaError.self) { for try await _ in url.resourceBytes {} }
    }

    @Test("Other URLs are loaded by the shared session")
    func remote() async throws {
        try await withServer(router: { _ in .text("one\r\ntwo") }) { server in
            let url = try server.at("/")
            var lines: [String] = []
            for try await line in url.lines { lines.append(line) }
            #expect(lines == ["one", "two"])
        }
    }

    @Test("A file handle's bytes come as soon as they can be read")
    func pipe() async throws {
        let pipe = Pipe()
        var lines = pipe.fileHandleForReading.bytes.lines.makeAsyncIterator()
        try pipe.fileHandleForWriting.write(contentsOf: Data("one\n".utf8))
        #expect(try await lines.next() == "one")
        try pipe.fileHandleForWriting.write(contentsOf: Data("two".utf8))
        try pipe.fileHandleForWriting.close()
        #expect(try await lines.next() == "two")
        #expect(try await lines.next() == nil)
    }

    /// Reads on its own turn, and answers meanwhile.
    private actor Desk {
        private(set) var hasBegun = false

        func read(_ url: URL) async throws -> [UInt8] {
            hasBegun = true
            var bytes: [UInt8] = []
            for try await byte in url.resourceBytes { bytes.append(byte) }
            return bytes
        }
    }

    @Test("B1.122: the actor that reads a pipe does not wait for its writer", .timeLimit(.minutes(5)))
    func pipeWithoutWriter() async throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        #expect(mkfifo(url.path, 0o600) == 0)
        defer { try? FileManager.default.removeItem(at: url) }
        let desk = Desk()
        let reading = Task { try await desk.read(url) }
        // The actor is asked while nothing has the pipe open for writing.
        try await until { await desk.hasBegun }
        var writer: Int32 = -1
        while writer < 0 {
            await Task.yield()
            // There is a reader as soon as one is about to open it.
            writer = open(url.path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        }
        let handle = FileHandle(fileDescriptor: writer, closeOnDealloc: true)
        try handle.write(contentsOf: Data("late".utf8))
        try handle.close()
        #expect(try await reading.value == Array("late".utf8))
    }

    @Test("B1.120: a file that grows after its end has been read gives no more bytes, lines or characters")
    func grownFile() async throws {
        try await withFile(Data("one".utf8)) { url in
            let writing = try FileHandle(forWritingTo: url)
            try writing.seekToEnd()
            let grow = { try writing.write(contentsOf: Data("more".utf8)) }

            let handle = try FileHandle(forReadingFrom: url)
            var bytes = handle.bytes.makeAsyncIterator()
            while try await bytes.next() != nil {}
            try grow()
            #expect(try await bytes.next() == nil)

            // The end is found already with the last line and the last character.
            var lines = url.lines.makeAsyncIterator()
            #expect(try await lines.next() == "onemore")
            try grow()
            #expect(try await lines.next() == nil)

            var characters = url.resourceBytes.characters.makeAsyncIterator()
            for character in "onemoremore" { #expect(try await characters.next() == character) }
            try grow()
            #expect(try await characters.next() == nil)
        }
    }

    @Test("B1.120: a file that was not there when it was asked for first is not looked for again")
    func missingFileLater() async throws {
        try await withFile(Data()) { url in
            try FileManager.default.removeItem(at: url)
            var bytes = url.resourceBytes.makeAsyncIterator()
            var lines = url.lines.makeAsyncIterator()
            await #expect(throws: CocoaError.self) { _ = try await bytes.next() }
            await #expect(throws: CocoaError.self) { _ = try await lines.next() }
            try Data("late".utf8).write(to: url)
            #expect(try await bytes.next() == nil)
            #expect(try await lines.next() == nil)
        }
    }
}

@Suite("Bound streams")
struct BoundStreamTests {
    private func pair(_ size: Int) throws -> (InputStream, OutputStream) {
        var input: InputStream?
        var output: OutputStream?
        Stream.getBoundStreams(withBufferSize: size, inputStream: &input, outputStream: &output)
        return (try #require(input), try #require(output))
    }

    private func read(_ stream: InputStream, atMost count: Int = 100) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: count)
        let read = stream.read(&buffer, maxLength: count)
        return read < 0 ? nil : Array(buffer.prefix(read))
    }

    @Test("Bytes that are written to one stream are read from the other, up to the end")
    func passesBytes() throws {
        let (input, output) = try pair(8)
        #expect(input.streamStatus == .notOpen)
        #expect(read(input) == nil, "not open")
        input.open()
        output.open()
        #expect(!input.hasBytesAvailable)
        #expect(output.hasSpaceAvailable)
        #expect(output.write([1, 2, 3, 4, 5], maxLength: 5) == 5)
        #expect(input.hasBytesAvailable)
        #expect(read(input, atMost: 2) == [1, 2])
        let more: [UInt8] = [6, 7, 8, 9, 10]
        #expect(more.withUnsafeBytes { bytes in bytes.baseAddress.map { output.write($0, maxLength: 5) } } == 5)
        #expect(!output.hasSpaceAvailable)
        output.close()
        #expect(output.streamStatus == .closed)
        #expect(input.streamStatus == .open)
        #expect(read(input) == [3, 4, 5, 6, 7, 8, 9, 10])
        #expect(read(input) == [])
        #expect(input.streamStatus == .atEnd)
        input.close()
        #expect(input.streamStatus == .closed)
    }

    @Test("A write takes no more than there is room for, and fails once the reader has closed")
    func fullAndClosed() throws {
        let (input, output) = try pair(4)
        input.open()
        output.open()
        #expect(output.write([1, 2, 3, 4, 5, 6], maxLength: 6) == 4)
        #expect(output.streamError == nil)
        input.close()
        #expect(output.write([1], maxLength: 1) == -1)
    }

    @Test(
        "B11.40: a writer whose reader has closed hears of the end, and finds an error where it writes more"
    )
    func abandoned() async throws {
        let (input, output) = try pair(4)
        let queue = DispatchQueue(label: "events")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let writer = EventRecorder(key)
        output.delegate = writer
        CFWriteStreamSetDispatchQueue(output, queue)
        input.open()
        output.open()
        await writer.happened.wait(times: 2)
        input.close()
        await writer.happened.wait(times: 3)
        #expect(writer.events.value == [.openCompleted, .hasSpaceAvailable, .endEncountered])
        #expect(output.streamStatus == .atEnd && output.streamError == nil)
        #expect(output.write([1], maxLength: 1) == -1)
        #expect(output.streamStatus == .error)
        #expect((output.streamError as? POSIXError)?.code == .EPIPE)
        #expect(input.streamError == nil && input.streamStatus == .closed)
        CFWriteStreamSetDispatchQueue(output, nil)

        let (reader, ended) = try pair(4)
        reader.open()
        ended.open()
        ended.close()
        reader.close()
        #expect(ended.streamError == nil && ended.streamStatus == .closed)
    }

    @Test("Threads that find the buffer empty or full wait for the other end")
    func waits() async throws {
        let (input, output) = try pair(1000)
        input.open()
        output.open()
        let ended = Signal()
        let writer = StreamBox(output)
        Thread.detachNewThread {
            var position = 0
            while position < 100_000 {
                let piece = GeneratedBytes.bytes(min(777, 100_000 - position), from: Int64(position))
                let written = writer.stream.write(piece, maxLength: piece.count)
                guard written > 0 else { break }
                position += written
            }
            writer.stream.close()
            ended.fire()
        }
        var bytes: [UInt8] = []
        while let piece = read(input, atMost: 300), !piece.isEmpty { bytes += piece }
        await ended.wait()
        #expect(firstDifference(bytes, GeneratedBytes.bytes(100_000)) == nil)
    }

    @Test("Events of both ends come on the queues that were named")
    func events() async throws {
        let (input, output) = try pair(4)
        let queue = DispatchQueue(label: "events")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let reader = EventRecorder(key)
        let writer = EventRecorder(key)
        input.delegate = reader
        output.delegate = writer
        CFReadStreamSetDispatchQueue(input, queue)
        CFWriteStreamSetDispatchQueue(output, queue)
        input.open()
        output.open()
        await writer.happened.wait(times: 2)
        #expect(writer.events.value == [.openCompleted, .hasSpaceAvailable])
        #expect(output.write([1, 2, 3, 4], maxLength: 4) == 4)
        await reader.happened.wait(times: 2)
        #expect(reader.events.value == [.openCompleted, .hasBytesAvailable])
        #expect(read(input) == [1, 2, 3, 4])
        await writer.happened.wait(times: 3)
        #expect(writer.events.value.last == .hasSpaceAvailable)
        output.close()
        await reader.happened.wait(times: 3)
        #expect(reader.events.value == [.openCompleted, .hasBytesAvailable, .hasBytesAvailable], "B11.40")
        #expect(input.hasBytesAvailable && input.streamStatus == .open)
        #expect(read(input) == [])
        await reader.happened.wait(times: 4)
        #expect(reader.events.value.last == .endEncountered)
        #expect(!input.hasBytesAvailable && input.streamStatus == .atEnd)
        #expect(reader.isOnQueue.value && writer.isOnQueue.value)
        CFReadStreamSetDispatchQueue(input, nil)
        CFWriteStreamSetDispatchQueue(output, nil)
    }

    @Test(
        "B11.40: a reader that waits is told at the writer's end that it can read; the read gives 0, and then the end comes"
    )
    func closedEmpty() async throws {
        let (input, output) = try pair(4)
        let queue = DispatchQueue(label: "events")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let reader = EventRecorder(key)
        input.delegate = reader
        CFReadStreamSetDispatchQueue(input, queue)
        input.open()
        output.open()
        await reader.happened.wait()
        #expect(!input.hasBytesAvailable)
        output.close()
        await reader.happened.wait(times: 2)
        #expect(input.hasBytesAvailable)
        #expect(read(input) == [])
        await reader.happened.wait(times: 3)
        #expect(reader.events.value == [.openCompleted, .hasBytesAvailable, .endEncountered])
        CFReadStreamSetDispatchQueue(input, nil)
    }

    @Test("A pair of streams that is dropped is released; a stream that is kept sees the other's end")
    func dropped() throws {
        let (input, output) = try pair(4)
        input.open()
        weak var left: OutputStream?
        do {
            let (_, other) = try pair(4)
            left = other
        }
        #expect(left == nil)
        output.open()
        #expect(output.write([1], maxLength: 1) == 1)
        output.close()
        #expect(read(input) == [1])
        #expect(read(input) == [])
    }
}

/// A stream for another thread, whose calls do not overlap with this one's.
private final class StreamBox: @unchecked Sendable {
    let stream: OutputStream

    init(_ stream: OutputStream) { self.stream = stream }
}

private final class EventRecorder: NSObject, StreamDelegate, Sendable {
    let events = Guarded<[Stream.Event]>([])
    let isOnQueue = Guarded(true)
    let happened = Signal()
    private let key: DispatchSpecificKey<Bool>

    init(_ key: DispatchSpecificKey<Bool>) { self.key = key }

    func stream(_ aStream: Stream, handle eventCode: Stream.Event) {
        if DispatchQueue.getSpecific(key: key) != true { isOnQueue.value = false }
        events.change { $0.append(eventCode) }
        happened.fire()
    }
}
