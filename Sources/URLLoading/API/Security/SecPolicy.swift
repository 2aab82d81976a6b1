// What a chain is judged for: a TLS peer's name and use, the chain alone, or revocation.
// Values; the judging is Trust's.

import Foundation
import URLLoadingTrust

/// A rule that a chain of certificates must fulfil. Two are equal where they ask for the same.
public final class SecPolicy: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        /// A TLS peer: the chain, its use, and the host if one is named (B3.24, B3.34).
        case ssl(isServer: Bool, host: String?)
        /// The chain and its dates (B3.34).
        case basicX509
        /// Whether certificates were revoked (B3.47).
        case revocation(flags: CFOptionFlags)
    }

    let kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// Whether both ask for the same.
    public static func == (one: SecPolicy, other: SecPolicy) -> Bool { one.kind == other.kind }

    /// Hashes what it asks for.
    public func hash(into hasher: inout Hasher) { hasher.combine(kind) }
}

/// The number of the type.
@discardableResult
public func SecPolicyGetTypeID() -> CFTypeID { SecTypeID.policy }

/// The policy for a TLS server, or for a TLS client where `server` is false; without a host the name does not count,
/// and with one it does, also in a session that ignores host names.
@discardableResult
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    SecPolicy(.ssl(isServer: server, host: hostname.map { $0 as String }))
}

/// The policy that judges the chain and its dates only, by the standard profile, also in a session that judges
/// strictly.
@discardableResult
public func SecPolicyCreateBasicX509() -> SecPolicy {
    SecPolicy(.basicX509)
}

/// The policy that makes revocation count: a certificate that is known to be revoked is refused, and with
/// `kSecRevocationRequirePositiveResponse` also one that is not known to be good.
///
/// Answers are the stapled response, `SecTrustSetOCSPResponse`'s and the session's revocation lists, whichever method
/// the flags name; nothing is fetched. A session that checks nothing does so for this policy, and one that asks for
/// more gets more. Nil for unknown flags.
@discardableResult
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    let known =
        kSecRevocationUseAnyAvailableMethod | kSecRevocationPreferCRL | kSecRevocationRequirePositiveResponse
        | kSecRevocationNetworkAccessDisabled
    return revocationFlags & ~known == 0 ? SecPolicy(.revocation(flags: revocationFlags)) : nil
}

/// The policy's identifier under `kSecPolicyOid`, its host under `kSecPolicyName`, and whether it is for clients under
/// `kSecPolicyClient`.
@discardableResult
public func SecPolicyCopyProperties(_ policyRef: SecPolicy) -> CFDictionary? {
    switch policyRef.kind {
    case .ssl(let isServer, let host):
        let properties = NSMutableDictionary()
        properties[kSecPolicyOid] = kSecPolicyAppleSSL
        if let host { properties[kSecPolicyName] = NSString(string: host) }
        if !isServer { properties[kSecPolicyClient] = kCFBooleanTrue }
        return properties
    case .basicX509: return [kSecPolicyOid: kSecPolicyAppleX509Basic]
    case .revocation: return [kSecPolicyOid: kSecPolicyAppleRevocation]
    }
}

/// The policy with this identifier: `kSecPolicyAppleSSL` with `kSecPolicyName` and `kSecPolicyClient`,
/// `kSecPolicyAppleX509Basic`, or `kSecPolicyAppleRevocation`.
///
/// Nil for other identifiers, and for properties that the policy does not have.
@discardableResult
public func SecPolicyCreateWithProperties(_ policyIdentifier: CFTypeRef, _ properties: CFDictionary?) -> SecPolicy? {
    let properties = properties ?? NSDictionary()
    guard let identifier = policyIdentifier as? NSString, let names = properties.keyNames else { return nil }
    switch identifier {
    case kSecPolicyAppleSSL:
        guard names.isSubset(of: [kSecPolicyName as String, kSecPolicyClient as String]) else { return nil }
        var host: String?
        if let value = properties.value(named: kSecPolicyName) {
            guard let text = value as? String else { return nil }
            host = text
        }
        var isClient = false
        if let value = properties.value(named: kSecPolicyClient) {
            guard let flag = value as? Bool else { return nil }
            isClient = flag
        }
        return SecPolicy(.ssl(isServer: !isClient, host: host))
    case kSecPolicyAppleX509Basic:
        return names.isEmpty ? SecPolicyCreateBasicX509() : nil
    case kSecPolicyAppleRevocation:
        return names.isEmpty ? SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod) : nil
    default:
        return nil
    }
}

/// Ask the responder; nothing is asked here.
public let kSecRevocationOCSPMethod: CFOptionFlags = 1
/// Look into lists.
public let kSecRevocationCRLMethod: CFOptionFlags = 2
/// Prefer lists.
public let kSecRevocationPreferCRL: CFOptionFlags = 4
/// No answer is a failure.
public let kSecRevocationRequirePositiveResponse: CFOptionFlags = 8
/// Fetch nothing, as is always so here.
public let kSecRevocationNetworkAccessDisabled: CFOptionFlags = 16
/// Use whatever answer there is, as is always so here.
public let kSecRevocationUseAnyAvailableMethod: CFOptionFlags = 3

// Unsafe in name only: these strings never change.

/// The identifier of `SecPolicyCreateBasicX509`.
public nonisolated(unsafe) let kSecPolicyAppleX509Basic: CFString = "1.2.840.113635.100.1.2"
/// The identifier of `SecPolicyCreateSSL`.
public nonisolated(unsafe) let kSecPolicyAppleSSL: CFString = "1.2.840.113635.100.1.3"
/// The identifier of `SecPolicyCreateRevocation`.
public nonisolated(unsafe) let kSecPolicyAppleRevocation: CFString = "1.2.840.113635.100.1.21"
/// The key of a policy's identifier.
public nonisolated(unsafe) let kSecPolicyOid: CFString = "SecPolicyOid"
/// The key of a policy's host.
public nonisolated(unsafe) let kSecPolicyName: CFString = "SecPolicyName"
/// The key of whether a policy is for clients.
public nonisolated(unsafe) let kSecPolicyClient: CFString = "SecPolicyClient"

extension SecPolicy {
    /// The face of the conditions of a connection (B3.35).
    convenience init(_ policy: TrustPolicy) {
        switch policy.purpose {
        case .anyPurpose: self.init(.basicX509)
        case .serverAuthentication: self.init(.ssl(isServer: true, host: policy.host?.description))
        case .clientAuthentication: self.init(.ssl(isServer: false, host: policy.host?.description))
        }
    }

    /// The conditions under which a chain is judged, made of those of the trust's making; nil where this policy only
    /// adds to others. What the policy asks for by name no condition of a session takes back.
    func conditions(from base: TrustPolicy) -> TrustPolicy? {
        var conditions = base
        switch kind {
        case .ssl(let isServer, let host):
            conditions.purpose = isServer ? .serverAuthentication : .clientAuthentication
            conditions.host = host.map { HostName($0.withHostsInASCII) }
            conditions.fixed.insert(.host)
        case .basicX509:
            conditions.purpose = .anyPurpose
            conditions.host = nil
            // B3.34: the chain and its dates, not rules of form.
            conditions.profile = .standard
            conditions.fixed.formUnion([.host, .profile])
        case .revocation:
            return nil
        }
        return conditions
    }

    /// What the policy asks about revocation; nil for nothing.
    var revocationMode: RevocationPolicy.Mode? {
        guard case .revocation(let flags) = kind else { return nil }
        return flags & kSecRevocationRequirePositiveResponse != 0 ? .hard : .soft
    }
}
