// Data that --get puts into a URL's query. Pure.

import Foundation

/// Queries of URLs.
package enum QueryText {
    /// The URL with one more piece of query, in front of its fragment if it has one.
    package static func adding(_ data: Data, to url: URL) -> URL? {
        let parts = url.absoluteString.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let base = parts.first ?? ""
        let joint = !base.contains("?") ? "?" : base.hasSuffix("?") || base.hasSuffix("&") ? "" : "&"
        let fragment = parts.count > 1 ? "#" + parts[1] : ""
        return URL(string: base + joint + encoded(data) + fragment)
    }

    /// What is said stays as it is, `%41` included; what cannot stand in a query (RFC 3986 §3.4) is encoded.
    package static func encoded(_ data: Data) -> String {
        let bytes = Array(data)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for (number, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && number + 2 < bytes.count && isHex(bytes[number + 1])
                && isHex(bytes[number + 2])
            if isEscape || isPlain(byte) {
                text.append(byte)
            } else {
                append(number: byte, to: &text)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// As the values of forms are encoded: a space is `+`, and all but letters, digits, `-`, `.`, `_` and `~` a number.
    package static func form(_ data: Data) -> String {
        let bytes = Array(data)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case 0x20: text.append(UInt8(ascii: "+"))
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: text.append(byte)
            default: append(number: byte, to: &text)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(number byte: UInt8, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "%"))
        text.append(digit(byte >> 4))
        text.append(digit(byte & 0xF))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Letters and digits, and of the rest `-._~!$&'()*+,;=:@/?`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x26...0x3B, 0x3F...0x5A, 0x21, 0x24, 0x3D, 0x5F, 0x7E: true
        default: false
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
    }
}
