// What proves the password in NTLM's third message. MS-NLMP §3.3.2; behaviour B2.94. It knows no message.

/// A user name and the domain that knows it.
package struct NTLMName: Sendable, Equatable, Concealed {
    /// The name within the domain.
    package let user: String
    /// The domain, maybe empty.
    package let domain: String

    /// Splits `DOMAIN\user` and `user@domain` (B2.94); other names have no domain.
    package init(_ name: String) {
        if let slash = name.utf8.firstIndex(of: UInt8(ascii: "\\")) {
            domain = String(name[..<slash])
            user = String(name[name.utf8.index(after: slash)...])
        } else if let at = name.utf8.lastIndex(of: UInt8(ascii: "@")) {
            user = String(name[..<at])
            domain = String(name[name.utf8.index(after: at)...])
        } else {
            user = name
            domain = ""
        }
    }
}

/// The responses to a server's challenge.
package struct NTLMv2Response: Sendable, Concealed {
    /// LMv2, for servers that tell no time.
    package let lanManager: [UInt8]
    /// NTLMv2: a code, and what it covers.
    package let proof: [UInt8]
    /// What keys are derived from.
    package let sessionBaseKey: [UInt8]

    /// What MS-NLMP calls NTOWFv2.
    package static func key(name: NTLMName, password: String) -> [UInt8] {
        HMACMD5.code((uppercased(name.user) + name.domain).utf16Bytes, key: MD4.hash(password.utf16Bytes))
    }

    /// Computes the responses; both challenges are 8 bytes long.
    package init(key: [UInt8], serverChallenge: [UInt8], clientChallenge: [UInt8], time: UInt64, targetInfo: [UInt8]) {
        var covered: [UInt8] = [1, 1, 0, 0, 0, 0, 0, 0]
        covered.append(littleEndian: time)
        covered += clientChallenge + [0, 0, 0, 0] + targetInfo + [0, 0, 0, 0]
        let code = HMACMD5.code(serverChallenge + covered, key: key)
        proof = code + covered
        sessionBaseKey = HMACMD5.code(code, key: key)
        lanManager = HMACMD5.code(serverChallenge + clientChallenge, key: key) + clientChallenge
    }

    /// Windows knows one capital for a letter: "ß" stays "ß".
    private static func uppercased(_ text: String) -> String {
        var capitals = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let mapping = scalar.properties.uppercaseMapping.unicodeScalars
            capitals.append(mapping.count == 1 ? mapping.first ?? scalar : scalar)
        }
        return String(capitals)
    }
}

extension String {
    /// UTF-16, the lower byte first.
    var utf16Bytes: [UInt8] {
        var bytes: [UInt8] = []
        for unit in utf16 { bytes.append(littleEndian: unit) }
        return bytes
    }
}
