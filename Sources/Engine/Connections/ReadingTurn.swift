// How much is read of one connection at once, and before the others of its loop are next. A fast sender must not keep
// them waiting for ever.

/// One connection's turn at reading.
struct ReadingTurn {
    private var left = 2 << 20

    /// Whether the others are next.
    @inline(__always)
    var isOver: Bool { left <= 0 }

    /// Notes a read of so many bytes; one that brings next to nothing has its price, too.
    @inline(__always)
    mutating func noteRead(_ count: Int) { left -= max(count, Self.leastPrice) }

    /// What a read costs at least, in bytes.
    static var leastPrice: Int { 1024 }

    /// A read of this much is worth its system call.
    static var leastRead: Int { 64 * 1024 }
}
