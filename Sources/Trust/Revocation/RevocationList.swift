// A certificate revocation list: which certificates were revoked, which issuer says so, and until when it holds. Parsed
// once. Whether its signature is good is asked when its issuer is known. RFC 5280 section 5.

import CURLLoadingOpenSSL
import Synchronization

/// A complete revocation list of one authority.
package final class RevocationList: Sendable, Hashable {
    /// The encoded list.
    package let der: [UInt8]
    /// The first second at which the list holds, counted from 1970.
    package let thisUpdate: Int64
    /// The last second; nil when the list names none.
    package let nextUpdate: Int64?
    /// The issuer in comparable form; nil when it is malformed.
    let issuerName: [[UInt8]]?
    /// Whether only end entities, or only authorities, are listed; both for neither restriction.
    let covers: (leaves: Bool, authorities: Bool)
    /// Whether it can be used at all: no delta, nothing critical that is unknown.
    let isUsable: Bool
    private let serials: Set<[UInt8]>
    private let object: OpenSSLObject
    /// By which keys the list was found to be signed: long lists take long to check.
    private let signers = Mutex<[[UInt8]: Bool]>([:])

    /// Parses exactly one list.
    package init(der: [UInt8]) throws(CertificateError) {
        OpenSSLErrors.clear()
        let (parsed, used) = der.withUnsafeBufferPointer { bytes -> (OpaquePointer?, Int) in
            var cursor = bytes.baseAddress
            let parsed = d2i_X509_CRL(nil, &cursor, bytes.count)
            return (parsed, cursor.flatMap { end in bytes.baseAddress.map { end - $0 } } ?? 0)
        }
        guard let parsed else { throw .notARevocationList(OpenSSLErrors.takeText()) }
        object = .revocationList(owning: parsed)
        guard used == der.count else { throw .notARevocationList("\(der.count - used) bytes follow it") }
        guard let parts = der.withUnsafeBytes({ RevocationListParts($0) }) else {
            throw .notARevocationList("it is not DER")
        }
        self.der = der
        thisUpdate = parts.thisUpdate
        nextUpdate = parts.nextUpdate
        issuerName = parts.issuer.withUnsafeBytes { DistinguishedName.canonical(whole: $0) }
        covers = parts.covers
        isUsable = parts.isUsable
        serials = parts.serials
    }

    /// Every list of a PEM text, in order; text between the blocks and blocks of other kinds are passed over.
    package static func parse(pem: String) throws(CertificateError) -> [RevocationList] {
        var contents: [[UInt8]] = []
        PEMBlocks.forEach(in: Array(pem.utf8)) { label, content in
            if label.elementsEqual("X509 CRL".utf8) { contents.append(Array(content)) }
        }
        if contents.isEmpty { throw .notARevocationList("no PEM block of one was found") }
        var lists: [RevocationList] = []
        for content in contents { lists.append(try RevocationList(der: content)) }
        return lists
    }

    /// How many certificates are listed.
    package var count: Int { serials.count }

    func lists(_ fields: CertificateFields) -> Bool {
        serials.contains(fields.with(fields.serial) { Array($0) })
    }

    /// Whether the issuer's key has signed the list; nil when the budget does not last to find out.
    func isSigned(by issuer: Certificate, budget: inout WorkBudget) -> Bool? {
        guard let key = X509_get0_pubkey(issuer.pointer), let weight = SignatureRules.weight(of: issuer) else {
            return false
        }
        let name = issuer.publicKeyInfo
        if let known = signers.withLock({ $0[name] }) { return known }
        // Measured: a megabyte is hashed in the time of some ten signatures.
        guard budget.takeSignature(weight: weight + min(16, der.count >> 16)) else { return nil }
        let isSigned = X509_CRL_verify(object.pointer, key) == 1
        signers.withLock { signers in
            if signers.count >= Self.mostSigners { signers.removeAll() }
            signers[name] = isSigned
        }
        return isSigned
    }

    // By feel: the authority's own keys; keys come from peers, so they are bounded.
    private static let mostSigners = 16

    /// Lists are equal when their encodings are.
    package static func == (left: RevocationList, right: RevocationList) -> Bool {
        left === right || left.der == right.der
    }

    /// Feeds what nearly always differs.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(thisUpdate)
        hasher.combine(der.count)
    }
}
