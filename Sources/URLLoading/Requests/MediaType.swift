// What Content-Type says, also where it came twice or as a list: then its last member counts that is a media type
// (RFC 9110 §8.3; "extract a MIME type" of the Fetch standard).

import URLLoadingWire

/// A media type with its parameters.
struct MediaType {
    /// Type and subtype, in lower case; nil where nothing stands before the parameters.
    let type: String?
    /// The charset, in lower case. A member that names none has that of one before it of the same type.
    let charset: String?
    private let value: ParameterisedValue

    init(_ text: String) {
        var found: MediaType?
        if text.utf8.contains(UInt8(ascii: ",")) {
            for member in Self.members(text) {
                let value = ParameterisedValue(member)
                if Self.isMediaType(value.value) { found = MediaType(value, after: found) }
            }
        }
        self = found ?? MediaType(ParameterisedValue(text), after: nil)
    }

    private init(_ value: ParameterisedValue, after earlier: MediaType?) {
        let type = value.value.isEmpty ? nil : value.value.lowercased()
        let charset = value.parameter("charset").flatMap { $0.isEmpty ? nil : $0.lowercased() }
        (self.value, self.type) = (value, type)
        self.charset = charset ?? (earlier?.type == type ? earlier?.charset : nil)
    }

    /// The last parameter of that name.
    func parameter(_ name: String) -> String? { value.parameter(name) }

    private static func members(_ text: String) -> [String] {
        var text = text
        return text.withUTF8 { bytes in
            var (members, reader): ([String], ListMembers) = ([], ListMembers(UnsafeRawBufferPointer(bytes)))
            while let member = reader.next() { members.append(member.text) }
            return members
        }
    }

    /// Two tokens with a slash between them; a range of types is none.
    private static func isMediaType(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { Tokens.isToken($0.utf8) } && text != "*/*"
    }
}
