// Builds paths from a leaf to an anchor and judges each step as it is taken, the cheap questions first and
// signatures last, so that a dead end (an expired or cross-signed intermediate, an impostor's name) costs little and
// does not hide a good path (B3.14). RFC 4158 says how, RFC 5280 section 6 what is asked. Its work is bounded
// whatever the peer sends.
//
// A first search goes only where nothing is wrong. When it finds nothing, a second goes on behind problems too, in
// order to say what is wrong with the path that comes closest.

/// A depth-first search over issuers.
struct PathBuilder {
    private let sent: [Candidate]
    private let roots: [TrustRoots]
    private let isThorough: Bool
    private let mayWait: Bool
    /// Whether anchors were left out because files would have had to be read.
    private(set) var needsFiles = false
    private let policy: TrustPolicy
    private let now: Int64
    private var revocation: RevocationCheck
    private var explains = false
    private(set) var budget: WorkBudget
    private var signatures: [Step: Bool] = [:]
    /// The problems of the path that comes closest; nil when none reaches an anchor.
    private(set) var closest: PathProblems?
    /// The longest way that was found towards an anchor.
    private(set) var furthest: [Certificate] = []
    /// What is wrong on the longest way.
    private(set) var furthestProblems = PathProblems()
    private var judged = 0

    /// A certificate with its names in comparable form.
    private final class Candidate {
        let certificate: Certificate
        let fields: CertificateFields
        lazy var subject = fields.with(fields.subject) { DistinguishedName.canonical(whole: $0) }

        init(_ certificate: Certificate) {
            self.certificate = certificate
            fields = certificate.fields
        }
    }

    private struct Step: Hashable {
        let subject: ObjectIdentifier
        let issuer: ObjectIdentifier
    }

    /// A search for anchors in `roots`; a thorough one also asks bundles that would have to be read first.
    /// Files are read only where the search `mayWait` for them.
    init(
        _ chain: CertificateChain, roots: [TrustRoots], isThorough: Bool, mayWait: Bool, policy: TrustPolicy,
        now: Int64,
        budget: WorkBudget
    ) {
        sent = chain.certificates.dropFirst().prefix(Self.mostSent).map(Candidate.init)
        self.roots = roots
        self.isThorough = isThorough
        self.mayWait = mayWait
        self.budget = budget
        self.policy = policy
        self.now = now
        revocation = RevocationCheck(chain, policy: policy, now: now)
    }

    /// The first path without a problem from the leaf, which has been judged before.
    mutating func find(from leaf: Certificate) -> (path: [Certificate], answersUntil: Int64)? {
        explains = false
        return extend([leaf], PathProblems(), .max)
    }

    /// Looks for the path that comes closest.
    mutating func explain(from leaf: Certificate) {
        explains = true
        judged = 0
        // What the first search has used up must not keep this one from naming the reason.
        let isExhausted = budget.isExhausted
        budget = WorkBudget(signatures: 32, steps: 500, comparisons: 50_000)
        furthest = [leaf]
        furthestProblems = PathProblems()
        // A path without a problem is there when only the leaf itself is at fault.
        if extend([leaf], PathProblems(), .max) != nil { closest = PathProblems() }
        if isExhausted || budget.isExhausted {
            var problems = closest ?? furthestProblems.fatal
            problems.add(.tooMuchWork, leaf)
            closest = problems
        }
    }

    private mutating func extend(
        _ path: [Certificate], _ problems: PathProblems, _ until: Int64
    ) -> (path: [Certificate], answersUntil: Int64)? {
        guard let last = path.last, path.count - 1 <= policy.maximumIntermediates else { return nil }
        if explains { note(path, problems) }
        for (issuer, place) in issuers(of: last, in: path) {
            guard !budget.isExhausted, budget.takeStep() else { return nil }
            var found = IssuerRules.problems(
                issuer, place, above: path, policy: policy, now: now, budget: &budget)
            if !found.isEmpty, !explains { continue }
            if !isSigned(last, by: issuer) {
                // A key of another name is no issuer at all; one that is named by its identifier is a forgery.
                guard explains, !budget.isExhausted, namesKey(last, issuer) else { continue }
                found.add(.signatureInvalid, last)
            }
            var until = until
            // An authority that has not signed the certificate has no say in its revocation.
            if !found.has(.signatureInvalid, last) {
                let answer = revocation.answer(for: last, issuer: issuer, isLeaf: path.count == 1, budget: &budget)
                if let problem = answer.problem { found.add(problem, last) }
                until = min(until, answer.until)
            }
            if !found.isEmpty, !explains { continue }
            found.add(problems)
            if place.isAnchor {
                if found.isEmpty { return (path + [issuer], until) }
                judged += 1
                if closest.map({ found.isLessSerious(than: $0) }) ?? true { closest = found }
                if judged >= Self.mostExplained { return nil }
            } else if let good = extend(path + [issuer], found, until) {
                return good
            }
            if explains, judged >= Self.mostExplained { return nil }
        }
        return nil
    }

