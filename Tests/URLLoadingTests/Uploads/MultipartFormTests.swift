// Forms as bodies of requests: what the server gets, when it gets it again, and files that have changed.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Forms")
struct MultipartFormTests {
    /// The type, whether the length was announced and right, and the body; the boundary as `B`.
    private static func mirror(_ request: ServerRequest) -> ServerResponse {
        let type = request.fields.first(.contentType) ?? ""
        let boundary = type.components(separatedBy: "boundary=").last ?? ""
        let isWhole = request.fields.first(.contentLength) == "\(request.bodyByteCount)"
        let text = "\(request.method) \(type) \(isWhole)\n\(String(decoding: request.body, as: UTF8.self))"
        return .text(text.replacingOccurrences(of: boundary, with: "B").replacingOccurrences(of: "\r\n", with: "\n"))
    }

    private static func scratch(_ text: String, name: String = "note.txt") throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("form-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        return file
    }

    private static func post(_ url: URL, _ form: URLRequest.MultipartForm) -> URLRequest {
        var request = URLRequest(url: url)
        request.setMultipartForm(form)
        return request
    }

    private static func text(_ request: URLRequest, in session: URLSession) async throws -> String {
        String(decoding: try await session.data(for: request).0, as: UTF8.self)
    }

    @Test("B5.91: texts, data and files come in order, with their names and types", arguments: [true, false])
    func parts(withFile: Bool) async throws {
        let file = try Self.scratch("from a file\n")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        try await withServer(router: Self.mirror) { server in
            var form = URLRequest.MultipartForm()
            form.append(text: "Graz", name: "town")
            form.append(data: Data("{}".utf8), name: "data", contentType: "application/json")
            if withFile { try form.append(file: file, name: "file") }
            form.append(data: Data("<p>".utf8), name: "page", fileName: "a\"b.html")
            form.append(text: "", name: "empty")
            let request = Self.post(try server.at("/"), form)
            #expect(request.httpMethod == "POST")
            #expect((request.httpBody == nil) == withFile)
            #expect(request.httpBody.map { Int64($0.count) } ?? form.contentLength == form.contentLength)
            let filePart = """
                --B
                Content-Disposition: form-data; name="file"; filename="note.txt"
                Content-Type: text/plain

                from a file


                """
            let wanted = """
                POST multipart/form-data; boundary=B true
                --B
                Content-Disposition: form-data; name="town"

                Graz
                --B
                Content-Disposition: form-data; name="data"
                Content-Type: application/json

                {}
                \(withFile ? filePart : "")--B
                Content-Disposition: form-data; name="page"; filename="a%22b.html"
                Content-Type: text/html

                <p>
                --B
                Content-Disposition: form-data; name="empty"


                --B--

                """
            let session = URLSession(configuration: .ephemeral)
            // The request is a value: it can be sent again.
            #expect(try await Self.text(request, in: session) == wanted)
            #expect(try await Self.text(request, in: session) == wanted)
            session.invalidateAndCancel()
        }
    }

    @Test("B5.91: a form without parts is its last boundary; a method other than GET stays; a file may be renamed")
    func odds() async throws {
        let file = try Self.scratch("x", name: "plain")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        try await withServer(router: Self.mirror) { server in
            let session = URLSession(configuration: .ephemeral)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "PUT"
            request.setMultipartForm(URLRequest.MultipartForm())
            #expect(try await Self.text(request, in: session) == "PUT multipart/form-data; boundary=B true\n--B--\n")
            var form = URLRequest.MultipartForm()
            try form.append(file: file, name: "f", fileName: "photo.png")
            try form.append(file: file, name: "f", contentType: "a/b")
            let text = try await Self.text(Self.post(try server.at("/"), form), in: session)
            #expect(text.contains("filename=\"photo.png\"\nContent-Type: image/png\n\nx\n"))
            #expect(text.contains("filename=\"plain\"\nContent-Type: a/b\n\nx\n"))
            session.invalidateAndCancel()
        }
    }

