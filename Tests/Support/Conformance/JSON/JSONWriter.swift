// Writes JSON values on one line. RFC 8259.
//
// Must not know: commands and answers.

import Foundation

/// Writes JSON.
package enum JSONWriter {
    /// The value as one line of UTF-8, without the line end.
    package static func line(_ value: JSONValue) -> Data {
        var output = Data()
        write(value, to: &output)
        return output
    }

    private static func write(_ value: JSONValue, to output: inout Data) {
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let number): output.append(contentsOf: "\(number)".utf8)
        // JSON has no infinity and no NaN (§6).
        case .number(let number): output.append(contentsOf: (number.isFinite ? "\(number)" : "null").utf8)
        case .string(let text): write(text, to: &output)
        case .base64(let data):
            output.append(quote)
            output.append(data.base64EncodedData())
            output.append(quote)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                write(element, to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                write(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                write(member.value, to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to output: inout Data) {
        output.append(quote)
        for byte in text.utf8 {
            switch byte {
            case quote, UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case 0..<0x20, 0x7F:
                output.append(contentsOf: "\\u00".utf8)
                output.append(hexDigit(byte >> 4))
                output.append(hexDigit(byte & 0x0F))
            default:
                output.append(byte)
            }
        }
        output.append(quote)
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static let quote = UInt8(ascii: "\"")
}
