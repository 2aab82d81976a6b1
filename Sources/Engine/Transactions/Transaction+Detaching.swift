// A transaction that ends because its connection becomes something else: a stream of bytes (B1.70), or another protocol
// (RFC 9110 §7.8). `DetachedConnection` tells the story.
//
// Must not know: what it becomes.

extension Transaction {
    /// The receiver wants the connection.
    ///
    /// Order: at the end of the turn, since the connection may be in the midst of what it has read; until then it reads
    /// nothing more, and what it has read waits.
    func detach() {
        guard !isDetaching, !isReported, discardBudget == nil else { return }
        isDetaching = true
        reactor.later { [self] in giveConnectionAway() }
    }

    private func giveConnectionAway() {
        if case .finished = state { return }
        guard case .exchanging(let exchange) = state, hasResponse else {
            return failed(.undetachable(.notAtHead))
        }
        guard exchange.isAtHead else { return failed(.undetachable(exchange.isShared ? .shared : .notAtHead)) }
        guard timeline.isRequestSent else { return failed(.undetachable(.requestUnfinished)) }
        timeline.responseEnded(reactor.nanoseconds)
        leave(nil)
        isReported = true
        // Order: the receiver may open a stream with the connection, which keeps the core alive.
        if let connection = exchange.detach() {
            receiver.detached(connection, outcome: outcome(nil))
        } else {
            receiver.finished(outcome(.undetachable(.notAtHead)))
        }
        core.ended(id)
    }
}
