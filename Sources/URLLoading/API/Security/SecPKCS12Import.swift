// Reads PKCS #12 files into what programs written for Security expect: an array with a dictionary for each identity.

import Foundation
import URLLoadingTrust

/// Reads the identity of a PKCS #12 file, which the passphrase under `kSecImportExportPassphrase` opens.
///
/// On success `items` has one dictionary: the `SecIdentity`, its chain of `SecCertificate` (leaf first, without the
/// root), a `SecTrust` of that chain, the name that the file gives the identity, and the SHA-1 of its key. A wrong
/// passphrase is `errSecAuthFailed`, none where one is needed `errSecPassphraseRequired`, options that are not
/// understood `errSecParam`, and a file that is none, or has no private key, `errSecDecode`.
@discardableResult
public func SecPKCS12Import(
    _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    items.pointee = nil
    guard let names = options.keyNames, names.isSubset(of: [kSecImportExportPassphrase as String]) else {
        return errSecParam
    }
    var passphrase: String?
    if let value = options.value(named: kSecImportExportPassphrase) {
        guard let text = value as? String else { return errSecParam }
        passphrase = text
    }
    do {
        let identity = try Identity(pkcs12: Array(Data(referencing: pkcs12_data)), passphrase: passphrase ?? "")
        items.pointee = [item(identity)] as NSArray
        return errSecSuccess
    } catch .wrongPassphrase {
        return passphrase == nil ? errSecPassphraseRequired : errSecAuthFailed
    } catch {
        return errSecDecode
    }
}

private func item(_ identity: Identity) -> NSDictionary {
    let item = NSMutableDictionary()
    item[kSecImportItemIdentity] = SecIdentity(identity)
    item[kSecImportItemCertChain] = identity.chain.certificates.map(SecCertificate.init) as NSArray
    item[kSecImportItemTrust] = SecTrust(
        presented: identity.chain, policies: [SecPolicyCreateBasicX509()], policy: TrustPolicy(host: nil),
        evaluator: SecTrust.system)
    item[kSecImportItemKeyID] = NSData(data: Data(identity.chain.leaf.publicKeySHA1))
    if let label = identity.chain.leaf.label { item[kSecImportItemLabel] = NSString(string: label) }
    return item
}

// Unsafe in name only: these strings never change.

/// The option with the passphrase.
public nonisolated(unsafe) let kSecImportExportPassphrase: CFString = "passphrase"
/// The name that the file gives the identity.
public nonisolated(unsafe) let kSecImportItemLabel: CFString = "label"
/// The SHA-1 of the identity's public key.
public nonisolated(unsafe) let kSecImportItemKeyID: CFString = "keyid"
/// A trust of the identity's chain.
public nonisolated(unsafe) let kSecImportItemTrust: CFString = "trust"
/// The identity's chain.
public nonisolated(unsafe) let kSecImportItemCertChain: CFString = "chain"
/// The identity.
public nonisolated(unsafe) let kSecImportItemIdentity: CFString = "identity"
