// The order in which libraries for pinning put the pieces together: a default evaluation, a host's, revocation, and
// pins among what the chain then shows. Written as they are, with Security's functions alone.

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite("SecTrust: as libraries for pinning use it")
struct EvaluationArrangementTests {
    /// What such a library evaluates before it looks at pins.
    private struct Steps: Sendable, CustomTestStringConvertible {
        var evaluates = true
        var checksHost = true
        var acceptsPinnedAnchors = false

        var testDescription: String {
            "default \(evaluates), host \(checksHost), pins as anchors \(acceptsPinnedAnchors)"
        }

        /// The trust's answer, with a new policy for each step.
        func hold(_ trust: SecTrust, host: String, pinned: [SecCertificate] = []) -> Bool {
            if acceptsPinnedAnchors {
                SecTrustSetAnchorCertificates(trust, pinned as CFArray)
                SecTrustSetAnchorCertificatesOnly(trust, true)
            }
            if evaluates {
                SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, nil))
                guard SecTrustEvaluateWithError(trust, nil) else { return false }
            }
            if checksHost {
                SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, host as CFString))
                guard SecTrustEvaluateWithError(trust, nil) else { return false }
            }
            return true
        }
    }

    private func certificates(_ trust: SecTrust) -> Set<Data> { Set(chainBytes(trust)) }

    private func keys(_ certificates: [SecCertificate]) -> Set<Data> {
        Set(
            certificates.compactMap { certificate in
                SecCertificateCopyKey(certificate).flatMap { SecKeyCopyExternalRepresentation($0, nil) as Data? }
            })
    }

    private func holdsPinned(_ trust: SecTrust, _ steps: Steps, _ pinned: [SecCertificate]) -> Bool {
        guard !pinned.isEmpty, steps.hold(trust, host: "example.test", pinned: pinned) else { return false }
        return !certificates(trust).isDisjoint(with: pinned.map { SecCertificateCopyData($0) as Data })
    }

    private func holdsKeys(_ trust: SecTrust, _ steps: Steps, _ pinned: [SecCertificate]) -> Bool {
        guard !pinned.isEmpty, steps.hold(trust, host: "example.test") else { return false }
        let shown = (SecTrustCopyCertificateChain(trust) as? [SecCertificate]) ?? []
        return !keys(shown).isDisjoint(with: keys(pinned))
    }

    @Test("B3.61: a policy with a host checks the certificate's names, one without a host does not")
    func defaultEvaluation() throws {
        let leaf = try TrustSamples.leaf.get()
        for (host, validates, expected) in [
            ("example.test", true, true), ("other.test", true, false), ("other.test", false, true),
        ] {
            let trust = try TrustSamples.trust(leaf, policies: [SecPolicyCreateBasicX509()])
            let policy = SecPolicyCreateSSL(true, validates ? host as CFString : nil)
            #expect(SecTrustSetPolicies(trust, policy) == errSecSuccess)
            #expect(SecTrustEvaluateWithError(trust, nil) == expected, "\(host), \(validates)")
        }
    }

    @Test("B3.62: a revoked certificate fails with each policy: the default one, the host's, and one for revocation")
    func revocation() throws {
        let intermediate = try TrustSamples.intermediate.get()
        let leaf = try TrustSamples.leaf.get()
        for (answer, expected) in [(OCSPAnswer.good, true), (.revoked, false)] {
            let trust = try TrustSamples.trust(leaf)
            let response = Data(try intermediate.ocspResponse(about: leaf.certificate, answer))
            SecTrustSetOCSPResponse(trust, response as CFData)
            let flags = kSecRevocationOCSPMethod
            let revocation = try #require(SecPolicyCreateRevocation(flags))
            // Every evaluation refuses a certificate that is known to be revoked (B3.12).
            #expect(Steps().hold(trust, host: "example.test") == expected)
            let policies = [SecPolicyCreateSSL(true, "example.test" as CFString), revocation]
            #expect(SecTrustSetPolicies(trust, policies as CFArray) == errSecSuccess)
            #expect(SecTrustEvaluateWithError(trust, nil) == expected)
        }
    }

    @Test(
        "B3.63, B3.64: pinned certificates or keys: no pins refuse every server, another server's pins refuse this one")
    func pins() throws {
        let leaf = try TrustSamples.leaf.get()
        let chain = [
            leaf.certificate, try TrustSamples.intermediate.get().certificate, try TrustSamples.root.get().certificate,
        ]
        let other = try TrustSamples.face(CertificateFactory.root("Stranger").certificate)
        for pin in try TrustSamples.faces(chain) {
            #expect(try holdsPinned(TrustSamples.trust(leaf), Steps(), [other, pin]))
            #expect(try holdsKeys(TrustSamples.trust(leaf), Steps(), [other, pin]))
        }
        for pins in [[], [other]] {
            #expect(try !holdsPinned(TrustSamples.trust(leaf), Steps(), pins))
            #expect(try !holdsKeys(TrustSamples.trust(leaf), Steps(), pins))
        }
        let alone = try TrustSamples.selfSigned.get()
        let pin = try TrustSamples.face(alone.certificate)
        let steps = Steps(acceptsPinnedAnchors: true)
        #expect(try holdsPinned(TrustSamples.trust(alone, isAnchored: false), steps, [pin]))
        #expect(try !holdsPinned(TrustSamples.trust(alone, isAnchored: false), Steps(), [pin]))
    }

    @Test(
        "B3.67: an expired leaf passes by its pin or its issuer's only where neither the chain nor the host is evaluated",
        arguments: [
            (Steps(), false), (Steps(evaluates: false), false), (Steps(checksHost: false), false),
            (Steps(evaluates: false, checksHost: false), true),
        ])
    private func expired(_ steps: Steps, passes: Bool) throws {
        let expired = try TrustSamples.expired.get()
        for certificate in [expired.certificate, try TrustSamples.intermediate.get().certificate] {
            let pin = try TrustSamples.face(certificate)
            #expect(try holdsPinned(TrustSamples.trust(expired), steps, [pin]) == passes)
            #expect(try holdsKeys(TrustSamples.trust(expired), steps, [pin]) == passes)
        }
    }
}
