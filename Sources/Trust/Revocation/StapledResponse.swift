// An OCSP response that the peer has stapled: whether it is about this certificate, fresh, and signed by an authority
// that may. RFC 6960 sections 3.2 and 4.2; OpenSSL parses it and checks the signature.

import CURLLoadingOpenSSL

/// What a stapled response says.
enum StapledResponse {
    /// The answer about a certificate.
    enum Answer: Equatable {
        /// Not revoked; holds until then.
        case good(until: Int64)
        /// Revoked.
        case revoked
        /// No answer, in words: it is stale, about another certificate, forged, or says that nothing is known.
        case useless(String)
    }

    /// Reads the response about a certificate of this issuer; a responder's certificate is held to the policy, too.
    static func read(
        _ der: [UInt8], about certificate: Certificate, issuer: Certificate, policy: TrustPolicy, now: Int64,
        budget: inout WorkBudget
    ) -> Answer {
        OpenSSLErrors.clear()
        guard der.count <= mostBytes else { return .useless("it is too long") }
        let response = der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return d2i_OCSP_RESPONSE(nil, &cursor, bytes.count)
        }
        guard let response else { return .useless("it cannot be read") }
        defer { OCSP_RESPONSE_free(response) }
        guard OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL,
            let basic = OCSP_response_get1_basic(response)
        else { return .useless("the responder has no answer") }
        defer { OCSP_BASICRESP_free(basic) }
        // An attacker that can make two responses with one broken hash can have the harmless one signed.
        guard ![NID_md5, NID_sha1].contains(shim_ocsp_hash(basic)) else { return .useless("its signature is weak") }
        guard isSigned(basic, issuer, policy, now: now, budget: &budget) else {
            return .useless("its signature is not the issuer's")
        }
        return answer(basic, certificate, issuer, now: now)
    }

    /// Section 4.2.2.2: the issuer itself, or a responder that has a certificate of the issuer for this purpose.
    private static func isSigned(
        _ basic: OpaquePointer, _ issuer: Certificate, _ policy: TrustPolicy, now: Int64, budget: inout WorkBudget
    ) -> Bool {
        guard let weight = SignatureRules.weight(of: issuer), budget.takeSignature(weight: weight) else { return false }
        if let key = X509_get0_pubkey(issuer.pointer), shim_ocsp_verify(basic, key) == 1 { return true }
        let others = OCSP_resp_get0_certs(basic)
        for index in 0..<min(shim_certs_count(others), mostResponders) {
            guard let pointer = shim_certs_get(others, index) else { continue }
            let responder = Certificate(retaining: pointer)
            let fields = responder.fields
            guard fields.malformed == nil, fields.extensions.unknownCritical == nil,
                fields.extensions.purposes?.contains(.ocspSigning) == true,
                fields.equal(fields.issuer, issuer.fields, issuer.fields.subject),
                let start = fields.notBefore, let end = fields.notAfter, start <= now, now <= end,
                SignatureRules.weakness(responder, policy: policy) == nil,
                KeyRules.weakness(responder, policy: policy) == nil,
                let own = SignatureRules.weight(of: responder), budget.takeSignature(weight: weight + own),
                SignatureRules.isSigned(responder, by: issuer), let key = X509_get0_pubkey(pointer)
            else { continue }
            if shim_ocsp_verify(basic, key) == 1 { return true }
        }
        return false
    }

    private static func answer(
        _ basic: OpaquePointer, _ certificate: Certificate, _ issuer: Certificate, now: Int64
    ) -> Answer {
        var best = Answer.useless("it is about another certificate")
        for index in 0..<min(OCSP_resp_count(basic), mostEntries) {
            guard let entry = OCSP_resp_get0(basic, index), isAbout(entry, certificate, issuer) else { continue }
            var reason: Int32 = 0
            var start: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            var end: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            let status = shim_ocsp_single(entry, &reason, &start, &end)
            // A certificate that was revoked stays so, however old the answer.
            if status == V_OCSP_CERTSTATUS_REVOKED { return .revoked }
            guard status == V_OCSP_CERTSTATUS_GOOD else {
                best = .useless("the responder does not know the certificate")
                continue
            }
            guard let first = seconds(start), first - skew <= now else {
                best = .useless("it holds in the future only")
                continue
            }
            // A response without an end says that newer ones are always at hand; a day is what it is good for here.
            let last = seconds(end) ?? first + 86_400
            best = last + skew < now ? .useless("it is stale") : .good(until: last + skew)
        }
        return best
    }

    private static func isAbout(_ entry: OpaquePointer, _ certificate: Certificate, _ issuer: Certificate) -> Bool {
        guard let identifier = OCSP_SINGLERESP_get0_id(entry) else { return false }
        var algorithm: OpaquePointer?
        guard OCSP_id_get0_info(nil, &algorithm, nil, nil, identifier) == 1,
            let algorithm
        else { return false }
        let digest: OpaquePointer?
        switch OBJ_obj2nid(algorithm) {
        case NID_sha1: digest = EVP_sha1()
        case NID_sha256: digest = EVP_sha256()
        case NID_sha384: digest = EVP_sha384()
        case NID_sha512: digest = EVP_sha512()
        default: return false
        }
        guard let own = OCSP_cert_to_id(digest, certificate.pointer, issuer.pointer) else { return false }
        defer { OCSP_CERTID_free(own) }
        return OCSP_id_cmp(own, identifier) == 0
    }

    private static func seconds(_ time: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?) -> Int64? {
        guard let time else { return nil }
        var count: Int32 = 0
        guard let bytes = shim_time_text(time, &count) else { return nil }
        return DERValues.time(0x18, UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }

    // By feel: clocks that are kept differ by less.
    private static let skew: Int64 = 300
    private static let mostBytes = 64 << 10
    private static let mostResponders: Int32 = 4
    private static let mostEntries: Int32 = 16
}
