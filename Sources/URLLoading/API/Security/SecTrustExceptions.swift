// What a program has decided to overlook in one certificate: the problems it had, and no others (B3.45). Travels as
// data that programs may store; whatever comes back is read with care.

import Foundation
import URLLoadingTrust

/// Problems of one leaf that are excused.
struct SecTrustExceptions: Sendable, Codable {
    private let version: Int
    /// SHA-256 of the leaf.
    private let leaf: Data
    private let problems: Set<String>

    /// Excuses these problems of the leaf, apart from those that cannot be excused.
    init(_ reasons: [TrustFailure.Reason], of leaf: Certificate) {
        version = Self.current
        self.leaf = Data(leaf.fingerprintSHA256)
        problems = Set(reasons.filter { !$0.isFatal }.map(Self.name))
    }

    /// Reads the data of `encoded`; nil for anything else, and for another leaf's.
    init?(_ data: Data, for leaf: Certificate) {
        guard data.count <= Self.mostBytes, let read = try? JSONDecoder().decode(SecTrustExceptions.self, from: data),
            read.version == Self.current, read.leaf == Data(leaf.fingerprintSHA256)
        else { return nil }
        self = read
    }

    /// The data to store; nil never comes of what this type holds.
    var encoded: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try? encoder.encode(self)
    }

    /// Whether the problem was there before.
    func excuse(_ reason: TrustFailure.Reason) -> Bool {
        !reason.isFatal && problems.contains(Self.name(reason))
    }

    /// The kind of problem; with the host where it is about one, so that another host is another problem.
    private static func name(_ reason: TrustFailure.Reason) -> String {
        switch reason {
        case .noRootsFound: "noRootsFound"
        case .unknownRoot: "unknownRoot"
        case .selfSigned: "selfSigned"
        case .expired: "expired"
        case .notYetValid: "notYetValid"
        case .hostMismatch(let wanted, _): "host " + wanted
        case .wrongPurpose: "wrongPurpose"
        case .weakKey: "weakKey"
        case .weakSignature: "weakSignature"
        case .notACertificateAuthority: "notACertificateAuthority"
        case .pathLength: "pathLength"
        case .unknownCriticalExtension: "unknownCriticalExtension"
        case .nameConstraint: "nameConstraint"
        case .signatureInvalid: "signatureInvalid"
        case .malformed: "malformed"
        case .revoked: "revoked"
        case .revocationUnknown: "revocationUnknown"
        case .knownHostChanged: "knownHostChanged"
        case .pinMismatch: "pinMismatch"
        case .other(let text): "other " + text
        }
    }

    private static let current = 1
    // By feel: a leaf has a few problems with a word each.
    private static let mostBytes = 64 << 10
}

/// The problems that the chain has now, evaluated if need be, as data that `SecTrustSetExceptions` takes.
@discardableResult
public func SecTrustCopyExceptions(_ trust: SecTrust) -> CFData? {
    let outcome = trust.evaluated()
    return SecTrustExceptions(outcome.reasons, of: trust.presented.leaf).encoded.map { NSData(data: $0) }
}

/// Overlooks the problems in the data from now on, after which the trust has to be evaluated anew; answers whether the
/// data are of this trust's leaf. Nil takes exceptions back.
///
/// A revoked, forged or malformed certificate is refused all the same, and so is a problem that is new.
@discardableResult
public func SecTrustSetExceptions(_ trust: SecTrust, _ exceptions: CFData?) -> Bool {
    let read = exceptions.flatMap { SecTrustExceptions(Data(referencing: $0), for: trust.presented.leaf) }
    trust.change { $0.exceptions = read }
    return read != nil
}
