// `Data(contentsOf:)` and `String(contentsOf:encoding:)` for http URLs (api-surface section 20).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Contents of a URL")
struct ContentsOfURLTests {
    /// Waits on a thread that may block.
    private func blocking<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
        try await withThrowingHandover { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try work() }) }
        }
    }

    @Test("Data(contentsOf:) loads http URLs")
    func data() async throws {
        try await withServer(router: { _ in .generated(length: 300_000) }) { server in
            let url = try server.at("/")
            let data = try await blocking { try Data(contentsOf: url) }
            #expect(data.count == 300_000)
            #expect(data.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) })
        }
    }

    @Test("String(contentsOf:encoding:) loads http URLs")
    func string() async throws {
        try await withServer(router: { _ in .text("grüezi") }) { server in
            let url = try server.at("/")
            #expect(try await blocking { try String(contentsOf: url, encoding: .utf8) } == "grüezi")
        }
    }

    @Test(
        "Redirects are followed; 404 and 500 throw, while 401 and 304 give their bodies",
        arguments: [301, 304, 401, 404, 500])
    func statuses(status: Int) async throws {
        let router: LoopbackServer.Router = { request in
            request.path == "/"
                ? ServerResponse.text("a page", status: status).adding("Location", "/to") : .text("over there")
        }
        try await withServer(router: router) { server in
            let url = try server.at("/")
            let result = await Result { try await blocking { try Data(contentsOf: url) } }
            switch status {
            case 301: #expect(try result.get() == Data("over there".utf8))
            case 304: #expect(try result.get() == Data())
            case 401: #expect(try result.get() == Data("a page".utf8))
            default:
                let error = try #require(result.failure as? CocoaError)
                #expect(error.code == .fileReadUnknown)
                #expect(error.userInfo[NSURLErrorKey] as? URL == url)
                #expect((error.userInfo[NSUnderlyingErrorKey] as? URLError)?.code == .badServerResponse)
                let text = "The server answered with the status \(status) (127.0.0.1)."
                #expect(error.localizedDescription == text)
            }
        }
    }

    @Test("A failed load is an unreadable file, with the loader's error underneath")
    func failure() async throws {
        try await withServer(router: { _ in .script([.reset]) }) { server in
            let url = try server.at("/")
            let result = await Result { try await blocking { try Data(contentsOf: url) } }
            let error = try #require(result.failure as? CocoaError)
            #expect(error.code == .fileReadUnknown)
            let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? URLError)
            #expect(cause.code == .networkConnectionLost)
            #expect(error.localizedDescription == cause.localizedDescription)
        }
    }

    @Test("A call inside the shared session's completion handler does not block itself")
    func insideHandler() async throws {
        try await withServer(router: { request in .text(String(request.path)) }) { server in
            let (outer, inner) = (try server.at("/outer"), try server.at("/inner"))
            let text = await withHandover { continuation in
                URLSession.shared.dataTask(with: outer) { _, _, _ in
                    continuation.resume(returning: try? String(contentsOf: inner, encoding: .utf8))
                }.resume()
            }
            #expect(text == "/inner")
        }
    }

    @Test("File URLs are read without a session")
    func file() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("in a file".utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        #expect(try Data(contentsOf: url) == Data("in a file".utf8))
        #expect(try String(contentsOf: url, encoding: .utf8) == "in a file")
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }

    fileprivate var failure: (any Error)? {
        if case .failure(let error) = self { error } else { nil }
    }
}
