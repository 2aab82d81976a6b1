// The code of docs/events.md, docs/server-sent-events.md and the last part of docs/bodies.md, which SampleTests compares with these
// documents block by block.

import Foundation
import URLLoading

/// Prints lines until the body ends; says how many.
public func printLines(of url: URL, in session: URLSession, print: (String) -> Void) async throws {
    let (bytes, response) = try await session.bytes(from: url)
    guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
    for try await line in bytes.lines {
        print(line)
    }
}

/// Copies a body into a file that is open for writing.
public func copy(_ url: URL, to file: FileHandle, in session: URLSession) async throws {
    let (bytes, _) = try await session.bytes(from: url)
    for try await piece in bytes.chunks {
        try file.write(contentsOf: piece)
    }
}

/// Gives the lines of each record, where records end with an empty line.
public func records(_ url: URL, in session: URLSession, handle: ([String]) -> Void) async throws {
    let (bytes, _) = try await session.bytes(from: url)
    var record: [String] = []
    for try await line in bytes.lines(keepingEmpty: true) {
        if line.isEmpty {
            if !record.isEmpty { handle(record) }
            record = []
        } else {
            record.append(line)
        }
    }
}

/// Gives the type and the data of each event that a server sends, until it says that there are no more.
public func listen(to url: URL, in session: URLSession, handle: (String, String) -> Void) async throws {
    for try await event in session.serverSentEvents(from: url) {
        handle(event.type, event.data)
    }
}

/// Goes on behind an event of an earlier run.
public func listen(
    to url: URL, behind lastID: String, in session: URLSession, handle: (String, String) -> Void
) async throws {
    var request = URLRequest(url: url)
    request.setValue(lastID, forHTTPHeaderField: "Last-Event-ID")
    var events = session.serverSentEvents(for: request)
    events.reconnectionTime = .seconds(10)
    events.maximumEventBytes = 64 << 10
    do {
        for try await event in events { handle(event.id, event.data) }
    } catch URLSession.ServerSentEvents.StreamError.unexpectedStatus(let status) {
        handle("", "the server refuses: \(status)")
    }
}

/// Tells a whole load, in words.
public func follow(_ request: URLRequest, in session: URLSession, print: (String) -> Void) async {
    for await event in session.events(for: request) {
        switch event {
        case .informational(let response): print("informational \(response.statusCode)")
        case .redirect(_, let next): print("redirected to \(next.url?.path ?? "")")
        case .retry(_, let pause): print("once more in \(pause) seconds")
        case .response(let response): print("\(response.expectedContentLength) bytes to come")
        case .progress(let progress): print("\(progress.bytesReceived) bytes so far")
        case .body(let piece): print("a piece of \(piece.count) bytes")
        case .metrics(let metrics): print("\(metrics.transactionMetrics.count) transactions")
        case .end(let error): print(error.map { "failed: \($0)" } ?? "done")
        }
    }
}

/// A manager of loads without a delegate class.
public final class LoadManager: Sendable {
    private let session: URLSession

    /// Reports every task that ends.
    public init(report: @escaping @Sendable (Int, (any Error)?) -> Void) {
        let handlers = URLSession.EventHandlers()
        handlers.didReceiveResponse = { _, _, response in
            (response as? HTTPURLResponse)?.statusCode == 200 ? .allow : .cancel
        }
        handlers.didComplete = { _, task, error in report(task.taskIdentifier, error) }
        session = URLSession(configuration: .default, delegate: handlers, delegateQueue: nil)
    }

    /// Begins a load.
    public func load(_ url: URL) { session.dataTask(with: url).resume() }

    /// Ends when the loads have.
    public func finish() { session.finishTasksAndInvalidate() }
}

/// Reports every task that ends, of all sessions that have `EventHandlers` as their delegate.
public func observeEnds(report: @escaping @Sendable (URL?, (any Error)?) -> Void) -> any NSObjectProtocol {
    NotificationCenter.default.addObserver(
        forName: .urlSessionTaskDidComplete, object: nil, queue: nil
    ) { notification in
        guard let task = notification.object as? URLSessionTask else { return }
        report(task.originalRequest?.url, task.error)
    }
}

/// Uploads what is written while it is sent; blocks the thread that calls it.
public func uploadWhileWriting(
    _ texts: [String], to url: URL, in session: URLSession,
    then finish: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
) {
    var input: InputStream?
    var output: OutputStream?
    Stream.getBoundStreams(withBufferSize: 65536, inputStream: &input, outputStream: &output)
    guard let input, let output else { return }

    var request = URLRequest(url: url)
    request.httpMethod = "PUT"
    request.httpBodyStream = input
    session.dataTask(with: request, completionHandler: finish).resume()
    output.open()
    for text in texts {
        var bytes = Array(text.utf8)
        while !bytes.isEmpty {
            let count = output.write(bytes, maxLength: bytes.count)
            // The task has ended and reads no more.
            guard count > 0 else { return }
            bytes.removeFirst(count)
        }
    }
    output.close()
}
