// Objects of the program's that a task lets go of: their `deinit` may ask the task, or the session, something (B1.13).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport

/// Asks its task something when it ends. Where that happened behind the task's lock, the program would stop.
private final class Asker: Sendable {
    private let task: Guarded<URLSessionTask?>
    private let gone: Signal

    init(_ task: Guarded<URLSessionTask?>, _ gone: Signal) {
        self.task = task
        self.gone = gone
    }

    deinit {
        _ = task.value?.state
        gone.fire()
    }
}

/// Notes on its end whether the thread of a loop has brought that about.
private final class Witness: Sendable {
    private let wasOnLoop: Guarded<Bool?>
    private let gone: Signal

    init(_ wasOnLoop: Guarded<Bool?>, _ gone: Signal) {
        self.wasOnLoop = wasOnLoop
        self.gone = gone
    }

    deinit {
        wasOnLoop.value = LoopGroup.shared.isCurrent
        gone.fire()
    }
}

/// A body that holds something.
private final class HoldingStream: InputStream {
    private let inner = InputStream(data: Data("a body".utf8))
    private let held: any Sendable

    init(_ held: any Sendable) {
        self.held = held
        super.init(data: Data())
    }

    override func open() { inner.open() }
    override func close() { inner.close() }
    override var streamStatus: Stream.Status { inner.streamStatus }
    override var streamError: (any Error)? { inner.streamError }
    override var hasBytesAvailable: Bool { inner.hasBytesAvailable }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        inner.read(buffer, maxLength: length)
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }
}

/// Data that hold something.
private func data(holding held: any Sendable) -> Data {
    // Few bytes would be copied.
    let count = 1000
    let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
    bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
    return Data(
        bytesNoCopy: bytes, count: count,
        deallocator: .custom { bytes, _ in withExtendedLifetime(held) { bytes.deallocate() } })
}

/// Sends each redirect on with a request that `make` makes.
private final class Redirecting: NSObject, URLSessionDataDelegate {
    private let make: @Sendable (URL) -> URLRequest

    init(_ make: @escaping @Sendable (URL) -> URLRequest) { self.make = make }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) async -> URLRequest? {
        request.url.map(make)
    }
}

@Suite("What a task lets go of", .timeLimit(.minutes(5)))
struct LettingGoTests: CachingSuite {
    /// Makes a task, lets the program's object know it, and waits for that to end with what holds it.
    private func run(
        _ session: URLSession, _ task: Guarded<URLSessionTask?>, _ gone: Signal, _ made: URLSessionTask
    ) async {
        task.value = made
        made.resume()
        await gone.wait()
        session.invalidateAndCancel()
        task.value = nil
    }

    @Test("B1.13, B11.8: a stream that a delegate has supplied may ask its task something when it ends")
    func suppliedStream() async throws {
        try await withServer(router: { .echo($0) }) { server async throws in
            let (task, gone) = (Guarded<URLSessionTask?>(nil), Signal())
            let delegate = UploadDelegate(.stream { HoldingStream(Asker(task, gone)) })
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: try server.at("/"))
            request.httpMethod = "POST"
            await run(session, task, gone, session.uploadTask(withStreamedRequest: request))
            await delegate.transcript.completed.wait()
            #expect(delegate.transcript.body == "a body")
        }
    }

    @Test("B1.13: the data of an upload go when it ends, though the program keeps the task, and may ask that something")
    func uploadedData() async throws {
        try await withServer(router: { .echo($0) }) { server async throws in
            let (task, gone) = (Guarded<URLSessionTask?>(nil), Signal())
            let session = URLSession(configuration: .ephemeral, delegate: RecordingDelegate(), delegateQueue: nil)
            let request = uploading(try server.at("/"))
            await run(session, task, gone, session.uploadTask(with: request, from: data(holding: Asker(task, gone))))
        }
    }

    @Test("B1.13, B4.11: what the request of a redirect holds may ask its task something when another takes its place")
    func replacedRequest() async throws {
        let router: LoopbackServer.Router = { request in
            switch request.path {
            case "/first": .status(302).adding("Location", "/second")
            case "/second": .status(302).adding("Location", "/third")
            default: .text("there")
            }
        }
        try await withServer(router: router) { server async throws in
            let (task, gone) = (Guarded<URLSessionTask?>(nil), Signal())
            let delegate = Redirecting { url in
                guard url.path == "/second" else { return URLRequest(url: url) }
                let marked = NSMutableURLRequest(url: url)
                URLProtocol.setProperty(Asker(task, gone), forKey: "held", in: marked)
                return marked as URLRequest
            }
            let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
            await run(session, task, gone, session.dataTask(with: try server.at("/first")))
        }
    }

    @Test("B1.13, B7.98: what a stored answer holds may ask its task something when the task ends")
    func storedAnswer() async throws {
        let (cache, task, gone) = (memory(), Guarded<URLSessionTask?>(nil), Signal())
        // The answer is stored no more, so the task alone holds what it was going to be compared with.
        let router: LoopbackServer.Router = { _ in
            cache.removeAllCachedResponses()
            return .text("new").adding("Cache-Control", "no-store")
        }
        try await withServer(router: router) { server async throws in
            let url = try server.at("/")
            let response = try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["ETag": "\"old\""]))
            cache.storeCachedResponse(
                CachedURLResponse(
                    response: response, data: Data("old".utf8), userInfo: ["held": Asker(task, gone)],
                    storagePolicy: .allowed),
                for: URLRequest(url: url))
            let session = session(cache, RecordingDelegate())
            await run(session, task, gone, session.dataTask(with: url))
        }
    }

    @Test("What a request holds of the program's does not end on a loop's thread that was the last to hold the request")
    func letGoByLoop() async throws {
        let url = try #require(URL(string: "http://h.example/"))
        let makers: [(Witness) -> URLRequest] = [
            { witness in
                var request = URLRequest(url: url)
                request.httpBodyStream = HoldingStream(witness)
                return request
            },
            { witness in
                let marked = NSMutableURLRequest(url: url)
                URLProtocol.setProperty(witness, forKey: "held", in: marked)
                return marked as URLRequest
            },
        ]
        for make in makers {
            let (wasOnLoop, gone) = (Guarded<Bool?>(nil), Signal())
            let holder = Guarded<URLRequest?>(make(Witness(wasOnLoop, gone)))
            LoopGroup.shared.next().run { _ in holder.value = nil }
            await gone.wait()
            #expect(wasOnLoop.value == false)
        }
    }
}
