// Whether a request whose connection died is sent once more without telling the program. Behaviour B6.26 to B6.31,
// RFC 9110 §9.2.2, RFC 9112 §9.3.1. It must not know why a connection died; the facts were noted where it happened.

/// What becomes of a request whose connection died.
package enum ReplayVerdict: Sendable, Equatable {
    /// Send it again, on a new connection.
    case replay
    /// Send it again, on a new connection, if its body is supplied anew; otherwise report the loss.
    case replayWithNewBody
    /// Report the loss.
    case fail
}

/// Decides about sending a request again.
package enum ReplayRules {
    /// The verdict about a connection that died under a request.
    ///
    /// - method: as sent; methods are case-sensitive.
    /// - reusedConnection: it had served an earlier request.
    /// - bytesWritten: some byte of this request was given to it.
    /// - responseBytes: some byte of the answer came.
    /// - bodyReplayable: no body, one that can be read again, or one of which nothing was taken yet.
    /// - attempt: 1 for the first sending.
    package static func verdict(
        method: String, reusedConnection: Bool, bytesWritten: Bool, responseBytes: Bool, bodyReplayable: Bool,
        attempt: Int
    ) -> ReplayVerdict {
        // B6.29: the server has acted on it.
        if responseBytes { return .fail }
        // B6.28: a server that drops fresh connections would drop the next one too.
        if !reusedConnection { return .fail }
        // B6.27: a connection known to be dead before writing is as if it had not been in the pool.
        // B6.26: otherwise once, and only what may be done twice.
        guard !bytesWritten || attempt <= 1 && isIdempotent(method) else { return .fail }
        // B6.26, B11.8: a stream that was read from cannot be read again, and is not sent again silently: its owner is
        // asked for another.
        return bodyReplayable ? .replay : .replayWithNewBody
    }

    /// The verdict about a 408 that announces the end of an idle connection and crossed the request on its way:
    /// with `Connection: close` on a reused connection it counts as a dead connection where a replay is harmless, else
    /// (`fail`) it is the answer (B6.31).
    package static func verdictAboutTimeout(
        status: Int, closesConnection: Bool, method: String, reusedConnection: Bool, bodyReplayable: Bool, attempt: Int
    ) -> ReplayVerdict {
        guard status == 408, closesConnection else { return .fail }
        return verdict(
            method: method, reusedConnection: reusedConnection, bytesWritten: true, responseBytes: false,
            bodyReplayable: bodyReplayable, attempt: attempt)
    }

    /// How long a request waits before it is sent again that its server has not looked at, for the `number`th time
    /// (H7.3); nil where that is enough. A server may ask for calm, and then has a second at least (H7.8). `jitter`,
    /// from 0 to 1, spreads requests that were turned away together.
    package static func delayAfterRefusal(_ number: Int, asksForCalm: Bool, jitter: Double) -> Duration? {
        let delays: [Duration] = [.zero, .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(2)]
        guard delays.indices.contains(number - 1) else { return nil }
        let delay = asksForCalm ? max(.seconds(1), delays[number - 1]) : delays[number - 1]
        return delay + delay * (min(max(jitter, 0), 1) / 2)
    }

    /// Whether sending a request twice has the effect of sending it once (RFC 9110 §9.2.2).
    package static func isIdempotent(_ method: String) -> Bool { idempotentMethods.contains(method) }

    /// The methods of which that is known.
    package static let idempotentMethods: Set<String> = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]
}
