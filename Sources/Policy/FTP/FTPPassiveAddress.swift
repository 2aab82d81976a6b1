// Where a server listens for the data connection, out of its reply to EPSV or PASV. Only the port is taken: a server
// that could name an address could make its clients connect to others' machines (B14.22, RFC 2577 §3).
//
// Must not know: sockets, which of the two was asked.

/// Reads the ports in replies to EPSV and PASV.
package enum FTPPassiveAddress {
    /// The port in a 229, `(|||6446|)` with any delimiter (RFC 2428 §3); nil where there is none.
    package static func extendedPort(_ text: [UInt8]) -> Int? {
        guard let open = text.firstIndex(of: UInt8(ascii: "(")), open + 4 < text.count else { return nil }
        let delimiter = text[open + 1]
        guard (33...126).contains(delimiter), !ASCII.isDigit(delimiter),
            text[open + 2] == delimiter, text[open + 3] == delimiter
        else { return nil }
        var place = open + 4
        guard let port = number(text, &place, atMost: 65_535), port > 0, place + 1 < text.count,
            text[place] == delimiter, text[place + 1] == UInt8(ascii: ")")
        else { return nil }
        return port
    }

    /// The port in a 227, the last two of six numbers somewhere in the text: with parentheses around them or without
    /// (RFC 1123 §4.1.2.6); nil where there is none.
    package static func port(_ text: [UInt8]) -> Int? {
        for start in text.indices where ASCII.isDigit(text[start]) {
            if start > 0, ASCII.isDigit(text[start - 1]) { continue }
            if let numbers = six(text, from: start) {
                let port = numbers[4] * 256 + numbers[5]
                return port > 0 ? port : nil
            }
        }
        return nil
    }

    private static func six(_ text: [UInt8], from start: Int) -> [Int]? {
        var place = start
        var numbers: [Int] = []
        while let next = number(text, &place, atMost: 255) {
            numbers.append(next)
            if numbers.count == 6 { return numbers }
            guard place < text.count, text[place] == UInt8(ascii: ",") else { return nil }
            place += 1
        }
        return nil
    }

    /// The digits at a place, and moves it behind them; nil where there are none, or they mean too much.
    private static func number(_ text: [UInt8], _ place: inout Int, atMost limit: Int) -> Int? {
        let start = place
        var value = 0
        while place < text.count, ASCII.isDigit(text[place]) {
            value = value * 10 + Int(text[place] - UInt8(ascii: "0"))
            guard value <= limit else { return nil }
            place += 1
        }
        return place > start ? value : nil
    }
}
