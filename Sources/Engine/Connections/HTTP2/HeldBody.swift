// What has come of a body and nobody has taken yet, in the order in which it came. A long piece stays where it arrived; short ones
// are copied together, so that a server which sends byte by byte fills no more memory than the bytes take.
//
// Must not know: windows, streams.

/// Pieces of a body that wait for somebody to take them.
struct HeldBody {
    /// A piece that is held.
    enum Piece {
        case kept(KeptBytes)
        case copied([UInt8])

        /// How many bytes it has.
        var count: Int {
            switch self {
            case .kept(let kept): kept.bytes.count
            case .copied(let bytes): bytes.count
            }
        }

        /// Lends it out.
        func withPiece(_ body: (BodyPiece) -> Void) {
            switch self {
            case .kept(let kept): body(BodyPiece(kept))
            case .copied(let bytes): bytes.withUnsafeBytes { body(BodyPiece(elsewhere: $0)) }
            }
        }
    }

    private var pieces: [Piece] = []
    /// How many of them have been taken out.
    private var given = 0

    var isEmpty: Bool { given == pieces.count }

    /// Adds a piece behind the others.
    mutating func append(_ piece: BodyPiece) {
        if piece.bytes.count >= Self.leastKept, let kept = piece.keep() { return pieces.append(.kept(kept)) }
        if case .copied(var bytes)? = pieces.last, !isEmpty, bytes.count + piece.bytes.count <= Self.mostCopied {
            // Gone from the list meanwhile, or it would be copied to grow.
            pieces.removeLast()
            bytes.append(contentsOf: piece.bytes)
            return pieces.append(.copied(bytes))
        }
        pieces.append(.copied(Array(piece.bytes)))
    }

    /// Takes the first piece out; nil where nothing is held.
    mutating func takeFirst() -> Piece? {
        guard !isEmpty else { return nil }
        let piece = pieces[given]
        pieces[given] = .copied([])
        given += 1
        if isEmpty {
            pieces.removeAll(keepingCapacity: true)
            given = 0
        }
        return piece
    }

    /// Half of a buffer in which bytes arrive: what is kept holds all of the buffer, and takes twice its bytes at most.
    private static let leastKept = 128 << 10
    /// A piece as large as a read brings.
    private static let mostCopied = 64 << 10
}
