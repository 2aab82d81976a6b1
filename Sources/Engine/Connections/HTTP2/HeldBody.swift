// What has come of a body and was not taken yet, in the order in which it came. A long piece stays where it arrived,
// short ones are copied.
//
// Must not know: windows, streams.

/// Pieces of a body that wait to be taken.
struct HeldBody {
    private var chunks: [BodyChunk] = []
    /// How many of them have been taken out.
    private var taken = 0

    var isEmpty: Bool { taken == chunks.count }

    /// Adds a piece behind the others.
    mutating func append(_ piece: BodyPiece) {
        if piece.bytes.count >= Self.leastKept, let kept = piece.keep() { return chunks.append(.kept(kept)) }
        chunks.append(copyOf: piece.bytes)
    }

    /// Takes the first piece out; nil where nothing is held.
    mutating func takeFirst() -> BodyChunk? {
        guard !isEmpty else { return nil }
        let first = chunks[taken]
        chunks[taken] = .copied([])
        taken += 1
        // Also where it never becomes empty: a body has no end that could be counted on.
        if isEmpty || taken >= Self.mostTaken {
            chunks.removeFirst(taken)
            taken = 0
        }
        return first
    }

    /// Half of a buffer in which bytes arrive: what is kept holds all of the buffer, and takes twice its bytes at most.
    private static let leastKept = 128 << 10
    /// Picked by feel: moving those behind them is then rare, and there are few of them.
    private static let mostTaken = 32
}
