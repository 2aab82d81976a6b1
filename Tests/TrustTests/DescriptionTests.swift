import Testing
import URLLoadingTrust

@Suite struct DescriptionTests {
    // Computed: a leak check does not see objects that a constant holds behind the spare bits of an enumeration.
    private static var reasons: [(TrustFailure.Reason, String)] {
        [
            (.noRootsFound(searched: ["/a", "/b"]), "/a, /b"), (.unknownRoot, "issued by \"CN=Issuer\""),
            (.selfSigned, "is self-signed"), (.expired(notAfter: 0), "expired on 1970-01-01 00:00:00 UTC"),
            (.expired(notAfter: -1), "1969-12-31 23:59:59 UTC"),
            (.expired(notAfter: 951_782_400), "2000-02-29 00:00:00"),
            (.notYetValid(notBefore: 4_107_542_400), "2100-03-01 00:00:00 UTC"),
            (.hostMismatch(wanted: "b.test", presented: ["a.test"]), "not valid for \"b.test\"; it is for a.test"),
            (.wrongPurpose, "must not be used"), (.weakKey("RSA of 512 bits"), "RSA of 512 bits"),
            (.weakSignature("MD5"), "MD5"), (.notACertificateAuthority, "not a certificate authority's"),
            (.pathLength, "longer chain"), (.unknownCriticalExtension, "critical extension"),
            (.nameConstraint, "may not certify"), (.signatureInvalid, "does not fit"),
            (.malformed("x"), "malformed (x)"),
            (.revoked, "revoked"), (.revocationUnknown("stale"), "stale"), (.knownHostChanged, "had before"),
            (.pinMismatch, "pinned"), (.other("why"), "why"),
        ]
    }

    @Test("Every trust failure names the certificate and says what is wrong", arguments: reasons.indices)
    func trustFailures(_ index: Int) {
        let (reason, part) = Self.reasons[index]
        let text = TrustFailure(reason, certificate: "a.test", issuer: "CN=Issuer").description
        #expect(text.contains(part))
        #expect(text.hasSuffix("."))
        if case .noRootsFound = reason {} else { #expect(text.contains("\"a.test\"")) }
        let also = TrustFailure(.revoked, certificate: "a.test", further: [reason]).description
        #expect(also.contains("(also: "))
    }

    @Test(
        "Every certificate error says what is wrong",
        arguments: [
            CertificateError.notACertificate("too long"), .notARevocationList("x"), .notPKCS12("x"), .notAPin("x"),
            .knownHosts("x"), .noCertificateFound, .unreadableKey("asn1"),
            .wrongPassphrase, .keyDoesNotMatch(subject: "a.test"), .notMade("no memory"),
        ])
    func certificateErrors(_ error: CertificateError) {
        #expect(error.description.hasSuffix("."))
    }
}
