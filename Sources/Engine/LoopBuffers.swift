// Working memory that all engines of a loop share.
//
// Each buffer belongs to the code that runs on the loop at the moment, and only for the duration of one call; what must
// be kept longer is copied, or kept in place by `BodyPiece`. Thousands of idle connections therefore own no buffer.

import URLLoadingSystem

/// One loop's scratch buffers.
final class LoopBuffers {
    // `@exclusivity(unchecked)`: as in `Transaction`.

    /// What they belong to.
    unowned let reactor: Reactor
    /// Where plain streams are read into, and where TLS puts decrypted bytes. It is lent, since what was read
    /// may lead to another read.
    let received = BodyBuffers()
    /// Where channels read what they have to decrypt; made at the first need. One for each level: a channel inside
    /// another reads by reading from that one.
    private var sealed: [BodyBuffers] = []
    /// Where a content decoder puts its output.
    let decoded = BodyBuffers()
    /// Where a request's head is written before it is sent.
    @exclusivity(unchecked) var outgoing: [UInt8] = []

    /// Where frames of HTTP/2 are collected before they are sent.
    @exclusivity(unchecked) var frames: [UInt8] = []

    /// The buffers of the given loop, made at the first need.
    static func of(_ reactor: Reactor) -> LoopBuffers {
        if let existing = reactor.resident(key) { return existing }
        let made = LoopBuffers(reactor)
        reactor.setResident(key, made)
        return made
    }

    /// Where a channel that has so many others below it reads what it has to decrypt.
    func sealed(level: Int) -> BodyBuffers {
        while sealed.count <= level { sealed.append(BodyBuffers()) }
        return sealed[level]
    }

    private init(_ reactor: Reactor) {
        self.reactor = reactor
        outgoing.reserveCapacity(4 * 1024)
    }

    private static let key = ResidentKey<LoopBuffers>()
}
