// The handshake of a web socket task: a hop like others, for redirects, challenges, proxies, cookies, trust and metrics
// (B15.2, B15.6, B15.7, B8.48), of which only two things are peculiar: what is asked, and that a 101 is the answer.
//
// Must not know: what becomes of the connection afterwards.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// What a hop asks for, as its receiver has to know it.
struct WebSocketHop: Sendable {
    let handshake: WebSocketHandshake
    /// The fields that were sent.
    let fields: Fields
}

extension TaskCore {
    /// What a web socket task is asked to do.
    var webSocketCalls: WebSocketCalls? { kind.webSocket }

    /// The request that asks for a web socket, with a key of its own each time; nil where the task is none.
    func handshakeMessage(
        for request: URLRequest, cookies: HopCookies
    ) throws(URLError) -> RequestBuilder.Message? {
        guard let session, let calls = webSocketCalls else { return nil }
        var generator = Chance()
        let handshake = WebSocketHandshake(
            nonce: (0..<WebSocketHandshake.nonceByteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) },
            protocols: calls.protocols, compression: session.settings.webSocketCompression)
        if let name = calls.protocols.first(where: { !WebSocketHandshake.isProtocol($0) }) {
            throw LoadFailure.unsupportedURL(request.url, "\"\(name)\" cannot be the name of a protocol.")
        }
        let message = try session.builder.message(
            for: request, after: firstRequest, asking: handshake, cookies: cookies)
        state.withLock { $0.handshake = WebSocketHop(handshake: handshake, fields: message.head.fields) }
        return message
    }

    /// What the server has said does not open a web socket (B15.5): it is the task's response, and the task fails.
    func refuseWebSocket(
        _ response: HTTPURLResponse, _ refusal: WebSocketHandshake.Refusal? = nil
    ) {
        responseArrived(response, hasBody: false)
        willFail(
            ErrorMapping.refusedWebSocket(
                refusal ?? .status(response.statusCode), url: state.withLock { $0.currentRequest?.url }))
    }

    /// The same where it was being decided about the response; the rest of it is of no use.
    func refuseUndecidedWebSocket(_ response: HTTPURLResponse) {
        refuseWebSocket(response)
        state.withLock { $0.redirect.deliversBody = false }
        state.withLock { $0.load.handle }?.discardRest()
    }

    /// Keeps what was measured of the handshake for the metrics at the task's end.
    func noteRecords(_ records: [TransactionRecord]) {
        state.withLock { $0.records += records }
    }

    /// The handshake has failed: calls that wait hear of it before the task's end is told (B15.34).
    func endHandshake(_ error: any Error) {
        webSocketCalls?.end(.known(error))
        post(.webSocket(.ended(.known(error))))
    }
}

extension RequestBuilder {
    /// Builds the request that asks for a web socket.
    func message(
        for request: URLRequest, after first: URLRequest?, asking handshake: WebSocketHandshake, cookies: HopCookies
    ) throws(URLError) -> Message {
        let url = request.url
        switch url?.scheme?.lowercased() {
        // B15.1.
        case "ws", "wss", "http", "https": break
        default: throw LoadFailure.unsupportedURL(url, "The URL of a web socket begins with ws or wss.")
        }
        guard request.values.method == "GET" else {
            throw LoadFailure.unsupportedURL(url, "A web socket is asked for by GET only.")
        }
        guard case .none = request.values.body else { throw LoadFailure.bodyOfGET(url) }
        do throws(URLError) {
            return try message(for: request.overHTTP, after: first, content: .none, cookies: cookies).asking(handshake)
        } catch {
            throw LoadFailure.make(error.code, url, error.localizedDescription)
        }
    }
}

extension Route {
    /// The same way, on which plain http goes through a tunnel too (B15.11).
    var tunnelling: Route {
        guard case .proxied(var proxy) = self else { return self }
        proxy.tunnelsAlways = true
        return .proxied(proxy)
    }
}
