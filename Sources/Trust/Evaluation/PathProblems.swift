// The problems of a path, and which of them is reported. Does not look for them.

/// What is wrong with a path or a certificate.
struct PathProblems {
    private var list: [(reason: TrustFailure.Reason, certificate: Certificate)] = []

    var isEmpty: Bool { list.isEmpty }

    /// Those of them that nothing excuses.
    var fatal: PathProblems {
        var fatal = PathProblems()
        fatal.list = list.filter(\.reason.isFatal)
        return fatal
    }

    /// Whether a signature does not fit.
    var hasForgery: Bool { list.contains { $0.reason == .signatureInvalid } }

    mutating func add(_ reason: TrustFailure.Reason, _ certificate: Certificate) {
        if !has(reason, certificate) { list.append((reason, certificate)) }
    }

    func has(_ reason: TrustFailure.Reason, _ certificate: Certificate) -> Bool {
        list.contains { $0.reason == reason && $0.certificate == certificate }
    }

    mutating func add(_ other: PathProblems) {
        for problem in other.list { add(problem.reason, problem.certificate) }
    }

    /// Adds what is wrong with a certificate's dates (B3.28).
    mutating func addDates(of certificate: Certificate, now: Int64) {
        guard let start = certificate.notBefore, let end = certificate.notAfter else { return }
        if now < start { add(.notYetValid(notBefore: start), certificate) }
        if now > end { add(.expired(notAfter: end), certificate) }
    }

    /// Adds that a leaf is not for the host that is asked for (B3.24).
    mutating func addHost(of leaf: Certificate, policy: TrustPolicy) {
        guard let host = policy.host, policy.purpose != .anyPurpose, !HostNameRules.matches(leaf.fields, host) else {
            return
        }
        add(.hostMismatch(wanted: host.description, presented: HostNameRules.presentedNames(leaf)), leaf)
    }

    /// What is wrong with a certificate that is believed by itself, with any issuer. Its dates count. Where an answer
    /// about revocation is demanded none will do, as no issuer is trusted to give it (B3.47). For the connection's host
    /// it is believed whatever it says, for another one that is asked for only if it names it.
    static func alone(_ certificate: Certificate, policy: TrustPolicy) -> PathProblems {
        var problems = PathProblems()
        if let malformed = certificate.fields.malformed { problems.add(.malformed(malformed), certificate) }
        if policy.revocation.mode == .hard {
            problems.add(
                .revocationUnknown("it is believed by itself, and no issuer is trusted to say"), certificate)
        }
        problems.addDates(of: certificate, now: policy.time ?? Platform.now())
        if policy.host != policy.place { problems.addHost(of: certificate, policy: policy) }
        return problems
    }

    /// Whether the worst of these is less serious than the worst of others.
    func isLessSerious(than others: PathProblems) -> Bool {
        (worstRank ?? .max, -list.count) > (others.worstRank ?? .max, -others.list.count)
    }

    /// The most serious problem, the others behind it (B3.72).
    var failure: TrustFailure? {
        let sorted = list.enumerated().sorted {
            ($0.element.reason.rank, $0.offset) < ($1.element.reason.rank, $1.offset)
        }
        guard let worst = sorted.first?.element else { return nil }
        return TrustFailure(worst.reason, worst.certificate, further: sorted.dropFirst().map(\.element.reason))
    }

    private var worstRank: Int? { list.map(\.reason.rank).min() }
}
