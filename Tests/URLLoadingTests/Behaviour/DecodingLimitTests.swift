// What compressed bodies may come to, by the ways in which they are delivered (B16.60, B16.75, B16.76). The suite runs
// over HTTP/1.1 and over HTTP/2.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

@Suite("Limits on decoding")
struct DecodingLimitTests {
    /// Bodies of zeros: of so many mebibytes by the path, coded once for all tests.
    private static let coded: [String: [UInt8]] = Dictionary(
        uniqueKeysWithValues: [1, 2, 64, 65].map { mebibytes in
            ("/\(mebibytes)", Gzip.compress([UInt8](repeating: 0, count: mebibytes << 20), level: 9) ?? [])
        })

    private static let router: LoopbackServer.Router = { request in
        switch request.path {
        case "/moved": ServerResponse.status(302).adding("Location", "/2")
        case "/plain": .bytes([UInt8](repeating: 0, count: 3 << 20))
        default: .bytes(coded[String(request.path)] ?? []).adding("Content-Encoding", "gzip")
        }
    }

    /// The ways in which a body is delivered.
    enum Way: CaseIterable, Sendable { case data, upload, handler, delegate, bytes, events, download }

    /// How a load by this way ends: how many bytes came, or the error.
    private func load(_ request: URLRequest, by way: Way, _ prepare: (URLSessionConfiguration) -> Void = { _ in })
        async throws -> (count: Int, error: URLError?)
    {
        let configuration = URLSessionConfiguration.ephemeral
        prepare(configuration)
        let notebook = Notebook()
        let session = URLSession(
            configuration: configuration, delegate: way == .delegate ? notebook : nil, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        do {
            switch way {
            case .data: return (try await session.data(for: request).0.count, nil)
            case .upload: return (try await session.upload(for: request.posting(), from: Data()).0.count, nil)
            case .handler:
                let count: Int = try await withThrowingHandover { handover in
                    session.dataTask(with: request) { data, _, error in
                        handover.resume(with: error.map { .failure($0) } ?? .success(data?.count ?? 0))
                    }.resume()
                }
                return (count, nil)
            case .delegate:
                session.dataTask(with: request).resume()
                await notebook.ended.wait()
                return (notebook.byteCount, notebook.error as? URLError)
            case .bytes:
                var count = 0
                for try await chunk in try await session.bytes(for: request).0.chunks { count += chunk.count }
                return (count, nil)
            case .events:
                var (count, failure) = (0, nil as (any Error)?)
                for await event in session.events(for: request) {
                    if case .body(let piece) = event { count += piece.count }
                    if case .end(let error) = event { failure = error }
                }
                return (count, failure as? URLError)
            case .download:
                let file = try await session.download(for: request).0
                defer { try? FileManager.default.removeItem(at: file) }
                return (try Data(contentsOf: file).count, nil)
            }
        } catch let error as URLError {
            return (0, error)
        }
    }

    @Test(
        "B16.76: bodies that are collected in memory have a limit by default; bodies that are delivered in pieces have none",
        arguments: Way.allCases)
    func usual(way: Way) async throws {
        try await withServer(router: Self.router) { server in
            let short = try await load(URLRequest(url: server.at("/64")), by: way)
            #expect(short.count == 64 << 20 && short.error == nil, "\(String(describing: short.error))")
            let long = try await load(URLRequest(url: server.at("/65")), by: way)
            switch way {
            case .data, .upload, .handler:
                #expect(long.error?.code == .dataLengthExceedsMaximum)
                let text = long.error?.localizedDescription ?? ""
                #expect(text.contains("at most 200 are taken for each"), "\(text)")
            case .delegate, .bytes, .events, .download:
                #expect(long.count == 65 << 20 && long.error == nil, "\(String(describing: long.error))")
            }
        }
    }

    @Test("B16.76: .max lifts the usual limit")
    func lifted() async throws {
        try await withServer(router: Self.router) { server in
            let url = try server.at("/65")
            let ofSession = try await load(URLRequest(url: url), by: .data) { $0.maximumDecodedRatio = .max }
            #expect(ofSession.count == 65 << 20)
            var request = URLRequest(url: url)
            request.maximumDecodedRatio = .max
            #expect(try await load(request, by: .data).count == 65 << 20)
        }
    }

    @Test("B16.60, B16.75: a limit that is set holds for every way of delivery", arguments: Way.allCases)
    func set(way: Way) async throws {
        try await withServer(router: Self.router) { server in
            let (one, two) = (URLRequest(url: try server.at("/1")), URLRequest(url: try server.at("/2")))
            let settings: [(URLSessionConfiguration) -> Void] = [
                { $0.maximumDecodedBytes = 1 << 20 }, { $0.maximumDecodedRatio = 100 },
            ]
            for (number, setting) in settings.enumerated() {
                let within = try await load(one, by: way, setting)
                #expect(within.count == 1 << 20 && within.error == nil, "\(number)")
                let beyond = try await load(two, by: way, setting)
                #expect(beyond.error?.code == .dataLengthExceedsMaximum && beyond.count <= 1 << 20, "\(number)")
            }
            let plain = try await load(URLRequest(url: server.at("/plain")), by: way) {
                $0.maximumDecodedBytes = 0
                $0.maximumDecodedRatio = 1
            }
            #expect(plain.count == 3 << 20, "what is not compressed is not counted")
        }
    }

    @Test("B16.60, B16.75: a request's limit comes before the session's, in both directions, and stays on a redirect")
    func request() async throws {
        try await withServer(router: Self.router) { server in
            var strict = URLRequest(url: try server.at("/moved"))
            strict.maximumDecodedBytes = 1 << 20
            #expect(try await load(strict, by: .data).error?.code == .dataLengthExceedsMaximum)
            strict = URLRequest(url: try server.at("/moved"))
            strict.maximumDecodedRatio = 100
            #expect(try await load(strict, by: .data).error?.code == .dataLengthExceedsMaximum)
            var free = URLRequest(url: try server.at("/2"))
            (free.maximumDecodedBytes, free.maximumDecodedRatio) = (.max, .max)
            let outcome = try await load(free, by: .data) {
                $0.maximumDecodedBytes = 1
                $0.maximumDecodedRatio = 1
            }
            #expect(outcome.count == 2 << 20)
        }
    }

    @Test("B16.60, B16.75: zero and negative numbers are limits too", arguments: [0, -1, .min] as [Int64])
    func hostile(number: Int64) async throws {
        try await withServer(router: Self.router) { server in
            for way in [Way.data, .delegate] {
                var request = URLRequest(url: try server.at("/2"))
                request.maximumDecodedBytes = number
                let none = try await load(request, by: way)
                #expect(none.count == 0 && none.error?.code == .dataLengthExceedsMaximum)
                request.maximumDecodedBytes = nil
                request.maximumDecodedRatio = number
                #expect(try await load(request, by: way).error?.code == .dataLengthExceedsMaximum)
            }
        }
    }

    @Test("B16.60: the text names the limit and what was reached, and the error below is one of HTTP")
    func text() async throws {
        try await withServer(router: Self.router) { server in
            var request = URLRequest(url: try server.at("/2"))
            request.maximumDecodedBytes = 1_234_567
            let load = await Load(request)
            #expect(load.code == .dataLengthExceedsMaximum && load.underlying?.domain == URLLoadingErrorDomain.http)
            #expect(load.message.contains("1234567"), "\(load.message)")
        }
    }

    @Test("A request's limits are compared, copied and archived with it")
    func kept() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.test/")))
        let plain = request
        (request.maximumDecodedBytes, request.maximumDecodedRatio) = (5, -7)
        #expect(request != plain && plain.maximumDecodedBytes == nil && plain.maximumDecodedRatio == nil)
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: request as NSURLRequest, requiringSecureCoding: true)
        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURLRequest.self, from: archive)
        let again = try #require(read) as URLRequest
        #expect(again.maximumDecodedBytes == 5 && again.maximumDecodedRatio == -7)
    }
}

extension URLRequest {
    fileprivate func posting() -> URLRequest {
        var request = self
        request.httpMethod = "POST"
        return request
    }
}
