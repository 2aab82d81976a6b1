// A request that goes out once more as a transaction of its own, since only its body's owner can supply the body again.
//
// Must not know: which object that is.

/// What is known of a request's earlier sending.
package struct SecondSending: Sendable, Equatable {
    /// How often the request was lost with its connection; a loss is made good once (B6.26).
    package var attempt = 0
    /// How often a server has turned the request away without looking at it (H7.3).
    package var refusals = 0
    /// How long the request waits because of that.
    package var pause = Duration.zero
    /// Whether it goes to a new connection: the last was lost, and others may have died just as unnoticed (B6.26).
    /// Over HTTP/2 nothing is known against others (H7.12).
    package var needsNewConnection = false
    /// Whether it is worth nothing on another connection than the one that was kept for it, since it answers what was
    /// asked there (RFC 4559 §6). Where that has gone it is not sent, and where that is lost not sent again.
    package var needsKept = false

    /// After as many losses and refusals.
    package init(
        attempt: Int = 0, refusals: Int = 0, pause: Duration = .zero, needsNewConnection: Bool = false,
        needsKept: Bool = false
    ) {
        self.attempt = attempt
        self.refusals = refusals
        self.pause = pause
        self.needsNewConnection = needsNewConnection
        self.needsKept = needsKept
    }
}
