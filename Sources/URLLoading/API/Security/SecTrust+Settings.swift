// The functions that change the conditions of a trust. Each of them makes the trust's result `.invalid` (B3.37), unless
// a parameter cannot be used, in which case nothing changes.

import Foundation
import URLLoadingTrust

/// Sets one policy or an array of policies, which must all hold (B3.33, B3.34). They count as they are set: a session's
/// evaluation that ignores host names, checks no revocation or judges strictly does not change what they ask.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    // Without any policy everything would be believed.
    guard let policies = elements(of: policies, as: SecPolicy.self), !policies.isEmpty else { return errSecParam }
    trust.change { $0.policies = policies }
    return errSecSuccess
}

/// The policies.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = trust.settings.policies as NSArray
    return errSecSuccess
}

/// Sets the certificates that are trusted, and trusts no others from now on (B3.38). Leaves and intermediates may be
/// among them (B3.40). An empty array trusts no server (B3.39), and nil trusts what the session trusts.
///
/// Chains below them are judged as strictly as the session judges: by its profile, its revocation lists and its `hard`,
/// and at its date unless the trust has one of its own. Its pins do not count, and host and revocation are checked as
/// the policies say, also where the session asks for less.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    var anchors: [SecCertificate]?
    if let anchorCertificates {
        guard let given = anchorCertificates as? [SecCertificate] else { return errSecParam }
        anchors = given
    }
    trust.change { settings in
        settings.anchors = anchors
        settings.isAnchorsOnly = anchors != nil
    }
    return errSecSuccess
}

/// Sets whether the own anchors alone are trusted; `false` adds those that the session trusts (B3.38).
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change { $0.isAnchorsOnly = anchorCertificatesOnly }
    return errSecSuccess
}

/// The own anchors; nil when none were set.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(
    _ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    anchors.pointee = trust.settings.anchors.map { $0 as NSArray }
    return errSecSuccess
}

/// Sets the moment at which the certificates must be valid (B3.41).
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    let seconds = verifyDate.timeIntervalSince1970.rounded(.down)
    guard let time = Int64(exactly: seconds) else { return errSecParam }
    trust.change { $0.time = time }
    return errSecSuccess
}

/// The moment at which the certificates must be valid, in seconds since 2001; the session's when none was set, which is
/// now unless its evaluation has a date.
@discardableResult
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    let time = trust.settings.time ?? trust.sessionConditions.time
    return (time.map { Date(timeIntervalSince1970: Double($0)) } ?? Date()).timeIntervalSinceReferenceDate
}

/// Allows or forbids to fetch missing certificates and revocation lists.
///
/// The permission is kept for code that asks for it. Nothing is ever fetched here (B3.13, B3.46): what is missing has
/// to be sent by the server or given.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.change { $0.allowsFetching = allowFetch }
    return errSecSuccess
}

/// Whether fetching is allowed: as it was set, else whether there is an SSL policy (B3.46).
@discardableResult
public func SecTrustGetNetworkFetchAllowed(
    _ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<DarwinBoolean>
) -> OSStatus {
    let settings = trust.settings
    let hasSSL = settings.policies.contains { if case .ssl = $0.kind { true } else { false } }
    allowFetch.pointee = DarwinBoolean(settings.allowsFetching ?? hasSSL)
    return errSecSuccess
}

/// Sets OCSP responses, one or an array, about any certificates of the chain, beside the one that the server may have
/// stapled; nil takes them back.
@discardableResult
public func SecTrustSetOCSPResponse(_ trust: SecTrust, _ responseData: CFTypeRef?) -> OSStatus {
    var responses: [[UInt8]] = []
    if let responseData {
        guard let given = elements(of: responseData, as: NSData.self) else { return errSecParam }
        responses = given.map { Array(Data(referencing: $0)) }
    }
    trust.change { $0.responses = responses }
    return errSecSuccess
}

/// Does nothing and says so: certificate transparency is not judged here. Only nil, which sets nothing, succeeds.
@discardableResult
public func SecTrustSetSignedCertificateTimestamps(_ trust: SecTrust, _ sctArray: CFArray?) -> OSStatus {
    sctArray == nil ? errSecSuccess : errSecUnimplemented
}
