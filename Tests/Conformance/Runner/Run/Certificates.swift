// Makes the certificates of a case.
//
// Must not know: servers and drivers.

import Foundation
import URLLoadingLoopbackServer
import URLLoadingTrust

/// The certificates of a case, by their names.
struct Certificates: Sendable {
    private var made: [String: IssuedCertificate] = [:]

    /// Makes one more.
    mutating func make(_ line: CertificateLine, now: Int64) throws {
        var template: CertificateTemplate
        var (issuer, keyOwner): (IssuedCertificate?, IssuedCertificate?) = (nil, nil)
        switch line.kind {
        case "authority": template = .authority(line.name)
        // A common name that looks like a host would have to be among the names.
        case "server": template = CertificateTemplate.server("\(line.name).test").with { $0.commonName = line.name }
        default: template = .client(line.name)
        }
        for setting in line.settings {
            let value = String(decoding: setting.value?.plainBytes ?? [], as: UTF8.self)
            switch setting.name {
            case "by": issuer = try named(value)
            case "key-of": keyOwner = try named(value)
            case "cn": template.commonName = value
            case "hosts": template.names = Self.list(value).map { .host($0) }
            case "names": template.names = try Self.names(value)
            case "key": template.key = try Self.key(value)
            case "hash": template.hash = try Self.hash(value)
            case "from": template.notBefore = now + (Int64(value) ?? 0)
            case "to": template.notAfter = now + (Int64(value) ?? 0)
            case "ca": template.isAuthority = value == "none" ? nil : value == "true"
            case "path": template.pathLength = UInt(value)
            case "usage": template.keyUsage = try Self.usage(value)
            case "purposes": template.purposes = try Self.purposes(value)
            case "permit":
                template.nameConstraints = .init(
                    permitted: try Self.names(value), excluded: template.nameConstraints?.excluded ?? [])
            case "exclude":
                template.nameConstraints = .init(
                    permitted: template.nameConstraints?.permitted ?? [], excluded: try Self.names(value))
            case "critical": template.extensions.append(.init(value, critical: true, value: [5, 0]))
            case "uncritical": template.extensions.append(.init(value, critical: false, value: [5, 0]))
            case "version": template.version = Int(value) ?? 3
            default: throw CaseFailure("a certificate has no setting \(setting.name)")
            }
        }
        let certificate: IssuedCertificate
        switch (issuer, keyOwner) {
        case (let issuer?, let owner?): certificate = try issuer.issue(template, forKeyOf: owner)
        case (let issuer?, nil): certificate = try issuer.issue(template)
        case (nil, _): certificate = try CertificateFactory.selfSigned(template)
        }
        made[line.name] = certificate
    }

    /// A certificate by its name.
    func named(_ name: String) throws(CaseFailure) -> IssuedCertificate {
        guard let certificate = made[name] else { throw CaseFailure("there is no certificate \(name)") }
        return certificate
    }

    /// The list of an authority, as text.
    func revocationList(of authority: String, revoking names: [String], isStale: Bool) throws -> String {
        let revoked = try names.map { try named($0).certificate }
        let now = Int64(Date().timeIntervalSince1970)
        let list = try named(authority).revocationList(
            revoking: revoked, thisUpdate: isStale ? now - 7200 : nil, nextUpdate: isStale ? now - 3600 : nil)
        let text = Data(list.der).base64EncodedString(options: .lineLength64Characters)
        return "-----BEGIN X509 CRL-----\n\(text)\n-----END X509 CRL-----\n"
    }

    // MARK: Words

    private static func list(_ text: String) -> [String] {
        text == "none" ? [] : text.split(separator: ",").map(String.init)
    }

    private static func names(_ text: String) throws -> [CertificateTemplate.Name] {
        try list(text).map { entry in
            let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw CaseFailure("\(entry) is not kind=name") }
            switch parts[0] {
            case "dns": return .dns(parts[1])
            case "uri": return .uri(parts[1])
            case "email": return .email(parts[1])
            case "ip": return .ip(parts[1].split(separator: ".").compactMap { UInt8($0) })
            default: throw CaseFailure("\(parts[0]) is no kind of name")
            }
        }
    }

    private static func key(_ text: String) throws -> CertificateTemplate.Key {
        switch text {
        case "p224": return .p224
        case "p256": return .p256
        case "p384": return .p384
        case "ed25519": return .ed25519
        default:
            guard text.hasPrefix("rsa"), let bits = Int(text.dropFirst(3)) else {
                throw CaseFailure("\(text) is no kind of key")
            }
            return .rsa(bits)
        }
    }

    private static func hash(_ text: String) throws -> CertificateTemplate.Hash {
        let hashes: [String: CertificateTemplate.Hash] = [
            "md5": .md5, "sha1": .sha1, "sha256": .sha256, "sha384": .sha384,
        ]
        guard let hash = hashes[text] else { throw CaseFailure("\(text) is no hash") }
        return hash
    }

    private static func usage(_ text: String) throws -> CertificateTemplate.KeyUsage? {
        if text == "none" { return nil }
        let bits: [String: CertificateTemplate.KeyUsage] = [
            "signature": .digitalSignature, "encipherment": .keyEncipherment, "certificates": .keyCertSign,
            "lists": .crlSign,
        ]
        return try list(text).reduce(into: []) { usage, word in
            guard let bit = bits[word] else { throw CaseFailure("\(word) is no usage of a key") }
            usage.formUnion(bit)
        }
    }

    private static func purposes(_ text: String) throws -> [CertificateTemplate.Purpose]? {
        if text == "none" { return nil }
        let purposes: [String: CertificateTemplate.Purpose] = [
            "server": .serverAuthentication, "client": .clientAuthentication, "code": .codeSigning,
            "email": .emailProtection, "any": .any,
        ]
        return try list(text).map { word in
            guard let purpose = purposes[word] else { throw CaseFailure("\(word) is no purpose of a key") }
            return purpose
        }
    }
}

extension CaseText {
    /// The bytes, where there is nothing but bytes.
    var plainBytes: [UInt8] {
        parts.flatMap { part -> [UInt8] in
            switch part {
            case .bytes(let bytes): bytes
            case .words: []
            }
        }
    }
}
