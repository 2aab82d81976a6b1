// The schemes of web sockets: a handshake is an HTTP request, so that all rules of http hold for ws, and those of https
// for wss (B15.1, B15.7).

import Foundation

extension URL {
    /// The URL of the handshake: http for ws, https for wss; itself for all others.
    var overHTTP: URL {
        switch scheme?.lowercased() {
        case "ws": replacing(scheme: "http")
        case "wss": replacing(scheme: "https")
        default: self
        }
    }

    /// The URL of the web socket that a handshake at an http URL asks for.
    var overWebSocket: URL {
        switch scheme?.lowercased() {
        case "http": replacing(scheme: "ws")
        case "https": replacing(scheme: "wss")
        default: self
        }
    }

    /// Whether the scheme is one of web sockets.
    var isOfWebSocket: Bool {
        switch scheme?.lowercased() {
        case "ws", "wss": true
        default: false
        }
    }

    private func replacing(scheme: String) -> URL {
        let text = absoluteString
        guard let colon = text.firstIndex(of: ":") else { return self }
        return URL(string: scheme + text[colon...]) ?? self
    }
}

extension URLRequest {
    /// A copy of the request whose URL is that of its handshake, of http or https.
    var overHTTP: URLRequest {
        var values = values
        values.url = url?.overHTTP
        return URLRequest(values)
    }
}
