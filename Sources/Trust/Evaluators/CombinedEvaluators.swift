// Evaluators made of evaluators. None of them judges.

/// Believes a server that one of several evaluators believes.
package struct AnyOfEvaluator: FileEvaluator {
    private let evaluators: [any TrustEvaluator]

    /// Asks them in order until one trusts; without evaluators no chain is trusted.
    package init(_ evaluators: [any TrustEvaluator]) {
        self.evaluators = evaluators
    }

    /// The first verdict that trusts the chain. Of refusals the one that nothing excuses, else the one that comes
    /// closest to belief.
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        try ask(chain, policy, mayWait).verdict
    }

    /// The verdict, and the one that trusts the chain.
    private func ask(
        _ chain: CertificateChain, _ policy: TrustPolicy, _ mayWait: Bool
    ) throws(FilesNeeded) -> (verdict: TrustVerdict, believer: (any TrustEvaluator)?) {
        var refusal: TrustFailure?
        for evaluator in evaluators {
            switch try evaluator.verdict(on: chain, policy: policy, mayWait: mayWait) {
            case .trusted(let peer): return (.trusted(peer), evaluator)
            case .refused(let failure):
                if refusal.map({ failure.isTold(inPlaceOf: $0) }) ?? true { refusal = failure }
            }
        }
        return (.refused(refusal ?? TrustFailure(.other("there is no evaluator to judge it"), chain.leaf)), nil)
    }

    /// Those of all evaluators together.
    package func conditions(on policy: TrustPolicy) -> TrustPolicy { evaluators.conditions(on: policy) }

    /// Whether one of them does.
    package var learns: Bool { evaluators.contains { $0.learns } }

    /// Tells the one by which the chain is believed.
    package func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustFailure?
    {
        let (verdict, believer) = try ask(chain, policy, mayWait)
        // What was believed a moment ago may have been met elsewhere with another key.
        if case .refused(let failure) = verdict { return failure }
        return try believer?.learn(chain, policy: policy, mayWait: mayWait)
    }
}

/// Believes a server that all of several evaluators believe (B3.65).
package struct AllOfEvaluator: FileEvaluator {
    private let evaluators: [any TrustEvaluator]

    /// Asks all of them in order; without evaluators no chain is trusted.
    package init(_ evaluators: [any TrustEvaluator]) {
        self.evaluators = evaluators
    }

    /// All that makes one of them refuse it, or the first belief that comes with a path. What is excused of one refusal
    /// excuses no other (B3.45).
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        var belief: VerifiedPeer?
        var refusals: [TrustFailure] = []
        for evaluator in evaluators {
            switch try evaluator.verdict(on: chain, policy: policy, mayWait: mayWait) {
            case .trusted(let peer): if belief?.path.isEmpty ?? true { belief = peer }
            case .refused(let failure): refusals.append(failure)
            }
        }
        if let failure = TrustFailure(joining: refusals) { return .refused(failure) }
        return belief.map { .trusted($0) }
            ?? .refused(TrustFailure(.other("there is no evaluator to judge it"), chain.leaf))
    }

    /// Those of all evaluators together.
    package func conditions(on policy: TrustPolicy) -> TrustPolicy { evaluators.conditions(on: policy) }

    /// Whether one of them does.
    package var learns: Bool { evaluators.contains { $0.learns } }

    /// Tells all of them, up to one that refuses.
    package func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustFailure?
    {
        for evaluator in evaluators {
            if let failure = try evaluator.learn(chain, policy: policy, mayWait: mayWait) { return failure }
        }
        return nil
    }
}

/// Lets the connection's host decide which evaluator is asked (B3.66).
package struct PerHostEvaluator: FileEvaluator {
    private let entries: [(pattern: HostPattern, value: any TrustEvaluator)]
    private let fallback: (any TrustEvaluator)?

    /// The most specific pattern decides; without one the fallback does, and without that the host is refused.
    package init(
        _ entries: [(pattern: HostPattern, evaluator: any TrustEvaluator)], otherwise fallback: (any TrustEvaluator)?
    ) {
        self.entries = entries.map { ($0.pattern, $0.evaluator) }
        self.fallback = fallback
    }

    /// The verdict of the host's evaluator.
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        guard let evaluator = evaluator(for: policy.place) else {
            return .refused(TrustFailure(.other("no evaluator is named for this host"), chain.leaf))
        }
        return try evaluator.verdict(on: chain, policy: policy, mayWait: mayWait)
    }

    /// Those of the host's evaluator.
    package func conditions(on policy: TrustPolicy) -> TrustPolicy {
        evaluator(for: policy.place)?.conditions(on: policy) ?? policy
    }

    /// Whether one of them does, whatever its hosts.
    package var learns: Bool { entries.contains { $0.value.learns } || fallback?.learns ?? false }

    /// Tells the host's evaluator.
    package func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustFailure?
    {
        try evaluator(for: policy.place)?.learn(chain, policy: policy, mayWait: mayWait)
    }

    private func evaluator(for host: HostName?) -> (any TrustEvaluator)? {
        host.flatMap { entries.mostSpecific(for: $0) } ?? fallback
    }
}

extension [any TrustEvaluator] {
    /// All that one of the evaluators asks for beyond the policy; another date only where all of them are asked for the
    /// same.
    fileprivate func conditions(on policy: TrustPolicy) -> TrustPolicy {
        let each = map { $0.conditions(on: policy) }
        var joined = policy
        for one in each { joined.tighten(by: one) }
        if let first = each.first, each.allSatisfy({ $0.time == first.time }) { joined.time = first.time }
        return joined
    }
}