    @Test("B5.93: no two forms have one boundary, and each boundary is well-formed")
    func boundaries() {
        let boundaries = Set((0..<1000).map { _ in URLRequest.MultipartForm().boundary })
        #expect(boundaries.count == 1000)
        #expect(boundaries.allSatisfy { $0.utf8.count == 43 && MultipartDecoder(boundary: $0) != nil })
    }

    @Test("B5.94: a form with a file is sent again after a 307 and after a challenge, and not after a 303")
    func again() async throws {
        let file = try Self.scratch(String(repeating: "a", count: 200_000))
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let lengths = Guarded<[Int64]>([])
        let router: LoopbackServer.Router = { request in
            lengths.change { $0.append(request.bodyByteCount) }
            switch request.path {
            case "/kept": return ServerResponse.status(307).adding("Location", "/private")
            case "/private" where !request.fields.contains(.authorization): return .denied("Basic realm=\"r\"")
            case "/private": return .text("\(request.fields.first(.contentLength) ?? "none")")
            case "/seen": return ServerResponse.status(303).adding("Location", "/there")
            default: return .text("\(request.method) \(request.fields.contains(.contentType))")
            }
        }
        try await withServer(router: router) { server in
            var form = URLRequest.MultipartForm()
            try form.append(file: file, name: "f")
            let length = form.contentLength
            let session = URLSession(configuration: .ephemeral)
            let kept = Self.post(try server.at("/kept").naming("ann:secret"), form)
            #expect(try await Self.text(kept, in: session) == "\(length)")
            #expect(lengths.value == [length, length, length])
            #expect(try await Self.text(Self.post(try server.at("/seen"), form), in: session) == "GET false")
            #expect(lengths.value.suffix(2) == [length, 0])
            session.invalidateAndCancel()
        }
    }

    @Test(
        "B5.94: a form is sent again when its reused connection is lost", .http1Only("one connection for each"))
    func lostConnection() async throws {
        let file = try Self.scratch(String(repeating: "b", count: 100_000))
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let router: LoopbackServer.Router = { request in
            if request.method == "GET" { return .text("ready") }
            return request.connection == 1 ? .script([.reset]) : .text("\(request.bodyByteCount)")
        }
        try await withServer(router: router) { server in
            var form = URLRequest.MultipartForm()
            try form.append(file: file, name: "f")
            var request = URLRequest(url: try server.at("/"))
            // Only an idempotent request is sent again.
            request.httpMethod = "PUT"
            request.setMultipartForm(form)
            let session = URLSession(configuration: .ephemeral)
            #expect(try await Self.text(URLRequest(url: try server.at("/")), in: session) == "ready")
            #expect(try await Self.text(request, in: session) == "\(form.contentLength)")
            session.invalidateAndCancel()
        }
    }

    @Test("B5.94: a mock and a delegate see the whole form, and how long it is")
    func seen() async throws {
        let file = try Self.scratch("content")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        var form = URLRequest.MultipartForm()
        try form.append(file: file, name: "f")
        let url = try #require(URL(string: "https://api.example.com/"))
        let there = try #require(URL(string: "https://api.example.com/there"))
        let mock = URLSession.Mock()
        mock.stub(url, .redirect(to: there, status: 307))
        mock.stub(there, .text("ok"))
        #expect(try await Self.text(Self.post(url, form), in: mock.session()) == "ok")
        #expect(mock.requests.map { Int64($0.httpBody?.count ?? 0) } == [form.contentLength, form.contentLength])
        try await withServer(router: Self.mirror) { server in
            let session = URLSession(configuration: .ephemeral)
            let task = session.dataTask(with: Self.post(try server.at("/"), form))
            #expect(task.countOfBytesExpectedToSend == form.contentLength)
            session.invalidateAndCancel()
        }
    }

    // MARK: Files that are not what they were

