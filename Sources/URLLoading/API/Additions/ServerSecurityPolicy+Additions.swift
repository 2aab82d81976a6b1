// Pinning in the terms of AFNetworking's security policy, in which much code is thought (behaviour 3.5). A thin face of
// Trust's evaluators; a session needs none of this when its configuration says how servers are judged.

import Foundation
import URLLoadingTrust

extension URLSession {
    /// Ours: what a delegate answers to server trust, by one of three modes.
    ///
    ///     func urlSession(_ session: URLSession, didReceive challenge: URLAuthenticationChallenge) async
    ///         -> (URLSession.AuthChallengeDisposition, URLCredential?) { policy.answer(to: challenge) }
    public struct ServerSecurityPolicy: Sendable {
        /// What is compared with the pins.
        public enum PinningMode: Sendable, Hashable {
            /// Nothing: the evaluation alone decides (B3.53).
            case none
            /// Keys (B3.55).
            case publicKey
            /// Whole certificates, which are also the only anchors (B3.54).
            case certificate
        }

        /// What is compared with the pins.
        public let pinningMode: PinningMode
        /// The pinned certificates, DER encoded. One that cannot be read refuses everything, as none at all does
        /// in the pinning modes (B3.58).
        public var pinnedCertificates: Set<Data>
        /// Whether a server counts whose certificate the evaluation refuses; false unless set.
        ///
        /// With `.publicKey` its chain must still lead, by valid signatures, to a pinned key: a certificate that was
        /// only sent along proves nothing (B3.68).
        public var allowInvalidCertificates = false
        /// Whether the certificate must be for the domain; true unless set (B3.56). Where it need not be, its form and
        /// its purpose do not count either, as with `SecPolicyCreateBasicX509`.
        public var validatesDomainName = true

        /// A policy. Without pins, `.none` is the only mode that trusts any server.
        public init(pinningMode: PinningMode = .none, pinnedCertificates: Set<Data> = []) {
            self.pinningMode = pinningMode
            self.pinnedCertificates = pinnedCertificates
        }

        /// Whether a server is believed.
        ///
        /// What was set on the trust counts: own anchors, the date, OCSP responses, and policies about revocation. Its
        /// other policies give way to this one. Exceptions do not count, which `allowInvalidCertificates` is for.
        public func evaluate(_ trust: SecTrust, forDomain domain: String?) -> Bool {
            let isUnpinned = pinningMode == .none || pinnedCertificates.isEmpty
            // B3.57: a policy that accepts any certificate for a name has not checked the name.
            if domain != nil, allowInvalidCertificates, validatesDomainName, isUnpinned { return false }
            var settings = trust.settings
            let kind: SecPolicy.Kind = validatesDomainName ? .ssl(isServer: true, host: domain) : .basicX509
            settings.policies = settings.policies.filter { $0.revocationMode != nil } + [SecPolicy(kind)]
            settings.exceptions = nil
            let outcome = SecTrustOutcome(of: trust, under: settings)
            guard outcome.isTrusted || allowInvalidCertificates else { return false }
            // A pinned certificate that its issuer has taken back proves nothing.
            if pinningMode != .none, outcome.reasons.contains(.revoked) { return false }
            switch pinningMode {
            case .none: return true
            case .certificate: return hasPinnedCertificate(trust, settings)
            case .publicKey: return hasPinnedKey(trust, settings, outcome)
            }
        }

        /// The answer to a challenge: the server is accepted or the load is cancelled; challenges of other kinds are
        /// left to default handling (B3.59).
        public func answer(
            to challenge: URLAuthenticationChallenge
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust
            else { return (.performDefaultHandling, nil) }
            return evaluate(trust, forDomain: space.host)
                ? (.useCredential, URLCredential(trust: trust)) : (.cancelAuthenticationChallenge, nil)
        }

        /// The pins as they are compared; nil where there is none, or one cannot be read.
        private var pins: [Certificate]? {
            let read = pinnedCertificates.map { try? Certificate(der: Array($0)) }
            let pins = read.compactMap(\.self)
            return pins.isEmpty || pins.count < read.count ? nil : pins
        }

        /// B3.54: the pins are the anchors, so that one of them ends every path.
        private func hasPinnedCertificate(_ trust: SecTrust, _ settings: SecTrustSettings) -> Bool {
            guard let pins else { return false }
            var pinned = settings
            pinned.anchors = pins.map(SecCertificate.init)
            pinned.isAnchorsOnly = true
            return SecTrustOutcome(of: trust, under: pinned).isTrusted
        }

        private func hasPinnedKey(_ trust: SecTrust, _ settings: SecTrustSettings, _ outcome: SecTrustOutcome) -> Bool {
            guard let keys = pins.map({ Set($0.map(\.spkiSHA256)) }) else { return false }
            if outcome.verified?.path.contains(where: { keys.contains($0.spkiSHA256) }) == true { return true }
            guard allowInvalidCertificates else { return false }
            let pinned = trust.presented.certificates.filter { keys.contains($0.spkiSHA256) }
            guard !pinned.isEmpty else { return false }
            // Dates, names, form and a missing answer about revocation do not count, signatures and a known revocation
            // do. At the leaf's first moment nothing has expired yet.
            var forgiving = trust.policy
            forgiving.host = nil
            forgiving.purpose = validatesDomainName ? .serverAuthentication : .anyPurpose
            forgiving.time = trust.presented.leaf.notBefore
            forgiving.revocation.lists += trust.sessionConditions.revocation.lists
            forgiving.revocation.responses += settings.responses
            switch AnchorsEvaluator(anchors: pinned).evaluate(trust.presented, policy: forgiving) {
            case .trusted: return true
            case .refused: return false
            }
        }
    }
}
