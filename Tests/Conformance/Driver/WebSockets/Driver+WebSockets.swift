// The operations on web sockets. Driver protocol, section 8.

import Foundation
import URLLoading
import URLLoadingTestSupport

extension Driver {
    func openWebSocket(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let name = try members.requiredString("ws")
        let plan = try WebSocketPlan(&members)
        try members.finish()
        guard let socket = try webSocket(plan) else { return reply.succeed(Self.badURL) }
        let isNew = state.withLock { state in
            guard state.webSockets[name].map({ $0.end.value != nil }) ?? true else { return false }
            state.webSockets[name] = socket
            return true
        }
        guard isNew else { throw .badCommand("ws.open: \(name) is open") }
        socket.opening.whenKnown { opening in
            switch opening {
            case .opened(let chosen): reply.succeed(["protocol": .text(chosen)])
            case .failed(let end):
                reply.succeed([
                    "error": (end.error ?? TransferError(URLError(.unknown))).json,
                    "response": end.response.map(TransferRecord.describe) ?? .null,
                ])
            }
        }
        socket.begin()
    }

    func echoWebSocket(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        // The package's 1 MiB is less than "every message", and nothing in the command would raise it.
        let plan = try WebSocketPlan(&members, usualLimit: 64 << 20)
        let patience = try Self.patience(&members)
        try members.finish()
        guard let socket = try webSocket(plan) else { return reply.succeed(WebSocketEcho.impossible) }
        WebSocketEcho(socket, patience: patience) { reply.succeed($0) }.begin()
    }

    func sendOnWebSocket(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let socket = try webSocket(&members)
        let message: URLSessionWebSocketTask.Message
        switch (try members.string("text"), try members.base64("binary_base64")) {
        case (let text?, nil): message = .string(text)
        case (nil, let data?): message = .data(data)
        case (nil, nil), (_?, _?): throw .badCommand("ws.send: either text or binary_base64")
        }
        try members.finish()
        socket.send(message) { error in reply.succeed(error.map { ["error": $0.json] } ?? [:]) }
    }

    func receiveOnWebSocket(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let socket = try webSocket(&members)
        let patience = try Self.patience(&members)
        try members.finish()
        socket.receive(within: patience) { result in
            switch result {
            case .success(.string(let text)): reply.succeed(["text": .string(text)])
            case .success(.data(let data)): reply.succeed(["binary_base64": .base64(data)])
            case .failure(let error as URLError) where error.code == .timedOut && socket.end.value == nil:
                reply.succeed(["error": TransferError(error).json])
            case .failure(let error):
                // Whether the peer has said goodbye is told after the calls that wait for messages have been.
                socket.end.whenKnown { end in
                    let failure = TransferError(error).json
                    reply.succeed(end.close == nil ? ["error": failure] : ["closed": end.close.json])
                }
            }
        }
    }

    func pingOnWebSocket(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let socket = try webSocket(&members)
        let patience = try Self.patience(&members)
        try members.finish()
        socket.ping { error in reply.succeed(error.map { ["error": $0.json] } ?? ["pong": true]) }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(patience)) {
            reply.succeed(["pong": false])
        }
    }

    func closeWebSocket(_ members: Members, _ reply: Reply) throws(Refusal) {
        var members = members
        let socket = try webSocket(&members)
        // What of these may not be sent is the package's affair (B15.30).
        guard let number = UInt16(exactly: try members.integer("code") ?? 1000),
            let code = URLSessionWebSocketTask.CloseCode(rawValue: Int(number))
        else { throw .badCommand("ws.close: code is not the number of one") }
        let reason = try members.string("reason")
        try members.finish()
        socket.close(code, reason)
        socket.end.whenKnown { end in
            let error = end.error.map { [JSONMember(name: "error", value: $0.json)] } ?? []
            reply.succeed(.object([JSONMember(name: "closed", value: end.close.json)] + error))
        }
    }

    private func webSocket(_ plan: WebSocketPlan) throws(Refusal) -> DriverWebSocket? {
        guard let session = state.withLock({ $0.sessions[plan.session] }) else {
            throw .badCommand("session \(plan.session) is not open")
        }
        return session.webSocket(plan)
    }

    private func webSocket(_ members: inout Members) throws(Refusal) -> DriverWebSocket {
        let name = try members.requiredString("ws")
        guard let socket = state.withLock({ $0.webSockets[name] }) else {
            throw .badCommand("there is no web socket \(name)")
        }
        return socket
    }

    private static func patience(_ members: inout Members) throws(Refusal) -> Int {
        Int(clamping: try members.count("timeout_ms") ?? 60_000)
    }

    private static var badURL: JSONValue { ["error": TransferError.badURL.json, "response": .null] }
}

extension DriverWebSocket.Close? {
    var json: JSONValue {
        map { ["code": .count($0.code), "reason": .text($0.reason)] } ?? .null
    }
}
