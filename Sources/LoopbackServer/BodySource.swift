// Where the bytes of an answer's body come from, the same for every protocol. It knows no framing.

/// The body of an answer.
enum BodySource {
    case bytes([UInt8])
    case pieces([ServerResponse.Piece])
    case generated(Int64, from: Int64)

    /// The source of a body; nil for what is no body of an answer but something else that happens on the connection.
    init?(_ body: ServerResponse.Body, echoing requestBody: [UInt8]) {
        switch body {
        case .none: self = .bytes([])
        case .bytes(let bytes): self = .bytes(bytes)
        case .echo: self = .bytes(requestBody)
        case .pieces(let pieces): self = .pieces(pieces)
        case .generated(let length, let start): self = .generated(length, from: start)
        case .encoded, .script, .webSocket, .http2: return nil
        }
    }

    var length: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .pieces(let pieces): pieces.reduce(0) { $0 + Int64($1.bytes.count) }
        case .generated(let length, _): length
        }
    }

    /// The first bytes of this body, at most so many.
    func prefix(_ limit: Int64) -> BodySource {
        switch self {
        case .bytes(let bytes): return .bytes(Array(bytes.prefix(Int(clamping: limit))))
        case .generated(let length, let start): return .generated(min(length, limit), from: start)
        case .pieces(let pieces):
            var kept: [ServerResponse.Piece] = []
            var left = Int(clamping: limit)
            for var piece in pieces where left > 0 {
                piece.bytes = Array(piece.bytes.prefix(left))
                left -= piece.bytes.count
                kept.append(piece)
            }
            return .pieces(kept)
        }
    }
}
