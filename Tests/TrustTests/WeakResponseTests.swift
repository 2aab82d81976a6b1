import CURLLoadingOpenSSL
import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct WeakResponseTests {
    @Test("B3.29: a stapled response that is signed with a broken hash says nothing")
    func weakHash() throws {
        let leaf = try Chains.leaf.get()
        let policy = TrustPolicy(host: HostName("example.test"), revocation: RevocationPolicy(mode: .hard))
        let evaluator = AnchorsEvaluator(anchors: [try Chains.root.get().certificate])
        for (hash, isGood) in [(EVP_sha256(), true), (EVP_sha1(), false)] {
            let response = try response(about: leaf.certificate, by: Chains.intermediate.get(), hash)
            let chain = try #require(CertificateChain(leaf.chain.certificates, stapling: .response(response)))
            var policy = policy
            // The intermediate's answer comes from the root's list.
            policy.revocation.lists = [try Chains.root.get().revocationList(revoking: [])]
            let verdict = evaluator.evaluate(chain, policy: policy)
            #expect(verdict.isTrusted == isGood)
            if !isGood {
                #expect(verdict.reason == .revocationUnknown("the stapled OCSP response: its signature is weak"))
            }
        }
    }

    @Test("B3.29: a stapled response of a responder whose certificate or key is weak says nothing")
    func weakResponder() throws {
        let (leaf, issuer) = (try Chains.leaf.get(), try Chains.intermediate.get())
        let evaluator = AnchorsEvaluator(anchors: [try Chains.root.get().certificate])
        var policy = TrustPolicy(host: HostName("example.test"), revocation: RevocationPolicy(mode: .hard))
        policy.revocation.lists = [try Chains.root.get().revocationList(revoking: [])]
        // id-kp-OCSPSigning
        let purpose = CertificateTemplate.Extension(
            "2.5.29.37", critical: false, value: [0x30, 0x0A, 6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 9])
        let template = CertificateTemplate.client("responder").with {
            $0.purposes = nil
            $0.extensions = [purpose]
        }
        let cases = [
            (template, true), (template.with { $0.hash = .sha1 }, false),
            (template.with { $0.key = .rsa(1024) }, false),
            (template.with { $0.key = .p224 }, false),
        ]
        for (template, isGood) in cases {
            let response = try issuer.ocspResponse(
                about: leaf.certificate, .good, signedBy: try issuer.issue(template))
            let chain = try #require(CertificateChain(leaf.chain.certificates, stapling: .response(response)))
            let verdict = evaluator.evaluate(chain, policy: policy)
            #expect(verdict.isTrusted == isGood, "\(template.hash) \(template.key)")
            if !isGood, case .revocationUnknown? = verdict.reason { continue }
            #expect(isGood)
        }
    }

    private func response(
        about subject: Certificate, by issuer: IssuedCertificate, _ hash: OpaquePointer?
    ) throws -> [UInt8] {
        let basic = try #require(OCSP_BASICRESP_new())
        let start = try #require(ASN1_GENERALIZEDTIME_set(nil, time(nil) - 3_600))
        let end = try #require(ASN1_GENERALIZEDTIME_set(nil, time(nil) + 86_400))
        let identifier = try #require(OCSP_cert_to_id(EVP_sha1(), subject.pointer, issuer.certificate.pointer))
        defer {
            OCSP_BASICRESP_free(basic)
            ASN1_GENERALIZEDTIME_free(start)
            ASN1_GENERALIZEDTIME_free(end)
            OCSP_CERTID_free(identifier)
        }
        try #require(OCSP_basic_add1_status(basic, identifier, V_OCSP_CERTSTATUS_GOOD, 0, start, start, end) != nil)
        try #require(
            OCSP_basic_sign(basic, issuer.certificate.pointer, issuer.identity.keyPointer, hash, nil, 0) == 1)
        let response = try #require(OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic))
        defer { OCSP_RESPONSE_free(response) }
        return OpenSSLEncoding.bytes { i2d_OCSP_RESPONSE(response, $0) }
    }
}
