// The head of an answer as lines, for --include and for the trace.

import Foundation
import URLLoading

/// Heads in words.
enum HeadText {
    /// The head that stands before a body, with an empty line behind it. The server's words in their order; the lines
    /// end as lines of texts do.
    static func of(_ response: HTTPURLResponse) -> String {
        ([response.statusLine] + fields(response).map { "\($0.name): \($0.value)" } + ["", ""])
            .joined(separator: "\n")
    }

    /// What the server calls the status.
    static func reason(_ response: HTTPURLResponse) -> String {
        response.statusLine.split(separator: " ", maxSplits: 2).dropFirst(2).first.map(String.init) ?? ""
    }

    /// The fields as they came.
    static func fields(_ response: HTTPURLResponse) -> [HeaderField] {
        response.receivedFields.map { HeaderField(name: $0.name, value: $0.value) }
    }

    /// The fields of an exchange's request, Host first; in lower case where they were sent so. What HTTP/2 calls the
    /// authority is Host here, too.
    static func requestFields(_ exchange: URLSessionTaskTransactionMetrics) -> [HeaderField] {
        let isHTTP2 = exchange.networkProtocolName == "h2"
        return (exchange.request.allHTTPHeaderFields ?? [:])
            .sorted { ($0.key != "Host" ? 1 : 0, $0.key) < ($1.key != "Host" ? 1 : 0, $1.key) }
            .map { HeaderField(name: isHTTP2 ? $0.key.lowercased() : $0.key, value: $0.value) }
    }
}
