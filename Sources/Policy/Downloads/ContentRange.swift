// What a server says about the part that it sends, or about the whole of which a part was asked for: RFC 9110 §14.4.
// Must not know which task asked for which part.

/// A Content-Range in bytes.
package enum ContentRange: Sendable, Equatable {
    /// These bytes, the last one included; of so many, where that is known.
    case part(first: Int64, last: Int64, of: Int64?)
    /// There is no such part of so many bytes.
    case unsatisfied(of: Int64)

    /// Reads a value; nil where it is in another unit, or contradicts itself.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, ASCII.isEqual(String(words[0]), "bytes") else { return nil }
        let sides = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let isOpen = sides[1] == "*"
        let length = Self.number(sides[1])
        if sides[0] == "*" {
            guard let length else { return nil }
            self = .unsatisfied(of: length)
            return
        }
        let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last,
            isOpen || length != nil
        else { return nil }
        if let length, last >= length { return nil }
        self = .part(first: first, last: last, of: length)
    }

    /// Digits only, and at most as many as a file can have bytes.
    private static func number(_ digits: Substring) -> Int64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int64(digits).flatMap { $0 < .max ? $0 : nil }
    }
}
