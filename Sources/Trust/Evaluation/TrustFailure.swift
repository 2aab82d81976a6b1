// Why a peer was not believed: one value per reason, and a sentence a person can act on. Does not know URLError.

/// A refusal: the most serious reason, whose certificate it was, and what else was wrong.
package struct TrustFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// The single checks that can fail.
    package enum Reason: Sendable, Equatable {
        /// No root certificates were found on this machine.
        case noRootsFound(searched: [String])
        /// The chain leads to no trusted root: its issuer is unknown or was not sent.
        case unknownRoot
        /// The leaf has signed itself and is no anchor (B3.32).
        case selfSigned
        /// The certificate's time is over; seconds since 1970.
        case expired(notAfter: Int64)
        /// The certificate's time has not begun; seconds since 1970.
        case notYetValid(notBefore: Int64)
        /// The certificate speaks for other hosts.
        case hostMismatch(wanted: String, presented: [String])
        /// A certificate of the chain does not allow this use.
        case wrongPurpose
        /// The public key is too short or of an unfit kind.
        case weakKey(String)
        /// The certificate is signed with a broken hash.
        case weakSignature(String)
        /// An issuer is not allowed to issue certificates.
        case notACertificateAuthority
        /// More intermediates follow an issuer than it allows.
        case pathLength
        /// An extension marked critical is not understood.
        case unknownCriticalExtension
        /// A name lies outside of what an issuer may certify.
        case nameConstraint
        /// The certificate's signature does not fit its issuer's key.
        case signatureInvalid
        /// The certificate breaks the format's rules.
        case malformed(String)
        /// The issuer has revoked it.
        case revoked
        /// Whether it was revoked had to be known, and is not.
        case revocationUnknown(String)
        /// The host had another certificate before.
        case knownHostChanged
        /// It is valid but not the one that was pinned.
        case pinMismatch
        /// Any other reason, in words.
        case other(String)
    }

    /// The most serious reason (B3.72).
    package let reason: Reason
    /// The failing certificate, as a person would call it.
    package let certificate: String
    /// The failing certificate's issuer.
    package let issuer: String
    /// Less serious things that were wrong as well.
    package let further: [Reason]
    /// What the peer had sent, where a connection failed; it takes no part in comparisons.
    package var presented: CertificateChain?
    /// The system's error that kept files with roots from being read, so that the peer may be a good one. It
    /// takes no part in comparisons.
    package var shortage: Int32?
    /// What is wrong with the program's own choice, which therefore believes no peer: this one may be a good one. It
    /// takes no part in comparisons.
    package var mistake: String?

    /// A failure of one certificate.
    package init(_ reason: Reason, certificate: String, issuer: String = "", further: [Reason] = []) {
        self.reason = reason
        self.certificate = certificate
        self.issuer = issuer
        self.further = further
    }

    /// A failure of one certificate, which is named by its subject and issuer.
    package init(_ reason: Reason, _ certificate: Certificate, further: [Reason] = []) {
        self.init(reason, certificate: certificate.displayName, issuer: certificate.issuer, further: further)
    }

    /// Several refusals of a chain as one: the most serious reason, and all others behind it (B3.72); nil for none.
    init?(joining failures: [TrustFailure]) {
        guard let worst = failures.min(by: { $0.reason.rank < $1.reason.rank }) else { return nil }
        var reasons = [worst.reason]
        for failure in [worst] + failures {
            for reason in [failure.reason] + failure.further where !reasons.contains(reason) { reasons.append(reason) }
        }
        self.init(
            worst.reason, certificate: worst.certificate, issuer: worst.issuer, further: Array(reasons.dropFirst()))
        // What one of them has found out stands against the peer.
        if failures.allSatisfy({ $0.shortage != nil }) { shortage = worst.shortage }
    }

    /// Whether both say the same about the same certificate.
    package static func == (left: TrustFailure, right: TrustFailure) -> Bool {
        left.reason == right.reason && left.certificate == right.certificate && left.issuer == right.issuer
            && left.further == right.further
    }

    /// Whether this refusal is told in place of another evaluator's of the same chain: first what nothing excuses, then
    /// what comes closest to belief.
    func isTold(inPlaceOf other: TrustFailure) -> Bool {
        switch (fatalRank, other.fatalRank) {
        case (let own?, let others?): own < others
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): reason.rank > other.reason.rank
        }
    }

    /// Whether all that is wrong is that no root was found.
    var isWantOfRoots: Bool {
        ([reason] + further).allSatisfy { reason in
            switch reason {
            case .noRootsFound, .unknownRoot, .selfSigned: true
            default: false
            }
        }
    }

    /// The rank of the most serious reason that nothing excuses.
    private var fatalRank: Int? { ([reason] + further).filter(\.isFatal).map(\.rank).min() }

    /// One sentence that says what is wrong with which certificate.
    package var description: String {
        let named = certificate.isEmpty ? "The certificate" : "The certificate of \"\(certificate)\""
        let main: String
        switch reason {
        case .noRootsFound(let searched):
            main =
                "No trusted root certificates were found on this machine; looked for: "
                + searched.joined(separator: ", ")
                + ". Install the package ca-certificates, or name a bundle in SSL_CERT_FILE"
        case .unknownRoot:
            main =
                named + (issuer.isEmpty ? "" : ", issued by \"\(issuer)\",")
                + " does not lead to a trusted root certificate"
        case .selfSigned: main = named + " is self-signed and is not among the trusted certificates"
        case .expired(let end): main = named + " expired on " + Self.date(end)
        case .notYetValid(let start): main = named + " is not valid before " + Self.date(start)
        case .hostMismatch(let wanted, let presented):
            main = named + " is not valid for \"\(wanted)\"; " + Self.names(presented)
        case .wrongPurpose: main = named + " must not be used to identify this kind of peer"
        case .weakKey(let key): main = named + " has a key that is too weak (\(key))"
        case .weakSignature(let hash): main = named + " is signed with a hash that is broken (\(hash))"
        case .notACertificateAuthority:
            main = named + " was used to issue a certificate but is not a certificate authority's"
        case .pathLength: main = named + " has issued a longer chain than it may"
        case .unknownCriticalExtension: main = named + " has a critical extension that is not understood"
        case .nameConstraint: main = named + " has a name that its issuer may not certify"
        case .signatureInvalid: main = named + " has a signature that does not fit its issuer's key"
        case .malformed(let what): main = named + " is malformed (\(what))"
        case .revoked: main = named + " has been revoked by its issuer"
        case .revocationUnknown(let why): main = named + " may have been revoked: " + Self.withoutStop(why)
        case .knownHostChanged: main = named + " is not the one that this host had before"
        case .pinMismatch: main = named + " is not one of the pinned ones"
        case .other(let text): main = named + " was refused: " + Self.withoutStop(text)
        }
        let also = further.isEmpty ? "" : " (also: " + further.map(Self.brief).joined(separator: ", ") + ")"
        return main + also + "."
    }

    /// What others say may be a sentence of its own.
    private static func withoutStop(_ text: String) -> Substring { text.hasSuffix(".") ? text.dropLast() : text[...] }
}

