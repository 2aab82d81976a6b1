// The protocols that carry the load. All servers speak both; what is spoken is the session's choice. Every
// exercise goes over both, but where one has no meaning: only HTTP/2 has a server that sends its client back
// to HTTP/1.1 (`fallBack`).

import URLLoading

/// What is spoken on a lane.
enum LaneProtocol: String, CaseIterable, Codable, Sendable {
    case http1 = "HTTP/1.1"
    case http2 = "HTTP/2"

    /// What metrics call it.
    var metricsName: String { self == .http1 ? "http/1.1" : "h2" }

    /// When a session is to speak HTTP/2 so that it speaks this with servers that speak both.
    func http2Use(isSecure: Bool) -> URLSessionConfiguration.HTTP2Use {
        switch self {
        case .http1: .off
        case .http2: isSecure ? .offered : .priorKnowledge
        }
    }
}
