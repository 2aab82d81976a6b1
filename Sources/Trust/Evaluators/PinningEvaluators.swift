// Pins: certificates and keys that must be in the verified path, besides everything else that is asked (B3.51). A path
// that is not verified is no place to look for them: the sender of a chain can add anything to it (B3.68).

/// Believes chains that another evaluator believes and that have one of the pinned certificates in them (B3.50).
package struct PinnedCertificatesEvaluator: FileEvaluator {
    private let base: any TrustEvaluator
    private let pins: [[UInt8]]

    /// Pins these certificates; none of them refuses everything (B3.58, B3.63).
    package init(_ certificates: [Certificate], besides base: any TrustEvaluator = SystemRootsEvaluator()) {
        self.base = base
        pins = certificates.map(\.fingerprintSHA256)
    }

    /// The base's verdict, and the pins'.
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        Pins.check(try base.verdict(on: chain, policy: policy, mayWait: mayWait), chain, pins) { $0.fingerprintSHA256 }
    }

    /// The base's.
    package func conditions(on policy: TrustPolicy) -> TrustPolicy { base.conditions(on: policy) }

    /// Whether the base does.
    package var learns: Bool { base.learns }

    /// Tells the base.
    package func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustFailure?
    {
        try base.learn(chain, policy: policy, mayWait: mayWait)
    }
}

/// Believes chains that another evaluator believes and that have one of the pinned keys in them (B3.49, B3.50).
package struct PinnedKeysEvaluator: FileEvaluator {
    private let base: any TrustEvaluator
    private let pins: [[UInt8]]

    /// Pins the SHA-256 of encoded public keys (B3.52), of which any is enough: that in use and its back-ups.
    ///
    /// Throws when a pin is no such hash or there is none, which would refuse every server (B3.64).
    package init(
        spkiSHA256 pins: [[UInt8]], besides base: any TrustEvaluator = SystemRootsEvaluator()
    ) throws(CertificateError) {
        if pins.isEmpty { throw .notAPin("there is none") }
        for pin in pins where pin.count != 32 { throw .notAPin("one has \(pin.count) bytes in place of 32") }
        self.base = base
        self.pins = pins
    }

    /// Pins hashes in base64, as dictionaries of pinned domains have them (B3.83).
    package init(
        base64 pins: [String], besides base: any TrustEvaluator = SystemRootsEvaluator()
    ) throws(CertificateError) {
        try self.init(spkiSHA256: try Self.decode(pins), besides: base)
    }

    /// The base's verdict, and the pins'.
    package func judge(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustVerdict
    {
        Pins.check(try base.verdict(on: chain, policy: policy, mayWait: mayWait), chain, pins) { $0.spkiSHA256 }
    }

    /// The base's.
    package func conditions(on policy: TrustPolicy) -> TrustPolicy { base.conditions(on: policy) }

    /// Whether the base does.
    package var learns: Bool { base.learns }

    /// Tells the base.
    package func learn(_ chain: CertificateChain, policy: TrustPolicy, mayWait: Bool) throws(FilesNeeded)
        -> TrustFailure?
    {
        try base.learn(chain, policy: policy, mayWait: mayWait)
    }

    /// The hashes that are meant, of which there is at least one.
    static func decode(_ pins: [String]) throws(CertificateError) -> [[UInt8]] {
        if pins.isEmpty { throw .notAPin("there is none") }
        var decoded: [[UInt8]] = []
        for text in pins {
            let hash = text.hasPrefix(mark) ? text.dropFirst(mark.count) : text[...]
            guard let pin = PEMBlocks.decode(base64: Array(hash.utf8)) else {
                throw .notAPin("\"\(text)\" is not base64")
            }
            if pin.count != 32 { throw .notAPin("\"\(text)\" has \(pin.count) bytes in place of 32") }
            decoded.append(pin)
        }
        return decoded
    }

    /// What curl and RFC 7469's tools put before a hash.
    private static let mark = "sha256//"
}

private enum Pins {
    static func check(
        _ verdict: TrustVerdict, _ chain: CertificateChain, _ pins: [[UInt8]], of value: (Certificate) -> [UInt8]
    ) -> TrustVerdict {
        guard case .trusted(let peer) = verdict else { return verdict }
        let found = peer.path.contains { certificate in
            let own = value(certificate)
            return pins.contains { ConstantTime.equal($0, own) }
        }
        return found ? verdict : .refused(TrustFailure(.pinMismatch, chain.leaf))
    }
}
