// Walks the blocks of a PEM text and undoes their base64, without OpenSSL's reader, which takes several milliseconds
// for a bundle of roots. Knows neither what is in a block nor whether it is any good. RFC 7468.

/// The blocks of a PEM text.
enum PEMBlocks {
    /// Calls `visit` with each block's label and content; a block that is cut off or no base64 is passed over.
    static func forEach(
        in text: [UInt8], _ visit: (_ label: UnsafeRawBufferPointer, _ content: UnsafeRawBufferPointer) -> Void
    ) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count / 4 * 3 + 3, alignment: 1)
        defer { room.deallocate() }
        text.withUnsafeBytes { text in
            values.withUnsafeBufferPointer { values in
                var line = 0
                while line < text.count {
                    guard let label = label(in: text, at: line, after: beginning) else {
                        line = nextLine(in: text, after: line)
                        continue
                    }
                    var position = nextLine(in: text, after: line)
                    let count = decode(text, &position, into: room, values)
                    if let count, let end = Self.label(in: text, at: position, after: ending), end.elementsEqual(label)
                    {
                        visit(label, UnsafeRawBufferPointer(rebasing: room[..<count]))
                    }
                    line = position
                }
            }
        }
    }

    /// Undoes base64 alone; nil when it is none.
    static func decode(base64 text: [UInt8]) -> [UInt8]? {
        guard !text.contains(dash) else { return nil }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: text.count / 4 * 3 + 3, alignment: 1)
        defer { room.deallocate() }
        return text.withUnsafeBytes { text in
            values.withUnsafeBufferPointer { values in
                var position = 0
                return decode(text, &position, into: room, values).map { Array(room[..<$0]) }
            }
        }
    }

    /// What stands between a line's beginning and its closing dashes.
    private static func label(
        in text: UnsafeRawBufferPointer, at line: Int, after beginning: StaticString
    ) -> UnsafeRawBufferPointer? {
        let start = line + beginning.utf8CodeUnitCount
        guard start < text.count, matches(text, at: line, beginning) else { return nil }
        var end = start
        while end < text.count, text[end] != dash, text[end] != newline { end += 1 }
        return matches(text, at: end, dashes) ? UnsafeRawBufferPointer(rebasing: text[start..<end]) : nil
    }

    /// Decodes up to the next dash, where `position` is left; nil when this is no base64.
    private static func decode(
        _ text: UnsafeRawBufferPointer, _ position: inout Int, into room: UnsafeMutableRawBufferPointer,
        _ values: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        var (bits, held, padding, count) = (UInt32(0), 0, 0, 0)
        var isValid = true
        while position < text.count, text[position] != dash {
            let byte = text[position]
            let value = values[Int(byte)]
            position += 1
            if value < 64 {
                bits = bits << 6 | UInt32(value)
                held += 1
                isValid = isValid && padding == 0
                guard held == 4 else { continue }
                room[count] = UInt8(truncatingIfNeeded: bits >> 16)
                room[count + 1] = UInt8(truncatingIfNeeded: bits >> 8)
                room[count + 2] = UInt8(truncatingIfNeeded: bits)
                (count, held) = (count + 3, 0)
            } else if byte == UInt8(ascii: "=") {
                padding += 1
            } else if value != space {
                isValid = false
            }
        }
        switch (held, padding) {
        case (0, 0):
            break
        case (2, 2):
            room[count] = UInt8(truncatingIfNeeded: bits >> 4)
            count += 1
        case (3, 1):
            room[count] = UInt8(truncatingIfNeeded: bits >> 10)
            room[count + 1] = UInt8(truncatingIfNeeded: bits >> 2)
            count += 2
        default:
            isValid = false
        }
        return isValid ? count : nil
    }

    private static func nextLine(in text: UnsafeRawBufferPointer, after position: Int) -> Int {
        var position = position
        while position < text.count, text[position] != newline { position += 1 }
        return position + 1
    }

    private static func matches(_ text: UnsafeRawBufferPointer, at position: Int, _ wanted: StaticString) -> Bool {
        let count = wanted.utf8CodeUnitCount
        guard position >= 0, position <= text.count - count else { return false }
        return text[position..<position + count].elementsEqual(
            UnsafeBufferPointer(start: wanted.utf8Start, count: count))
    }

    private static let beginning: StaticString = "-----BEGIN "
    private static let ending: StaticString = "-----END "
    private static let dashes: StaticString = "-----"
    private static let dash = UInt8(ascii: "-")
    private static let newline = UInt8(ascii: "\n")
    /// Stands in the table for what may be between the digits.
    private static let space: UInt8 = 254

    /// The value of each digit of base64 (RFC 4648 section 4).
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, digit) in digits.utf8.enumerated() { values[Int(digit)] = UInt8(value) }
        for byte in " \t\r\n".utf8 { values[Int(byte)] = space }
        return values
    }()
}
