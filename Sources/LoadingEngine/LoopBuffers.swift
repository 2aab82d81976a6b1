// Working memory that all engines of a loop share.
//
// Each buffer belongs to whoever works on the loop at the moment and only for the duration of one call; a
// connection that must keep bytes copies them. Thousands of idle connections therefore own no buffer.

import Sockets

/// One loop's scratch buffers.
final class LoopBuffers {
    /// Where TLS puts decrypted bytes; several records fit.
    let plaintext = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    /// Where a content decoder puts its output.
    let decoded = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    /// Where a request's head is written before it is sent.
    var outgoing: [UInt8] = []

    /// The buffers of the given loop, made at the first need.
    static func of(_ reactor: Reactor) -> LoopBuffers {
        if let existing = reactor.resident(key) { return existing }
        let made = LoopBuffers()
        reactor.setResident(key, made)
        return made
    }

    private init() {
        outgoing.reserveCapacity(4 * 1024)
    }

    deinit {
        plaintext.deallocate()
        decoded.deallocate()
    }

    private static let key = ResidentKey<LoopBuffers>()
}
