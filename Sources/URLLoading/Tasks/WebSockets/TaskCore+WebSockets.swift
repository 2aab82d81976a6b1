// Web socket tasks: their calls on the way to the engine, and what comes back on the way to handlers and delegates
// (behaviour 15.1 to 15.3). The handshake is a hop like others; what is peculiar to it is in `TaskCore+Handshake`.
//
// Async calls are resumed by the loop itself, handlers on the delegate queue.
//
// Must not know: bytes on the wire, in which order calls are carried out.

import Dispatch
import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Something a handler or a delegate is told about a web socket.
enum WebSocketEvent: Sendable {
    case answered(@Sendable ((any Error)?) -> Void, WebSocketFailure?, holdsEnd: Bool)
    case received(
        @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void,
        Result<WebSocketMessage, WebSocketFailure>, holdsEnd: Bool)
    case opened(String?, holdsEnd: Bool)
    case closed
    case ended(WebSocketFailure)
}

extension TaskCore {
    // MARK: Calls

    func send(
        _ message: URLSessionWebSocketTask.Message, _ handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        say(.send(message.content) { [self] in hear(handler, $0) })
    }

    func send(_ message: URLSessionWebSocketTask.Message) async throws {
        let failure = await withUnsafeContinuation { continuation in
            say(.send(message.content) { continuation.resume(returning: $0) })
        }
        if let failure { throw error(failure) }
    }

    func ping(_ handler: @escaping @Sendable ((any Error)?) -> Void) {
        say(.ping { [self] in hear(handler, $0) })
    }

    func receive(_ handler: @escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void) {
        let holdsEnd = webSocketCalls?.hold() == true
        say(
            .receive { [self] result in
                if case .failure = result { webSocketCalls?.drained() }
                hear(.received(handler, result, holdsEnd: holdsEnd))
            })
    }

