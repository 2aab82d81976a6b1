// What of a request an answer depends on: the values of the fields that its Vary names, and of Authorization, which
// selects always. RFC 9111 §4.1, behaviour B7.48, B7.49, B7.81, B7.82. It must not know where it is kept, but it is
// made to be kept in files: of values that are secrets it holds a digest.

import URLLoadingWire

/// The values of the request's fields that an answer was selected by.
package struct Selection: Sendable, Equatable {
    /// One field's value.
    package enum Value: Sendable, Hashable {
        /// The request had no such field.
        case absent
        /// Its values, joined and with white space around commas taken out (B7.81).
        case text(String)
        /// The digest of the same, for secrets and for what is no text.
        case digest(SipHash.Words)

        package static func == (left: Value, right: Value) -> Bool {
            switch (left, right) {
            case (.absent, .absent): true
            case (.text(let left), .text(let right)): left.hasSameBytes(as: right)
            case (.digest(let left), .digest(let right)): left == right
            case (.absent, _), (.text, _), (.digest, _): false
            }
        }
    }

    /// A field and its value.
    package struct Member: Sendable, Hashable {
        /// The name in lower case.
        package let name: String
        /// The value.
        package let value: Value

        /// Makes a member.
        package init(name: String, value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// Whether no request at all is known to select the answer: `Vary: *` (B7.49).
    package let isUnrepeatable: Bool
    /// The fields that select.
    package let members: [Member]
    /// The key of the digests.
    package let salt: SipHash.Words

    /// Makes one of its parts.
    package init(isUnrepeatable: Bool, members: [Member], salt: SipHash.Words) {
        self.isUnrepeatable = isUnrepeatable
        self.members = members
        self.salt = salt
    }

    /// How many bytes names and values have.
    var byteCount: Int {
        members.reduce(0) { sum, member in
            if case .text(let text) = member.value { return sum + member.name.utf8.count + text.utf8.count }
            return sum + member.name.utf8.count
        }
    }

    /// Takes from a request, as it was sent, what the answer's fields say. The salt is to be a random one, and is asked
    /// for where something selects.
    package init(answer: Fields, request: Fields, salt: @autoclosure () -> SipHash.Words) {
        var names: [String] = []
        var isUnrepeatable = false
        answer.forEachValue(.vary) { value in
            var list = DirectiveScanner(value)
            while !isUnrepeatable, let member = list.next() {
                let name = String(decoding: member.name.map(ASCII.lowercase), as: UTF8.self)
                if name == "*" || names.count >= Self.maximumNames {
                    isUnrepeatable = true
                } else if !names.contains(name) {
                    names.append(name)
                }
            }
        }
        // B7.48: credentials select even where the server forgets to say so.
        if !names.contains("authorization"), request.contains(.authorization) { names.append("authorization") }
        self.isUnrepeatable = isUnrepeatable
        let salt = names.isEmpty ? SipHash.Words(0, 0) : salt()
        self.salt = salt
        members = names.map { Member(name: $0, value: Self.value($0, in: request, salt: salt)) }
    }

    /// Whether a request, as it will be sent, selects the answer.
    package func matches(_ request: Fields) -> Bool {
        if isUnrepeatable { return false }
        if request.contains(.authorization), !members.contains(where: { $0.name == "authorization" }) { return false }
        return members.allSatisfy { $0.value == Self.value($0.name, in: request, salt: salt) }
    }

    /// Whether a request selects the answer before the loader has added credentials and cookies to
    /// it: those are not compared.
    package func matchesWithoutSecrets(_ request: Fields) -> Bool {
        members.allSatisfy {
            Self.isSecret($0.name) || $0.value == Self.value($0.name, in: request, salt: salt)
        }
    }

    private static func value(_ name: String, in request: Fields, salt: SipHash.Words) -> Value {
        guard let line = normalised(FieldName(name), in: request) else { return .absent }
        if !isSecret(name), let text = String(validating: line, as: UTF8.self) { return .text(text) }
        return .digest(line.withUnsafeBytes { SipHash.wideDigest($0, key: salt) })
    }

    /// The values of a field in one line, without white space around the commas that part a list.
    private static func normalised(_ name: FieldName, in request: Fields) -> [UInt8]? {
        var line: [UInt8]?
        request.forEachValue(name) { value in
            var joined = line.map { $0 + [UInt8(ascii: ",")] } ?? []
            var isQuoted = false
            var pendingSpace = false
            for (offset, byte) in value.enumerated() {
                if byte == UInt8(ascii: "\""), offset == 0 || value[offset - 1] != UInt8(ascii: "\\") {
                    isQuoted.toggle()
                }
                if !isQuoted, Tokens.isWhitespace(byte) {
                    pendingSpace = true
                    continue
                }
                let isComma = byte == UInt8(ascii: ",") && !isQuoted
                let followsComma = joined.isEmpty || joined.last == UInt8(ascii: ",") && !isQuoted
                if pendingSpace, !isComma, !followsComma { joined.append(UInt8(ascii: " ")) }
                pendingSpace = false
                joined.append(byte)
            }
            line = joined
        }
        return line
    }

    /// Whether a field's value is not written down.
    private static func isSecret(_ name: String) -> Bool {
        secrets.contains(name)
    }

    private static let secrets: Set<String> = ["authorization", "proxy-authorization", "cookie", "cookie2"]

    /// Honest answers vary by fewer fields; one that names more is as good as one that varies by everything.
    private static let maximumNames = 32
}
