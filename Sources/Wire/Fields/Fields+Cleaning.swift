// Values that were received with folded lines or control bytes in them are put in order here, once, when their head is
// complete. Such values are rare, so nothing else pays for them. RFC 9112 §5.2, RFC 9110 §5.5.

extension Fields {
    /// Takes folded lines and control bytes out of all values, and the white space that may be left around them.
    mutating func cleanValues() { rewrite { $0.cleanValues(of: &$1) } }
}

extension [UInt8] {
    fileprivate mutating func cleanValues(of slots: inout [Fields.Slot]) {
        for index in slots.indices {
            // A framing field that becomes readable only once a control byte is gone would be read in one way here
            // and in another by the proxy that forwarded it: it stays unreadable (RFC 9112 §11.2).
            let replacement = isFraming(slots[index]) ? UInt8(ascii: "?") : ASCII.space
            // RFC 6265bis §5.6 item 1: a cookie with a control byte in it is none, and must not become one by cleaning.
            if isSpoiledCookie(slots[index]) {
                slots[index].valueLength = 0
                continue
            }
            let cleaned = cleanValue(
                from: slots[index].valueStart, count: slots[index].valueLength, controlsBecome: replacement)
            slots[index].valueStart = cleaned.lowerBound
            slots[index].valueLength = cleaned.count
        }
    }

    private func isFraming(_ slot: Fields.Slot) -> Bool {
        withUnsafeBytes { bytes in
            let name = bytes.name(of: slot)
            return name.equalsIgnoringCase("Transfer-Encoding") || name.equalsIgnoringCase("Content-Length")
        }
    }

    private func isSpoiledCookie(_ slot: Fields.Slot) -> Bool {
        withUnsafeBytes { bytes in
            bytes.name(of: slot).equalsIgnoringCase("Set-Cookie")
                && bytes.value(of: slot).contains {
                    Tokens.isControl($0) && $0 != ASCII.carriageReturn && $0 != ASCII.lineFeed
                }
        }
    }

    /// Rewrites a value where it lies; it can only become shorter.
    private mutating func cleanValue(
        from start: Int, count: Int, controlsBecome replacement: UInt8
    ) -> Range<Int> {
        let end = start + count
        var (read, write) = (start, start)
        while read < end {
            let byte = self[read]
            read += 1
            if byte == ASCII.carriageReturn || byte == ASCII.lineFeed {
                // B16.24: a line end and the white space around it are one space.
                while read < end, Tokens.isWhitespace(self[read]) || self[read] == ASCII.lineFeed { read += 1 }
                while write > start, Tokens.isWhitespace(self[write - 1]) { write -= 1 }
                self[write] = ASCII.space
            } else {
                // B16.26: other control bytes are kept out.
                self[write] = Tokens.isControl(byte) ? replacement : byte
            }
            write += 1
        }
        var first = start
        while first < write, Tokens.isWhitespace(self[first]) { first += 1 }
        while first < write, Tokens.isWhitespace(self[write - 1]) { write -= 1 }
        return first..<write
    }
}
