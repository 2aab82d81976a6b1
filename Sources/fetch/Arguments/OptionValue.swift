// The values of options, read from their texts. Pure; nil stands for what cannot be read.

import Foundation
import URLLoading

/// Readers of values.
package enum OptionValue {
    /// A token (RFC 9110 §5.6.2), as it is: methods know capitals.
    package static func method(_ text: String) -> String? { isToken(text) ? text : nil }

    /// "Name: value"; a field without a value is written with a semicolon in place of the colon, as curl has it.
    package static func field(_ text: String) -> HeaderField? {
        if text.hasSuffix(";"), !text.contains(":") {
            let name = String(text.dropLast())
            return isToken(name) ? HeaderField(name: name, value: "") : nil
        }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = text[..<colon].trimmingCharacters(in: .whitespaces)
        let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        // What would end the field's line, or the head, is no part of one.
        guard isToken(name),
            !value.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F })
        else { return nil }
        return HeaderField(name: name, value: value)
    }

    /// A text, or a file behind `@`.
    static func piece(_ text: String, keepsLines: Bool) -> BodyPiece {
        text.hasPrefix("@") ? .file(String(text.dropFirst()), keepsLines: keepsLines) : .text(text)
    }

    /// Ranges of bytes, without their unit (RFC 9110 §14.1.2).
    package static func range(_ text: String) -> String? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        return parts.allSatisfy(isRange) ? text : nil
    }

    private static func isRange(_ part: Substring) -> Bool {
        let ends = part.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, !(ends[0].isEmpty && ends[1].isEmpty) else { return false }
        return ends.allSatisfy { $0.allSatisfy { ("0"..."9").contains($0) } && $0.count <= 18 }
    }

    /// "user:password", or a user whose password has to be asked for.
    package static func login(_ text: String) -> Login? {
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        guard colon != text.startIndex else { return nil }
        let password = colon == text.endIndex ? nil : String(text[text.index(after: colon)...])
        return Login(name: String(text[..<colon]), password: password)
    }

    /// "host:address"; an IPv6 address may stand in brackets or not.
    package static func override(_ text: String) -> (host: String, address: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let host = text[..<colon]
        var address = text[text.index(after: colon)...]
        if address.hasPrefix("["), address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        guard !host.isEmpty, !address.isEmpty else { return nil }
        return (host.lowercased(), String(address))
    }

    /// A proxy's URL; an empty text stands for none.
    static func proxy(_ text: String) -> Options.Proxy? {
        text.isEmpty ? .direct : ProxyConfiguration(url: text).map(Options.Proxy.server)
    }

    /// Interfaces have letters in their names, and no colons.
    package static func isAddress(_ text: String) -> Bool {
        text.contains(":") || text.allSatisfy { $0 == "." || ("0"..."9").contains($0) }
    }

    /// A time that is longer than none, and shorter than a thousand years.
    package static func seconds(_ text: String) -> Double? {
        guard let seconds = Double(text), seconds > 0, seconds < 3e10 else { return nil }
        return seconds
    }

    /// A number from 0 to a million.
    package static func count(_ text: String) -> Int? {
        guard let number = Int(text), (0...1_000_000).contains(number) else { return nil }
        return number
    }

    /// How many transfers at once.
    package static func parallel(_ text: String) -> Int? {
        guard let number = Int(text), (1...100).contains(number) else { return nil }
        return number
    }

    /// "-", or the byte at which to go on.
    package static func resumption(_ text: String) -> Resumption? {
        if text == "-" { return .kept }
        guard let offset = Int64(text), offset >= 0 else { return nil }
        return .at(offset)
    }

    /// Hashes of keys, in curl's form or bare.
    package static func pins(_ text: String) -> [String]? {
        let pins = text.split(separator: ";", omittingEmptySubsequences: false).map { pin in
            pin.hasPrefix("sha256//") ? String(pin.dropFirst(8)) : String(pin)
        }
        return pins.allSatisfy { Data(base64Encoded: $0)?.count == 32 } ? pins : nil
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }
}
