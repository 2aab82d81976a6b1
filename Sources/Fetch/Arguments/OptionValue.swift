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

    /// What is encoded as forms are: the first `=` or `@` divides the name from the text or the file.
    package static func encodedPiece(_ text: String) -> BodyPiece {
        guard let mark = text.firstIndex(where: { "=@".contains($0) }) else { return .encoded(name: nil, .text(text)) }
        let (name, rest) = (String(text[..<mark]), String(text[text.index(after: mark)...]))
        return .encoded(name: name.isEmpty ? nil : name, text[mark] == "=" ? .text(rest) : .file(rest))
    }

    /// A piece of a query: behind a `+` as it is, encoded otherwise.
    package static func queryPiece(_ text: String) -> BodyPiece {
        text.hasPrefix("+") ? .text(String(text.dropFirst())) : encodedPiece(text)
    }

    /// A date or a file, behind `-` for the other way round; nil for what is neither.
    package static func timeCondition(_ text: String) -> TimeCondition? {
        if text.hasPrefix("-") {
            let rest = String(text.dropFirst())
            return rest.isEmpty ? nil : .unchangedSince(rest)
        }
        return text.isEmpty ? nil : .changedSince(text)
    }

    /// A token of RFC 6750 §2.1, or at least what cannot end the field's line.
    static func token(_ text: String) -> String? {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
    }

    /// A number of bytes, with `k`, `M`, `G` or `T` behind it for powers of 1024.
    package static func bytes(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40]
        let unit = text.last.flatMap { units[Character($0.lowercased())] }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int64(digits) else {
            return nil
        }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit ?? 1)
        return overflows ? nil : bytes
    }

    /// A number of bytes a second, which is not zero.
    package static func rate(_ text: String) -> Int64? { bytes(text).flatMap { $0 > 0 ? $0 : nil } }

    /// The schemes that may be used.
    package static func schemes(_ text: String) -> SchemeSet? { SchemeSet(text, changing: SchemeSet.all) }

    /// The schemes that redirects may lead to.
    package static func redirectSchemes(_ text: String) -> SchemeSet? { SchemeSet(text, changing: SchemeSet.redirects) }

    /// A scheme that URLs can have.
    package static func scheme(_ text: String) -> String? {
        SchemeSet.all.contains(text.lowercased()) ? text.lowercased() : nil
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

    /// "host:port:address,address" as in curl, or "host:address" for all ports; `*` is any host. IPv6
    /// addresses stand in brackets; without them the first number is a port if it can be one. What comes has
    /// the form of `hostOverrides`.
    package static func override(_ text: String) -> (host: String, addresses: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        var host = text[..<colon].lowercased()
        // To curl it means "for a while", which all of this is here.
        if host.hasPrefix("+") { host.removeFirst() }
        guard !host.isEmpty, !host.hasPrefix("-") else { return nil }
        let rest = text[text.index(after: colon)...]
        if let next = rest.firstIndex(of: ":"), let port = port(rest[..<next]),
            let addresses = addresses(rest[rest.index(after: next)...])
        {
            return ("\(host):\(port)", addresses)
        }
        return addresses(rest).map { (host, $0) }
    }

    /// "host:port:other:port" of `--connect-to`, each of which may be empty, IPv6 addresses in brackets. What comes has
    /// the form of `hostOverrides`.
    package static func standIn(_ text: String) -> (place: String, target: String)? {
        let parts = partsWithColons(text)
        guard parts.count == 4, let from = portText(parts[1]), let to = portText(parts[3]),
            !(parts[2].isEmpty && to.isEmpty)
        else { return nil }
        let host = parts[0].hasPrefix("[") ? parts[0].dropFirst().dropLast() : parts[0]
        return ((host.isEmpty ? "*" : host.lowercased()) + from, parts[2] + to)
    }

    /// What stands between colons, but for those in brackets.
    private static func partsWithColons(_ text: String) -> [Substring] {
        var isBracketed = false
        return text.split(omittingEmptySubsequences: false) { character in
            if character == "[" { isBracketed = true }
            if character == "]" { isBracketed = false }
            return character == ":" && !isBracketed
        }
    }

    /// ":443", or nothing for nothing.
    private static func portText(_ text: Substring) -> String? {
        if text.isEmpty { return "" }
        guard let port = port(text), port > 0 else { return nil }
        return ":\(port)"
    }

    private static func port(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.allSatisfy({ ("0"..."9").contains($0) }), let port = Int(text), port <= 65535 else {
            return nil
        }
        return port
    }

    /// A list of addresses, without brackets.
    private static func addresses(_ list: Substring) -> String? {
        let addresses = list.split(separator: ",", omittingEmptySubsequences: false).map { text in
            text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text
        }
        return addresses.allSatisfy(isLiteral) ? addresses.joined(separator: ",") : nil
    }

    private static func isLiteral(_ text: Substring) -> Bool {
        var bytes = in6_addr()
        // Behind the percent sign of a local address is its interface.
        let address = String(text.contains(":") ? text.prefix { $0 != "%" } : text)
        return inet_pton(address.contains(":") ? AF_INET6 : AF_INET, address, &bytes) == 1
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

    /// A number of seconds, of which 0 stands for none.
    package static func secondsOrNone(_ text: String) -> Double? { Double(text) == 0 ? 0 : seconds(text) }

    /// A number from 0 to a million.
    package static func count(_ text: String) -> Int? {
        guard let number = Int(text), (0...1_000_000).contains(number) else { return nil }
        return number
    }

    /// How many redirects are followed: the library follows no more than 20.
    package static func redirects(_ text: String) -> Int? {
        guard let number = Int(text), (0...20).contains(number) else { return nil }
        return number
    }

    /// How many times a request is made.
    package static func repetitions(_ text: String) -> Int? {
        guard let number = Int(text), (1...100_000).contains(number) else { return nil }
        return number
    }

    /// How many transfers at once.
    package static func parallel(_ text: String) -> Int? {
        guard let number = Int(text), (1...300).contains(number) else { return nil }
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
