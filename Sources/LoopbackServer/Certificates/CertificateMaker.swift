// Fills in and signs one certificate. Does not judge what it is told to write.

import CURLLoadingOpenSSL
import URLLoadingSystem
import URLLoadingTrust

/// A template and keys in, a certificate out.
enum CertificateMaker {
    static func make(
        _ template: CertificateTemplate, key: OpenSSLObject, issuer: IssuedCertificate?
    ) throws(CertificateError) -> IssuedCertificate {
        let made = try sign(template, publicKey: key, issuer: issuer, signer: issuer?.key ?? key)
        return try IssuedCertificate(certificate: made, key: key, issuer: issuer)
    }

    /// A certificate for a key whose private half need not be known.
    static func sign(
        _ template: CertificateTemplate, publicKey: OpenSSLObject, issuer: IssuedCertificate?, signer: OpenSSLObject
    ) throws(CertificateError) -> Certificate {
        OpenSSLErrors.clear()
        guard let made = X509_new() else { throw .notMade(OpenSSLErrors.takeText()) }
        let certificate = OpenSSLObject.certificate(owning: made)
        let now = Int64(time(nil))
        guard X509_set_version(made, template.version - 1) == 1,
            setSerial(template, on: made),
            setSubject(template, on: made),
            setIssuer(template, issuer?.certificate.pointer ?? made, on: made),
            ASN1_TIME_set(X509_getm_notBefore(made), time_t(template.notBefore ?? now - 3_600)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(made), time_t(template.notAfter ?? now + 86_400)) != nil,
            X509_set_pubkey(made, publicKey.pointer) == 1
        else { throw .notMade(OpenSSLErrors.takeText()) }
        if template.version >= 3 {
            for addition in extensions(of: template, made, issuer: issuer) {
                guard add(addition, to: made) else { throw .notMade(OpenSSLErrors.takeText()) }
            }
        }
        guard X509_sign(made, signer.pointer, digest(template.hash, for: signer)) > 0 else {
            throw .notMade(OpenSSLErrors.takeText())
        }
        // Read back from its encoding, so that nothing of the making is left in it.
        return try Certificate(der: Certificate(owning: certificate).der)
    }

    private static func setSerial(_ template: CertificateTemplate, on certificate: OpaquePointer) -> Bool {
        let bytes =
            template.serial ?? [0x40 | UInt8.random(in: 0...0x3F)] + (0..<15).map { _ in UInt8.random(in: 0...255) }
        guard let number = BN_bin2bn(bytes, Int32(bytes.count), nil) else { return false }
        defer { BN_free(number) }
        BN_set_negative(number, template.isSerialNegative ? 1 : 0)
        return BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil
    }

    private static func setIssuer(
        _ template: CertificateTemplate, _ above: OpaquePointer, on certificate: OpaquePointer
    ) -> Bool {
        guard let encoded = template.issuer else {
            return X509_set_issuer_name(certificate, X509_get_subject_name(above)) == 1
        }
        return with(name: encoded) { X509_set_issuer_name(certificate, $0) == 1 }
    }

    /// Calls `body` with a name that is parsed for the time of the call.
    static func with(name encoded: [UInt8], _ body: (OpaquePointer) -> Bool) -> Bool {
        encoded.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            guard let name = d2i_X509_NAME(nil, &cursor, bytes.count) else { return false }
            defer { X509_NAME_free(name) }
            return body(name)
        }
    }

    private static func setSubject(_ template: CertificateTemplate, on certificate: OpaquePointer) -> Bool {
        if let encoded = template.subject { return with(name: encoded) { X509_set_subject_name(certificate, $0) == 1 } }
        let commonName = template.commonName
        if commonName.isEmpty { return true }
        let bytes = Array(commonName.utf8)
        let name = X509_get_subject_name(certificate)
        let type = Int32(0x1000)  // MBSTRING_UTF8, a macro that Swift does not see.
        return X509_NAME_add_entry_by_NID(name, NID_commonName, type, bytes, Int32(bytes.count), -1, 0) == 1
    }

    private static func digest(_ hash: CertificateTemplate.Hash, for signer: OpenSSLObject) -> OpaquePointer? {
        if EVP_PKEY_get_base_id(signer.pointer) == EVP_PKEY_ED25519 { return nil }
        switch hash {
        case .sha256: return EVP_sha256()
        case .sha384: return EVP_sha384()
        case .sha1: return EVP_sha1()
        case .md5: return EVP_md5()
        }
    }

    private static func add(_ addition: CertificateTemplate.Extension, to certificate: OpaquePointer) -> Bool {
        guard let made = openSSLForm(of: addition) else { return false }
        defer { X509_EXTENSION_free(made) }
        return X509_add_ext(certificate, made, -1) == 1
    }

    /// An extension in OpenSSL's form, whose reference is handed over.
    static func openSSLForm(of addition: CertificateTemplate.Extension) -> OpaquePointer? {
        guard let object = OBJ_txt2obj(addition.identifier, 1), let value = ASN1_OCTET_STRING_new() else {
            return nil
        }
        defer {
            ASN1_OBJECT_free(object)
            ASN1_OCTET_STRING_free(value)
        }
        let critical: Int32 = addition.isCritical ? 1 : 0
        guard ASN1_OCTET_STRING_set(value, addition.value, Int32(addition.value.count)) == 1 else { return nil }
        return X509_EXTENSION_create_by_OBJ(nil, object, critical, value)
    }
}

