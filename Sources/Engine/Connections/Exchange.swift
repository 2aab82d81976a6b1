// One request and its answer on a connection, whatever is spoken there: what a transaction can do with it. A closed
// list of classes, so that calls stay direct.
//
// Must not know: what a protocol does, retries, users.

import URLLoadingPolicy

/// What a transaction sees of its exchange.
enum Exchange {
    case http1(HTTP1Exchange)
    case http2(HTTP2Stream)

    /// Sends the owner's request; what comes back is told to the owner.
    func begin(for owner: any ExchangeOwner) {
        switch self {
        case .http1(let exchange): exchange.begin(for: owner)
        case .http2(let stream): stream.begin(for: owner)
        }
    }

    /// Reads on after a pause.
    func readOn() {
        switch self {
        case .http1(let exchange): exchange.readOn()
        case .http2(let stream): stream.readOn()
        }
    }

    /// Writes on: more of the body is there, or writing is allowed again.
    func writeOn() {
        switch self {
        case .http1(let exchange): exchange.flush()
        case .http2(let stream): stream.writeOn()
        }
    }

    /// Gives up: the answer is of no use any more (B16.5), or did not come in time.
    func abandon(isTimedOut: Bool) {
        switch self {
        case .http1(let exchange): exchange.abandon(isTimedOut: isTimedOut)
        case .http2(let stream): stream.abandon(isTimedOut: isTimedOut)
        }
    }

    /// Ends where the answer is whole and only the request's body is still going out; `false` where it is not.
    func endIfAnswered() -> Bool {
        switch self {
        case .http1(let exchange): exchange.endIfAnswered()
        // H7.5: it ends there by itself.
        case .http2: false
        }
    }

    /// How far its request has reached the peer, and how far it had when this was asked last; nil
    /// where that is not known.
    func arrival() -> Arrival? {
        switch self {
        case .http1(let exchange): exchange.arrival()
        case .http2(let stream): stream.connection.arrival(of: stream)
        }
    }

    /// Whether the answer's head was the last thing that was read, so that the connection can be given away.
    var isAtHead: Bool {
        switch self {
        case .http1(let exchange): exchange.isAtHead
        case .http2: false
        }
    }

    /// Whether others use the connection, which therefore cannot be given away.
    var isShared: Bool { if case .http2 = self { true } else { false } }

    /// Gives the connection away where the exchange `isAtHead`; the pool knows it no longer.
    func detach() -> DetachedConnection? {
        switch self {
        case .http1(let exchange): exchange.detach()
        case .http2: nil
        }
    }
}
