// Answers a Digest challenge, once or for many requests, and checks the server's answer to that. RFC 7616 §3.4, §3.5;
// behaviour B2.81 to B2.83, B2.85 to B2.87, B2.89, B2.90. It must not know where it is kept between requests.

import URLLoadingWire

/// A nonce, how often it was used, and what belongs to it.
struct DigestSession: Sendable {
    let challenge: DigestChallenge
    /// The nonce that is used: the challenge's, or the last one announced since.
    private(set) var nonce: String
    /// How often the nonce was used, this time included.
    private(set) var count: UInt32 = 1
    /// Our own nonce. RFC 7616 §3.4.2: what `-sess` derives stays with the first nonces of both.
    let clientNonce: String
    /// H(A1), once it is kept. A session is one credential's, and what is hashed stays the same
    /// for all of its requests.
    private var keptSecret: String?

    /// Begins with a challenge.
    init(_ challenge: DigestChallenge, freshness: AuthenticationFreshness) {
        self.challenge = challenge
        nonce = challenge.nonce
        clientNonce = Base64.encode(freshness.bytes)
    }

    /// The session with its nonce used once more (B2.87); nil when eight digits cannot count that.
    var usedAgain: DigestSession? {
        let (next, overflows) = count.addingReportingOverflow(1)
        if overflows { return nil }
        var used = self
        used.count = next
        return used
    }

    /// The session with the count of another, where they share the nonce and the other one has used it more often.
    func counted(like other: DigestSession) -> DigestSession {
        guard nonce.hasSameBytes(as: other.nonce), count < other.count else { return self }
        var counted = self
        counted.count = other.count
        return counted
    }

    /// The session with another nonce, unused (B2.89).
    func renewed(nonce: String) -> DigestSession {
        var renewed = self
        renewed.nonce = nonce
        renewed.count = 0
        return renewed
    }

    /// The session with H(A1) kept for its next requests.
    func keepingSecret(of credential: PasswordCredential, hashes: HashFunctions) -> DigestSession {
        var keeping = self
        keeping.keptSecret = secret(credential, TextHash(algorithm: challenge.algorithm, hashes: hashes))
        return keeping
    }

    // MARK: Answering

    /// What follows the scheme's name in the field; nil where a hash is not to be had.
    func parameters(
        _ credential: PasswordCredential, request: AuthenticatedRequest, bodyHash: [UInt8]?, hashes: HashFunctions
    ) -> String? {
        let hash = TextHash(algorithm: challenge.algorithm, hashes: hashes)
        guard let secret = secret(credential, hash),
            let subject = subject(method: request.method, target: request.target, bodyHash: bodyHash, hash),
            let response = response(secret: secret, subject: subject, hash),
            let user = userParameter(credential.user, hash)
        else { return nil }
        var parameters = [
            user, "realm=\(quoted(challenge.realm))", "nonce=\(quoted(nonce))", "uri=\(quoted(request.target))",
            "response=\"\(response)\"",
        ]
        if let name = challenge.algorithmName { parameters.append("algorithm=\(name)") }
        if challenge.protection != .legacy {
            parameters += [
                "qop=\(challenge.protection.rawValue)", "nc=\(countText)", "cnonce=\(quoted(clientNonce))",
            ]
        }
        if let opaque = challenge.opaque { parameters.append("opaque=\(quoted(opaque))") }
        if challenge.hashesUser { parameters.append("userhash=true") }
        return parameters.joined(separator: ", ")
    }

    /// Whether the server knows the password too (B2.89); nil where it does not say, or covers
    /// its body by what it says.
    func isProven(
        by info: [AuthenticationParameter], _ credential: PasswordCredential, request: AuthenticatedRequest,
        hashes: HashFunctions
    ) -> Bool? {
        guard let claimed = info.value(of: "rspauth"), challenge.protection != .legacy else { return nil }
        let protection = info.value(of: "qop") ?? challenge.protection.rawValue
        guard !ASCII.isEqual(protection, DigestChallenge.Protection.authInt.rawValue) else { return nil }
        // RFC 7616 §3.5: the server repeats our nonce and count if it sends them at all.
        guard (info.value(of: "cnonce") ?? clientNonce) == clientNonce,
            ASCII.isEqual(info.value(of: "nc") ?? countText, countText)
        else { return false }
        let hash = TextHash(algorithm: challenge.algorithm, hashes: hashes)
        guard let secret = secret(credential, hash), let subject = hash.hex(":" + request.target),
            let response = response(secret: secret, subject: subject, protection: .auth, hash)
        else { return nil }
        return ASCII.isEqual(claimed, response)
    }

    // MARK: Hashes

    /// H(A1) (B2.81).
    private func secret(_ credential: PasswordCredential, _ hash: TextHash) -> String? {
        if let keptSecret { return keptSecret }
        let secret = hash.hex("\(credential.user):\(challenge.realm):\(credential.password)")
        guard challenge.isSession else { return secret }
        return secret.flatMap { hash.hex("\($0):\(challenge.nonce):\(clientNonce)") }
    }

    /// H(A2) (B2.82).
    private func subject(method: String, target: String, bodyHash: [UInt8]?, _ hash: TextHash) -> String? {
        guard challenge.protection == .authInt else { return hash.hex("\(method):\(target)") }
        guard let body = bodyHash?.hexText ?? hash.hex("") else { return nil }
        return hash.hex("\(method):\(target):\(body)")
    }

    /// The response (B2.83).
    private func response(
        secret: String, subject: String, protection: DigestChallenge.Protection? = nil, _ hash: TextHash
    ) -> String? {
        let protection = protection ?? challenge.protection
        if protection == .legacy { return hash.hex("\(secret):\(nonce):\(subject)") }
        return hash.hex("\(secret):\(nonce):\(countText):\(clientNonce):\(protection.rawValue):\(subject)")
    }

    private struct TextHash {
        let algorithm: HashAlgorithm
        let hashes: HashFunctions

        func hex(_ text: String) -> String? { hashes.hash(algorithm, Array(text.utf8))?.hexText }
    }

    // MARK: Text

    /// Eight digits (B2.86).
    private var countText: String {
        let digits = String(count, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }

    /// The name, or its hash, or, where it fits into no quotes, its percent-encoded form (B2.90).
    private func userParameter(_ user: String, _ hash: TextHash) -> String? {
        if challenge.hashesUser {
            return hash.hex("\(user):\(challenge.realm)").map { "username=\"\($0)\"" }
        }
        if user.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return "username=\(quoted(user))" }
        return "username*=UTF-8''\(Self.extendedValue(user))"
    }

    private func quoted(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
            return "\"\(text)\""
        }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// RFC 8187 §3.2.1.
    private static func extendedValue(_ text: String) -> String {
        var value: [UInt8] = []
        for byte in text.utf8 {
            if ASCII.isLetter(byte) || ASCII.isDigit(byte) || "!#$&+-.^_`|~".utf8.contains(byte) {
                value.append(byte)
            } else {
                value += "%".utf8
                value += [byte].hexText.utf8.map { ASCII.isLetter($0) ? $0 & ~0x20 : $0 }
            }
        }
        return String(decoding: value, as: UTF8.self)
    }
}
