// A delegate of stream tasks that writes down what it is told, and the aids of its suites.

import Foundation
import Testing
import URLLoading

/// Has every method of stream delegates, and what a habit says about challenges.
final class StreamScribe: NSObject, URLSessionStreamDelegate {
    let transcript = Transcript()
    let streams = Guarded<StreamPair?>(nil)
    let captured = Signal()
    let closed = Signal()
    private let habit: GuestHabit?

    init(_ habit: GuestHabit? = nil) { self.habit = habit }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        transcript.invalidated.fire()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        transcript.note("challenge \(challenge.protectionSpace.host) \(challenge.protectionSpace.authenticationMethod)")
        guard let habit else { return completionHandler(.performDefaultHandling, nil) }
        let (disposition, credential) = habit(challenge)
        completionHandler(disposition, credential)
    }

    func urlSession(_ session: URLSession, readClosedFor streamTask: URLSessionStreamTask) {
        transcript.note("read closed")
        closed.fire()
    }

    func urlSession(_ session: URLSession, writeClosedFor streamTask: URLSessionStreamTask) {
        transcript.note("write closed")
        closed.fire()
    }

    func urlSession(
        _ session: URLSession, streamTask: URLSessionStreamTask, didBecome inputStream: InputStream,
        outputStream: OutputStream
    ) {
        transcript.note("streams \(inputStream.streamStatus == .notOpen && outputStream.streamStatus == .notOpen)")
        streams.value = StreamPair(input: inputStream, output: outputStream)
        captured.fire()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transcript.note("complete \(Transcript.text(error))")
        transcript.completed.fire()
    }
}

/// Two streams on their way from the delegate queue to a test, which alone uses them from then on.
struct StreamPair: @unchecked Sendable {
    let input: InputStream
    let output: OutputStream
}

extension URLSessionStreamTask {
    /// Reads a line, byte by byte, so that nothing behind it is taken.
    func line() async throws -> String {
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let (data, isAtEnd) = try await readData(ofMinLength: 1, maxLength: 1, timeout: 60)
            line += data ?? Data()
            if isAtEnd { break }
        }
        return String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func say(_ text: String) async throws { try await write(Data(text.utf8), timeout: 60) }

    /// Everything up to the end.
    func rest() async throws -> Data {
        var all = Data()
        while true {
            let (data, isAtEnd) = try await readData(ofMinLength: 1, maxLength: 1 << 20, timeout: 60)
            all += data ?? Data()
            if isAtEnd { return all }
        }
    }

    /// The error of the next read.
    func readError(timeout: TimeInterval = 60) async -> NSError? {
        do {
            _ = try await readData(ofMinLength: 1, maxLength: 9, timeout: timeout)
            return nil
        } catch { return error as NSError }
    }

    /// The error of the next write.
    func writeError() async -> NSError? {
        do {
            try await say("x")
            return nil
        } catch { return error as NSError }
    }
}

/// A session for streams to 127.0.0.1 by the name mail.test; for suites that say `.endsSessions`.
func streamSession(
    _ delegate: (any URLSessionDelegate)? = nil, anchor: String = "",
    _ change: (URLSessionConfiguration) -> Void = { _ in }
) -> URLSession {
    visitor(delegate) { configuration in
        configuration.hostOverrides = ["mail.test": "127.0.0.1", "other.test": "127.0.0.1"]
        configuration.serverTrustEvaluation = .anchors(pem: anchor)
        change(configuration)
    }
}

/// Bytes that tell their places, within 64 KiB.
func pattern(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count { bytes += Pattern.bytes.prefix(count - bytes.count) }
    return bytes
}

/// They begin anew behind these. Suites that send megabytes of them would spend seconds to reckon each.
private enum Pattern {
    static let bytes = (0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}
