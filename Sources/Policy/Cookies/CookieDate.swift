// Reads dates as cookies carry them: in any order of their parts, in any of the forms servers have ever written (RFC
// 6265 §5.1.1, which RFC 6265bis keeps). The time is always taken for UTC; whatever else a date says is passed over.
//
// Must not know clocks, and what a date is for.

/// The forgiving reader of dates.
package enum CookieDate {
    /// The seconds since 1970 that a date means; nil when a part is missing or there is no such day (B8.27).
    package static func seconds(_ text: some Sequence<UInt8>) -> Int64? {
        var parts = Parts()
        for token in Array(text).split(whereSeparator: isDelimiter) { parts.read(token) }
        return parts.seconds
    }

    /// Everything but letters, digits, colons and what is not printable ASCII.
    private static func isDelimiter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// What has been found so far; each part is taken from the first token that can be it.
    private struct Parts {
        private var time: (hour: Int, minute: Int, second: Int)?
        private var day: Int?
        private var month: Int?
        private var year: Int?

        /// The rules of the standard, in its order.
        mutating func read(_ token: ArraySlice<UInt8>) {
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let found = Self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = Self.number(token, digits: 2...4) {
                // A year of two digits belongs to the years around 2000.
                year = found < 70 ? found + 2000 : found < 100 ? found + 1900 : found
            }
        }

        var seconds: Int64? {
            guard let time, let day, let month, let year, year >= 1601, time.second <= 59 else { return nil }
            return WallTime(
                year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)?.seconds
        }

        /// Three numbers of one or two digits with colons between them, and then no digit.
        private static func time(_ token: ArraySlice<UInt8>) -> (Int, Int, Int)? {
            let fields = token.split(
                separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3, let second = number(fields[2], digits: 1...2),
                let hour = whole(fields[0]), let minute = whole(fields[1])
            else { return nil }
            return (hour, minute, second)
        }

        private static func whole(_ field: ArraySlice<UInt8>) -> Int? {
            field.allSatisfy(ASCII.isDigit) ? number(field, digits: 1...2) : nil
        }

        /// A number of so many digits, and then no digit.
        private static func number(_ token: ArraySlice<UInt8>, digits: ClosedRange<Int>) -> Int? {
            let found = token.prefix(while: ASCII.isDigit)
            guard digits.contains(found.count) else { return nil }
            return found.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }

        private static func month(_ token: ArraySlice<UInt8>) -> Int? {
            let letters = token.prefix(3).map(ASCII.lowercase)
            return months.firstIndex { $0.utf8.elementsEqual(letters) }.map { $0 + 1 }
        }

        private static let months = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ]
    }
}
