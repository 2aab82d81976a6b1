// Checks an answer to a Digest challenge by computing it anew, with OpenSSL's hashes and not with the package's own.
// RFC 7616 §3.4.
//
// Must not know: where the field came from.

import CURLLoadingOpenSSL
import URLLoadingTestSupport

/// The parameters of a Digest answer.
struct DigestProof {
    /// Names in lower case; quoted values without their quotes.
    let parameters: [String: String]
    /// The names whose values were quoted.
    let quoted: Set<String>

    /// Reads the field's value.
    init(_ value: String) throws(CaseFailure) {
        let scheme = value.prefix { $0 != " " }
        guard scheme.lowercased() == "digest" else { throw CaseFailure("the proof is no digest but \"\(value)\"") }
        var (parameters, quoted): ([String: String], Set<String>) = ([:], [])
        var rest = value.dropFirst(scheme.count)
        while true {
            rest = rest.drop { $0 == " " || $0 == "," }
            guard let equals = rest.firstIndex(of: "=") else { break }
            let name = rest[..<equals].lowercased()
            rest = rest[rest.index(after: equals)...]
            var text = ""
            if rest.first == "\"" {
                rest.removeFirst()
                while let character = rest.popFirst(), character != "\"" {
                    text.append(character == "\\" ? rest.popFirst() ?? character : character)
                }
                quoted.insert(name)
            } else {
                text = String(rest.prefix { $0 != "," && $0 != " " })
                rest = rest.dropFirst(text.count)
            }
            guard parameters.updateValue(text, forKey: name) == nil else {
                throw CaseFailure("the digest has \(name) twice")
            }
        }
        self.parameters = parameters
        self.quoted = quoted
    }

    /// Checks the response parameter.
    func verify(user: String, password: String, method: String, target: String, body: [UInt8]) throws(CaseFailure) {
        let algorithm = (parameters["algorithm"] ?? "MD5").uppercased()
        let isSession = algorithm.hasSuffix("-SESS")
        let hash = isSession ? String(algorithm.dropLast(5)) : algorithm
        let (realm, nonce) = (try value("realm"), try value("nonce"))
        guard try value("uri") == target else { throw CaseFailure("the digest is about another target than \(target)") }
        try checkUser(user, realm, hash)
        var first = try Self.hex(hash, "\(user):\(realm):\(password)")
        if isSession { first = try Self.hex(hash, "\(first):\(nonce):\(value("cnonce"))") }
        var second = "\(method):\(target)"
        if parameters["qop"] == "auth-int" { second += ":\(try Self.hex(hash, body))" }
        second = try Self.hex(hash, second)
        let middle = try parameters["qop"].map { qop throws(CaseFailure) in
            "\(try value("nc")):\(try value("cnonce")):\(qop):"
        }
        let expected = try Self.hex(hash, "\(first):\(nonce):\(middle ?? "")\(second)")
        guard try value("response") == expected else {
            throw CaseFailure("the digest is \(try value("response")) where \(expected) was expected")
        }
    }

    private func checkUser(_ user: String, _ realm: String, _ hash: String) throws(CaseFailure) {
        if parameters["userhash"] == "true" {
            guard try value("username") == Self.hex(hash, "\(user):\(realm)") else {
                throw CaseFailure("the user's hash is not that of \(user) and \(realm)")
            }
        } else if let extended = parameters["username*"] {
            let encoded = user.utf8.map { byte in
                let scalar = Character(Unicode.Scalar(byte))
                let isPlain = byte < 0x80 && (scalar.isLetter || scalar.isNumber)
                return isPlain
                    ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }.joined()
            guard extended == "UTF-8''\(encoded)" else { throw CaseFailure("username* is \(extended)") }
        } else {
            guard try value("username") == user else { throw CaseFailure("the user is not \(user)") }
        }
    }

    private func value(_ name: String) throws(CaseFailure) -> String {
        guard let value = parameters[name] else { throw CaseFailure("the digest has no \(name)") }
        return value
    }

    private static func hex(_ algorithm: String, _ text: String) throws(CaseFailure) -> String {
        try hex(algorithm, Array(text.utf8))
    }

    private static func hex(_ algorithm: String, _ bytes: [UInt8]) throws(CaseFailure) -> String {
        let names = ["MD5": "MD5", "SHA-256": "SHA2-256", "SHA-512-256": "SHA2-512/256"]
        guard let name = names[algorithm] else { throw CaseFailure("unknown algorithm \(algorithm)") }
        var (digest, length) = ([UInt8](repeating: 0, count: 64), 0)
        guard EVP_Q_digest(nil, name, nil, bytes, bytes.count, &digest, &length) == 1 else {
            throw CaseFailure("OpenSSL has no \(name)")
        }
        return Hexadecimal.text(digest.prefix(length))
    }
}
