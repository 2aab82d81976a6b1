// The body of a feed, piece by piece. Shared by the views of `URLSession.AsyncBytes`.

import Foundation

/// Gives a body's pieces in order, then the error that ended it.
@usableFromInline
struct BodyPieces: PieceSupply {
    private let iteration: FeedIteration
    /// What was taken from the feed, last first.
    private var events: [URLSession.TransferEvent] = []
    private var hasEnded = false

    init(_ feed: TransferFeed) {
        iteration = FeedIteration(feed)
    }

    @usableFromInline
    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        while !hasEnded {
            while let event = events.popLast() {
                switch event {
                case .body(let piece):
                    return piece
                case .end(let error):
                    hasEnded = true
                    if let error { throw error }
                    return nil
                case .informational, .redirect, .retry, .response, .progress, .metrics:
                    continue
                }
            }
            events = await iteration.feed.next(isolation: isolation)
            // Another iteration has seen the end.
            if events.isEmpty { hasEnded = true }
            events.reverse()
        }
        return nil
    }
}