    /// Keeps the longest way, and of two as long one without a forgery: an impostor beside the issuer proves nothing.
    private mutating func note(_ way: [Certificate], _ problems: PathProblems) {
        if way.count < furthest.count { return }
        if way.count == furthest.count, !furthestProblems.hasForgery || problems.hasForgery { return }
        furthest = way
        furthestProblems = problems
    }

    /// The certificates that may have issued this one: anchors first, so that the shortest way is tried first, then
    /// those whose key identifier fits, then by dates.
    private mutating func issuers(
        of certificate: Certificate, in path: [Certificate]
    ) -> [(Certificate, IssuerRules.Place)] {
        let fields = certificate.fields
        let ends = anchors(certificate.issuerName).filter { $0.0 != certificate }
        // Each is compared with the issuer's name and with the anchors, and names can be long.
        let names = 1 + fields.issuer.count / WorkBudget.bytesAtATime
        guard budget.takeComparisons((sent.count + 1) * (names + ends.count) + ends.count) else { return [] }
        var wanted: [[UInt8]]?
        let between = sent.filter { candidate in
            if !candidate.fields.equal(candidate.fields.subject, fields, fields.issuer) {
                if wanted == nil {
                    wanted = fields.with(fields.issuer) { DistinguishedName.canonical(whole: $0) } ?? []
                }
                guard let wanted, !wanted.isEmpty, candidate.subject == wanted else { return false }
            }
            return !ends.contains { $0.0 == candidate.certificate }
                && !path.contains { Self.isSame($0, candidate.certificate) }
        }
        return (ends + between.map { ($0.certificate, .between) })
            .enumerated().map { ($0.element, rank: order($0.element, below: fields), place: $0.offset) }
            .sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }
            .map(\.0)
    }

    private func order(_ candidate: (Certificate, IssuerRules.Place), below fields: CertificateFields) -> Int {
        let above = candidate.0.fields
        var order = candidate.1.isAnchor ? 0 : 4
        switch (fields.extensions.authorityKey?.identifier, above.extensions.subjectKey) {
        case (let wanted?, let own?): order += fields.equal(wanted, above, own) ? 0 : 16
        default: order += 8
        }
        let isValid = (above.notBefore.map { $0 <= now } ?? false) && (above.notAfter.map { $0 >= now } ?? false)
        return order + (isValid ? 0 : 1)
    }

    /// Whether two certificates are the same authority: the same name and key, so that a path gains nothing by both.
    private static func isSame(_ left: Certificate, _ right: Certificate) -> Bool {
        let (a, b) = (left.fields, right.fields)
        return a.equal(a.publicKeyInfo, b, b.publicKeyInfo) && a.equal(a.subject, b, b.subject)
    }

    private func namesKey(_ certificate: Certificate, _ issuer: Certificate) -> Bool {
        let (fields, above) = (certificate.fields, issuer.fields)
        guard let wanted = fields.extensions.authorityKey?.identifier, let own = above.extensions.subjectKey else {
            return true
        }
        return fields.equal(wanted, above, own)
    }

    private mutating func isSigned(_ certificate: Certificate, by issuer: Certificate) -> Bool {
        let step = Step(subject: ObjectIdentifier(certificate), issuer: ObjectIdentifier(issuer))
        if let known = signatures[step] { return known }
        guard let weight = SignatureRules.weight(of: issuer), budget.takeSignature(weight: weight) else { return false }
        let isSigned = SignatureRules.isSigned(certificate, by: issuer)
        signatures[step] = isSigned
        return isSigned
    }

    private mutating func anchors(_ name: SubjectName) -> [(Certificate, IssuerRules.Place)] {
        var found: [(Certificate, IssuerRules.Place)] = []
        for roots in roots {
            do throws(FilesNeeded) {
                let anchors = AnchorSettings.strictest(
                    try roots.anchors(name, isThorough: isThorough, mayWait: mayWait), policy.purpose)
                found += anchors.map { ($0, roots.isStore ? .storedAnchor : .anchor) }
            } catch {
                needsFiles = true
            }
        }
        return found
    }

    // By feel: real peers send three or four.
    private static let mostSent = 100
    private static let mostExplained = 8
}
