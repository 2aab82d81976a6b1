// Body streams for tests, and delegates that supply them in each of the four forms.

import Foundation
import URLLoading
import URLLoadingTestSupport

/// A request that sends a body.
func uploading(_ url: URL, method: String = "POST") -> URLRequest {
    var request = URLRequest(url: url)
    request.httpMethod = method
    return request
}

/// What a test gives to a `HandStream`, from any thread.
final class StreamHand: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var hasEnded = false
        var failure: (any Error)?
        var opened = 0
        var closed = 0
        var read = 0
    }

    let opened = Signal()
    let closed = Signal()
    private let state = Guarded(State())
    private let changed = DispatchSemaphore(value: 0)

    func supply(_ bytes: [UInt8]) { change { $0.bytes += bytes } }
    func end() { change { $0.hasEnded = true } }
    func fail(_ error: any Error) { change { $0.failure = error } }

    var failure: (any Error)? { state.withLock { $0.failure } }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        changed.signal()
    }

    /// Waits for bytes, the end or a failure.
    fileprivate func read(_ most: Int) -> [UInt8]? {
        while true {
            let result = state.withLock { state -> [UInt8]?? in
                if !state.bytes.isEmpty {
                    defer { state.bytes.removeFirst(min(most, state.bytes.count)) }
                    return Array(state.bytes.prefix(most))
                }
                if state.failure != nil { return .some(nil) }
                return state.hasEnded ? [] : nil
            }
            if let result { return result }
            changed.wait()
        }
    }
}

/// A stream that blocks until the test supplies something.
final class HandStream: InputStream {
    private let hand: StreamHand
    private let failedCount: Int
    private var status = Stream.Status.notOpen

    /// `failedCount` is what a read answers that fails.
    init(_ hand: StreamHand, failedCount: Int = -1) {
        self.hand = hand
        self.failedCount = failedCount
        super.init(data: Data())
    }

    override func open() {
        status = .open
        hand.opened.fire()
    }

    override func close() {
        status = .closed
        hand.closed.fire()
    }

    override var streamStatus: Stream.Status { hand.failure == nil ? status : .error }
    override var streamError: (any Error)? { hand.failure }
    override var hasBytesAvailable: Bool { true }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard let bytes = hand.read(length) else { return failedCount }
        for (index, byte) in bytes.enumerated() { buffer[index] = byte }
        return bytes.count
    }

    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
    ) -> Bool { false }
}

/// A stream that reads only while it is open: behind its end it says −1, and has no error.
final class StrictStream: InputStream {
    private var rest: [UInt8]
    private var status = Stream.Status.notOpen

    init(_ text: String) {
        rest = Array(text.utf8)
        super.init(data: Data())
    }

    override func open() { status = .open }
    override func close() { status = .closed }
    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { nil }
    override var hasBytesAvailable: Bool { status == .open }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
        guard status == .open else { return -1 }
        let count = min(rest.count, length)
        for (index, byte) in rest.prefix(count).enumerated() { buffer[index] = byte }
        rest.removeFirst(count)
        if rest.isEmpty { status = .atEnd }
        return count
    }
}

/// Writes down what an upload's delegate hears, several progress calls in a row as one, and supplies streams through
/// the completion handler.
final class UploadDelegate: NSObject, URLSessionDataDelegate {
    /// How the question for a stream is answered.
    enum Answer: Sendable {
        case stream(@Sendable () -> InputStream?)
        case never
    }

    let transcript = Transcript()
    let progress = Guarded<[[Int64]]>([])
    let firstProgress = Signal()
    let asked = Signal()
    private let answer: Answer

    init(_ answer: Answer = .stream { nil }) {
        self.answer = answer
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        transcript.note("stream")
        asked.fire()
        if case .stream(let make) = answer { completionHandler(make()) }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        progress.change { $0.append([bytesSent, totalBytesSent, totalBytesExpectedToSend]) }
        if transcript.calls.last != "sent" { transcript.note("sent") }
        firstProgress.fire()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        transcript.note("redirect \(response.statusCode)")
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transcript.note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// Supplies streams from an `async` method, and knows nothing else.
final class AsyncStreams: NSObject, URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, needNewBodyStreamForTask task: URLSessionTask) async -> InputStream? {
        InputStream(data: Data("async".utf8))
    }
}

/// Knows only the form with an offset.
final class OffsetStreams: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(InputStream(data: Data("offset \(offset)".utf8)))
    }
}

/// Knows only the `async` form with an offset.
final class AsyncOffsetStreams: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, needNewBodyStreamForTask task: URLSessionTask, from offset: Int64
    ) async -> InputStream? {
        InputStream(data: Data("async offset \(offset)".utf8))
    }
}

/// Supplies no streams.
final class NoStreams: NSObject, URLSessionDataDelegate {
    let transcript = Transcript()

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transcript.note(data: data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// A file that lives as long as the test.
final class UploadFile {
    let url: URL
    let bytes: [UInt8]

    init(count: Int) throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("upload-\(UUID().uuidString)")
        bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        try Data(bytes).write(to: url)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}
