// What is asked about revocation. Nothing is fetched: lists are given, responses are stapled (B3.12, B3.13).

/// How revocation is checked.
package struct RevocationPolicy: Sendable, Hashable {
    /// What a missing answer means; the stricter mode is the greater one.
    package enum Mode: Sendable, Hashable, Comparable {
        /// Nothing is looked at.
        case none
        /// A certificate that is known to be revoked is refused; one of which nothing is known is believed (B3.12).
        case soft
        /// Every certificate below the anchor needs a fresh answer, from a list or, the leaf, stapled (B3.47).
        case hard
    }

    /// What a missing answer means.
    package var mode: Mode
    /// Lists of the authorities; those that fit no certificate of a path are passed over.
    package var lists: [RevocationList]

    /// Encoded OCSP responses about any certificate of a path, beside the one that the peer may have stapled.
    package var responses: [[UInt8]]

    /// Stapled responses, these responses and these lists are checked.
    package init(mode: Mode = .soft, lists: [RevocationList] = [], responses: [[UInt8]] = []) {
        self.mode = mode
        self.lists = lists
        self.responses = responses
    }
}
