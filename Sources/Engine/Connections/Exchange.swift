// One request and its answer on a connection, whatever is spoken there: what a transaction can do with it. A closed list of
// classes, so that calls stay direct.
//
// Must not know: what a protocol does, retries, users.

/// What a transaction sees of its exchange.
enum Exchange {
    case http1(HTTP1Exchange)

    /// Sends the owner's request on a connection that is the owner's until the end; what comes back is told to the owner.
    func begin(for owner: any ExchangeOwner, on connection: Connection) {
        switch (self, connection) {
        case (.http1(let exchange), .http1(let connection)): exchange.begin(for: owner, on: connection)
        }
    }

    /// Reads on after a pause.
    func readOn() {
        switch self {
        case .http1(let exchange): exchange.readOn()
        }
    }

    /// Writes on: more of the body is there, or writing is allowed again.
    func writeOn() {
        switch self {
        case .http1(let exchange): exchange.flush()
        }
    }

    /// Gives up: the answer is of no use any more (B16.5).
    func abandon() {
        switch self {
        case .http1(let exchange): exchange.abandon()
        }
    }

    /// Ends where the answer is whole and only the request's body is still going out; `false` where it is not.
    func endIfAnswered() -> Bool {
        switch self {
        case .http1(let exchange): exchange.endIfAnswered()
        }
    }

    /// Whether the answer's head was the last thing that was read, so that the connection can be given away.
    var isAtHead: Bool {
        switch self {
        case .http1(let exchange): exchange.isAtHead
        }
    }

    /// Gives the connection away where the exchange `isAtHead`; the pool knows it no longer.
    func detach() -> DetachedConnection? {
        switch self {
        case .http1(let exchange): exchange.detach()
        }
    }
}
