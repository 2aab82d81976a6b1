// Brings the host of a URL into its normal form, or refuses it. RFC 3986 §3.2.2, RFC 6874 §2, RFC 4291 §2.2.

/// A host in lower case, decoded, without brackets, known to be a name or an address.
struct NormalHost {
    let text: String
    let isIPLiteral: Bool

    init?(_ host: String) {
        var bytes = Array(host.utf8)
        let isBracketed = bytes.first == UInt8(ascii: "[")
        if isBracketed {
            guard bytes.last == UInt8(ascii: "]") else { return nil }
            bytes = Array(bytes.dropFirst().dropLast())
        }
        if isBracketed || bytes.contains(UInt8(ascii: ":")) {
            guard let address = Self.addressWithZone(bytes) else { return nil }
            self.init(text: address, isIPLiteral: true)
        } else {
            guard let name = Self.registeredName(bytes) else { return nil }
            self = name
        }
    }

    private init(text: String, isIPLiteral: Bool) {
        self.text = text
        self.isIPLiteral = isIPLiteral
    }

    /// An IPv6 address, its zone kept in its own case: interface names are case-sensitive.
    private static func addressWithZone(_ bytes: [UInt8]) -> String? {
        let percent = bytes.firstIndex(of: UInt8(ascii: "%")) ?? bytes.endIndex
        let address = bytes[..<percent]
        guard IPv6Text.isValid(address) else { return nil }
        let lowered = String(decoding: address.map { ASCII.lowercase($0) }, as: UTF8.self)
        guard percent < bytes.endIndex else { return lowered }

        // RFC 6874 writes the delimiter as %25; the bare form is what people and tools print. `%25` alone could also be
        // the bare form of a zone named "25", which is what it then means.
        var zone = bytes[(percent + 1)...]
        if zone.count > 2, zone.starts(with: "25".utf8) { zone = zone.dropFirst(2) }
        guard let decoded = percentDecoded(zone), !decoded.isEmpty, decoded.allSatisfy(isAllowedInZone)
        else { return nil }
        return lowered + "%" + String(decoding: decoded, as: UTF8.self)
    }

    private static func registeredName(_ bytes: [UInt8]) -> NormalHost? {
        guard var name = percentDecoded(bytes[...]), name.allSatisfy(isAllowedInName) else { return nil }
        name = name.map { ASCII.lowercase($0) }
        let hasDot = name.last == UInt8(ascii: ".")
        let labels = hasDot ? name.dropLast() : name[...]
        guard !labels.isEmpty, labels.last != UInt8(ascii: ".") else { return nil }
        if IPv4Text.isValid(labels) {
            return NormalHost(text: String(decoding: labels, as: UTF8.self), isIPLiteral: true)
        }
        return NormalHost(text: String(decoding: name, as: UTF8.self), isIPLiteral: false)
    }

    static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(ASCII.hexValue), let low = rest.popFirst().flatMap(ASCII.hexValue)
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return decoded
    }

    /// unreserved and sub-delims of RFC 3986: whatever else a name holds would change meaning in a Host field.
    private static func isAllowedInName(_ byte: UInt8) -> Bool {
        isAllowedInZone(byte) || "!$&'()*+,;=".utf8.contains(byte)
    }

    private static func isAllowedInZone(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-._~".utf8.contains(byte)
    }
}

/// The textual form of IPv4 addresses: four decimal numbers (RFC 3986 §3.2.2).
enum IPv4Text {
    static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy(isOctet)
    }

    private static func isOctet(_ part: ArraySlice<UInt8>) -> Bool {
        // A leading zero means octal to some resolvers and decimal to others, so it is no address here.
        if part.count > 1, part.first == UInt8(ascii: "0") { return false }
        return part.count <= 3 && (ASCII.decimal(part) ?? 256) <= 255
    }
}

/// The textual forms of IPv6 addresses (RFC 4291 §2.2).
enum IPv6Text {
    static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
        guard let gap = doubleColon(in: text) else { return groups(in: text) == 8 }
        let (head, tail) = (text[..<gap], text[(gap + 2)...])
        guard doubleColon(in: tail) == nil, tail.first != UInt8(ascii: ":") else { return false }
        // Only the end of the whole address may be written as IPv4.
        guard let before = groups(in: head, allowsIPv4: false), let after = groups(in: tail) else { return false }
        return before + after <= 7
    }

    private static func doubleColon(in text: ArraySlice<UInt8>) -> Int? {
        zip(text.indices, text.indices.dropFirst())
            .first { text[$0] == UInt8(ascii: ":") && text[$1] == UInt8(ascii: ":") }?.0
    }

    /// How many 16-bit groups the text stands for; nil when malformed, 0 when empty.
    private static func groups(in text: ArraySlice<UInt8>, allowsIPv4: Bool = true) -> Int? {
        if text.isEmpty { return 0 }
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var count = 0
        for (position, part) in parts.enumerated() {
            if allowsIPv4, position == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard IPv4Text.isValid(part) else { return nil }
                count += 2
            } else {
                guard (1...4).contains(part.count), part.allSatisfy({ ASCII.hexValue($0) != nil }) else { return nil }
                count += 1
            }
        }
        return count
    }
}