    func receive() async throws -> URLSessionWebSocketTask.Message {
        let holdsEnd = webSocketCalls?.hold() == true
        let result = await withUnsafeContinuation { continuation in
            say(
                .receive { [self] result in
                    if case .failure = result { webSocketCalls?.drained() }
                    continuation.resume(returning: result)
                    if holdsEnd { releaseEnd() }
                })
        }
        switch result {
        case .success(let message): return URLSessionWebSocketTask.Message(message)
        case .failure(let failure): throw error(failure)
        }
    }

    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        let close = WebSocketClose(code: code.rawValue, reason: reason.map { Array($0) })
        if webSocketCalls?.sayGoodbye(close) != true { cancel() }
    }

    private func say(_ order: WebSocketOrder) {
        guard let calls = webSocketCalls else {
            // A mock is no connection.
            return order.refuse(.known(URLError(.unsupportedURL)))
        }
        calls.say(order)
    }

    /// Brings the answer to a call of `send` or `ping` to its handler. The end waits for a handler that hears of a success:
    /// it may ask for a message.
    private func hear(_ handler: @escaping @Sendable ((any Error)?) -> Void, _ failure: WebSocketFailure?) {
        let holdsEnd = failure == nil && webSocketCalls?.hold() == true
        hear(.answered(handler, failure, holdsEnd: holdsEnd))
    }

    /// Brings an answer to the delegate queue.
    private func hear(_ event: WebSocketEvent) {
        if usesRelay { return post(.webSocket(event)) }
        DispatchQueue.global().async { [self] in heedWebSocket(event) }
    }

    // MARK: What is known

    var maximumMessageSize: Int {
        get { webSocketCalls?.maximumMessageSize ?? 1 << 20 }
        set { webSocketCalls?.maximumMessageSize = newValue }
    }

    var closeCode: URLSessionWebSocketTask.CloseCode {
        webSocketCalls?.close.flatMap { URLSessionWebSocketTask.CloseCode(rawValue: Int($0.code)) } ?? .invalid
    }

    var closeReason: Data? { webSocketCalls?.close?.reason.map { Data($0) } }

    // MARK: Opening

    /// The handshake is over: the connection is a web socket. On the loop.
    func openWebSocket(
        _ connection: consuming DetachedConnection, _ agreement: WebSocketHandshake.Agreement, on reactor: Reactor
    ) {
        let (transaction, deadline) = state.withLock { ($0.load.transaction, $0.resourceDeadline) }
        guard let calls = webSocketCalls, let transaction else {
            return endHandshake(LoadFailure.cancelled(currentRequest?.url))
        }
        let settings = WebSocketSettings(
            host: transaction.host, compression: agreement.compression, maximumMessageSize: calls.open(),
            resourceDeadline: deadline)
        let opened = transaction.carry(connection, as: settings, on: reactor) { _ in
            TaskWebSocketReceiver(core: self, calls: calls, reactor: reactor)
        }
        // The engine has ended.
        guard let handle = opened else { return endHandshake(LoadFailure.cancelled(currentRequest?.url)) }
        let isCancelled = state.withLock { state in
            state.load = .other(handle)
            return state.machine.goOnElsewhere()
        }
        post(.webSocket(.opened(agreement.subprotocol, holdsEnd: calls.hold())), on: reactor)
        calls.begin(handle)
        if isCancelled { handle.cancel() }
        tellLoadOfSuspension()
    }

    // MARK: Telling

    /// Tells handlers and delegates, on their queue.
    func heedWebSocket(_ event: WebSocketEvent) {
        switch event {
        case .answered(let handler, let failure, let holdsEnd):
            handler(failure.map(error))
            if holdsEnd { releaseEnd() }
        case .received(let handler, let result, let holdsEnd):
            handler(result.map(URLSessionWebSocketTask.Message.init).mapError(error))
            if holdsEnd { releaseEnd() }
        case .opened(let chosen, let holdsEnd):
            if !isOver {
                tellWebSocket(.openedWebSocket) { $0.urlSession($1, webSocketTask: $2, didOpenWithProtocol: chosen) }
            }
            if holdsEnd { releaseEnd() }
        case .closed:
            guard !isOver else { return }
            let (code, reason) = (closeCode, closeReason)
            tellWebSocket(.closedWebSocket) {
                $0.urlSession($1, webSocketTask: $2, didCloseWith: code, reason: reason)
            }
        case .ended(.end(.closed)): complete(nil)?.resume()
        case .ended(let failure): complete(error(failure))?.resume()
        }
    }

    /// Something that the end waited for is done.
    private func releaseEnd() {
        guard let end = webSocketCalls?.release() else { return }
        tell(end, on: nil)
    }

    /// Tells how it ended, behind all that was posted before.
    fileprivate func tell(_ end: WebSocketFailure, on reactor: Reactor?) {
        if webSocketCalls?.close != nil { post(.webSocket(.closed), on: reactor) }
        post(.webSocket(.ended(end)), on: reactor)
    }

    /// Calls a method of the task's delegate or, if that has none such, of the session's (B1.95).
    private func tellWebSocket(
        _ method: DelegateMethod,
        _ call: (any URLSessionWebSocketDelegate, URLSession, URLSessionWebSocketTask) -> Void
    ) {
        let (view, urlSession) = state.withLock { ($0.delegateView, $0.session) }
        guard let urlSession, let task = face as? URLSessionWebSocketTask else { return }
        for view in [view, session?.delegateView] {
            guard let delegate = view?.session as? any URLSessionWebSocketDelegate else { continue }
            probe.arm(method)
            call(delegate, urlSession, task)
            if probe.disarm() { return }
        }
    }

    /// What a call or the task fails with.
    private func error(_ failure: WebSocketFailure) -> any Error {
        ErrorMapping.webSocketError(
            failure, url: state.withLock { $0.currentRequest?.url },
            evaluator: session?.settings.evaluator ?? SecTrust.system)
    }
}

extension URLSessionWebSocketTask.Message {
    /// The message as it is sent (B15.12).
    fileprivate var content: WebSocketMessage {
        switch self {
        case .data(let data): WebSocketMessage(.binary, Array(data))
        case .string(let text): WebSocketMessage(text: text)
        }
    }

    /// A received message (B15.12).
    fileprivate init(_ message: WebSocketMessage) {
        self =
            switch message.kind {
            case .binary: .data(Data(message.bytes))
            case .text: .string(String(decoding: message.bytes, as: UTF8.self))
            }
    }
}

extension WebSocketHandle: LoadHandle {
    /// Nothing waits for it: messages are asked for one by one.
    func resumeReading() {}

    /// There is no body.
    func discardRest() {}

    /// Nothing is waited for in a line.
    func setPriority(_ priority: Float) {}
}

/// The loop's side of a web socket task.
private final class TaskWebSocketReceiver: WebSocketReceiver {
    private let core: TaskCore
    private let calls: WebSocketCalls
    private let reactor: Reactor

    init(core: TaskCore, calls: WebSocketCalls, reactor: Reactor) {
        self.core = core
        self.calls = calls
        self.reactor = reactor
    }

    func moved(received: Int, sent: Int) {
        if received > 0 { core.counters.received.wrappingAdd(Int64(received), ordering: .relaxed) }
        if sent > 0 { core.counters.sent.wrappingAdd(Int64(sent), ordering: .relaxed) }
        core.updateProgress()
    }

    func closing(_ close: WebSocketClose) { calls.close = close }

    func finished(_ failure: WebSocketFailure, unclaimed: [WebSocketMessage]) {
        calls.end(failure, unclaimed: unclaimed)
        if calls.mayTell(failure) { core.tell(failure, on: reactor) }
    }
}
