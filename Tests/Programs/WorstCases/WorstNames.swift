// Certificates with thousands of names, against thousands of constraints, once and many times over.

import URLLoadingLoopbackServer
import URLLoadingTrust

extension WorstCase {
    static let names: [WorstCase] = [
        WorstCase("1,000 names, none of them constrained", .trusted) {
            try single(authority("A"), end(many(1_000)))
        },
        WorstCase("4,000 wildcards, and a host of 120 labels", .refused) {
            let host = Array(repeating: "a", count: 120).joined(separator: ".")
            let names = (0..<4_000).map { CertificateTemplate.Name.dns("*.\($0)" + host.dropFirst(40)) }
            return try single(authority("A"), end(names)).with { $0.policy.host = HostName(host) }
        },
        WorstCase("1,000 names, 100 permitted domains and 100 excluded ones", .trusted) {
            try single(
                constrained("A", permitted: many(100) + [.dns("example.test")], excluded: many(100, "no")),
                end(many(1_000)))
        },
        WorstCase("1,000 names, 1,000 permitted domains and 1,000 excluded ones", .stopped) {
            try single(
                constrained("A", permitted: many(999) + [.dns("example.test")], excluded: many(1_000, "no")),
                end(many(1_000)))
        },
        WorstCase("20 intermediates of one name with 1,000 constraints each, none below an anchor", .stopped) {
            try crowd(20, constrained("A", permitted: many(999) + [.dns("example.test")], excluded: []), end(many(100)))
        },
        WorstCase("40 intermediates of one name with 1,000 directory names for constraints each", .stopped) {
            try crowd(40, constrained("A", permitted: directories(999) + [.directory(subject(1))], excluded: []), end())
        },
        WorstCase("a directory name of 4,000 attributes, and 500 constraints", .stopped) {
            try single(
                constrained("A", permitted: [], excluded: directories(500)),
                end([.directory(wide(4_000))]))
        },
        WorstCase("200 directory names of 60 attributes, and 500 constraints", .stopped) {
            try single(
                constrained("A", permitted: [], excluded: directories(500)),
                end(Array(repeating: .directory(wide(60)), count: 200)))
        },
        WorstCase("a URI of 40,000 bytes, and 1,000 constraints", .stopped) {
            let uri = "https://" + String(repeating: "u", count: 40_000) + "@www.example.test/"
            let excluded = (0..<1_000).map { CertificateTemplate.Name.uri("no\($0).test") }
            return try single(constrained("A", permitted: [], excluded: excluded), end([.uri(uri)]))
        },
        WorstCase("20 mailboxes of 2,000 bytes, and 1,000 constraints", .stopped) {
            let names = (0..<20).map {
                CertificateTemplate.Name.email(String(repeating: "u", count: 2_000) + "\($0)@a.test")
            }
            let excluded = (0..<1_000).map { CertificateTemplate.Name.email("no\($0).test") }
            return try single(constrained("A", permitted: [], excluded: excluded), end(names))
        },
        WorstCase("2,000 common names, each like a host, and 5,000 addresses, by the strict profile", .refused) {
            let addresses = (0..<5_000).map { CertificateTemplate.Name.ip([10, 1, UInt8($0 / 256), UInt8($0 % 256)]) }
            let subject = DERWriter.name((0..<2_000).map { (type: "2.5.4.3", value: "h\($0).test") })
            return try single(authority("A"), end(addresses).with { $0.subject = subject }).strict()
        },
        WorstCase("14 intermediates in a row, each with 300 constraints, 300 names", .stopped) {
            var above = try root.get()
            let top = above.certificate
            let constraints = many(299) + [.dns("example.test")]
            for number in 0..<14 {
                above = try above.issue(constrained("S\(number)", permitted: constraints, excluded: []))
            }
            return Input(try above.issue(end(many(300))).chain.certificates, anchors: [top])
        },
        WorstCase("10,000 policies, purposes and mappings, in the leaf and above", .trusted) {
            let policies = many(policies: 10_000)
            let above = authority("A") { $0.extensions += policies }
            return try single(above, end().with { $0.extensions += policies })
        },
        WorstCase("a serial number of 30,000 bytes", .trusted) {
            try single(authority("A"), end().with { $0.serial = [1] + Array(repeating: 7, count: 30_000) })
        },
        WorstCase("60 unknown extensions of 1,000 bytes, in 90 intermediates of one name", .refused) {
            let unknown = (0..<50).map {
                CertificateTemplate.Extension("1.2.3.\($0)", critical: false, value: Array(repeating: 7, count: 1_000))
            }
            return try crowd(90, authority("A") { $0.extensions += unknown }, end())
        },
    ]

    private static func many(_ count: Int, _ word: String = "n") -> [CertificateTemplate.Name] {
        (0..<count).map { .dns("\(word)\($0).example.test") }
    }

    private static func constrained(
        _ name: String, permitted: [CertificateTemplate.Name], excluded: [CertificateTemplate.Name]
    ) -> CertificateTemplate {
        authority(name) { $0.nameConstraints = .init(permitted: permitted, excluded: excluded) }
    }

    private static func subject(_ number: Int) -> [UInt8] {
        DERWriter.name([("2.5.4.10", "Organisation  \(number)"), ("2.5.4.3", "Name \(number)")])
    }

    private static func directories(_ count: Int) -> [CertificateTemplate.Name] {
        (0..<count).map { .directory(subject($0 + 2)) }
    }

    private static func wide(_ count: Int) -> [UInt8] {
        DERWriter.name((0..<count).map { (type: "2.5.4.11", value: "Unit \($0)") })
    }

    private static func many(policies count: Int) -> [CertificateTemplate.Extension] {
        let identifiers = (0..<count).map { DERWriter.objectIdentifier("1.2.3.\($0)") }
        let purposes = [DERWriter.objectIdentifier("1.3.6.1.5.5.7.3.1")] + identifiers
        return [
            .init(
                "2.5.29.32", critical: false, value: DERWriter.sequence(identifiers.map { DERWriter.sequence([$0]) })),
            .init(
                "2.5.29.33", critical: false,
                value: DERWriter.sequence(identifiers.map { DERWriter.sequence([$0, $0]) })),
            .init("1.2.3.4", critical: false, value: DERWriter.sequence(purposes)),
        ]
    }

    private static func single(_ above: CertificateTemplate, _ end: CertificateTemplate) throws -> Input {
        let top = try root.get()
        return Input(try top.issue(above).issue(end).chain.certificates, anchors: [top.certificate])
    }

    /// Many certificates of one authority, by an issuer that is not trusted.
    private static func crowd(_ count: Int, _ above: CertificateTemplate, _ end: CertificateTemplate) throws -> Input {
        let stranger = try stranger.get()
        let first = try stranger.issue(above)
        let twins = try (1..<count).map { _ in try stranger.issue(above, forKeyOf: first).certificate }
        let sent = [try first.issue(end).certificate, first.certificate] + twins
        return Input(sent, anchors: [try root.get().certificate])
    }
}
