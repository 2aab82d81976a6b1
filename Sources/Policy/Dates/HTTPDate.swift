// Dates in fields, read in their three forms and written in the first: RFC 9110 §5.6.7, behaviour B7.69. It must not
// know which field a date stands in. Names of days, months and the zone may be in any case, and no other zone than GMT
// counts (RFC 9111 §4.2); the name of the day is read but not compared with the date.

/// Reads and writes the dates of HTTP fields.
package enum HTTPDate {
    /// The moment that a value names; nil when it is no date in any of the three forms.
    ///
    /// `now` tells which century years of two digits belong to: none lies more than fifty years ahead.
    package static func parse(_ value: UnsafeRawBufferPointer, now: WallTime) -> WallTime? {
        var scanner = DateScanner(value)
        scanner.skipSpaces()
        guard let weekday = scanner.letters(), !weekday.isEmpty else { return nil }
        let time: WallTime?
        if scanner.skip(UInt8(ascii: ",")) {
            guard scanner.skip(UInt8(ascii: " ")) else { return nil }
            time =
                DateScanner.index(of: weekday, in: shortDays) != nil
                ? fixed(&scanner) : DateScanner.index(of: weekday, in: longDays) != nil ? old(&scanner, now) : nil
        } else {
            guard DateScanner.index(of: weekday, in: shortDays) != nil, scanner.skip(UInt8(ascii: " ")) else {
                return nil
            }
            time = ansi(&scanner)
        }
        scanner.skipSpaces()
        return scanner.isAtEnd ? time : nil
    }

    /// The time that a text names; nil where it is no date.
    package static func parse(_ value: String, now: WallTime) -> WallTime? {
        var value = value
        return value.withUTF8 { parse(UnsafeRawBufferPointer($0), now: now) }
    }

    /// The moment as IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func text(_ time: WallTime) -> String {
        let (year, month, day) = time.date
        let (hour, minute, second) = time.timeOfDay
        return "\(shortDays[time.weekday]), \(padded(day)) \(months[month - 1]) \(padded(year, 4)) "
            + "\(padded(hour)):\(padded(minute)):\(padded(second)) GMT"
    }

    /// The number of a month by the first three letters of its English name, in any case; nil for other letters.
    package static func month(_ name: UnsafeRawBufferPointer) -> Int? {
        DateScanner.index(of: name, in: months).map { $0 + 1 }
    }

    // MARK: The three forms

    /// `06 Nov 1994 08:49:37 GMT`
    private static func fixed(_ scanner: inout DateScanner) -> WallTime? {
        guard let day = scanner.number(digits: 2), scanner.skip(UInt8(ascii: " ")),
            let month = scanner.letters().flatMap(month), scanner.skip(UInt8(ascii: " ")),
            let year = scanner.number(digits: 4), scanner.skip(UInt8(ascii: " ")), let time = scanner.timeOfDay(),
            scanner.skip(UInt8(ascii: " ")), scanner.isZone()
        else { return nil }
        return WallTime(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    /// `06-Nov-94 08:49:37 GMT`, of RFC 850.
    private static func old(_ scanner: inout DateScanner, _ now: WallTime) -> WallTime? {
        guard let day = scanner.number(digits: 2), scanner.skip(UInt8(ascii: "-")),
            let month = scanner.letters().flatMap(month), scanner.skip(UInt8(ascii: "-")),
            let year = scanner.number(digits: 2), scanner.skip(UInt8(ascii: " ")), let time = scanner.timeOfDay(),
            scanner.skip(UInt8(ascii: " ")), scanner.isZone()
        else { return nil }
        let thisYear = now.date.year
        var fullYear = thisYear - thisYear % 100 + year
        // The latest year with these digits that is not more than fifty ahead.
        if fullYear + 100 <= thisYear + 50 { fullYear += 100 }
        if fullYear > thisYear + 50 { fullYear -= 100 }
        return WallTime(
            year: fullYear, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    /// `Nov  6 08:49:37 1994`, of ANSI C's asctime().
    private static func ansi(_ scanner: inout DateScanner) -> WallTime? {
        guard let month = scanner.letters().flatMap(month), scanner.skip(UInt8(ascii: " ")),
            let day = scanner.skip(UInt8(ascii: " ")) ? scanner.number(digits: 1) : scanner.number(digits: 2),
            scanner.skip(UInt8(ascii: " ")), let time = scanner.timeOfDay(), scanner.skip(UInt8(ascii: " ")),
            let year = scanner.number(digits: 4)
        else { return nil }
        return WallTime(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    private static let shortDays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let longDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}

/// Takes a date apart from its beginning to its end; no call leaves the value's bounds.
private struct DateScanner {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Passes one byte over if it is this one.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func skipSpaces() {
        while let byte = next, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { position += 1 }
    }

    /// The letters up to the next byte that is none; nil when there are more than any name has.
    mutating func letters() -> UnsafeRawBufferPointer? {
        let start = position
        while let byte = next, ASCII.isLetter(byte), position - start < 10 { position += 1 }
        return position - start < 10 ? UnsafeRawBufferPointer(rebasing: bytes[start..<position]) : nil
    }

    /// A number of exactly so many digits.
    mutating func number(digits count: Int) -> Int? {
        var number = 0
        for _ in 0..<count {
            guard let byte = next, ASCII.isDigit(byte) else { return nil }
            number = number * 10 + Int(byte - UInt8(ascii: "0"))
            position += 1
        }
        return number
    }

    mutating func timeOfDay() -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = number(digits: 2), skip(UInt8(ascii: ":")), let minute = number(digits: 2),
            skip(UInt8(ascii: ":")), let second = number(digits: 2)
        else { return nil }
        return (hour, minute, second)
    }

    mutating func isZone() -> Bool {
        letters().map { ASCII.isEqual($0, "GMT") } ?? false
    }

    /// Which of the names the letters are, in any case.
    static func index(of letters: UnsafeRawBufferPointer, in names: [String]) -> Int? {
        names.firstIndex { ASCII.isEqual(letters, $0) }
    }
}
