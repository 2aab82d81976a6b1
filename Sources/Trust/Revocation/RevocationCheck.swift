// Whether a certificate of a path was revoked, by the lists that were given and the response that was stapled. Looks
// nothing up. RFC 5280 section 6.3, RFC 6960, RFC 7633.

/// The question about revocation, for one chain.
struct RevocationCheck {
    private let chain: CertificateChain
    private let policy: TrustPolicy
    private let now: Int64
    /// What the responses say about a certificate if this is the issuer: peers can send many of one name.
    private var answers: [Step: StapledResponse.Answer] = [:]

    private struct Step: Hashable {
        let certificate: ObjectIdentifier
        let issuer: ObjectIdentifier
    }

    init(_ chain: CertificateChain, policy: TrustPolicy, now: Int64) {
        self.chain = chain
        self.policy = policy
        self.now = now
    }

    /// What is wrong with a certificate of this issuer, if anything, and how long that answer holds.
    ///
    /// Where the budget does not last for an answer there is no silence to believe in: the problem is the work.
    mutating func answer(
        for certificate: Certificate, issuer: Certificate, isLeaf: Bool, budget: inout WorkBudget
    ) -> (problem: TrustFailure.Reason?, until: Int64) {
        guard policy.revocation.mode != .none else { return (nil, .max) }
        let stapled = staple(certificate, issuer, isLeaf: isLeaf, budget: &budget)
        if budget.isExhausted { return (.tooMuchWork, .max) }
        if stapled == .revoked { return (.revoked, .max) }
        if isLeaf, certificate.fields.extensions.mustStaple, let problem = missingStaple(stapled) {
            return (problem, .max)
        }
        let (listed, listUntil, complaint) = look(for: certificate, issuer, budget: &budget)
        if budget.isExhausted { return (.tooMuchWork, .max) }
        if listed { return (.revoked, .max) }
        if case .good(let until) = stapled { return (nil, min(until, listUntil ?? .max)) }
        if let listUntil { return (nil, listUntil) }
        guard policy.revocation.mode == .hard else { return (nil, .max) }
        if case .useless(let why) = stapled { return (.revocationUnknown("the stapled OCSP response: " + why), .max) }
        return (.revocationUnknown(complaint ?? "there was no answer"), .max)
    }

    /// What the responses say, the stapled one and those that were given: a certificate that one of them calls revoked
    /// is revoked.
    private mutating func staple(
        _ certificate: Certificate, _ issuer: Certificate, isLeaf: Bool, budget: inout WorkBudget
    ) -> StapledResponse.Answer? {
        var responses = Array(policy.revocation.responses.prefix(Self.mostResponses))
        if isLeaf, case .response(let der) = chain.stapling { responses.insert(der, at: 0) }
        guard !responses.isEmpty else { return nil }
        let step = Step(certificate: ObjectIdentifier(certificate), issuer: ObjectIdentifier(issuer))
        if let known = answers[step] { return known }
        var best: StapledResponse.Answer?
        for der in responses where best != .revoked {
            let answer = StapledResponse.read(
                der, about: certificate, issuer: issuer, policy: policy, now: now, budget: &budget)
            switch (answer, best) {
            case (.good(let until), .good(let other)): best = .good(until: max(until, other))
            case (.revoked, _), (.good, _), (.useless, nil): best = answer
            case (.useless, _): break
            }
        }
        // What the budget has cut short is asked again where there is another one.
        if !budget.isExhausted { answers[step] = best }
        return best
    }

    /// RFC 7633 section 4.3.3: the promise of a response is broken by none, and by one that is of no use.
    private func missingStaple(_ answer: StapledResponse.Answer?) -> TrustFailure.Reason? {
        switch (answer, chain.stapling) {
        case (.good, _), (.revoked, _), (nil, .unknown): nil
        case (.useless(let why), _): .revocationUnknown("the stapled OCSP response that it promises: " + why)
        case (nil, _): .revocationUnknown("the stapled OCSP response that it promises was not sent")
        }
    }

    /// Whether a list of the issuer has the certificate, how long the freshest that has it not holds, and why lists of
    /// the issuer were not used.
    private func look(
        for certificate: Certificate, _ issuer: Certificate, budget: inout WorkBudget
    ) -> (listed: Bool, until: Int64?, complaint: String?) {
        var until: Int64?
        var complaint: String?
        let fields = certificate.fields
        let lists = policy.revocation.lists.prefix(Self.mostLists)
        if lists.isEmpty { return (false, nil, nil) }
        guard budget.takeComparisons(lists.count), budget.takeNames(bytes: issuer.fields.subject.count) else {
            return (false, nil, nil)
        }
        let name = issuer.fields.with(issuer.fields.subject) { DistinguishedName.canonical(whole: $0) }
        guard let name else { return (false, nil, nil) }
        for list in lists where list.issuerName == name {
            guard list.isUsable else {
                complaint = "its issuer's revocation list is of a kind that is not understood"
                continue
            }
            if let usage = issuer.keyUsage, !usage.contains(.crlSign) {
                complaint = "its issuer may not sign revocation lists"
                continue
            }
            guard let isSigned = list.isSigned(by: issuer, budget: &budget) else { return (false, nil, nil) }
            guard isSigned else {
                complaint = "its issuer's revocation list is forged"
                continue
            }
            // A certificate that was listed once stays revoked, also by an old list.
            if list.lists(fields) { return (true, nil, nil) }
            let isCovered = certificate.isCertificateAuthority ? list.covers.authorities : list.covers.leaves
            guard isCovered else { continue }
            guard list.thisUpdate <= now, let end = list.nextUpdate, now <= end else {
                complaint = "its issuer's revocation list is not of this time"
                continue
            }
            until = max(until ?? .min, end)
        }
        return (false, until, complaint)
    }

    // By feel: an authority has one list, a program knows few authorities.
    private static let mostLists = 64
    private static let mostResponses = 16
}