// MARK: - Extensions, RFC 5280 section 4.2

extension CertificateMaker {
    private static func extensions(
        of template: CertificateTemplate, _ certificate: OpaquePointer, issuer: IssuedCertificate?
    ) -> [CertificateTemplate.Extension] {
        var list: [CertificateTemplate.Extension] = []
        if let isAuthority = template.isAuthority {
            let flag = isAuthority ? DERWriter.boolean(true) : []
            let length = template.pathLength.map(DERWriter.integer) ?? []
            list.append(.init("2.5.29.19", critical: true, value: DERWriter.sequence([flag, length])))
        }
        if let usage = template.keyUsage {
            list.append(.init("2.5.29.15", critical: true, value: bits(usage.rawValue)))
        }
        if let purposes = template.purposes {
            let identifiers = purposes.map { DERWriter.objectIdentifier($0.rawValue) }
            list.append(.init("2.5.29.37", critical: false, value: DERWriter.sequence(identifiers)))
        }
        if !template.names.isEmpty {
            let names = DERWriter.sequence(template.names.map(encoded))
            let hasNoSubject = template.subject.map { $0.count <= 2 } ?? template.commonName.isEmpty
            list.append(.init("2.5.29.17", critical: template.hasCriticalNames ?? hasNoSubject, value: names))
        }
        if let constraints = template.nameConstraints {
            list.append(.init("2.5.29.30", critical: true, value: encoded(constraints: constraints)))
        }
        if template.hasKeyIdentifiers {
            let own = keyIdentifier(certificate)
            let above = issuer.map { keyIdentifier($0.certificate.pointer) } ?? own
            list.append(.init("2.5.29.14", critical: false, value: DERWriter.octetString(own)))
            let authority = DERWriter.sequence([DERWriter.element(0x80, above)])
            list.append(.init("2.5.29.35", critical: false, value: authority))
        }
        return list + template.extensions
    }

    /// The first 20 bytes of the hash of the key.
    private static func keyIdentifier(_ certificate: OpaquePointer) -> [UInt8] {
        Array(Certificate(retaining: certificate).spkiSHA256.prefix(20))
    }

    private static func encoded(_ name: CertificateTemplate.Name) -> [UInt8] {
        switch name {
        case .email(let text): DERWriter.element(0x81, Array(text.utf8))
        case .dns(let text): DERWriter.element(0x82, Array(text.utf8))
        case .uri(let text): DERWriter.element(0x86, Array(text.utf8))
        case .ip(let bytes): DERWriter.element(0x87, bytes)
        case .directory(let name): DERWriter.element(0xA4, name)
        case .raw(let tag, let content): DERWriter.element(tag, content)
        }
    }

    private static func encoded(constraints: CertificateTemplate.NameConstraints) -> [UInt8] {
        func subtrees(_ tag: UInt8, _ names: [CertificateTemplate.Name]) -> [UInt8] {
            if names.isEmpty { return [] }
            return DERWriter.element(tag, names.flatMap { DERWriter.sequence([encoded($0)]) })
        }
        return DERWriter.sequence([subtrees(0xA0, constraints.permitted), subtrees(0xA1, constraints.excluded)])
    }

    /// A BIT STRING whose bit 0 is the first octet's highest, without trailing zero bits.
    private static func bits(_ value: UInt16) -> [UInt8] {
        var octets: [UInt8] = [0, 0]
        var last = -1
        for bit in 0..<16 where value & (1 << bit) != 0 {
            octets[bit / 8] |= 0x80 >> UInt8(bit % 8)
            last = bit
        }
        let used = last < 0 ? 0 : last / 8 + 1
        let unused = used == 0 ? 0 : used * 8 - 1 - last
        return DERWriter.element(0x03, [UInt8(unused)] + octets.prefix(used))
    }
}
