// Bytes of a body that outlive the call that brought them: where they arrived, or copied.
//
// Must not know: which receiver they wait for.

/// A part of a body that waits.
enum BodyChunk: Sendable {
    case kept(KeptBytes)
    case copied([UInt8])

    /// How many bytes it has.
    var count: Int {
        switch self {
        case .kept(let kept): kept.bytes.count
        case .copied(let bytes): bytes.count
        }
    }

    /// Lends its bytes.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .kept(let kept): body(kept.bytes)
        case .copied(let bytes): bytes.withUnsafeBytes { body($0) }
        }
    }
}

extension [BodyChunk] {
    /// Adds a copy of bytes at the end, in one chunk with copies before them while that is not too long: bytes that
    /// come one by one then fill no more memory than they take.
    mutating func append(copyOf bytes: UnsafeRawBufferPointer) {
        if case .copied(var last)? = last, bytes.count <= Self.mostCopied - last.count {
            // Order: taken out first, so that the append finds the only reference and copies nothing.
            removeLast()
            last.append(contentsOf: bytes)
            append(.copied(last))
        } else {
            append(.copied([UInt8](bytes)))
        }
    }

    /// As large as a read brings, and more than a system call costs.
    private static var mostCopied: Int { 64 << 10 }
}
