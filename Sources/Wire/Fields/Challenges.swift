// What a server or proxy wants for an answer: the challenges in WWW-Authenticate and Proxy-Authenticate, and the
// parameters of Authentication-Info. RFC 9110 §11.2, §11.3, §11.6; behaviour B2.29, B2.30. It splits and unquotes; it
// knows no scheme, and what is missing or doubled in a challenge is for those to judge that know its scheme.
//
//     challenge   = scheme [ 1*SP ( token68 / #( name BWS "=" BWS ( token / quoted-string ) ) ) ]
//
// Commas separate both challenges and parameters. What follows a comma is a parameter if an equals sign comes after
// its first token, and the next challenge if not: no challenge can begin like that.

/// One challenge of a WWW-Authenticate or Proxy-Authenticate field.
package struct AuthenticationChallenge: Sendable, Equatable {
    /// The scheme in lower case.
    package let scheme: String
    /// The one value of schemes that use no parameters; base64 as a rule.
    package let token: String?
    /// The parameters in their order.
    package let parameters: [AuthenticationParameter]

    /// Makes a challenge of its parts.
    package init(scheme: String, token: String? = nil, parameters: [AuthenticationParameter] = []) {
        self.scheme = scheme
        self.token = token
        self.parameters = parameters
    }

    /// The value of a parameter, the first where a server repeats one; nil where there is none.
    package subscript(_ lowerCaseName: String) -> String? { parameters.value(of: lowerCaseName) }
}

/// A name and a value of a challenge, of credentials or of Authentication-Info.
package struct AuthenticationParameter: Sendable, Equatable {
    /// The name in lower case.
    package let name: String
    /// The value without quotes and escapes.
    package let value: String

    /// Whether the value was UTF-8: what was not goes back as other bytes (B5.47).
    package let isUTF8: Bool

    /// Makes a parameter.
    package init(name: String, value: String, isUTF8: Bool = true) {
        self.name = name
        self.value = value
        self.isUTF8 = isUTF8
    }
}

extension [AuthenticationParameter] {
    /// The value of the first parameter of that name.
    package func value(of lowerCaseName: String) -> String? { first { $0.name == lowerCaseName }?.value }

    /// Whether the first parameter of that name can be sent back as it came, or there is none.
    package func isReturnable(_ lowerCaseName: String) -> Bool {
        first { $0.name == lowerCaseName }?.isUTF8 ?? true
    }
}

extension Fields {
    /// The challenges under that name, those of several fields in order of arrival; what cannot be parsed is left out.
    package func challenges(_ name: FieldName) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        // Each field by itself: a quote that one of them leaves open swallows nothing of the next.
        forEachValue(name) { value in
            var reader = ChallengeReader(value)
            while let challenge = reader.nextChallenge() { challenges.append(challenge) }
        }
        return challenges
    }

    /// The parameters under that name, as in Authentication-Info (RFC 9110 §11.6.3).
    package func authenticationParameters(_ name: FieldName) -> [AuthenticationParameter] {
        var parameters: [AuthenticationParameter] = []
        forEachValue(name) { value in
            var reader = ChallengeReader(value)
            parameters += reader.allParameters()
        }
        return parameters
    }
}

