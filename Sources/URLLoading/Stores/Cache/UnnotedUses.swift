// Which stored answers were read since the log of a cache was told: it is told of several at a time (B7.7).
//
// Must not know: files, the log.

import URLLoadingPolicy

/// What was read and the log does not know of, the longest ago first.
struct UnnotedUses: Sendable {
    private(set) var names: [SipHash.Words] = []
    private var count = 0

    /// Notes that something was read; whether it is time to tell the log.
    mutating func note(_ name: SipHash.Words) -> Bool {
        guard names.last != name else { return false }
        names.append(name)
        forgetOldest()
        count &+= 1
        return count % Self.atATime == 0
    }

    /// Notes what was used without being read here, in its order.
    mutating func add(_ used: [SipHash.Words]) {
        names += used
        forgetOldest()
    }

    /// What the log is to be told.
    mutating func take() -> [SipHash.Words] {
        defer { names.removeAll(keepingCapacity: true) }
        return names
    }

    private mutating func forgetOldest() { names.removeFirst(max(0, names.count - Self.remembered)) }

    /// Picked by feel: a process that is killed forgets hardly more.
    private static let atATime = 64
    /// Picked by feel: where the log cannot be had for long the last so many count.
    private static let remembered = 1024
}
