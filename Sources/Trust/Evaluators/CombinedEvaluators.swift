// Evaluators made of evaluators. None of them judges.

/// Believes whom one of several evaluators believes.
package struct AnyOfEvaluator: TrustEvaluator {
    private let evaluators: [any TrustEvaluator]

    /// Asks them in order until one believes; of no evaluators nobody believes anything.
    package init(_ evaluators: [any TrustEvaluator]) {
        self.evaluators = evaluators
    }

    /// The first belief, or the refusal that comes closest to one.
    package func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        var refusal: TrustFailure?
        for evaluator in evaluators {
            switch evaluator.evaluate(chain, policy: policy) {
            case .trusted(let peer): return .trusted(peer)
            case .refused(let failure):
                if refusal.map({ $0.reason.rank < failure.reason.rank }) ?? true { refusal = failure }
            }
        }
        return .refused(refusal ?? TrustFailure(.other("there is nobody to judge it"), chain.leaf))
    }
}

/// Believes whom all of several evaluators believe (B3.65).
package struct AllOfEvaluator: TrustEvaluator {
    private let evaluators: [any TrustEvaluator]

    /// Asks them in order until one refuses; of no evaluators nobody believes anything.
    package init(_ evaluators: [any TrustEvaluator]) {
        self.evaluators = evaluators
    }

    /// The first refusal, or the first belief that comes with a path.
    package func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        var belief: VerifiedPeer?
        for evaluator in evaluators {
            switch evaluator.evaluate(chain, policy: policy) {
            case .trusted(let peer): if belief?.path.isEmpty ?? true { belief = peer }
            case .refused(let failure): return .refused(failure)
            }
        }
        return belief.map { .trusted($0) }
            ?? .refused(TrustFailure(.other("there is nobody to judge it"), chain.leaf))
    }
}

/// Lets the host decide which evaluator is asked (B3.66).
package struct PerHostEvaluator: TrustEvaluator {
    /// Which hosts an evaluator is for.
    package enum Pattern: Sendable, Hashable {
        /// This host.
        case host(HostName)
        /// Every host below this domain, but not the domain itself.
        case below(String)

        /// Reads `*.example.com` as everything below, anything else as one host.
        package init(_ text: String) {
            guard text.hasPrefix("*.") else {
                self = .host(HostName(text))
                return
            }
            // Hosts are compared without their trailing dot (B3.17), so patterns have none either.
            self = .below(HostName(String(text.dropFirst(2))).description)
        }

        fileprivate func matches(_ host: HostName) -> Bool {
            switch (self, host) {
            case (.host(let wanted), _): return wanted == host
            case (.below(let domain), .dns(let name)): return name.hasSuffix("." + domain)
            case (.below, .ip): return false
            }
        }

        /// The longer the domain, the more it says; a host says most.
        fileprivate var weight: Int {
            switch self {
            case .host: .max
            case .below(let domain): domain.utf8.count
            }
        }
    }

    private let entries: [(pattern: Pattern, evaluator: any TrustEvaluator)]
    private let fallback: (any TrustEvaluator)?

    /// The most specific pattern decides; without one the fallback does, and without that the host is refused.
    package init(
        _ entries: [(pattern: Pattern, evaluator: any TrustEvaluator)], otherwise fallback: (any TrustEvaluator)?
    ) {
        self.entries = entries.sorted { $0.pattern.weight > $1.pattern.weight }
        self.fallback = fallback
    }

    /// The verdict of the host's evaluator.
    package func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        let own = policy.host.flatMap { host in entries.first { $0.pattern.matches(host) }?.evaluator }
        guard let evaluator = own ?? fallback else {
            return .refused(TrustFailure(.other("nobody is named who judges this host"), chain.leaf))
        }
        return evaluator.evaluate(chain, policy: policy)
    }
}
