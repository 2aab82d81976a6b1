// Finds paths from a leaf to an anchor among what the peer sent, one after the other, so that a dead end (an expired or
// cross-signed intermediate, an impostor's name) does not hide a good path (B3.14). Compares names and key identifiers
// only; whether a path holds is judged elsewhere. Its work is bounded whatever the peer sends.

import COpenSSL

/// A depth-first search over issuers.
struct PathSearch {
    private let sent: [Certificate]
    private let roots: [TrustRoots]
    private let isThorough: Bool
    private var steps = 0

    /// A search for anchors in `roots`; a thorough one also asks bundles that would have to be read first.
    init(_ chain: CertificateChain, roots: [TrustRoots], isThorough: Bool) {
        sent = Array(chain.certificates.dropFirst())
        self.roots = roots
        self.isThorough = isThorough
    }

    /// Calls `visit` with each path, leaf first and anchor last, until it answers true.
    mutating func forEachPath(from leaf: Certificate, _ visit: ([Certificate]) -> Bool) {
        // A leaf can be an anchor itself (B3.40).
        if anchors(leaf.subjectName).contains(leaf), visit([leaf]) { return }
        _ = extend([leaf], visit)
    }

    private mutating func extend(_ path: [Certificate], _ visit: ([Certificate]) -> Bool) -> Bool {
        guard let last = path.last, path.count < Self.longestPath else { return false }
        let wanted = last.issuerName
        // Order: anchors first, so that the shortest path to one is tried first.
        let ends = anchors(wanted).filter { $0 != last && Self.issued($0, last) }
        for end in ends {
            if visit(path + [end]) { return true }
        }
        for next in sent where Self.issued(next, last) && !path.contains(next) && !ends.contains(next) {
            steps += 1
            if steps > Self.mostSteps { return true }
            if extend(path + [next], visit) { return true }
        }
        return false
    }

    private func anchors(_ name: SubjectName) -> [Certificate] {
        roots.count == 1
            ? roots[0].anchors(name, isThorough: isThorough)
            : roots.flatMap { $0.anchors(name, isThorough: isThorough) }
    }

    /// Whether names and key identifiers allow that one has issued the other.
    private static func issued(_ issuer: Certificate, _ subject: Certificate) -> Bool {
        let answer = X509_check_issued(issuer.pointer, subject.pointer)
        // That an issuer may not sign is found when the path is judged, where it has a name.
        return answer == X509_V_OK || answer == X509_V_ERR_KEYUSAGE_NO_CERTSIGN
    }

    // By feel: real paths have three or four certificates.
    private static let longestPath = 16
    private static let mostSteps = 64
}
