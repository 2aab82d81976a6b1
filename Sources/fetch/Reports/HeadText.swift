// The head of an answer as lines, for --include and for the trace.

import Foundation
import URLLoading

/// Heads in words.
enum HeadText {
    /// The head that stands before a body, with an empty line behind it.
    static func of(_ response: HTTPURLResponse) -> String {
        ([statusLine(response)] + fields(response).map { "\($0.name): \($0.value)" } + ["", ""])
            .joined(separator: "\n")
    }

    /// The status, and what it means; the API tells no version and no phrase of the server's.
    static func statusLine(_ response: HTTPURLResponse) -> String {
        "HTTP \(response.statusCode) (\(HTTPURLResponse.localizedString(forStatusCode: response.statusCode)))"
    }

    /// The fields, by name.
    static func fields(_ response: HTTPURLResponse) -> [HeaderField] {
        response.allHeaderFields.map { HeaderField(name: "\($0.key)", value: "\($0.value)") }.sorted {
            $0.name < $1.name
        }
    }

    /// The fields of a request, Host first.
    static func fields(_ request: URLRequest) -> [HeaderField] {
        (request.allHTTPHeaderFields ?? [:]).map { HeaderField(name: $0.key, value: $0.value) }
            .sorted { ($0.name != "Host" ? 1 : 0, $0.name) < ($1.name != "Host" ? 1 : 0, $1.name) }
    }
}
