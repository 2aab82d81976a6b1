// What a network does to a connection, as values: at which byte of which direction, and what. Knows no sockets.

/// One thing that is done to one direction of a connection, at a place that is counted in the sender's bytes.
package struct Fault: Sendable, Hashable {
    /// What it is, for counting.
    package enum Kind: String, Sendable, CaseIterable {
        case delay, throttle, split, duplicate, corrupt, cut
        case halfClose = "half-close"
        case reset

        /// Whether everything still arrives, and arrives right.
        package var isHarmless: Bool {
            switch self {
            case .delay, .throttle, .split: true
            case .duplicate, .corrupt, .cut, .halfClose, .reset: false
            }
        }

        /// Whether other bytes arrive than were sent.
        package var changesBytes: Bool {
            switch self {
            case .duplicate, .corrupt: true
            case .delay, .throttle, .split, .cut, .halfClose, .reset: false
            }
        }
    }

    /// What is done.
    package enum Action: Sendable, Hashable {
        /// The next byte comes so much later.
        case delay(Duration)
        /// The next bytes, so many, come in pieces with a pause behind each.
        case throttle(length: Int, piece: Int, pause: Duration)
        /// The next bytes, so many, come in small writes, one a turn of the loop.
        case split(length: Int, piece: Int)
        /// The last bytes, so many (64 at most), come again.
        case duplicate(Int)
        /// These bits of the next byte are changed.
        case corrupt(UInt8)
        /// Both directions end in good order, here and now.
        case cut
        /// This direction ends in good order; what was to come is lost, and the other direction goes on.
        case halfClose
        /// The connection is reset on both sides.
        case reset
    }

    /// How many bytes of the sender come before.
    package let position: Int64
    /// What is done.
    package let action: Action

    /// Something done at a place.
    package init(at position: Int64, _ action: Action) {
        self.position = position
        self.action = action
    }

    /// What it is, for counting.
    package var kind: Kind {
        switch action {
        case .delay: .delay
        case .throttle: .throttle
        case .split: .split
        case .duplicate: .duplicate
        case .corrupt: .corrupt
        case .cut: .cut
        case .halfClose: .halfClose
        case .reset: .reset
        }
    }
}
