// What a web socket task is beside other tasks: its calls on the way to the engine, and what comes back on the way to
// handlers and delegates (behaviour 15.1 to 15.3). What is asked for and how it ended is kept in its `WebSocketCalls`.
// The handshake is a hop like others; what is peculiar to it is in `TaskWebSocket+Handshake`.
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

/// A task as a web socket.
struct TaskWebSocket: Sendable {
    let task: TaskCore

    /// What it is asked to do; nil for a mock, which is no connection.
    var calls: WebSocketCalls? { task.webSocketCalls }

    // MARK: Calls

    func send(
        _ message: URLSessionWebSocketTask.Message, _ handler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        say(.send(message.content) { hearEnd(of: handler, $0) })
    }

    func send(_ message: URLSessionWebSocketTask.Message) async throws {
        let failure = await withUnsafeContinuation { continuation in
            say(.send(message.content) { continuation.resume(returning: $0) })
        }
        if let failure { throw error(failure) }
    }

    func ping(_ handler: @escaping @Sendable ((any Error)?) -> Void) {
        say(.ping { hearEnd(of: handler, $0) })
    }

    func receive(_ handler: @escaping @Sendable (Result<URLSessionWebSocketTask.Message, any Error>) -> Void) {
        let holdsEnd = calls?.hold() == true
        say(
            .receive { result in
                if case .failure = result { calls?.drained() }
                hear(.received(handler, result, holdsEnd: holdsEnd))
            })
    }

    func receive() async throws -> URLSessionWebSocketTask.Message {
        try await message(received())
    }

    /// The next message for an iteration. After a goodbye of either side it fails only at the end, when it is known how
    /// the conversation was closed (B15.57).
    func receiveOrEnd() async throws -> URLSessionWebSocketTask.Message {
        let result = await received()
        guard case .failure(.end(.closed)) = result, let calls else { return try message(result) }
        await calls.untilEnd()
        return try await message(received())
    }

    private func received() async -> Result<WebSocketMessage, WebSocketFailure> {
        let holdsEnd = calls?.hold() == true
        return await withUnsafeContinuation { continuation in
            say(
                .receive { result in
                    if case .failure = result { calls?.drained() }
                    continuation.resume(returning: result)
                    if holdsEnd { releaseEnd() }
                })
        }
    }

    private func message(
        _ result: Result<WebSocketMessage, WebSocketFailure>
    ) throws -> URLSessionWebSocketTask.Message {
        switch result {
        case .success(let message): return URLSessionWebSocketTask.Message(message)
        case .failure(let failure): throw error(failure)
        }
    }

    func close(_ code: URLSessionWebSocketTask.CloseCode, reason: Data?) {
        let close = WebSocketClose(code: code.rawValue, reason: reason.map { Array($0) })
        if calls?.sayGoodbye(close) != true { task.driver.cancel() }
    }

    private func say(_ order: WebSocketOrder) {
        if let calls { calls.say(order) } else { order.refuse(.known(URLError(.unsupportedURL))) }
    }

    /// Brings the answer to a call of `send` or `ping` to its handler. The end waits for a handler that hears of a
    /// success: it may ask for a message.
    private func hearEnd(of handler: @escaping @Sendable ((any Error)?) -> Void, _ failure: WebSocketFailure?) {
        let holdsEnd = failure == nil && calls?.hold() == true
        hear(.answered(handler, failure, holdsEnd: holdsEnd))
    }

    /// Brings an answer to the delegate queue.
    private func hear(_ event: WebSocketEvent) {
        if task.usesRelay { return task.delivery.post(.webSocket(event)) }
        DispatchQueue.global().async { [self] in heed(event) }
    }

    // MARK: What is known

    var maximumMessageSize: Int {
        get { calls?.maximumMessageSize ?? 1 << 20 }
        nonmutating set { calls?.maximumMessageSize = newValue }
    }

    var closeCode: URLSessionWebSocketTask.CloseCode {
        calls?.close.flatMap { URLSessionWebSocketTask.CloseCode(rawValue: Int($0.code)) } ?? .invalid
    }

