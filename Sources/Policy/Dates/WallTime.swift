// Moments of the calendar's clock, as fields of messages name them, and how days become seconds. It must not know a
// clock: code that needs the present gets it as an argument. Proleptic Gregorian calendar, UTC, no leap seconds.

/// A moment in whole seconds, as HTTP counts them.
package struct WallTime: Sendable, Hashable {
    /// Seconds since the beginning of 1970, UTC.
    package let seconds: Int64

    /// Makes a moment; numbers that lie beyond a million years become the nearest that do not.
    package init(seconds: Int64) {
        self.seconds = min(max(seconds, -Self.limit), Self.limit)
    }

    /// Makes a moment of parts of a calendar; nil when there is no such day or no such time of day.
    ///
    /// The sixtieth second, which clocks have now and then, is the first of the next minute.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.days(inMonth: month, of: year), (0...23).contains(hour), (0...59).contains(minute),
            (0...60).contains(second)
        else { return nil }
        let days = Self.days(toYear: year, month: month, day: day)
        self.init(seconds: Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second))
    }

    /// The year, month and day.
    package var date: (year: Int, month: Int, day: Int) {
        // Counted from March on, so that the leap day is a year's last; an era is 400 years.
        let shifted = days + 719_468
        let era = Self.floored(shifted, by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (
            year: yearOfEra + era * 400 + (month >= 10 ? 1 : 0), month: month < 10 ? month + 3 : month - 9,
            day: dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    /// The hour, minute and second of the day.
    package var timeOfDay: (hour: Int, minute: Int, second: Int) {
        let second = Int(seconds) - days * 86_400
        return (second / 3600, second / 60 % 60, second % 60)
    }

    /// The day of the week, 0 for Sunday.
    package var weekday: Int {
        // The first day of 1970 was a Thursday.
        let day = (days + 4) % 7
        return day < 0 ? day + 7 : day
    }

    private var days: Int { Self.floored(Int(seconds), by: 86_400) }

    /// The number of days in a month.
    package static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// Days since the beginning of 1970; the inverse of `date`.
    private static func days(toYear year: Int, month: Int, day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floored(shiftedYear, by: 400)
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func floored(_ number: Int, by divisor: Int) -> Int {
        number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor)
    }

    private static let limit: Int64 = 31_557_600_000_000
}

extension WallTime: Comparable {
    /// Whether one moment lies before another.
    package static func < (left: WallTime, right: WallTime) -> Bool { left.seconds < right.seconds }

    /// The moment that many seconds later.
    package static func + (time: WallTime, seconds: Int64) -> WallTime {
        let (sum, overflows) = time.seconds.addingReportingOverflow(seconds)
        return WallTime(seconds: overflows ? (seconds < 0 ? -limit : limit) : sum)
    }

    /// How many seconds the left moment lies after the right one.
    package static func - (left: WallTime, right: WallTime) -> Int64 { left.seconds - right.seconds }
}
