// Numeric addresses as bytes, and ranges of them: "10.0.0.0/8", "fe80::/10", and "169.254/16" as system settings
// abbreviate it (RFC 4632 §3.1, RFC 4291 §2.3).
//
// Must not know: how names are resolved; a name is in no range (B13.9).

/// An address in numbers, without port and zone. IPv4 addresses that are written as IPv6 count as IPv4.
struct NumericAddress: Sendable, Hashable {
    /// In network order, 4 or 16.
    let bytes: [UInt8]

    /// Nil where the text is no address.
    init?(_ text: Substring) {
        let address = Array(text.utf8.prefix { $0 != UInt8(ascii: "%") })[...]
        if IPv4Text.isValid(address) {
            bytes = Self.octets(address)
        } else if IPv6Text.isValid(address) {
            let all = Self.groups(address)
            // RFC 4291 §2.5.5.2.
            bytes = all.starts(with: Self.mappedPrefix) ? Array(all.suffix(4)) : all
        } else {
            return nil
        }
    }

    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [255, 255]

    private static func octets(_ text: ArraySlice<UInt8>) -> [UInt8] {
        text.split(separator: UInt8(ascii: ".")).map { UInt8(truncatingIfNeeded: ASCII.decimal($0) ?? 0) }
    }

    /// The bytes of a valid text: what stands before "::", zeros, and what stands behind it.
    private static func groups(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var head: [UInt8] = []
        var tail: [UInt8] = []
        var isBehindGap = false
        for part in text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
            guard !part.isEmpty else {
                isBehindGap = true
                continue
            }
            let bytes = part.contains(UInt8(ascii: ".")) ? octets(part) : group(part)
            if isBehindGap { tail += bytes } else { head += bytes }
        }
        return head + [UInt8](repeating: 0, count: max(16 - head.count - tail.count, 0)) + tail
    }

    private static func group(_ digits: ArraySlice<UInt8>) -> [UInt8] {
        let value = digits.reduce(UInt16(0)) { $0 << 4 | UInt16(ASCII.hexValue($1) ?? 0) }
        return [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
    }
}

/// All addresses that begin with the same bits.
struct AddressRange: Sendable, Hashable {
    private let first: NumericAddress
    private let length: Int

    /// Nil where the text is no range.
    init?(_ text: Substring) {
        guard let slash = text.firstIndex(of: "/"), let bits = ASCII.decimal(text[text.index(after: slash)...].utf8),
            let address = NumericAddress(Self.completed(text[..<slash]))
        else { return nil }
        // The bits of an IPv4 address that is written as IPv6 are counted from where IPv6 begins.
        let skipped: Int64 = address.bytes.count == 4 && text.utf8.contains(UInt8(ascii: ":")) ? 96 : 0
        guard bits >= skipped, bits - skipped <= Int64(address.bytes.count * 8) else { return nil }
        first = address
        length = Int(bits - skipped)
    }

    /// "169.254" with the zeros that it leaves out.
    private static func completed(_ text: Substring) -> Substring {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).count
        guard parts < 4, !text.utf8.contains(UInt8(ascii: ":")) else { return text }
        return Substring(text + String(repeating: ".0", count: 4 - parts))
    }

    func contains(_ address: NumericAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let whole = length / 8
        guard address.bytes.prefix(whole) == first.bytes.prefix(whole) else { return false }
        guard length % 8 != 0, whole < first.bytes.count else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> (length % 8))
        return address.bytes[whole] & mask == first.bytes[whole] & mask
    }
}
