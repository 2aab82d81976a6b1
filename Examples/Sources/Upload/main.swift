// A file sent with its progress: Upload http://127.0.0.1:40123/ FILE

import Foundation
import URLLoading

/// Prints each tenth of a body that has been sent.
final class Progress: NSObject, URLSessionTaskDelegate, @unchecked Sendable {
    // Touched by calls for one task only, which come one after the other.
    private var tenths: Int64 = 0

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard totalBytesExpectedToSend > 0 else { return }
        let now = Int64(10 * Double(totalBytesSent) / Double(totalBytesExpectedToSend))
        if now > tenths { print("\(now * 10) % sent") }
        tenths = now
    }
}

guard CommandLine.arguments.count == 3, let site = URL(string: CommandLine.arguments[1]) else {
    print("usage: Upload URL FILE")
    exit(64)
}
var request = URLRequest(url: site.appending(path: "uploads"))
request.httpMethod = "POST"
let file = URL(filePath: CommandLine.arguments[2])
let (answer, _) = try await URLSession.shared.upload(for: request, fromFile: file, delegate: Progress())
print("the server says: \(String(decoding: answer, as: UTF8.self))")
