// The body of one answer as it is put into DATA frames, piece by piece. It knows no frames and no windows: its writer
// asks what comes next, and takes as much of it as may be sent.

/// What is left of a body.
struct HTTP2Body {
    /// What comes next.
    enum Next {
        /// So many bytes at least, one after the other.
        case bytes(Int)
        /// A pause, which `passPause()` ends.
        case delay(Duration)
        case gate(ServerGate)
        case end
    }

    private enum Part {
        case bytes([UInt8])
        case generated(Int64, from: Int64)
        case delay(Duration)
        case gate(ServerGate)
    }

    private let parts: [Part]
    private var index = 0
    private var position: Int64 = 0

    init(_ source: BodySource) {
        switch source {
        case .bytes(let bytes): parts = bytes.isEmpty ? [] : [.bytes(bytes)]
        case .generated(let length, let start): parts = length > 0 ? [.generated(length, from: start)] : []
        case .pieces(let pieces):
            var parts: [Part] = []
            for piece in pieces {
                if let delay = piece.delay { parts.append(.delay(delay)) }
                if let gate = piece.gate { parts.append(.gate(gate)) }
                if !piece.bytes.isEmpty { parts.append(.bytes(piece.bytes)) }
            }
            self.parts = parts
        }
    }

    var next: Next {
        guard index < parts.count else { return .end }
        switch parts[index] {
        case .bytes(let bytes): return .bytes(bytes.count - Int(position))
        case .generated(let length, _): return .bytes(Int(clamping: min(length - position, GeneratedBytes.minimumRun)))
        case .delay(let duration): return .delay(duration)
        case .gate(let gate): return .gate(gate)
        }
    }

    /// Whether nothing is left behind the next so many bytes.
    func ends(behind count: Int) -> Bool {
        guard index == parts.count - 1 else { return index == parts.count && count == 0 }
        switch parts[index] {
        case .bytes(let bytes): return Int(position) + count == bytes.count
        case .generated(let length, _): return position + Int64(count) == length
        case .delay, .gate: return false
        }
    }

    /// Appends the next so many bytes, no more than `next` has said.
    ///
    /// Measured: what is appended are whole buffers, as slices of buffers go byte by byte.
    mutating func take(_ count: Int, into out: inout [UInt8]) {
        guard index < parts.count else { return }
        let end: Int64
        switch parts[index] {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { all in
                let start = Int(position)
                out.append(contentsOf: UnsafeRawBufferPointer(rebasing: all[start..<(start + count)]))
            }
            end = Int64(bytes.count)
        case .generated(let length, let start):
            GeneratedBytes.withBlock(at: start + position) { run in
                out.append(contentsOf: UnsafeRawBufferPointer(rebasing: run.prefix(count)))
            }
            end = length
        case .delay, .gate: return
        }
        position += Int64(count)
        if position == end { enterNext() }
    }

    /// What a pause has waited for has happened.
    mutating func passPause() {
        switch next {
        case .delay, .gate: enterNext()
        case .bytes, .end: break
        }
    }

    private mutating func enterNext() {
        index += 1
        position = 0
    }
}
