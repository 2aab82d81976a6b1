// What `ws.open` and `ws.echo` ask for: a web socket of the package. Driver protocol, section 8.

import Foundation
import URLLoading

/// A web socket to open.
struct WebSocketPlan {
    let session: String
    private let url: String
    private let protocols: [String]
    private let fields: [(name: String, value: String)]
    private let mostMessageBytes: Int?

    /// Takes what is the same in both operations. How long a message may be where the command does not say so is the
    /// package's own limit, or another one.
    init(_ members: inout Members, usualLimit: Int? = nil) throws(Refusal) {
        session = try members.requiredString("session")
        url = try members.requiredString("url")
        protocols = try members.strings("protocols") ?? []
        fields = try members.fields("headers")
        mostMessageBytes = try members.count("max_message_bytes").map { Int(clamping: $0) } ?? usualLimit
    }

    /// The task, not resumed; nil where the URL is none.
    func task(in session: URLSession) -> URLSessionWebSocketTask? {
        guard let url = URL(string: url) else { return nil }
        let task: URLSessionWebSocketTask
        if fields.isEmpty {
            task = session.webSocketTask(with: url, protocols: protocols)
        } else {
            var request = URLRequest(url: url)
            for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
            if !protocols.isEmpty {
                request.setValue(protocols.joined(separator: ", "), forHTTPHeaderField: "Sec-WebSocket-Protocol")
            }
            task = session.webSocketTask(with: request)
        }
        if let mostMessageBytes { task.maximumMessageSize = mostMessageBytes }
        return task
    }
}
