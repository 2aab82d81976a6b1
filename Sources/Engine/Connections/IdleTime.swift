// Since when a connection carries nothing, and what is asked of it the longer that is: the loop's waits show what its
// peer has said, and nothing shows that this machine's address has gone (B16.84).
//
// Must not know: what is spoken on it.

import URLLoadingSystem

/// Since when a connection is idle.
struct IdleTime {
    /// The loop's last wait for events by then.
    let mark: Int
    /// In nanoseconds of the loops' clock.
    private let began: Int64

    /// It begins now.
    init(_ reactor: Reactor) {
        mark = reactor.pollMark
        began = reactor.nanoseconds
    }

    /// Whether the machine has lost the address that a stream speaks from. It is asked where that may be, and not of a
    /// connection that was in use a moment ago: to know costs as much as a small request.
    func hasOutlastedAddress(of stream: any ByteStream, now reactor: Reactor) -> Bool {
        reactor.nanoseconds &- began >= Self.leastDoubted && stream.hasLostItsAddress()
    }

    /// Picked by feel: a second. Who changes a network takes as long.
    private static let leastDoubted: Int64 = 1_000_000_000
}
