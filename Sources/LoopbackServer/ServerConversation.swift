// What a connection of the server may have become in place of a row of requests and answers of HTTP/1.1: a web socket,
// or HTTP/2. The connection reads, decrypts, counts and closes; what the bytes mean is the conversation's to know.

/// What goes on on a connection that speaks something else than HTTP/1.1. Confined to the server's loop.
protocol ServerConversation: AnyObject {
    /// Whether it can take more of what the client sends.
    var wantsInput: Bool { get }
    /// Whether a client that goes away now leaves something undone.
    var hasWork: Bool { get }

    /// Bytes came.
    func received(_ bytes: UnsafeRawBufferPointer)
    /// The client has ended its side.
    func inputEnded()
    /// The connection's timer, which is the conversation's while it goes on.
    func timerFired()
    /// A gate is open that was waited for, and this was the number of the pause.
    func gateOpened(pause: Int)
    /// Hands over what waits for the kernel.
    func flush()
    /// The connection has gone.
    func ended()
}

extension ServerConnection {
    /// Tells the conversation when a gate is open, unless the connection has gone by then.
    func wait(for gate: ServerGate, pause: Int) {
        whenOpen(gate) { $0.conversation?.gateOpened(pause: pause) }
    }

    /// Does something on the loop once a gate is open, unless the connection has gone by then.
    func whenOpen(_ gate: ServerGate, _ body: @escaping @Sendable (ServerConnection) -> Void) {
        let (loop, key, number) = (core.loop, core.key, number)
        gate.whenOpen {
            loop.run { reactor in
                if let connection = reactor.resident(key)?.connection(number) { body(connection) }
            }
        }
    }
}
