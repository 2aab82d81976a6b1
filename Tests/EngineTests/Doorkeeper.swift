// A server's judge of client certificates that counts them.

import URLLoadingTestSupport
import URLLoadingTrust

/// Counts the certificates that a server was shown.
final class Doorkeeper: TrustEvaluator {
    private let count = Guarded(0)
    private let inner: any TrustEvaluator

    init(_ authority: Certificate) { inner = AnchorsEvaluator(anchors: [authority]) }

    var shown: Int { count.withLock(\.self) }

    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        count.withLock { $0 += 1 }
        return inner.evaluate(chain, policy: policy)
    }
}
