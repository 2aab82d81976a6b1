// The functions that judge a trust and tell what came of it (B3.36, B3.37, B3.42).

import Dispatch
import Foundation
import URLLoadingTrust

/// Whether the chain is trusted under every policy; where it is not, an error says why.
///
/// The error's domain is `NSOSStatusErrorDomain`, its code that of the most serious problem, its description names the
/// certificate; the error under `NSUnderlyingErrorKey` is of `URLLoadingErrorDomain.trust`. Nothing is fetched, so that
/// only files of root certificates are waited for.
@discardableResult
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    let failure = trust.evaluated().failure
    error?.pointee = failure.map(SecErrors.make)
    return failure == nil
}

/// What `SecTrustEvaluateAsyncWithError` calls: the trust, whether it is trusted, and the error if it is not.
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

/// Does on the queue what `SecTrustEvaluateWithError` does, and calls `result` there.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus {
    // Owner: handed over to the queue, which calls it once.
    nonisolated(unsafe) let result = result
    queue.async {
        let failure = trust.evaluated().failure
        result(trust, failure == nil, failure.map(SecErrors.make))
    }
    return errSecSuccess
}

/// Evaluates and gives the older result; the status tells only whether that was possible, which it is.
@available(*, deprecated, renamed: "SecTrustEvaluateWithError")
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.evaluated().result
    return errSecSuccess
}

/// What `SecTrustEvaluateAsync` calls: the trust and its result.
public typealias SecTrustCallback = (SecTrust, SecTrustResultType) -> Void

/// Evaluates on the queue and calls `result` there; without a queue on a global one.
@available(*, deprecated, renamed: "SecTrustEvaluateAsyncWithError")
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping SecTrustCallback
) -> OSStatus {
    // Owner: handed over to the queue, which calls it once.
    nonisolated(unsafe) let result = result
    (queue ?? .global()).async { result(trust, trust.evaluated().result) }
    return errSecSuccess
}

/// The result of the last evaluation; `.invalid` before the first, and after a change of conditions (B3.37).
@discardableResult
public func SecTrustGetTrustResult(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.known?.result ?? .invalid
    return errSecSuccess
}

/// What the last evaluation found, under the keys below; nil before the first, and after a change of conditions.
///
/// Certificate transparency and extended validation are not judged, so that their keys are never there.
@discardableResult
public func SecTrustCopyResult(_ trust: SecTrust) -> CFDictionary? {
    guard let outcome = trust.known else { return nil }
    let found = NSMutableDictionary()
    found[kSecTrustEvaluationDate] = outcome.date as NSDate
    found[kSecTrustResultValue] = NSNumber(value: outcome.result.rawValue)
    if outcome.isRevocationChecked { found[kSecTrustRevocationChecked] = kCFBooleanTrue }
    if let until = outcome.answersUntil {
        found[kSecTrustRevocationValidUntilDate] = NSDate(timeIntervalSince1970: Double(until))
    }
    return found
}

/// A dictionary for each certificate of the chain with its name under `title`, the leaf's with the failure under
/// `error`; nil before the first evaluation, and after a change of conditions.
@available(*, deprecated, message: "Use the error of SecTrustEvaluateWithError")
@discardableResult
public func SecTrustCopyProperties(_ trust: SecTrust) -> CFArray? {
    guard let outcome = trust.known else { return nil }
    let rows = outcome.path.enumerated().map { index, certificate in
        let row: NSMutableDictionary = ["title": certificate.displayName]
        if index == 0, let failure = outcome.failure { row["error"] = failure.description }
        return row
    }
    return rows as NSArray
}

/// How many certificates the chain has, which is evaluated if need be.
@discardableResult
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex {
    trust.evaluated().path.count
}

/// A certificate of the chain, which is evaluated if need be: 0 is the leaf; nil for an index outside of it.
@available(*, deprecated, renamed: "SecTrustCopyCertificateChain")
@discardableResult
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ ix: CFIndex) -> SecCertificate? {
    let path = trust.evaluated().path
    return path.indices.contains(ix) ? SecCertificate(path[ix]) : nil
}

/// The chain from the leaf to its anchor, which can differ from what was sent; evaluated if need be (B3.42).
///
/// Of a chain that is not trusted, the leaf and the issuers that were sent, as far as their signatures fit.
@discardableResult
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? {
    trust.evaluated().path.map(SecCertificate.init) as NSArray
}

/// The leaf's public key, whether it is trusted or not; nil where it is neither RSA nor on a usual curve (B3.43).
@discardableResult
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    trust.presented.leaf.publicKey.map(SecKey.init)
}

/// The leaf's public key.
@available(*, deprecated, renamed: "SecTrustCopyKey")
@discardableResult
public func SecTrustCopyPublicKey(_ trust: SecTrust) -> SecKey? {
    SecTrustCopyKey(trust)
}

// Unsafe in name only: these strings never change.

/// When the trust was evaluated.
public nonisolated(unsafe) let kSecTrustEvaluationDate: CFString = "TrustEvaluationDate"
/// Whether the certificate was issued under extended validation; never there.
public nonisolated(unsafe) let kSecTrustExtendedValidation: CFString = "TrustExtendedValidation"
/// The name of the owner under extended validation; never there.
public nonisolated(unsafe) let kSecTrustOrganizationName: CFString = "Organization"
/// The result as a number.
public nonisolated(unsafe) let kSecTrustResultValue: CFString = "TrustResultValue"
/// Whether every certificate below the anchor was said to be good.
public nonisolated(unsafe) let kSecTrustRevocationChecked: CFString = "TrustRevocationChecked"
/// When the first answer about revocation becomes stale.
public nonisolated(unsafe) let kSecTrustRevocationValidUntilDate: CFString = "TrustExpirationDate"
/// Whether the certificate is in public logs; never there.
public nonisolated(unsafe) let kSecTrustCertificateTransparency: CFString = "TrustCertificateTransparency"
