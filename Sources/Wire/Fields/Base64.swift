// Base64 as the schemes of HTTP authentication use it: with padding, on one line. RFC 4648 §4.

/// Base64.
package enum Base64 {
    /// The text of some bytes.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount * 4 / 3 + 4)
        var (buffer, bits) = (0, 0)
        for byte in bytes {
            (buffer, bits) = ((buffer & 0xFF) << 8 | Int(byte), bits + 8)
            while bits >= 6 {
                bits -= 6
                text.append(digit(buffer >> bits & 63))
            }
        }
        if bits > 0 { text.append(digit(buffer << (6 - bits) & 63)) }
        while text.count % 4 != 0 { text.append(ASCII.equals) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text, whose padding may be left out; nil when it is not base64.
    package static func decode(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { decode($0) }
    }

    /// The bytes of a text that is there as bytes.
    package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        let digits = text.prefix { $0 != ASCII.equals }
        let padding = text.dropFirst(digits.count)
        guard padding.count <= 2, padding.allSatisfy({ $0 == ASCII.equals }), digits.count % 4 != 1,
            padding.isEmpty || text.count % 4 == 0
        else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var (buffer, bits) = (0, 0)
        for byte in digits {
            guard let value = value(byte) else { return nil }
            (buffer, bits) = ((buffer & 0xFF) << 6 | value, bits + 6)
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> bits))
            }
        }
        return bytes
    }

    private static func digit(_ value: Int) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return switch value {
        case 0..<26: value + UInt8(ascii: "A")
        case 26..<52: value - 26 + UInt8(ascii: "a")
        case 52..<62: value - 52 + ASCII.zero
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    private static func value(_ digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit) + 4
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
