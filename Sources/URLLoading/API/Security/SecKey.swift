// Apple's name for a key: a thin face of Trust's. Keys are compared and exported; nothing is signed with them here.

import Foundation
import URLLoadingTrust

/// An RSA or elliptic-curve key. Two are equal where their kind and public parts are.
public final class SecKey: Hashable, Sendable {
    let key: Key

    init(_ key: Key) {
        self.key = key
    }

    /// Whether both are the same key.
    public static func == (one: SecKey, other: SecKey) -> Bool { one.key == other.key }

    /// Hashes the public part.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The number of the type.
@discardableResult
public func SecKeyGetTypeID() -> CFTypeID { SecTypeID.key }

/// The key as PKCS #1 (RSA) or as X9.63's `04 | X | Y`, with `| K` for a private key (EC); never the form with the
/// algorithm's header, of which pins of encoded public keys are made (B3.44).
@discardableResult
public func SecKeyCopyExternalRepresentation(
    _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? {
    let bytes = key.key.bytes
    if bytes.isEmpty {
        SecErrors.hand(SecErrors.make(errSecInternalComponent, "The key could not be encoded."), to: error)
        return nil
    }
    return NSData(data: Data(bytes))
}

/// The key's type, class and size under `kSecAttrKeyType`, `kSecAttrKeyClass` and `kSecAttrKeySizeInBits`.
@discardableResult
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    let type = key.key.kind == .rsa ? kSecAttrKeyTypeRSA : kSecAttrKeyTypeECSECPrimeRandom
    let attributes: NSDictionary = [
        kSecAttrKeyType: type,
        kSecAttrKeyClass: key.key.isPrivate ? kSecAttrKeyClassPrivate : kSecAttrKeyClassPublic,
        kSecAttrKeySizeInBits: NSNumber(value: key.key.bits),
    ]
    return attributes
}

/// The public key of a private one; a public key itself.
@discardableResult
public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? {
    key.key.isPrivate ? SecKey(key.key.publicKey) : key
}

/// The bytes of an RSA key's modulus, or of a coordinate.
@discardableResult
public func SecKeyGetBlockSize(_ key: SecKey) -> Int {
    (key.key.bits + 7) / 8
}

/// A key from what `SecKeyCopyExternalRepresentation` gives; `attributes` has its type and its class.
///
/// A size in the attributes must be the key's. Nil with an error for anything else.
@discardableResult
public func SecKeyCreateWithData(
    _ keyData: CFData, _ attributes: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? {
    func refuse(_ description: String) -> SecKey? {
        SecErrors.hand(SecErrors.make(errSecParam, description), to: error)
        return nil
    }
    let kinds: [CFString: Key.Kind] = [kSecAttrKeyTypeRSA: .rsa, kSecAttrKeyTypeECSECPrimeRandom: .ellipticCurve]
    guard let type = attributes.value(named: kSecAttrKeyType) as? String, let kind = kinds[NSString(string: type)]
    else {
        return refuse("The attributes name no type of key that is known.")
    }
    let classes: [CFString: Bool] = [kSecAttrKeyClassPublic: false, kSecAttrKeyClassPrivate: true]
    guard let name = attributes.value(named: kSecAttrKeyClass) as? String,
        let isPrivate = classes[NSString(string: name)]
    else { return refuse("The attributes do not say whether the key is public or private.") }
    do {
        let key = try Key(Array(Data(referencing: keyData)), kind: kind, isPrivate: isPrivate)
        if let size = attributes.value(named: kSecAttrKeySizeInBits), size as? Int != key.bits {
            return refuse("The key has \(key.bits) bits, and the attributes name another size.")
        }
        return SecKey(key)
    } catch {
        return refuse(error.description)
    }
}

// Unsafe in name only: these strings never change.

/// The key of a key's type.
public nonisolated(unsafe) let kSecAttrKeyType: CFString = "type"
/// The key of a key's class.
public nonisolated(unsafe) let kSecAttrKeyClass: CFString = "kcls"
/// The key of a key's size.
public nonisolated(unsafe) let kSecAttrKeySizeInBits: CFString = "bsiz"
/// RSA.
public nonisolated(unsafe) let kSecAttrKeyTypeRSA: CFString = "42"
/// An elliptic curve.
public nonisolated(unsafe) let kSecAttrKeyTypeEC: CFString = "73"
/// An elliptic curve.
public nonisolated(unsafe) let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// A public key.
public nonisolated(unsafe) let kSecAttrKeyClassPublic: CFString = "0"
/// A private key.
public nonisolated(unsafe) let kSecAttrKeyClassPrivate: CFString = "1"
