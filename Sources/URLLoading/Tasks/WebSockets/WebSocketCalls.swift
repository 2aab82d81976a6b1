// What a web socket task is asked to do, from before it is resumed to after its end: kept until the handshake is over,
// passed on in order while the web socket is open, and answered from memory afterwards.
//
// The end is told behind the messages that came before it (B15.55). A handler that gets a message mostly asks for
// the next one, so the end waits for handlers that have not returned and for calls of `receive` that are not
// answered: both *hold* it. The first call that gets no message shows that there are none left; from then on
// nothing new holds the end.
//
// Must not know: delegate queues, how errors are told to users.

import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

/// The calls of one web socket task, and what is known of it between them.
final class WebSocketCalls: Sendable {
    /// What the program offers besides its request's own fields (B15.3).
    let protocols: [String]
    private let state = Mutex(State())

    private struct State: Sendable {
        var orders = OrderLine<WebSocketOrder, WebSocketHandle, WebSocketFailure>()
        var isOpen = false
        /// What waits for the end.
        var endWaiters: [UnsafeContinuation<Void, Never>] = []
        /// Messages that came before the end and that no call has asked for.
        var unclaimed: ArraySlice<WebSocketMessage> = []
        var maximumMessageSize = 1 << 20
        var close: WebSocketClose?
        /// Handlers and calls that the end waits for.
        var holders = 0
        /// A call of `receive` got no message: there will be none.
        var isDrained = false
        /// The end that waits.
        var heldEnd: WebSocketFailure?
    }

    init(protocols: [String]) { self.protocols = protocols }

    // MARK: What is known

    /// What closed the conversation (B15.27).
    var close: WebSocketClose? {
        get { state.withLock { $0.close } }
        set { state.withLock { $0.close = newValue } }
    }

    /// How many bytes a message may have.
    var maximumMessageSize: Int {
        get { state.withLock { $0.maximumMessageSize } }
        set {
            let isOpen = state.withLock { state in
                state.maximumMessageSize = newValue
                return state.isOpen
            }
            if isOpen { say(.limit(newValue)) }
        }
    }

    // MARK: Calls

    /// Asks for something behind what was asked before.
    func say(_ order: WebSocketOrder) {
        switch state.withLock({ $0.orders.take(order) }) {
        case .kept: break
        case .to(let handle): handle.perform(order) { [self] in answer($0) }
        case .answered: answer(order)
        }
    }

    /// Says goodbye; false where there is no conversation, which then is to be cancelled.
    func sayGoodbye(_ close: WebSocketClose) -> Bool {
        guard state.withLock({ $0.isOpen || $0.orders.end != nil }) else { return false }
        say(.close(close))
        return true
    }

    // MARK: Holding the end

    /// Lets the end wait until `release`; false where it waits for nothing new.
    func hold() -> Bool {
        state.withLock { state in
            if state.isDrained { return false }
            state.holders += 1
            return true
        }
    }

    /// Ends a `hold`; gives the end that is to be told now.
    func release() -> WebSocketFailure? {
        state.withLock { state in
            state.holders -= 1
            return state.holders == 0 ? state.heldEnd.take() : nil
        }
    }

    /// A call of `receive` got no message.
    func drained() { state.withLock { $0.isDrained = true } }

    /// The end is known; true where it is to be told now, else `release` gives it.
    func mayTell(_ end: WebSocketFailure) -> Bool {
        state.withLock { state in
            if state.holders > 0 { state.heldEnd = end }
            return state.holders == 0
        }
    }

    // MARK: The course of things

    /// The handshake is over; answers how many bytes a message may have.
    func open() -> Int {
        state.withLock { state in
            state.isOpen = true
            return state.maximumMessageSize
        }
    }

    /// There is something that carries the orders out.
    func begin(_ handle: WebSocketHandle) {
        // Order: all that waits is passed on before other threads find the handle.
        while true {
            let orders = state.withLock { $0.orders.passOn(to: handle) }
            if orders.isEmpty { return }
            for order in orders { handle.perform(order) { [self] in answer($0) } }
        }
    }

    /// The task has ended; what was never passed on is answered. Counts once.
    func end(_ failure: WebSocketFailure, unclaimed: [WebSocketMessage] = []) {
        let (orders, waiters) = state.withLock { state -> ([WebSocketOrder], [UnsafeContinuation<Void, Never>]) in
            guard let orders = state.orders.close(failure) else { return ([], []) }
            state.unclaimed = unclaimed[...]
            defer { state.endWaiters = [] }
            return (orders, state.endWaiters)
        }
        for order in orders { answer(order) }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when the task has ended.
    func untilEnd() async {
        await withUnsafeContinuation { waiter in
            let hasEnded = state.withLock { state in
                if state.orders.end != nil { return true }
                state.endWaiters.append(waiter)
                return false
            }
            if hasEnded { waiter.resume() }
        }
    }

    /// What came before the end is still given out after it (B15.14); for all else there is its reason (B15.33).
    private func answer(_ order: WebSocketOrder) {
        let (failure, message) = state.withLock { state -> (WebSocketFailure, WebSocketMessage?) in
            let failure = state.orders.end ?? .end(.cancelled)
            guard case .receive = order else { return (failure, nil) }
            return (failure, state.unclaimed.popFirst())
        }
        if case .receive(let handler) = order, let message {
            handler(.success(message))
        } else {
            order.refuse(failure)
        }
    }
}
