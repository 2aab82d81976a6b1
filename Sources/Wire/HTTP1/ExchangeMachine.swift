// Which order of messages is legal on a client's connection, and whether the connection can be used again afterwards
// (RFC 9112 §9.3, §9.6). An event out of order makes the connection unusable and does not stop the program.
//
// Must not know: bytes, the pool of connections, and the time: a server's limit on idle time is
// passed on, not measured.

/// The course of the exchanges on one connection, in the client's role.
package struct ExchangeMachine: ~Copyable {
    /// Where the connection stands.
    package enum State: Sendable, Equatable {
        /// No exchange has begun: a request may be sent.
        case idle
        /// A request is being sent, or its response received.
        case active
        /// The exchange is over and another may begin.
        case reusable
        /// Nothing more can be sent.
        case mustClose
        /// The connection belongs to another protocol.
        case switched
    }

    private enum RequestProgress {
        case none
        case body
        case sent
    }

    private enum ResponseProgress {
        case none
        case awaited
        case body
        case ended
    }

    private enum Fate {
        case open
        case closed
        case switched
    }

    private var request = RequestProgress.none
    private var response = ResponseProgress.none
    private var fate = Fate.open
    /// Neither side has said that this exchange is the last.
    private var persists = true

    /// The final response has made the rest of the request's body pointless: it is a refusal, or the connection ends
    /// with it (RFC 9112 §9.5, B5.42).
    package private(set) var isBodyUnwanted = false

    /// How long the server keeps an idle connection, as its last response said (`Keep-Alive: timeout=n`).
    package private(set) var keepAliveTimeout: Duration?

    /// A new connection.
    package init() {}

    // MARK: Events

    /// A request's head was written; `keepAliveAllowed` is false if it said `Connection: close`.
    package mutating func requestHeadSent(keepAliveAllowed: Bool) {
        guard state == .idle else { return failed() }
        request = .body
        response = .awaited
        persists = keepAliveAllowed
    }

    /// The last byte of the request's body was written, or there is none.
    package mutating func requestBodyFinished() {
        guard request == .body else { return failed() }
        request = .sent
    }

    /// A response's head came, a 1xx one or the final one; it may come before the request is complete.
    package mutating func responseHead(
        _ head: ResponseHead, framing: BodyFraming, persistence: @autoclosure () -> Persistence
    ) {
        guard response == .awaited else { return failed() }
        if head.status == 101 { return switched() }
        if head.isInformational { return }
        response = .body
        let fields = persistence().fields
        keepAliveTimeout = fields.keepAliveSeconds.map { .seconds(min($0, ExchangeMachine.longestKeepAlive)) }
        if framing == .untilClose || !fields.allowsReuse(version: head.version) { persists = false }
        if request == .body, !persists || head.status >= 300 { isBodyUnwanted = true }
    }

    /// The final response is complete.
    package mutating func responseEnded() {
        guard response == .body else { return failed() }
        response = .ended
    }

    /// The connection now speaks another protocol: 101, or success of a CONNECT.
    package mutating func switched() {
        if fate == .open { fate = .switched }
    }

    /// The peer will send no more.
    package mutating func peerClosed() { fate = .closed }

    /// An error, a cancellation, or bytes that belong to no response: nothing more is sent (B16.5, B16.9, B16.39).
    package mutating func failed() { fate = .closed }

    /// Begins the next exchange on a reusable connection.
    package mutating func nextExchange() {
        guard canReuse else { return failed() }
        request = .none
        response = .none
        persists = true
        isBodyUnwanted = false
    }

    // MARK: Questions

    /// Where the connection stands.
    package var state: State {
        switch fate {
        case .closed: return .mustClose
        case .switched: return .switched
        case .open: break
        }
        switch (request, response) {
        case (.none, _): return .idle
        case (.sent, .ended): return persists ? .reusable : .mustClose
        case (.body, _), (.sent, .none), (.sent, .awaited), (.sent, .body): return .active
        }
    }

    /// Whether the request's head is out and its body is not.
    package var isSendingBody: Bool { request == .body }

    /// Whether another exchange may take place: both messages are complete and neither side wants
    /// to close (B16.4, B16.5).
    package var canReuse: Bool { state == .reusable || state == .idle }

    /// A year is longer than any connection is kept, and a `Duration` of `Int64.max` seconds invites overflow.
    private static var longestKeepAlive: Int64 { 31_536_000 }
}

/// What the fields of a response say about whether its connection lives on.
package struct Persistence: Sendable {
    let fields: FramingFields

    init(_ fields: FramingFields) {
        self.fields = fields
    }

    /// What a head says; `ResponseDecoder.persistence` has it without another look at the fields.
    package init(_ head: ResponseHead) {
        fields = FramingFields(head.fields, readsKeepAlive: true)
    }
}
