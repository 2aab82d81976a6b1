// The rule by which a session judges servers, as far as stored answers have to know it: behaviour B7.102. Only a rule
// that trusts no server that the default evaluation refuses has a name, which is the same in every session and every
// run; what comes under another one stays with the session it came to. The certificates that a session shows are part
// of its rule: with others, servers may say something else (B7.106).
//
// Must not know: caches, how a verdict is reached.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

/// Names rules.
enum TrustRule {
    /// The mark of a configuration's rule; nil for one that may believe a server that the default evaluation refuses,
    /// and for one that cannot be carried out.
    static func mark(of values: ConfigurationValues) -> AnswerTrust.Mark? {
        guard let evaluation = values.serverTrustEvaluation.narrowness else { return nil }
        let parts = [
            roots, evaluation, "\(TLSVersion(values.tlsMinimum))",
            values.appTransportSecurity.map { $0.rules.signature } ?? "", values.clientIdentities.signature,
        ]
        return SecureHash.sha256.hash(Array(list(parts).utf8)).map { hash in
            hash.withUnsafeBytes {
                AnswerTrust.Mark(
                    UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                    UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
            }
        }
    }

    /// A new mark, unlike all others.
    static func newJudge() -> AnswerTrust.Mark {
        var random = Chance()
        return AnswerTrust.Mark(random.next(), random.next())
    }

    /// Texts as one, from which each of them can be told.
    static func list(_ parts: [String]) -> String {
        parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
    }

    /// With other roots in the environment the default evaluation is another one.
    private static let roots = list(
        ["SSL_CERT_FILE", "SSL_CERT_DIR"].map { ProcessInfo.processInfo.environment[$0] ?? "" })
}