    var closeReason: Data? { calls?.close?.reason.map { Data($0) } }

    // MARK: Opening

    /// The handshake is over, and was measured: the connection is a web socket. On the loop.
    func open(
        _ connection: consuming DetachedConnection, _ agreement: WebSocketHandshake.Agreement,
        _ records: [TransactionRecord], on reactor: Reactor
    ) {
        let (transaction, deadline) = task.state.withLock { state in
            state.records += records
            return (state.load.transaction, state.resourceDeadline)
        }
        guard let calls, let transaction else {
            return endHandshake(LoadFailure.cancelled(task.currentRequest?.url))
        }
        let settings = WebSocketSettings(
            host: transaction.host, compression: agreement.compression, maximumMessageSize: calls.open(),
            resourceDeadline: deadline)
        let opened = transaction.carry(connection, as: settings, on: reactor) { _ in
            TaskWebSocketReceiver(core: task, calls: calls, reactor: reactor)
        }
        // The engine has ended.
        guard let handle = opened else { return endHandshake(LoadFailure.cancelled(task.currentRequest?.url)) }
        let isCancelled = task.driver.goOn(with: handle)
        task.delivery.post(.webSocket(.opened(agreement.subprotocol, holdsEnd: calls.hold())), on: reactor)
        calls.begin(handle)
        if isCancelled { handle.cancel() }
        task.driver.tellExchangeOfSuspension()
    }

    // MARK: Telling

    /// Tells handlers and delegates, on their queue.
    func heed(_ event: WebSocketEvent) {
        switch event {
        case .answered(let handler, let failure, let holdsEnd):
            handler(failure.map(error))
            if holdsEnd { releaseEnd() }
        case .received(let handler, let result, let holdsEnd):
            handler(result.map(URLSessionWebSocketTask.Message.init).mapError(error))
            if holdsEnd { releaseEnd() }
        case .opened(let chosen, let holdsEnd):
            if !task.isOver {
                tell(.openedWebSocket) { $0.urlSession($1, webSocketTask: $2, didOpenWithProtocol: chosen) }
            }
            if holdsEnd { releaseEnd() }
        case .closed:
            guard !task.isOver else { return }
            let (code, reason) = (closeCode, closeReason)
            tell(.closedWebSocket) { $0.urlSession($1, webSocketTask: $2, didCloseWith: code, reason: reason) }
        case .ended(.end(.closed)): task.completion.begin(nil)?.resume()
        case .ended(let failure): task.completion.begin(error(failure))?.resume()
        }
    }

    /// Something that the end waited for is done.
    private func releaseEnd() {
        guard let end = calls?.release() else { return }
        post(end, on: nil)
    }

    /// Has it told how it ended, behind all that was posted before.
    fileprivate func post(_ end: WebSocketFailure, on reactor: Reactor?) {
        if calls?.close != nil { task.delivery.post(.webSocket(.closed), on: reactor) }
        task.delivery.post(.webSocket(.ended(end)), on: reactor)
    }

    private func tell(
        _ method: DelegateMethod,
        _ call: (any URLSessionWebSocketDelegate, URLSession, URLSessionWebSocketTask) -> Void
    ) {
        guard let shown = task.face as? URLSessionWebSocketTask else { return }
        task.telling.tellFirst(method, { $0.session as? any URLSessionWebSocketDelegate }) { call($0, $1, shown) }
    }

    /// What a call or the task fails with.
    private func error(_ failure: WebSocketFailure) -> any Error {
        ErrorMapping.webSocketError(
            failure, url: task.state.withLock { $0.currentRequest?.url },
            evaluator: task.trust.evaluator)
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
        core.counting.moved(received: received, sent: sent)
    }

    func closing(_ close: WebSocketClose) { calls.close = close }

    func finished(_ failure: WebSocketFailure, unclaimed: [WebSocketMessage]) {
        calls.end(failure, unclaimed: unclaimed)
        if calls.mayTell(failure) { core.webSocket.post(failure, on: reactor) }
    }
}

extension TaskCore {
    /// The task as a web socket.
    var webSocket: TaskWebSocket { TaskWebSocket(task: self) }
}
