// Chains that make the search for a path long: many candidates for each issuer, and many ways round.

import URLLoadingLoopbackServer
import URLLoadingTrust

extension WorstCase {
    static let paths: [WorstCase] = [
        WorstCase("99 intermediates of one name and key, none below an anchor", .stopped) {
            let above = try stranger.get()
            let first = try above.issue(authority("Twin"))
            let twins = try (0..<98).map { _ in try above.issue(authority("Twin"), forKeyOf: first).certificate }
            let leaf = try first.issue(end())
            return Input([leaf.certificate, first.certificate] + twins, anchors: [try root.get().certificate])
        },
        WorstCase("99 intermediates of one name and as many keys, the right one last", .stopped) {
            let top = try root.get()
            let others = try (0..<98).map { _ in try top.issue(unmarked("Namesake")).certificate }
            let right = try top.issue(unmarked("Namesake"))
            let leaf = try right.issue(end().with { $0.hasKeyIdentifiers = false })
            return Input([leaf.certificate] + others + [right.certificate], anchors: [top.certificate])
        },
        WorstCase("10 authorities that have all certified each other", .stopped) {
            try Input(ring(of: 10), anchors: [root.get().certificate])
        },
        WorstCase("5 authorities that have certified each other 4 times", .stopped) {
            try Input(ring(of: 5, times: 4), anchors: [root.get().certificate])
        },
        WorstCase("99 intermediates in a row", .refused) {
            var above = try root.get()
            let top = above.certificate
            for number in 0..<99 { above = try above.issue(authority("Step \(number)")) }
            let leaf = try above.issue(end())
            return Input(leaf.chain.certificates, anchors: [top])
        },
        WorstCase("14 intermediates in a row, which is the most, backwards, between 85 others", .trusted) {
            var above = try root.get()
            let top = above.certificate
            for number in 0..<14 { above = try above.issue(authority("Step \(number)")) }
            let leaf = try above.issue(end())
            let others = try (0..<85).map {
                try top == above.certificate ? above : above.issue(authority("Other \($0)"))
            }
            return Input(
                [leaf.certificate] + others.map(\.certificate) + above.chain.certificates.reversed(), anchors: [top])
        },
        WorstCase("300 anchors of one name", .stopped) {
            let anchors = try (0..<300).map { _ in try CertificateFactory.root("Crowd").certificate }
            let leaf = try CertificateFactory.root("Crowd").issue(end())
            return Input(leaf.chain.certificates, anchors: anchors)
        },
    ]

    /// An authority that says nothing about keys, so that each candidate has to be tried.
    private static func unmarked(_ name: String) -> CertificateTemplate {
        authority(name) { $0.hasKeyIdentifiers = false }
    }

    /// A leaf of one of several authorities, each of which has certified all others.
    private static func ring(of count: Int, times: Int = 1) throws -> [Certificate] {
        let members = try (0..<count).map { try CertificateFactory.root("Member \($0)") }
        var crossed: [Certificate] = []
        for _ in 0..<times {
            for (index, subject) in members.enumerated() {
                for issuer in members where issuer.certificate != subject.certificate {
                    crossed.append(try issuer.issue(authority("Member \(index)"), forKeyOf: subject).certificate)
                }
            }
        }
        guard let first = members.first else { return [] }
        return [try first.issue(end()).certificate] + crossed
    }
}

extension WorstCase.Input {
    /// These certificates under the profile that asks more of them.
    func strict() -> WorstCase.Input {
        with { $0.policy.profile = .strict }
    }

    func with(_ change: (inout WorstCase.Input) throws -> Void) rethrows -> WorstCase.Input {
        var copy = self
        try change(&copy)
        return copy
    }
}
