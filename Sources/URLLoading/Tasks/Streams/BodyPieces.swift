// A body that is read as it comes, piece by piece. Shared by the views of `URLSession.AsyncBytes`
// and what interceptors see.

import Foundation

/// Gives a body's pieces in order, then the error that ended it.
@usableFromInline
struct BodyPieces: PieceSupply {
    private enum Source: Sendable {
        /// A task's events.
        case feed(FeedIteration)
        /// What an interceptor has answered with.
        case supply(any PieceSupply)
    }

    private var source: Source
    /// What was taken from the feed, last first.
    private var events: [URLSession.TransferEvent] = []
    private var hasEnded = false

    init(_ feed: TransferFeed) {
        source = .feed(FeedIteration(feed))
    }

    init(supply: any PieceSupply) {
        source = .supply(supply)
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
            switch source {
            case .feed(let iteration):
                events = await iteration.feed.next(isolation: isolation)
                // Another iteration has seen the end.
                if events.isEmpty { hasEnded = true }
                events.reverse()
            case .supply(let supply):
                return try await next(of: supply, isolation: isolation)
            }
        }
        return nil
    }

    /// The next piece that is not empty; a sequence of the program's may have no other, for ever.
    private mutating func next(of supply: any PieceSupply, isolation: isolated (any Actor)?) async throws -> Data? {
        var supply = supply
        hasEnded = true
        repeat {
            // B1.89.
            if Task.isCancelled { throw LoadFailure.cancelled(nil) }
            guard let piece = try await supply.next(isolation: isolation) else { return nil }
            guard piece.isEmpty else {
                source = .supply(supply)
                hasEnded = false
                return piece
            }
        } while true
    }
}
