// A request that goes out once more as a transaction of its own, since only its body's owner can supply the body again.
//
// Must not know: which object that is.

/// What is known of a request's earlier sending.
package struct SecondSending: Sendable, Equatable {
    /// How often a server has turned the request away without looking at it (H7.3).
    package var refusals = 0
    /// How long the request waits because of that.
    package var pause = Duration.zero
    /// Whether it goes to a new connection: the last was lost, and others may have died just as unnoticed (B6.26).
    package var needsNewConnection = false

    /// After as many refusals, or a loss.
    package init(refusals: Int = 0, pause: Duration = .zero, needsNewConnection: Bool = false) {
        self.refusals = refusals
        self.pause = pause
        self.needsNewConnection = needsNewConnection
    }
}
