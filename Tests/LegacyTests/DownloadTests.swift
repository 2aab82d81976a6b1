// What a download tells, and what becomes of its file.

import Foundation
import Testing
import URLLoading
import URLLoadingLegacy
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("NSURLDownload", .timeLimit(.minutes(3)))
struct DownloadTests {
    private static let text = "0123456789"

    /// A file of ten bytes with a validator, of which parts can be had.
    private static func archive(_ tag: String = "\"one\"", gate: ServerGate? = nil) -> LoopbackServer.Router {
        { request in
            let bytes = Array(text.utf8)
            let answer: ServerResponse
            if let range = request.fields.first(FieldName("Range")), range.hasPrefix("bytes="),
                request.fields.first(FieldName("If-Range")) == tag, let first = Int(range.dropFirst(6).dropLast())
            {
                answer =
                    first < bytes.count
                    ? .bytes(Array(bytes[first...]), status: 206)
                        .adding("Content-Range", "bytes \(first)-\(bytes.count - 1)/\(bytes.count)")
                    : .status(416).adding("Content-Range", "bytes */\(bytes.count)")
            } else if let gate {
                answer = .slow([.init(Array(bytes[..<4])), .init(Array(bytes[4...]), when: gate)])
            } else {
                answer = .bytes(bytes)
            }
            return answer.adding("ETag", tag)
        }
    }

    @available(*, deprecated)
    private func download(_ request: URLRequest, _ recorder: DownloadRecorder) async {
        await onRunLoop { _ = NSURLDownload(request: request, delegate: recorder) }
    }

