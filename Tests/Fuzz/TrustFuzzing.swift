// What the fuzz targets of Trust share.

/// Asks a certificate everything that can be asked; whatever it is made of, the answers must agree with each other.
func exercise(_ certificate: Certificate) {
    expect((try? Certificate(der: certificate.der)) == certificate, "the encoding is not the certificate's")
    _ = (certificate.subject, certificate.issuer, certificate.displayName, certificate.serial)
    _ = (certificate.extendedKeyUsage, certificate.keyUsage, certificate.basicConstraints, certificate.nameConstraints)
    _ = (certificate.subjectKeyIdentifier, certificate.authorityKeyIdentifier, certificate.emailAddresses)
    expect(certificate.dnsNames.count + certificate.ipAddresses.count <= certificate.alternativeNames.count, "names")
    if !certificate.isSelfIssued { expect(!certificate.isSelfSigned, "self-signed and not self-issued") }
}

/// Judges certificates in every way; a refusal has words, and what is believed has a path to an anchor.
func judge(_ certificates: [Certificate], anchors: [Certificate]) {
    guard let chain = CertificateChain(certificates) else { return }
    for profile in [TrustPolicy.Profile.standard, .strict] {
        for purpose in [TrustPolicy.Purpose.serverAuthentication, .clientAuthentication, .anyPurpose] {
            let policy = TrustPolicy(host: HostName("fuzz.test"), purpose: purpose, profile: profile)
            switch AnchorsEvaluator(anchors: anchors).evaluate(chain, policy: policy) {
            case .trusted(let peer):
                expect(peer.path.first == chain.leaf, "the path does not begin with the leaf")
                expect(peer.path.last.map(anchors.contains) == true, "the path does not end in an anchor")
            case .refused(let failure):
                expect(failure.description.hasSuffix("."), "no sentence")
            }
        }
    }
}
