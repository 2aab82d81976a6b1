// The server's side of the handshake: whether a request asks for a web socket, and the answer that opens it. For
// servers beside the library; it does not ask which clients may come in. RFC 6455 §4.2.

/// A request for a web socket that can be answered.
package struct WebSocketAcceptance: Sendable {
    /// What is answered.
    package let answer: ResponseHead
    /// What was agreed on.
    package let agreement: WebSocketHandshake.Agreement

    /// Reads a request; nil if it does not ask for a web socket of version 13.
    ///
    /// Of the protocols the first is chosen that the client has named, in the server's order. The first offer of
    /// compression is taken that can be, if the server `compresses`.
    package init?(_ request: RequestHead, protocols: [String] = [], compresses: Bool = false) {
        let fields = request.fields
        let keys = fields.values(.secWebSocketKey)
        guard request.method == "GET", fields.hasToken(.upgrade, "websocket"), fields.hasToken(.connection, "upgrade"),
            fields.values(.secWebSocketVersion) == ["13"], keys.count == 1, let key = keys.first,
            Base64.decode(key)?.count == WebSocketHandshake.nonceByteCount, let extensions = fields.webSocketExtensions
        else { return nil }
        var answer = ResponseHead(status: 101)
        answer.fields.append(.upgrade, "websocket")
        answer.fields.append(.connection, "Upgrade")
        answer.fields.append(.secWebSocketAccept, WebSocketHandshake.accept(key: key))
        var agreement = WebSocketHandshake.Agreement()
        let offered = fields.webSocketProtocols
        if let chosen = protocols.first(where: offered.contains) {
            answer.fields.append(.secWebSocketProtocol, chosen)
            agreement.subprotocol = chosen
        }
        if compresses, let offer = extensions.lazy.compactMap({ DeflateParameters($0) }).first {
            let (parameters, compression) = offer.answered()
            answer.fields.append(.secWebSocketExtensions, parameters.element.text)
            agreement.compression = compression
        }
        self.answer = answer
        self.agreement = agreement
    }
}
