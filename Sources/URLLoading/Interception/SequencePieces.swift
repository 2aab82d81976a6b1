// Pieces out of a sequence of the program's.
//
// Must not know: what they are.

import Foundation
import Synchronization

/// One iteration of a sequence. Copies of the reader share it; where two of them ask at once, the second finds the end.
final class SequencePieces<Pieces: AsyncSequence & Sendable>: PieceSupply where Pieces.Element == Data {
    private enum State: Sendable {
        case unread(Pieces)
        case reading(Held)
        /// Being asked, or at its end.
        case out
    }

    /// An iterator between two pieces.
    //
    // `@unchecked Sendable`: `state` guards it. Between two calls it is there; a call takes it out,
    // and only that call uses it.
    private struct Held: @unchecked Sendable {
        var iterator: Pieces.AsyncIterator
    }

    private let state: Mutex<State>

    init(_ pieces: Pieces) {
        state = Mutex(.unread(pieces))
    }

    func next(isolation: isolated (any Actor)?) async throws -> Data? {
        guard var held = take() else { return nil }
        guard let piece = try await held.iterator.next(isolation: isolation) else { return nil }
        let kept = held
        state.withLock { $0 = .reading(kept) }
        return piece
    }

    private func take() -> Held? {
        let before = state.withLock { state -> State in
            defer { state = .out }
            return state
        }
        switch before {
        // Order: when the lock is free, since the sequence is the program's and may read this body.
        case .unread(let pieces): return Held(iterator: pieces.makeAsyncIterator())
        case .reading(let held): return held
        case .out: return nil
        }
    }
}

/// A body in memory as its only piece.
struct OnePiece: PieceSupply {
    private var piece: Data?

    init(_ piece: Data) { self.piece = piece }

    mutating func next(isolation: isolated (any Actor)?) async throws -> Data? {
        defer { piece = nil }
        return piece
    }
}