extension TrustFailure.Reason {
    /// The peer has sent what cannot be judged within the limits of work.
    package static let tooMuchWork = Self.other("to check it takes more work than a peer may ask for")

    /// Whether nothing excuses it: its issuer has revoked the certificate, or the certificate is not what it says it
    /// is.
    package var isFatal: Bool {
        switch self {
        case .revoked, .signatureInvalid, .malformed: true
        case .noRootsFound, .unknownRoot, .selfSigned, .expired, .notYetValid, .hostMismatch, .wrongPurpose, .weakKey,
            .weakSignature, .notACertificateAuthority, .pathLength, .unknownCriticalExtension, .nameConstraint,
            .revocationUnknown, .knownHostChanged, .pinMismatch, .other:
            false
        }
    }

    /// Where the reason stands among others: the smallest is reported (B3.72).
    ///
    /// What makes the chain untrusted comes before a wrong name, and a wrong name before dates.
    package var rank: Int {
        switch self {
        case .revoked: 0
        case .noRootsFound: 1
        case .malformed: 2
        case .signatureInvalid: 3
        case .selfSigned: 4
        case .unknownRoot: 5
        case .notACertificateAuthority: 6
        case .pathLength: 7
        case .nameConstraint: 8
        case .unknownCriticalExtension: 9
        case .weakSignature: 10
        case .weakKey: 11
        case .wrongPurpose: 12
        case .other: 13
        case .hostMismatch: 14
        case .revocationUnknown: 15
        case .knownHostChanged: 16
        case .pinMismatch: 17
        case .expired: 18
        case .notYetValid: 19
        }
    }
}

extension TrustFailure {
    private static func brief(_ reason: Reason) -> String {
        switch reason {
        case .noRootsFound: "no roots found"
        case .unknownRoot: "unknown root"
        case .selfSigned: "self-signed"
        case .expired(let end): "expired on " + date(end)
        case .notYetValid(let start): "not valid before " + date(start)
        case .hostMismatch(let wanted, _): "not valid for \"\(wanted)\""
        case .wrongPurpose: "wrong purpose"
        case .weakKey(let key): "weak key (\(key))"
        case .weakSignature(let hash): "weak signature (\(hash))"
        case .notACertificateAuthority: "issuer is not a certificate authority"
        case .pathLength: "path too long"
        case .unknownCriticalExtension: "unknown critical extension"
        case .nameConstraint: "name constraint violated"
        case .signatureInvalid: "invalid signature"
        case .malformed(let what): "malformed (\(what))"
        case .revoked: "revoked"
        case .revocationUnknown: "revocation unknown"
        case .knownHostChanged: "another certificate than before"
        case .pinMismatch: "not pinned"
        case .other(let text): text
        }
    }

    private static func names(_ presented: [String]) -> String {
        if presented.isEmpty { return "it names no host (a common name does not count)" }
        let shown = presented.prefix(5).joined(separator: ", ")
        return "it is for " + shown + (presented.count > 5 ? " and \(presented.count - 5) more" : "")
    }

    /// A moment as `2024-05-01 12:00:00 UTC`.
    static func date(_ seconds: Int64) -> String {
        var days = seconds / 86_400
        var rest = seconds % 86_400
        if rest < 0 { (days, rest) = (days - 1, rest + 86_400) }
        // Days since 0000-03-01, in eras of 400 years.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let clock = [rest / 3_600, rest / 60 % 60, rest % 60].map(twoDigits).joined(separator: ":")
        return "\(year)-\(twoDigits(month))-\(twoDigits(day)) \(clock) UTC"
    }

    private static func twoDigits(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
