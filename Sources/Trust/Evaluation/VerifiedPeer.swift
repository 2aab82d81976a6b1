// The proof that a chain was judged and believed. A TLS session asks for one before it touches application data.

/// A peer whose chain an evaluator has believed, or the application has vouched for.
package struct VerifiedPeer: Sendable, Hashable {
    /// The certificates as sent.
    package let presented: CertificateChain
    /// The verified path from the leaf to its anchor, which can differ from what was sent (B3.42); empty when the
    /// application vouched without a path.
    package let path: [Certificate]
    /// When the first answer about revocation that the verdict rests on becomes stale; seconds since 1970.
    package let answersUntil: Int64
    /// Whether the application has accepted it in place of every evaluation.
    package let isVouchedFor: Bool

    init(
        presented: CertificateChain, path: [Certificate], answersUntil: Int64 = .max, isVouchedFor: Bool = false
    ) {
        self.presented = presented
        self.path = path
        self.answersUntil = answersUntil
        self.isVouchedFor = isVouchedFor
    }

    /// The peer that the application itself has accepted, in place of every evaluation (B3.3).
    package static func vouchedForByApplication(_ chain: CertificateChain) -> VerifiedPeer {
        VerifiedPeer(presented: chain, path: [], isVouchedFor: true)
    }

    /// When every certificate below the anchor is valid, or the leaf if it is the anchor (B3.28), and every answer
    /// about revocation still fresh; nil where the verdict does not rest on dates.
    var validity: ClosedRange<Int64>? {
        let judged = path.count > 1 ? path.dropLast() : path[...]
        var (start, end) = (Int64.min, answersUntil)
        for certificate in judged {
            guard let first = certificate.notBefore, let last = certificate.notAfter else { return nil }
            (start, end) = (max(start, first), min(end, last))
        }
        return judged.isEmpty || start > end ? nil : start...end
    }

    /// Whether the time has come at which what the verdict rests on is out of date.
    package var isOutOfDate: Bool {
        guard let validity else { return false }
        return !validity.contains(Platform.now())
    }
}