/// Reads one field's value from its beginning to its end.
private struct ChallengeReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// The next challenge that can be understood.
    mutating func nextChallenge() -> AuthenticationChallenge? {
        while skipCommas() {
            guard let scheme = token(), !isAtEquals else {
                // A parameter of a challenge that was given up, or bytes that begin no challenge.
                skipMember()
                continue
            }
            if let challenge = challenge(scheme.lowercasedText) { return challenge }
        }
        return nil
    }

    /// Every parameter that can be understood.
    mutating func allParameters() -> [AuthenticationParameter] {
        var parameters: [AuthenticationParameter] = []
        while skipCommas() {
            if let parameter = parameter(), isAtEndOfMember {
                parameters.append(parameter)
            } else {
                skipMember()
            }
        }
        return parameters
    }

    // MARK: Parts

    /// What follows a scheme; nil when it is malformed.
    private mutating func challenge(_ scheme: String) -> AuthenticationChallenge? {
        if isAtEndOfMember { return AuthenticationChallenge(scheme: scheme) }
        guard position < bytes.count, Tokens.isWhitespace(bytes[position]) else {
            skipMember()
            return nil
        }
        skipWhitespace()
        if let token = token68() { return AuthenticationChallenge(scheme: scheme, token: token) }
        var parameters: [AuthenticationParameter] = []
        repeat {
            guard let parameter = parameter(), isAtEndOfMember else {
                skipMember()
                return nil
            }
            parameters.append(parameter)
        } while skipCommas() && isAtParameter
        return AuthenticationChallenge(scheme: scheme, parameters: parameters)
    }

    /// A token68 that ends where the member does; otherwise nothing is read.
    private mutating func token68() -> String? {
        let start = position
        while position < bytes.count, Self.isToken68Byte(bytes[position]) { position += 1 }
        let isEmpty = position == start
        while position < bytes.count, bytes[position] == ASCII.equals { position += 1 }
        let end = position
        if !isEmpty, isAtEndOfMember { return bytes.part(start, end).text }
        position = start
        return nil
    }

    /// Name, equals sign and value; nil, with the position somewhere in it, when one is missing.
    private mutating func parameter() -> AuthenticationParameter? {
        guard let name = token(), isAtEquals else { return nil }
        skipWhitespace()
        position += 1
        skipWhitespace()
        guard position < bytes.count, bytes[position] == ASCII.quote else {
            let start = position
            while position < bytes.count, Self.isBareValueByte(bytes[position]) { position += 1 }
            guard position > start else { return nil }
            return Self.parameter(name, bytes.part(start, position))
        }
        guard let value = quotedString() else { return nil }
        return value.withUnsafeBytes { Self.parameter(name, $0) }
    }

    private static func parameter(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
    ) -> AuthenticationParameter {
        AuthenticationParameter(name: name.lowercasedText, value: value.text, isUTF8: value.isUTF8)
    }

    /// What stands between two quotes, its escapes undone; nil when the second one is missing.
    private mutating func quotedString() -> [UInt8]? {
        position += 1
        var value: [UInt8] = []
        while position < bytes.count {
            var byte = bytes[position]
            position += 1
            if byte == ASCII.quote { return value }
            if byte == ASCII.backslash {
                guard position < bytes.count else { return nil }
                byte = bytes[position]
                position += 1
            }
            value.append(byte)
        }
        return nil
    }

    private mutating func token() -> UnsafeRawBufferPointer? {
        let start = position
        while position < bytes.count, Tokens.isTokenByte(bytes[position]) { position += 1 }
        return position == start ? nil : bytes.part(start, position)
    }

    // MARK: Separators

    /// Moves to the next member; false at the end. Empty members are allowed (RFC 9110 §5.6.1).
    private mutating func skipCommas() -> Bool {
        while position < bytes.count, Tokens.isWhitespace(bytes[position]) || bytes[position] == ASCII.comma {
            position += 1
        }
        return position < bytes.count
    }

    private mutating func skipWhitespace() { position = afterWhitespace(position) }

    /// Moves to the comma that ends what cannot be understood; commas between quotes are part of it.
    private mutating func skipMember() {
        while position < bytes.count, bytes[position] != ASCII.comma {
            if bytes[position] == ASCII.quote {
                if quotedString() == nil { position = bytes.count }
            } else {
                position += 1
            }
        }
    }

    private func afterWhitespace(_ start: Int) -> Int {
        var place = start
        while place < bytes.count, Tokens.isWhitespace(bytes[place]) { place += 1 }
        return place
    }

    private var isAtEndOfMember: Bool {
        let place = afterWhitespace(position)
        return place == bytes.count || bytes[place] == ASCII.comma
    }

    private var isAtEquals: Bool {
        let place = afterWhitespace(position)
        return place < bytes.count && bytes[place] == ASCII.equals
    }

    /// Whether a token and an equals sign follow.
    private var isAtParameter: Bool {
        var ahead = self
        return ahead.token() != nil && ahead.isAtEquals
    }

    /// RFC 9110 §11.2, without the equals signs at the end.
    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return ASCII.isDigit(byte) || letter >= 0x61 && letter <= 0x7A || "-._~+/".utf8.contains(byte)
    }

    /// Quirk: servers leave nonces and paths without quotes although they are no tokens; all that is visible and
    /// separates nothing is taken for such a value.
    private static func isBareValueByte(_ byte: UInt8) -> Bool {
        byte > ASCII.space && byte != 0x7F && byte != ASCII.comma && byte != ASCII.quote
    }
}

extension UnsafeRawBufferPointer {
    /// The text with ASCII letters made lower-case.
    fileprivate var lowercasedText: String {
        String(decoding: map { ASCII.lowercased($0) }, as: UTF8.self)
    }
}