    @Test("B5.95: adding a file that is missing, a directory or no regular file throws")
    func missing() throws {
        let folder = FileManager.default.temporaryDirectory
        for (url, code) in [
            (folder.appendingPathComponent("missing-\(UUID().uuidString)"), POSIXErrorCode.ENOENT), (folder, .EISDIR),
            (try #require(URL(string: "http://example.com/")), .EINVAL),
            // B14.8: another machine's, though this one has a file of that path.
            (try #require(URL(string: "file://other/proc/self/status")), .EINVAL),
        ] {
            var form = URLRequest.MultipartForm()
            let length = form.contentLength
            #expect(throws: URLRequest.MultipartForm.FileError(file: url, problem: .unreadable(code))) {
                try form.append(file: url, name: "f")
            }
            #expect(form.contentLength == length)
        }
    }

    @Test("B5.95: lengths that no number holds are refused")
    func enormous() {
        #expect(URLRequest.MultipartForm.hasRoom(for: 23, behind: 100))
        #expect(URLRequest.MultipartForm.hasRoom(for: .max / 2 - 100, behind: 100))
        #expect(!URLRequest.MultipartForm.hasRoom(for: .max / 2 - 99, behind: 100))
        #expect(!URLRequest.MultipartForm.hasRoom(for: .max, behind: 100))
    }

    /// What has become of a file between its addition and its sending.
    enum Change: CaseIterable, Sendable {
        case shorter, longer, gone, empty
    }

    @Test(
        "B5.95: a file whose length has changed fails the load, and the error names it", arguments: Change.allCases)
    func changed(change: Change) async throws {
        let file = try Self.scratch(String(repeating: "c", count: 1000))
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        var form = URLRequest.MultipartForm()
        try form.append(file: file, name: "f")
        switch change {
        case .shorter: try Data(repeating: 1, count: 999).write(to: file)
        case .longer: try Data(repeating: 1, count: 1001).write(to: file)
        case .gone: try FileManager.default.removeItem(at: file)
        case .empty: try Data().write(to: file)
        }
        try await expectFailure(form, file, change == .longer ? .becameLonger : change == .gone ? nil : .becameShorter)
    }

    @Test("B5.95: a file whose length changes while it is sent fails the load", arguments: [true, false])
    func changing(grows: Bool) throws {
        let file = try Self.scratch(String(repeating: "d", count: 3_000_000))
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        var form = URLRequest.MultipartForm()
        try form.append(file: file, name: "f")
        let url = try #require(URL(string: "http://a/"))
        let stream = try #require(Self.post(url, form).httpBodyStream)
        stream.open()
        var piece = [UInt8](repeating: 0, count: 1 << 20)
        #expect(stream.read(&piece, maxLength: piece.count) > 0)
        #expect(stream.read(&piece, maxLength: piece.count) > 0)
        let handle = try FileHandle(forUpdating: file)
        try handle.truncate(atOffset: grows ? 3_000_001 : 2_999_999)
        try handle.close()
        while stream.read(&piece, maxLength: piece.count) > 0 {}
        let error = stream.streamError as? URLRequest.MultipartForm.FileError
        #expect(error?.problem == (grows ? .becameLonger : .becameShorter))
        #expect(stream.streamStatus == .error && !stream.hasBytesAvailable)
        stream.close()
    }

    private func expectFailure(
        _ form: URLRequest.MultipartForm, _ file: URL, _ problem: URLRequest.MultipartForm.FileError.Problem?
    ) async throws {
        try await withServer(router: Self.mirror) { server in
            let session = URLSession(configuration: .ephemeral)
            let request = Self.post(try server.at("/"), form)
            do {
                _ = try await session.data(for: request)
                Issue.record("sent")
            } catch let error as URLError {
                #expect(error.code == .requestBodyStreamExhausted)
                let cause = error.userInfo[NSUnderlyingErrorKey] as? URLRequest.MultipartForm.FileError
                #expect(cause == .init(file: file, problem: problem ?? .unreadable(.ENOENT)))
                #expect(error.localizedDescription.contains(file.path), "\(error.localizedDescription)")
            }
            session.invalidateAndCancel()
        }
    }
}
