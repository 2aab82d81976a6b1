// Reads `data:` URLs: the content stands in the URL itself. RFC 2397, behaviour 14.3.
//
// What is not a URL of this form is refused, and never repaired by guesses; two things are forgiven, as all readers do:
// base64 without its padding, and a percent sign in the data that encodes nothing and then stands for itself.
//
// Must not know: responses, loads.

import URLLoadingWire

/// What a `data:` URL holds.
package struct DataURL: Sendable, Equatable {
    /// The media type without parameters, in lower case (B14.14).
    package let mimeType: String
    /// The first charset that is named (B14.15).
    package let charset: String?
    /// The content, with all encodings undone (B14.16).
    package let content: [UInt8]

    /// Why a text is no such URL (B14.17).
    package enum Fault: Error, Sendable, Equatable, CustomStringConvertible {
        /// It is a URL of another scheme.
        case scheme
        /// Nothing separates the type from the data.
        case noComma
        /// What stands before the data is no media type.
        case mediaType
        /// A parameter has no name, or names no charset where it should.
        case parameter
        /// The data is said to be base64, and is not.
        case base64

        /// A sentence for a person.
        package var description: String {
            switch self {
            case .scheme: "The URL is no data URL."
            case .noComma: "The data URL has no comma before its data."
            case .mediaType: "The data URL's media type is malformed."
            case .parameter: "A parameter of the data URL's media type is malformed."
            case .base64: "The data URL's data is not base64."
            }
        }
    }

    /// Reads the text of a URL.
    package init(_ text: String) throws(Fault) {
        var text = text
        text.makeContiguousUTF8()
        let bytes = text.utf8.prefix { $0 != UInt8(ascii: "#") }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            ASCII.isEqual(String(Substring(bytes[..<colon])), "data")
        else { throw .scheme }
        let rest = bytes[bytes.index(after: colon)...]
        guard let comma = rest.firstIndex(of: UInt8(ascii: ",")) else { throw .noComma }
        var parameters = rest[..<comma].split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let type = parameters.removeFirst()
        var isBase64 = false
        if let last = parameters.last, ASCII.isEqual(String(Substring(last)), "base64") {
            isBase64 = true
            parameters.removeLast()
        }
        mimeType = try Self.mediaType(type)
        charset = try Self.charset(parameters)
        let data = Self.withoutPercentEncoding(rest[rest.index(after: comma)...])
        content = isBase64 ? try Self.withoutBase64(data) : data
    }

    private typealias Text = Substring.UTF8View

    private static func mediaType(_ text: Text) throws(Fault) -> String {
        if text.isEmpty { return "text/plain" }
        let parts = text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ isToken($0) && !$0.contains(UInt8(ascii: "%")) }) else {
            throw .mediaType
        }
        return String(Substring(text)).lowercased()
    }

    /// The first charset of all parameters. What is no parameter, for want of a `=`, is skipped, and so are parameters
    /// of other names, whatever they hold (B14.15).
    private static func charset(_ parameters: [Text]) throws(Fault) -> String? {
        var charset: String?
        for parameter in parameters {
            guard let equals = parameter.firstIndex(of: UInt8(ascii: "=")) else { continue }
            let name = parameter[..<equals]
            guard !name.isEmpty else { throw .parameter }
            guard ASCII.isEqual(String(Substring(name)), "charset") else { continue }
            let value = parameter[parameter.index(after: equals)...]
            guard isToken(value), !value.contains(UInt8(ascii: "%")) else { throw .parameter }
            if charset == nil { charset = String(Substring(value)) }
        }
        return charset
    }

    /// RFC 2045 §5.1: anything visible but the separators.
    private static func isToken(_ text: Text) -> Bool {
        !text.isEmpty && text.allSatisfy { $0 > 0x20 && $0 < 0x7F && !separators.contains($0) }
    }

    private static let separators = Array("()<>@,;:\\\"/[]?=".utf8)

    private static func withoutPercentEncoding(_ text: Text) -> [UInt8] {
        guard text.contains(UInt8(ascii: "%")) else { return Array(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text[...]
        while let byte = rest.popFirst() {
            var ahead = rest
            guard byte == UInt8(ascii: "%"), let first = ahead.popFirst().flatMap(ASCII.hexValue),
                let second = ahead.popFirst().flatMap(ASCII.hexValue)
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(first << 4 | second)
            rest = ahead
        }
        return bytes
    }

    private static func withoutBase64(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        let digits = bytes.contains(where: isWhiteSpace) ? bytes.filter { !isWhiteSpace($0) } : bytes
        guard let content = digits.withUnsafeBufferPointer({ Base64.decode($0) }) else { throw .base64 }
        return content
    }

    /// What may stand between digits of base64: blanks and line ends, but no vertical tab.
    private static func isWhiteSpace(_ byte: UInt8) -> Bool { ASCII.isBlank(byte) && byte != 0x0B }
}
