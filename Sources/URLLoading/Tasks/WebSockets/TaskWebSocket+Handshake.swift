// The handshake of a web socket task: a hop like others, for redirects, challenges, proxies, cookies, trust and metrics
// (B15.2, B15.6, B15.7, B8.48), of which only two things are peculiar: what is asked, and that a 101 is the answer.
//
// Must not know: what becomes of the connection afterwards.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// What a hop asks for, as its receiver has to know it. A class, since every hop has room for
/// one, and hardly any has one.
final class WebSocketHop: Sendable {
    let handshake: WebSocketHandshake
    /// The fields that were sent.
    let fields: Fields

    init(_ handshake: WebSocketHandshake, fields: Fields) {
        self.handshake = handshake
        self.fields = fields
    }
}

extension HopPreparation {
    /// Writes the request that asks for a web socket. Each hop has a key of its own.
    mutating func writeHandshake(for calls: WebSocketCalls) -> Step? {
        do throws(URLError) {
            let (message, asked) = try task.webSocket.handshake(calls, by: request, hop.cookies, in: session)
            (hop.message, hop.webSocket) = (message, asked)
            return .way
        } catch {
            return end(error)
        }
    }
}

extension TaskWebSocket {
    /// The request that asks for a web socket, with a key of its own each time, and what is asked for.
    fileprivate func handshake(
        _ calls: WebSocketCalls, by request: URLRequest, _ cookies: HopCookies, in session: SessionCore
    ) throws(URLError) -> (RequestBuilder.Message, WebSocketHop) {
        var generator = Chance()
        let handshake = WebSocketHandshake(
            nonce: (0..<WebSocketHandshake.nonceByteCount).map { _ in UInt8.random(in: 0 ... .max, using: &generator) },
            protocols: calls.protocols, compression: session.settings.webSocketCompression)
        if let name = calls.protocols.first(where: { !WebSocketHandshake.isProtocol($0) }) {
            throw LoadFailure.unsupportedURL(request.url, "\"\(name)\" cannot be the name of a protocol.")
        }
        let message = try session.builder.message(
            for: request, after: task.firstRequest, asking: handshake, cookies: cookies)
        return (message, WebSocketHop(handshake, fields: message.head.fields))
    }

    /// What the server has said does not open a web socket (B15.5): it is the task's response, and the task fails.
    func refuse(_ response: HTTPURLResponse, _ refusal: WebSocketHandshake.Refusal? = nil) {
        task.counting.responseArrived(response, hasBody: false)
        task.hops.willFail(
            ErrorMapping.refusedWebSocket(
                refusal ?? .status(response.statusCode), url: task.state.withLock { $0.currentRequest?.url }))
    }

    /// Refuses a response about which it was being decided; the rest of it is of no use.
    func refuseUndecided(_ response: HTTPURLResponse) {
        refuse(response)
        task.state.withLock { $0.redirect.deliversBody = false }
        task.hops.discardRest()
    }

    /// The handshake has failed: calls that wait hear of it before the task's end is told (B15.34).
    func endHandshake(_ error: any Error) {
        calls?.end(.known(error))
        task.delivery.post(.webSocket(.ended(.known(error))))
    }
}

extension RequestBuilder {
    /// Builds the request that asks for a web socket.
    fileprivate func message(
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
    /// A copy of the route on which plain http goes through a tunnel too (B15.11).
    var tunnelling: Route {
        guard case .proxied(var proxy) = self else { return self }
        proxy.tunnelsAlways = true
        return .proxied(proxy)
    }
}
