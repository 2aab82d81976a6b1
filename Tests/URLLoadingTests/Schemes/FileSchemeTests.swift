// Loads of `file:` URLs (behaviour 14.2, B9.13, B7.35).

import Foundation
import Testing
import URLLoading
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("The file scheme", .endsSessions, .timeLimit(.minutes(5)))
struct FileSchemeTests {
    /// A directory that is gone with its object.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(
            path: "urlloading-files-\(UUID().uuidString)", directoryHint: .isDirectory)

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(at: url) }

        func file(_ name: String, _ content: Data) throws -> URL {
            let file = url.appending(path: name)
            try content.write(to: file)
            return file
        }
    }

    @Test("B14.7, B14.11: a plain response with type and length, then the data")
    func order() async throws {
        let folder = try Folder()
        let url = try folder.file("a page.html", Data("<p>".utf8))
        let delegate = RecordingDelegate()
        let task = visitor(delegate).dataTask(with: url)
        task.resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls == ["created 1", "response 0", "data", "metrics 1", "complete nil"])
        #expect(delegate.transcript.body == "<p>")
        let response = try #require(task.response)
        #expect(!(response is HTTPURLResponse))
        #expect(response.mimeType == "text/html")
        #expect(response.textEncodingName == nil)
        #expect(response.expectedContentLength == 3)
        #expect(response.suggestedFilename == "a page.html")
    }

    @Test("An empty file is a response without data")
    func empty() async throws {
        let folder = try Folder()
        let (data, response) = try await visitor().data(from: try folder.file("x", Data()))
        #expect(data.isEmpty && response.expectedContentLength == 0)
        #expect(response.mimeType == "application/octet-stream")
    }

    @Test("B14.7, B9.13: a file that does not say its length comes whole, with −1", arguments: unsaidFiles)
    func unsaidLength(path: String) async throws {
        let url = URL(fileURLWithPath: path)
        let content = try #require(try FileHandle(forReadingFrom: url).readToEnd())
        let (data, response) = try await visitor().data(from: url)
        #expect(data == content && response.expectedContentLength == -1)
        let (copy, _) = try await visitor().download(from: url)
        defer { try? FileManager.default.removeItem(at: copy) }
        #expect(try Data(contentsOf: copy) == content)
    }

    @Test("B14.8: the host is empty or localhost", arguments: ["", "localhost", "LOCALHOST"])
    func hosts(host: String) async throws {
        let folder = try Folder()
        let path = try folder.file("x.txt", Data("here".utf8)).path
        let url = try #require(URL(string: "FILE://\(host)\(path)"))
        let (data, _) = try await visitor().data(from: url)
        #expect(String(decoding: data, as: UTF8.self) == "here")
    }

    @Test("B14.8: another host is refused")
    func otherHost() async throws {
        let session = visitor()
        let url = try #require(URL(string: "file://example.com/etc/hostname"))
        #expect(await codeThrown { _ = try await session.data(from: url) } == .badURL)
    }

    @Test("B14.9, B17.33, B17.34: the errors for a missing file, a directory, and something else than a file")
    func failures() async throws {
        let folder = try Folder()
        let session = visitor()
        let missing = folder.url.appending(path: "missing")
        #expect(await codeThrown { _ = try await session.data(from: missing) } == .fileDoesNotExist)
        let below = try folder.file("x", Data()).appending(path: "y")
        #expect(await codeThrown { _ = try await session.data(from: below) } == .fileDoesNotExist)
        let directory = folder.url
        #expect(await codeThrown { _ = try await session.data(from: directory) } == .fileIsDirectory)
        let pipe = folder.url.appending(path: "pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        #expect(await codeThrown { _ = try await session.data(from: pipe) } == .cannotOpenFile)
        let device = URL(fileURLWithPath: "/dev/zero")
        #expect(await codeThrown { _ = try await session.data(from: device) } == .cannotOpenFile)
        let zero = try #require(URL(string: "file:///tmp/a%00b"))
        #expect(await codeThrown { _ = try await session.data(from: zero) } == .badURL)
    }

    @Test(
        "B14.9, B17.35: the error for a file that may not be read",
        .enabled(if: getuid() != 0, "root may read everything"))
    func unreadable() async throws {
        let folder = try Folder()
        let url = try folder.file("x", Data("x".utf8))
        #expect(chmod(url.path, 0) == 0)
        let session = visitor()
        #expect(await codeThrown { _ = try await session.data(from: url) } == .noPermissionsToReadFile)
    }

    @Test("B14.10: the request's method, fields and body change nothing, and nothing is stored")
    func ignored() async throws {
        let folder = try Folder()
        let url = try folder.file("x.txt", Data("content".utf8))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data("body".utf8)
        request.setValue("bytes=0-1", forHTTPHeaderField: "Range")
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0)
        let session = visitor { $0.urlCache = cache }
        let (data, _) = try await session.data(for: request)
        #expect(String(decoding: data, as: UTF8.self) == "content")
        var get = URLRequest(url: url)
        get.httpBody = Data("body".utf8)
        #expect(try await session.data(for: get).0 == data)
        #expect(cache.currentMemoryUsage == 0 && cache.cachedResponse(for: URLRequest(url: url)) == nil)
    }

    @Test("B7.25, B7.35: a policy that allows only stored answers fails without looking at the file")
    func storedOnly() async throws {
        let folder = try Folder()
        let url = try folder.file("x.txt", Data("content".utf8))
        let session = visitor { $0.urlCache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0) }
        var request = URLRequest(url: url, cachePolicy: .returnCacheDataDontLoad)
        let asked = request
        #expect(await codeThrown { _ = try await session.data(for: asked) } == .resourceUnavailable)
        // If the file were looked for, the error would be that it is missing.
        request.url = folder.url.appending(path: "missing")
        let missing = request
        #expect(await codeThrown { _ = try await session.data(for: missing) } == .resourceUnavailable)
        let configured = visitor { $0.requestCachePolicy = .returnCacheDataDontLoad }
        #expect(await codeThrown { _ = try await configured.data(from: url) } == .resourceUnavailable)
        request = URLRequest(url: url, cachePolicy: .returnCacheDataElseLoad)
        #expect(try await session.data(for: request).0 == Data("content".utf8))
    }

    @Test("B9.13: a download copies the file")
    func download() async throws {
        let folder = try Folder()
        let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
        let url = try folder.file("big.bin", content)
        let session = visitor()
        let (copy, response) = try await session.download(from: url)
        defer { try? FileManager.default.removeItem(at: copy) }
        #expect(copy != url && response.expectedContentLength == 3_000_000)
        for file in [copy, url] {
            let data = try Data(contentsOf: file)
            #expect(firstDifference(data, content) == nil)
        }
        let handled: Data? = await withHandover { continuation in
            session.downloadTask(with: url) { file, _, _ in
                continuation.resume(returning: file.flatMap { try? Data(contentsOf: $0) })
            }.resume()
        }
        #expect(handled == content)
        let missing = folder.url.appending(path: "missing")
        #expect(await codeThrown { _ = try await session.download(from: missing) } == .fileDoesNotExist)
    }

    @Test("A large file comes whole, to a slow delegate and to an iterator that waits")
    func large() async throws {
        let folder = try Folder()
        let content = Data((0..<6_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 &+ $0 >> 11) })
        let url = try folder.file("big.bin", content)
        let delegate = RecordingDelegate()
        visitor(delegate).dataTask(with: url).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.byteCount == content.count)
        #expect(delegate.transcript.calls.last == "complete nil")
        let (bytes, _) = try await visitor().bytes(from: url)
        var collected = Data()
        for try await chunk in bytes.chunks { collected.append(chunk) }
        #expect(firstDifference(collected, content) == nil)
    }

    @Test("A file is not read far ahead of a delegate that does not return")
    func backPressure() async throws {
        let folder = try Folder()
        let content = Data(count: 16 << 20)
        let url = try folder.file("big.bin", content)
        let gate = Signal()
        let entered = Signal()
        let delegate = RecordingDelegate(onData: { _ in
            entered.fire()
            let semaphore = DispatchSemaphore(value: 0)
            Task {
                await gate.wait()
                semaphore.signal()
            }
            semaphore.wait()
        })
        let task = visitor(delegate).dataTask(with: url)
        task.resume()
        await entered.wait()
        // A reader that did not stop would have read everything by then, in turns of 4 MiB.
        for _ in 0..<6 { await everyTurnOfTheDisk() }
        let held = task.countOfBytesReceived
        #expect(held < 4 << 20)
        await everyTurnOfTheDisk()
        #expect(task.countOfBytesReceived == held)
        gate.fire()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.byteCount == content.count)
    }

    /// Returns when all work that waited for the disk's threads has had a turn: when both
    /// threads are free for a moment.
    private func everyTurnOfTheDisk() async {
        await withHandover { continuation in
            let isThere = DispatchSemaphore(value: 0)
            BlockingLane.files.run {
                isThere.wait()
                continuation.resume()
            }
            BlockingLane.files.run { isThere.signal() }
        }
    }

    @Test("A task for a file can be cancelled in the middle, and suspended before")
    func steering() async throws {
        let folder = try Folder()
        let url = try folder.file("big.bin", Data(count: 8 << 20))
        let delegate = RecordingDelegate(onData: { $0.cancel() })
        visitor(delegate).dataTask(with: url).resume()
        await delegate.transcript.completed.wait()
        #expect(delegate.transcript.calls.last == "complete -999")
        #expect(delegate.transcript.byteCount < 8 << 20)

        let patient = RecordingDelegate(onResponse: { task, answer in
            task.suspend()
            answer(.allow)
        })
        let task = visitor(patient).dataTask(with: url)
        task.resume()
        try await until { task.state == .suspended && task.response != nil }
        #expect(!patient.transcript.calls.contains("data"))
        task.resume()
        await patient.transcript.completed.wait()
        #expect(patient.transcript.byteCount == 8 << 20)
    }
}
