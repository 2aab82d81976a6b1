// Which version of HTTP was spoken, as start lines say it and as scripts know it from curl.

import URLLoading

/// Versions of HTTP in words.
enum ProtocolText {
    /// `HTTP/2`, `HTTP/1.1` or `HTTP/1.0`; nil where no server has answered.
    static func name(_ exchange: URLSessionTaskTransactionMetrics) -> String? {
        exchange.networkProtocolName.map { $0 == "h2" ? "HTTP/2" : $0.uppercased() }
    }

    /// `2`, `1.1`, or `1` for HTTP/1.0; `0` where no server has answered in HTTP.
    static func number(_ exchange: URLSessionTaskTransactionMetrics?) -> String {
        switch exchange?.networkProtocolName {
        case "h2": "2"
        case "http/1.1": "1.1"
        case "http/1.0": "1"
        default: "0"
        }
    }
}
