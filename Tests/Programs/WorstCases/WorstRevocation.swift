// Revocation lists and stapled responses that are long, many, or have to be checked again and again.

import URLLoadingLoopbackServer
import URLLoadingTrust

extension WorstCase {
    static let revocation: [WorstCase] = [
        WorstCase("a revocation list of 100,000 entries, which was decoded before", .trusted) {
            let (top, above) = try authorities()
            let list = try top.revocationList(revoking: [], serials: serials(100_000))
            let leaf = try above.issue(end())
            return Input(leaf.chain.certificates, anchors: [top.certificate]).with {
                $0.policy.revocation.lists = [list]
            }
        },
        WorstCase("64 forged revocation lists of 1,000 entries, and the right one behind them", .trusted) {
            let (top, above) = try authorities()
            let forger = try stranger.get()
            let forged = try (0..<63).map {
                try above.revocationList(revoking: [], serials: serials(1_000 + $0), signedBy: forger)
            }
            let right = try above.revocationList(revoking: [])
            let leaf = try above.issue(end())
            return Input(leaf.chain.certificates, anchors: [top.certificate]).with {
                $0.policy.revocation = RevocationPolicy(mode: .soft, lists: forged + [right])
            }
        },
        WorstCase("64 forged revocation lists of an authority whose key is costly", .stopped) {
            let top = try root.get()
            let above = try top.issue(authority("Lister") { $0.key = .p384 })
            let forger = try stranger.get()
            let forged = try (0..<64).map {
                try above.revocationList(revoking: [], serials: serials(1_000 + $0), signedBy: forger)
            }
            let leaf = try above.issue(end())
            return Input(leaf.chain.certificates, anchors: [top.certificate]).with {
                $0.policy.revocation.lists = forged
            }
        },
        WorstCase("a stapled response by a responder, and 99 intermediates of one name and key", .stopped) {
            let above = try stranger.get()
            let first = try above.issue(authority("Twin"))
            let twins = try (0..<98).map { _ in try above.issue(authority("Twin"), forKeyOf: first).certificate }
            let leaf = try first.issue(end())
            let responder = try first.issue(
                CertificateTemplate.client("Responder").with {
                    $0.purposes = nil
                    $0.key = .p384
                    // id-kp-OCSPSigning (RFC 6960 section 4.2.2.2).
                    let purpose = DERWriter.objectIdentifier("1.3.6.1.5.5.7.3.9")
                    $0.extensions = [.init("2.5.29.37", critical: false, value: DERWriter.sequence([purpose]))]
                })
            let sent = [leaf.certificate, first.certificate] + twins
            return try Input(sent, anchors: [root.get().certificate]).with {
                $0.staple = try first.ocspResponse(about: leaf.certificate, .good, signedBy: responder)
            }
        },
        WorstCase("a stapled response of 60,000 bytes that is none", .trusted) {
            let (top, above) = try authorities()
            let leaf = try above.issue(end())
            return Input(leaf.chain.certificates, anchors: [top.certificate]).with {
                $0.staple = DERWriter.sequence(Array(repeating: DERWriter.integer(7), count: 20_000))
            }
        },
    ]

    private static func authorities() throws -> (top: IssuedCertificate, above: IssuedCertificate) {
        let top = try root.get()
        return (top, try top.issue(authority("Lister")))
    }

    private static func serials(_ count: Int) -> [[UInt8]] {
        (0..<UInt32(count)).map { number in
            withUnsafeBytes(of: number.bigEndian) { [0x11] + Array($0) }
        }
    }
}
