// The code of docs/streams.md, which SampleTests looks for here block by block.

import Foundation
import URLLoading

/// Begins to talk to a mail server, in plain text and then by TLS; gives what it said before.
public func greet(in session: URLSession) async throws -> [Data] {
    let task = session.streamTask(withHostName: "mail.example.com", port: 587)
    task.resume()
    let (greeting, _) = try await task.readData(ofMinLength: 1, maxLength: 4096, timeout: 30)
    try await task.write(Data("STARTTLS\r\n".utf8), timeout: 30)
    let (ready, _) = try await task.readData(ofMinLength: 1, maxLength: 4096, timeout: 30)
    task.startSecureConnection()
    try await task.write(Data("EHLO client.example.com\r\n".utf8), timeout: 30)
    return [greeting, ready].compactMap { $0 }
}

/// Reads what follows a response's head itself.
final class RawReader: NSObject, URLSessionDataDelegate {
    private let take: @Sendable (Data?, Bool, (any Error)?) -> Void

    init(_ take: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void) { self.take = take }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.becomeStream)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
    ) {
        streamTask.readData(ofMinLength: 1, maxLength: 4096, timeout: 30) { data, isAtEnd, error in
            self.take(data, isAtEnd, error)
        }
    }
}
