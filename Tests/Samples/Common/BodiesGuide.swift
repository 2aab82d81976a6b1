// The code of docs/bodies.md, which SampleTests compares with that document block by block.

import Foundation
import Synchronization
import URLLoading

/// Sends lines as they are made; gives the status and the answer.
public func sendLines(_ lines: [String], by request: URLRequest, in session: URLSession) async throws -> (Int, String) {
    let (sequence, continuation) = AsyncStream.makeStream(of: Data.self)
    Task {
        for line in lines { continuation.yield(Data("\(line)\n".utf8)) }
        continuation.finish()
    }
    let (answer, response) = try await session.upload(for: request, from: sequence)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: answer, as: UTF8.self))
}

/// The lines of a file, which can be read as often as it takes.
public struct FileLines: AsyncSequence, Sendable {
    private let file: URL

    /// Makes the sequence; the file is read when it is iterated over.
    public init(_ file: URL) { self.file = file }

    /// Begins with the first line.
    public func makeAsyncIterator() -> Iterator { Iterator(file: file) }

    /// Gives line after line.
    public struct Iterator: AsyncIteratorProtocol {
        let file: URL
        var rest: ArraySlice<Substring>?

        /// The next line, with its end.
        public mutating func next() async throws -> Data? {
            var lines = try rest ?? String(contentsOf: file, encoding: .utf8).split(separator: "\n")[...]
            defer { rest = lines }
            return lines.popFirst().map { Data("\($0)\n".utf8) }
        }
    }
}

/// Sends the lines of a file, again where that is needed.
public func putLines(of file: URL, to url: URL, in session: URLSession) async throws -> (Int, String) {
    var request = URLRequest(url: url)
    request.httpMethod = "PUT"
    request.setAsyncBody(URLRequest.AsyncBody { FileLines(file) })
    let (answer, response) = try await session.data(for: request)
    return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: answer, as: UTF8.self))
}

/// Asks, hears an answer, and asks again, in one request.
public func converse(with url: URL, in session: URLSession, heard: (String) -> Void) async throws {
    let (questions, continuation) = AsyncStream.makeStream(of: Data.self)
    var request = URLRequest(url: url)
    request.setAsyncBody(URLRequest.AsyncBody(questions))
    continuation.yield(Data("first?\n".utf8))
    let (bytes, _) = try await session.bytes(for: request)
    for try await line in bytes.lines {
        heard(line)
        if line.hasSuffix("last.") { continuation.finish() } else { continuation.yield(Data("next?\n".utf8)) }
    }
}

/// Counts what passes.
public final class RowCounter: Sendable {
    private let rows = Mutex(0)

    /// A counter at nought.
    public init() {}

    /// How many rows have passed.
    public var count: Int { rows.withLock { $0 } }

    /// The rows as a sequence that counts them.
    public func counting(_ rows: [String]) -> AsyncStream<Data> {
        let rest = Mutex(rows[...])
        return AsyncStream {
            guard let row = rest.withLock({ $0.popFirst() }) else { return nil }
            self.rows.withLock { $0 += 1 }
            return Data("\(row)\n".utf8)
        }
    }
}

/// Sends rows, and how many there were behind them; gives the body and a field that the server has sent behind its own.
public func sendCounted(
    _ rows: [String], by given: URLRequest, in session: URLSession
) async throws -> (String, String?) {
    let counter = RowCounter()
    var request = given
    var body = URLRequest.AsyncBody { counter.counting(rows) }
    try body.setTrailers(named: ["X-Row-Count"]) { ["X-Row-Count": "\(counter.count)"] }
    request.setAsyncBody(body)
    request.acceptsTrailers = true
    let (data, response) = try await session.data(for: request)
    let sum = (response as? HTTPURLResponse)?.value(forHTTPTrailerField: "X-Sum")
    return (String(decoding: data, as: UTF8.self), sum)
}
