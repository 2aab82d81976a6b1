// What a server's certificates must prove where it is more or less than usual: that they are not revoked, another
// date, no host name, rules of form. Conditions are put on a choice and hold for all choices in it.

import Foundation
import URLLoadingTrust

extension URLSessionConfiguration.ServerTrustEvaluation {
    /// Ours: what is asked about revocation. Nothing is fetched: lists are given, and servers staple OCSP responses
    /// (B3.12, B3.13).
    public enum RevocationCheck: Sendable, Equatable {
        /// Nothing.
        case none
        /// A certificate that is known to be revoked is refused; one of which nothing is known is believed. The
        /// default, without lists.
        case soft(URLSessionConfiguration.RevocationLists = .none)
        /// Every certificate below the anchor needs a fresh answer, from a list or, the server's own, stapled (B3.47).
        /// `selfSigned` and `knownHosts` trust no issuer that could answer, so that they refuse their hosts.
        case hard(URLSessionConfiguration.RevocationLists = .none)
    }

    /// Adds a question about revocation to this choice. A delegate whose trust has a policy that asks for more gets
    /// more, and what is asked here counts below its own anchors, too, unless it is less than `soft`. Lists and stapled
    /// responses say nothing to `selfSigned` and `knownHosts`, which believe a certificate by itself.
    public func checkingRevocation(_ check: RevocationCheck) -> Self { under(.revocation(check)) }

    /// Makes this choice as it would be made at that moment, unless a delegate sets one of its own (B3.41). Below a
    /// delegate's own anchors the moment is the same.
    public func judging(asOf date: Date) -> Self { under(.date(date)) }

    /// Makes this choice stricter: every certificate of a path is held to the rules of form of RFC 5280 and of the
    /// CA/Browser forum as well, own anchors included, those of a delegate, too. What these forbid is no danger by
    /// itself; docs/trust-rules.md has the list. `SecPolicyCreateBasicX509` does not ask for form, and `selfSigned` and
    /// `knownHosts` look at none.
    public func judgingStrictly() -> Self { under(.strictly) }

    /// Makes this choice whatever host the certificate is for: the owner of any certificate that the choice trusts can
    /// then pass for every other server. Patterns of `perHost`, the host of `selfSigned` and `knownHosts` in it go by
    /// the connection's host. A delegate that sets a policy with a host, or anchors of its own, has the name checked.
    public func dangerouslyIgnoringHostNames() -> Self { under(.anyHost) }
}

extension URLSessionConfiguration {
    /// Ours: revocation lists as PEM text or DER data.
    public struct RevocationLists: Sendable, Equatable {
        private let form: Form

        /// No list: only what servers staple counts.
        public static let none = RevocationLists(form: .der([]))

        /// The lists in a PEM text, of which there must be one; other blocks and the text between are passed over.
        public static func pem(_ text: String) -> RevocationLists { RevocationLists(form: .pem(text)) }

        /// One encoded list in each data.
        public static func der(_ lists: [Data]) -> RevocationLists { RevocationLists(form: .der(lists)) }

        /// The lists as they were given, in words that no others have.
        fileprivate var words: String {
            switch form {
            case .pem(let text): "pem(\(text))"
            case .der(let data): "der(\(TrustRule.list(data.map { $0.base64EncodedString() })))"
            }
        }

        fileprivate func read() throws(CertificateError) -> [RevocationList] {
            switch form {
            case .pem(let text):
                return try RevocationList.parse(pem: text)
            case .der(let data):
                var lists: [RevocationList] = []
                for one in data { lists.append(try RevocationList(der: Array(one))) }
                return lists
            }
        }

        private enum Form: Sendable, Equatable {
            case pem(String)
            case der([Data])
        }
    }
}

/// One condition in place of the usual one.
enum ServerTrustCondition: Sendable, Equatable {
    case revocation(URLSessionConfiguration.ServerTrustEvaluation.RevocationCheck)
    case date(Date)
    case anyHost
    case strictly

    /// The evaluator under this condition.
    func imposed(on base: any TrustEvaluator) throws(CertificateError) -> any TrustEvaluator {
        switch self {
        case .anyHost:
            return base.adjusting { $0.host = nil }
        case .strictly:
            return base.adjusting { $0.profile = .strict }
        case .date(let date):
            guard let time = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) else { throw .notADate }
            return base.adjusting { $0.time = $0.time ?? time }
        case .revocation(.none):
            return Self.checking(.none, [], base)
        case .revocation(.soft(let lists)):
            return Self.checking(.soft, try lists.read(), base)
        case .revocation(.hard(let lists)):
            return Self.checking(.hard, try lists.read(), base)
        }
    }

    /// What the condition asks beyond what is usual, in words that no other has; nil where it may ask less (B7.102).
    var narrowness: String? {
        switch self {
        case .anyHost, .date, .revocation(.none): nil
        case .strictly: "strictly"
        case .revocation(.soft(let lists)): "soft:" + lists.words
        case .revocation(.hard(let lists)): "hard:" + lists.words
        }
    }

    private static func checking(
        _ mode: RevocationPolicy.Mode, _ lists: [RevocationList], _ base: any TrustEvaluator
    ) -> any TrustEvaluator {
        base.adjusting { policy in
            if policy.revocation.mode != .hard { policy.revocation.mode = mode }
            policy.revocation.lists += lists
        }
    }
}
