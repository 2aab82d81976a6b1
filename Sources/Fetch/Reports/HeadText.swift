// The head of an answer as lines, for --include and for the trace.

import Foundation
import URLLoading

/// Heads in words.
enum HeadText {
    /// The head that stands before a body, with an empty line behind it. The server's words in their order; the lines end
    /// as lines of texts do.
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

    /// The fields of a request, Host first.
    static func fields(_ request: URLRequest) -> [HeaderField] {
        (request.allHTTPHeaderFields ?? [:]).map { HeaderField(name: $0.key, value: $0.value) }
            .sorted { ($0.name != "Host" ? 1 : 0, $0.name) < ($1.name != "Host" ? 1 : 0, $1.name) }
    }
}