    @Test("A download is told in order, and its file is where the delegate wants it")
    @available(*, deprecated)
    func order() async throws {
        let place = try Place()
        let router: LoopbackServer.Router = { request in
            request.path == "/old" ? ServerResponse.status(301).adding("Location", "/dir/new.txt") : .text("hello")
        }
        try await withServer(.alone(), router: router) { server async throws in
            let recorder = DownloadRecorder()
            recorder.destination = place.path("here.txt")
            let request = try server.request("/old")
            let shown = Guarded<String?>(nil)
            let watch = Watch()
            recorder.hook = { word, download in if word == "finish" { shown.value = download.request.url?.path } }
            await onRunLoop { watch.note(NSURLDownload(request: request, delegate: recorder), nil) }
            #expect(
                recorder.notes.lines == [
                    "begin", "send /old", "storage", "send /dir/new.txt after 301", "response 200", "decide new.txt",
                    "created here.txt", "data", "finish",
                ])
            #expect(recorder.notes.threads.value.count == 1)
            #expect(recorder.received.value == 5)
            #expect(place.text("here.txt") == "hello")
            #expect(shown.value == "/old")
            try await until { watch.isEmpty }
        }
    }

    @Test(
        "A name that is taken gets a number, unless the file may be overwritten",
        arguments: [
            ("a.txt", "a-1.txt"), ("a.tar.gz", "a-1.tar.gz"), ("a", "a-1"), (".a", ".a-1"),
        ])
    @available(*, deprecated)
    func names(name: String, other: String) async throws {
        try await withServer(.alone(), router: { _ in .text("new") }) { server async throws in
            for allowsOverwrite in [false, true] {
                let place = try Place()
                try Data("old and longer".utf8).write(to: URL(fileURLWithPath: place.path(name)))
                let recorder = DownloadRecorder()
                recorder.destination = place.path(name)
                recorder.allowsOverwrite = allowsOverwrite
                await download(try server.request("/file"), recorder)
                #expect(recorder.notes.lines.contains("created \(allowsOverwrite ? name : other)"))
                #expect(place.names.count == (allowsOverwrite ? 1 : 2))
                #expect(place.text(allowsOverwrite ? name : other) == "new")
            }
        }
    }

    @Test("A destination that is said at once is not asked for; without a delegate too")
    @available(*, deprecated)
    func destinationAtOnce() async throws {
        let place = try Place()
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let request = try server.request()
            let recorder = DownloadRecorder()
            await onRunLoop {
                let download = NSURLDownload(request: request, delegate: recorder)
                download.setDestination(place.path("one"), allowOverwrite: false)
                #expect(download.deletesFileUponFailure)
                #expect(download.resumeData == nil)
            }
            #expect(!recorder.notes.lines.contains { $0.hasPrefix("decide") })
            await onRunLoop {
                NSURLDownload(request: request, delegate: nil)
                    .setDestination(place.path("two"), allowOverwrite: false)
            }
            #expect(place.text("one") == "hello")
            #expect(place.text("two") == "hello")
        }
    }

    @Test("A place that is none fails with -3000")
    @available(*, deprecated)
    func noPlace() async throws {
        let place = try Place()
        try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
            let recorder = DownloadRecorder()
            recorder.destination = place.path("none/file")
            await download(try server.request(), recorder)
            #expect(recorder.notes.lines.last == "fail -3000")
            #expect(place.names.isEmpty)
        }
    }

    @Test(
        "B5.68: where a name is nothing but gzip's ending behind dots it stays as it is", arguments: ["..gz", "...gz"])
    @available(*, deprecated)
    func decodedDots(name: String) async throws {
        let place = try Place()
        let packed = try #require(Gzip.compress(Array(Self.text.utf8)))
        let answer = ServerResponse.bytes(packed, type: "application/x-gzip")
            .adding("Content-Disposition", "attachment; filename=\"\(name)\"")
        try await withServer(.alone(), router: { _ in answer }) { server async throws in
            let recorder = DownloadRecorder()
            recorder.decodes = true
            recorder.destination = place.path("file")
            await download(try server.request("/"), recorder)
            #expect(recorder.notes.lines.contains("decide \(name)"))
        }
    }

    @Test("A gzip file is decoded if the delegate says so", arguments: [true, false])
    @available(*, deprecated)
    func decoding(decodes: Bool) async throws {
        let place = try Place()
        let text = String(repeating: "0123456789", count: 50_000)
        let packed = try #require(Gzip.compress(Array(text.utf8)))
        try await withServer(
            .alone(), router: { _ in .bytes(packed, type: "application/x-gzip") }
        ) { server async throws in
            let recorder = DownloadRecorder()
            recorder.decodes = decodes
            recorder.destination = place.path("file")
            await download(try server.request("/log.tgz"), recorder)
            #expect(recorder.notes.lines.contains("decode application/gzip"))
            #expect(recorder.notes.lines.contains("decide \(decodes ? "log.tar" : "log.tgz")"))
            #expect(recorder.notes.lines.last == "finish")
            #expect(recorder.received.value == packed.count)
            let file = try Data(contentsOf: URL(fileURLWithPath: place.path("file")))
            #expect(firstDifference(file, decodes ? Data(text.utf8) : Data(packed)) == nil)
        }
        #expect(!NSURLDownload.canResumeDownloadDecoded(withEncodingMIMEType: "application/gzip"))
    }

    @Test(
        "B16.52, B16.62: a gzip file that is sent with the coding identity is one; what was coded once more is decoded already",
        arguments: [
            "identity", " Identity , ", "gzip",
        ])
    @available(*, deprecated)
    func gzipWithCoding(coding: String) async throws {
        let (place, isCoded) = (try Place(), coding == "gzip")
        let packed = try #require(Gzip.compress(Array(Self.text.utf8)))
        let answer = ServerResponse.bytes(packed, type: "application/gzip")
        let coded = isCoded ? answer.compressed() : answer.adding("Content-Encoding", coding)
        try await withServer(.alone(), router: { _ in coded }) { server async throws in
            let recorder = DownloadRecorder()
            recorder.decodes = true
            recorder.destination = place.path("file")
            await download(try server.request("/log.gz"), recorder)
            #expect(recorder.notes.lines.contains("decode application/gzip") == !isCoded)
            #expect(recorder.notes.lines.last == "finish")
            let file = try Data(contentsOf: URL(fileURLWithPath: place.path("file")))
            #expect(file == (isCoded ? Data(packed) : Data(Self.text.utf8)))
        }
    }

    @Test("A gzip file that is cut off or is none fails, and is removed", arguments: [true, false])
    @available(*, deprecated)
    func brokenGzip(isCut: Bool) async throws {
        let place = try Place()
        let packed = try #require(Gzip.compress(Array(Self.text.utf8)))
        let broken = isCut ? Array(packed.dropLast(9)) : Array("no gzip at all".utf8)
        try await withServer(.alone(), router: { _ in .bytes(broken) }) { server async throws in
            let recorder = DownloadRecorder()
            recorder.decodes = true
            recorder.destination = place.path("file")
            await download(try server.request("/a.gz"), recorder)
            #expect(recorder.notes.lines.last == "fail \(URLError.Code.downloadDecodingFailedMidStream.rawValue)")
            #expect(place.names.isEmpty)
        }
    }

    @Test(
        "The download asks for passwords; a cancelled challenge ends it with -1012",
        arguments: [
            true, false,
        ])
    @available(*, deprecated)
    func passwords(isRight: Bool) async throws {
        let place = try Place()
        let proof = "Basic " + Data("u:p".utf8).base64EncodedString()
        let router: LoopbackServer.Router = { request in
            request.fields.first(.authorization) == proof
                ? .text("secret") : .text("no", status: 401).adding("WWW-Authenticate", "Basic realm=\"download\"")
        }
        try await withServer(.alone(), router: router) { server async throws in
            let recorder = DownloadRecorder()
            recorder.destination = place.path("file")
            recorder.answer = { challenge in
                let credential = URLCredential(user: "u", password: "p", persistence: .none)
                if isRight {
                    challenge.sender?.use(credential, for: challenge)
                } else {
                    challenge.sender?.cancel(challenge)
                }
            }
            await download(try server.request(), recorder)
            let beginning = ["begin", "send /", "storage", "can", "asked"]
            #expect(Array(recorder.notes.lines.prefix(5)) == beginning)
            #expect(recorder.notes.lines.last == (isRight ? "finish" : "fail -1012"))
            #expect(place.text("file") == (isRight ? "secret" : nil))
        }
    }

    // MARK: Going on

    /// Stops a download after its first four bytes.
    @available(*, deprecated)
    private func stopped(at place: Place, keeps: Bool = true, _ tag: String = "\"one\"") async throws -> Data? {
        let gate = ServerGate()
        let data = Guarded<Data?>(nil)
        try await withServer(.alone(), router: Self.archive(tag, gate: gate)) { server async throws in
            data.value = await stop(try server.request("/archive"), at: place, keeps: keeps)
            gate.open()
        }
        return data.value
    }

    /// Stops a download after the first bytes that come; gives what is needed to go on.
    @available(*, deprecated)
    private func stop(_ request: URLRequest, at place: Place, keeps: Bool = true) async -> Data? {
        let data = Guarded<Data?>(nil)
        let recorder = DownloadRecorder()
        recorder.destination = place.path("file")
        recorder.hook = { word, download in
            guard word == "data" else { return }
            download.cancel()
            data.value = download.resumeData
        }
        await onRunLoop {
            let download = NSURLDownload(request: request, delegate: recorder)
            download.deletesFileUponFailure = !keeps
        }
        #expect(recorder.notes.lines.last == "data")
        return data.value
    }

    @Test("A cancelled download removes its file, or keeps it with what is needed to go on", arguments: [true, false])
    @available(*, deprecated)
    func cancelling(keeps: Bool) async throws {
        let place = try Place()
        let data = try await stopped(at: place, keeps: keeps)
        #expect((data != nil) == keeps)
        #expect(place.text("file") == (keeps ? "0123" : nil))
    }

    @Test("B9.22: without a strong validator there is nothing to go on with", arguments: ["W/\"one\"", "one"])
    @available(*, deprecated)
    func weakValidator(tag: String) async throws {
        let place = try Place()
        #expect(try await stopped(at: place, tag) == nil)
        #expect(place.text("file") == "0123")
    }

    @Test(
        "A download goes on where it stopped, begins anew or is whole already",
        arguments: [
            "goes on", "changed", "whole", "refused", "refused, deleting", "gone",
        ])
    @available(*, deprecated)
    func goingOn(course: String) async throws {
        let place = try Place()
        let endsRefused = course.hasPrefix("refused")
        // The server's port is part of what is asked for: both halves come from one server.
        let gate = ServerGate()
        let tag = Guarded("\"one\"")
        let isRefusing = Guarded(false)
        let router: LoopbackServer.Router = { request in
            if isRefusing.value { return .text("gone", status: 503) }
            let resumes = request.fields.first(FieldName("Range")) != nil
            return Self.archive(tag.value, gate: resumes || course == "gone" && tag.value == "" ? nil : gate)(request)
        }
        try await withServer(.alone(), router: router) { server async throws in
            let request = try server.request("/archive")
            let data = Guarded<Data?>(nil)
            let first = DownloadRecorder()
            first.destination = place.path("file")
            defer { first.hook = { _, _ in } }
            first.hook = { word, download in
                guard word == "data" else { return }
                // The last bytes come only in the course that needs them all.
                if course == "whole" { gate.open() }
                guard course != "whole" || first.received.value == Self.text.count else { return }
                download.cancel()
                data.value = download.resumeData
            }
            await onRunLoop {
                NSURLDownload(request: request, delegate: first).deletesFileUponFailure = false
            }
            gate.open()
            let resumeData = try #require(data.value)
            if course == "changed" { tag.value = "\"two\"" }
            if endsRefused { isRefusing.value = true }
            if course == "gone" { try FileManager.default.removeItem(atPath: place.path("file")) }
            let second = DownloadRecorder()
            let left = Guarded<Data?>(nil)
            second.hook = { word, download in if word == "fail" { left.value = download.resumeData } }
            let path = place.path("file")
            await onRunLoop {
                let download = NSURLDownload(resumeData: resumeData, delegate: second, path: path)
                // What was not opened is not deleted.
                download.deletesFileUponFailure = course == "refused, deleting"
                #expect(download.request.url == request.url)
            }
            let told = Array(second.notes.lines.dropFirst(3))
            switch course {
            case "goes on": #expect(told == ["resume 4", "data", "finish"])
            case "whole": #expect(told == ["resume 10", "finish"])
            case _ where endsRefused: #expect(told == ["fail \(URLError.Code.badServerResponse.rawValue)"])
            default: #expect(told == ["response 200", "created file", "data", "finish"])
            }
            #expect(place.text("file") == (endsRefused ? "0123" : Self.text))
            #expect((left.value != nil) == endsRefused)
        }
    }

    /// A 206 in answer to a request for what is behind the first four of ten bytes, that is not that.
    enum WrongRest: CaseIterable {
        case beginning, otherVersion, coded, short, long

        var answer: ServerResponse {
            switch self {
            // As much as there would be in the first of many answers.
            case .beginning: Self.part("bytes 4-6/10", ["456"])
            case .otherVersion: Self.part("bytes 4-9/10", ["abcdef"]).adding("ETag", "\"two\"")
            case .coded:
                ServerResponse.bytes(Array("456789".utf8), status: 206).compressed()
                    .adding("Content-Range", "bytes 4-9/10")
            case .short: Self.part("bytes 4-9/10", ["45"]).adding("ETag", "\"one\"")
            case .long: Self.part("bytes 4-9/10", ["456789", "and more"]).adding("ETag", "\"one\"")
            }
        }

        private static func part(_ range: String, _ chunks: [String]) -> ServerResponse {
            var answer = ServerResponse.chunks(chunks.map { Array($0.utf8) })
            answer.status = 206
            return answer.adding("Content-Range", range)
        }
    }

    @Test(
        "B9.27, B9.28: a part that is not all of the rest of the same file ends no download",
        arguments: WrongRest.allCases)
    @available(*, deprecated)
    func wrongRest(rest: WrongRest) async throws {
        let place = try Place()
        let gate = ServerGate()
        let router: LoopbackServer.Router = { request in
            request.fields.contains(FieldName("Range")) ? rest.answer : Self.archive(gate: gate)(request)
        }
        try await withServer(.alone(), router: router) { server async throws in
            let stopped = await stop(try server.request("/archive"), at: place)
            gate.open()
            let resumeData = try #require(stopped)
            let recorder = DownloadRecorder()
            let left = Guarded<Data?>(nil)
            recorder.hook = { word, download in if word == "fail" { left.value = download.resumeData } }
            let path = place.path("file")
            await onRunLoop {
                let download = NSURLDownload(resumeData: resumeData, delegate: recorder, path: path)
                download.deletesFileUponFailure = false
            }
            let failure: URLError.Code =
                switch rest {
                case .beginning, .otherVersion, .coded: .badServerResponse
                case .short: .networkConnectionLost
                case .long: .cannotParseResponse
                }
            #expect(recorder.notes.lines.last == "fail \(failure.rawValue)")
            #expect((left.value == nil) == (rest == .long))
            switch rest {
            case .beginning, .otherVersion, .coded: #expect(place.text("file") == "0123")
            case .short: #expect(place.text("file") == "012345")
            case .long: break
            }
        }
    }

    @Test("B9.24: what is needed to go on has no password")
    @available(*, deprecated)
    func noPassword() async throws {
        let place = try Place()
        let gate = ServerGate()
        try await withServer(.alone(), router: Self.archive(gate: gate)) { server async throws in
            var request = try server.request("/archive")
            let plain = try #require(request.url)
            var parts = try #require(URLComponents(url: plain, resolvingAgainstBaseURL: true))
            parts.user = "walter"
            parts.password = "hushhush"
            request.url = parts.url
            let stopped = await stop(request, at: place)
            gate.open()
            let resumeData = try #require(stopped)
            #expect(resumeData.range(of: Data("walter".utf8)) == nil)
            #expect(resumeData.range(of: Data("hushhush".utf8)) == nil)
            let recorder = DownloadRecorder()
            let path = place.path("file")
            await onRunLoop {
                let download = NSURLDownload(resumeData: resumeData, delegate: recorder, path: path)
                #expect(download.request.url == plain)
            }
            #expect(place.text("file") == Self.text)
        }
    }

    @Test("B1.62: each part of a multipart/x-mixed-replace body begins the file anew")
    @available(*, deprecated)
    func mixedReplace() async throws {
        let place = try Place()
        let body = "--frame\r\n\r\nthe first part\r\n--frame\r\n\r\ntwo\r\n--frame--\r\n"
        let answer = ServerResponse.bytes(Array(body.utf8), type: "multipart/x-mixed-replace; boundary=frame")
        try await withServer(.alone(), router: { _ in answer }) { server async throws in
            let recorder = DownloadRecorder()
            recorder.destination = place.path("file")
            await download(try server.request("/"), recorder)
            let told = recorder.notes.lines.drop { $0 != "created file" }
            let part = ["response 200", "created file", "data"]
            #expect(Array(told) == ["created file"] + part + part + ["finish"])
            #expect(place.text("file") == "two")
        }
    }

    @Test("Data that are none fail with -1002, and touch no file")
    @available(*, deprecated)
    func notData() async throws {
        let place = try Place()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: place.path("file")))
        let recorder = DownloadRecorder()
        let path = place.path("file")
        await onRunLoop { _ = NSURLDownload(resumeData: Data("nonsense".utf8), delegate: recorder, path: path) }
        #expect(recorder.notes.lines == ["begin", "fail -1002"])
        #expect(place.text("file") == "mine")
    }

    @Test("B16.85: where the standard output is closed, what is printed does not get into the file")
    @available(*, deprecated)
    func closedOutput() async {
        await #expect(processExitsWith: .success) {
            let place = try Place()
            try await withServer(.alone(), router: { _ in .text("hello") }) { server async throws in
                let recorder = DownloadRecorder()
                recorder.destination = place.path("file")
                recorder.hook = { word, _ in
                    // The next number that is given out is the file's.
                    if word == "decide" { close(STDOUT_FILENO) }
                    if word == "created" { _ = write(STDOUT_FILENO, "printed", 7) }
                }
                let request = try server.request("/")
                await onRunLoop { _ = NSURLDownload(request: request, delegate: recorder) }
                #expect(recorder.notes.lines.last == "finish")
                #expect(place.text("file") == "hello")
            }
        }
    }

    /// What the data of a download hold, as its archive names them.
    private struct Kept: Encodable {
        let version = 1
        let url: URL
        let validator = "\"one\""
        let received: Int64 = 2
    }

    @Test("B9.32: data that name a file of this machine, or hold one, fail with -1002, and touch no file")
    @available(*, deprecated)
    func dataOfNoServer() async throws {
        let place = try Place()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: place.path("file")))
        try Data("secret".utf8).write(to: URL(fileURLWithPath: place.path("other")))
        let path = place.path("file")
        for url in [URL(fileURLWithPath: place.path("other")), try #require(URL(string: "data:,secret"))] {
            let data = try PropertyListEncoder().encode(Kept(url: url))
            let recorder = DownloadRecorder()
            await onRunLoop { _ = NSURLDownload(resumeData: data, delegate: recorder, path: path) }
            #expect(recorder.notes.lines == ["begin", "fail -1002"])
            #expect(place.text("file") == "mine")
        }
    }
}
