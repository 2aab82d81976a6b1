// Dates of fields: the three forms, text that is not a date, and the way there and back through the calendar.

import Testing
import URLLoadingPolicy

@Suite struct HTTPDateTests {
    private let now = WallTime(seconds: 1_767_225_600)

    @Test(
        "B7.69: the three forms name the same moment",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "sun, 06 nov 1994 08:49:37 gmt", "SUNDAY, 06-NOV-94 08:49:37 GMT", " Sun, 06 Nov 1994 08:49:37 GMT\t",
        ])
    func forms(text: String) {
        #expect(HTTPDate.parse(text, now: now) == WallTime(seconds: 784_111_777))
    }

    @Test(
        "B7.69: text in none of the three forms is not a date",
        arguments: [
            "", " ", "Sun", "Sun,", "0", "784111777", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Nov 1994 08:49:37 PST", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37 GMTx",
            "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Foo, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06 Nov 1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun, Nov  6 08:49:37 1994",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1995 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov 1994 08:49:37 GMT", "Sundayyyyyyyy, 06-Nov-94 08:49:37 GMT",
            "1994-11-06T08:49:37Z", "Sun, 06 November 1994 08:49:37 GMT",
        ])
    func nonsense(text: String) {
        #expect(HTTPDate.parse(text, now: now) == nil)
    }

    @Test("B7.69: a date cut anywhere, or with one byte changed, never leaves its bounds")
    func mangled() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            let bytes = Array(text.utf8)
            for length in 0..<bytes.count {
                #expect(bytes[..<length].withUnsafeBytes { HTTPDate.parse($0, now: now) } == nil)
                for byte in [0, 0x20, 0x39, 0x7F, 0xFF] as [UInt8] {
                    var changed = bytes
                    changed[length] = byte
                    let date = changed.withUnsafeBytes { HTTPDate.parse($0, now: now) }
                    #expect(date.map { HTTPDate.parse(HTTPDate.text($0), now: now) == $0 } ?? true)
                }
            }
        }
    }

    @Test(
        "B7.69: a year of two digits lies at most fifty years ahead",
        arguments: [(26, 2026), (27, 2027), (76, 2076), (77, 1977), (99, 1999), (0, 2000), (25, 2025)])
    func century(digits: Int, year: Int) {
        let text = "Monday, 01-Jan-\(digits < 10 ? "0" : "")\(digits) 00:00:00 GMT"
        #expect(HTTPDate.parse(text, now: now)?.date.year == year)
    }

    @Test("Days and seconds come back from the calendar as they went in, for eleven hundred years")
    func calendar() throws {
        var seconds: Int64 = -11_000_000_000
        while seconds < 25_000_000_000 {
            let time = WallTime(seconds: seconds)
            let (year, month, day) = time.date
            let (hour, minute, second) = time.timeOfDay
            let back = WallTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
            try #require(back == time)
            let text = HTTPDate.text(time)
            if (1977...2076).contains(year) { try #require(HTTPDate.parse(text, now: now) == time) }
            seconds += 4_321_987
        }
        #expect(HTTPDate.text(WallTime(seconds: 0)) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(WallTime(seconds: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.text(WallTime(seconds: 951_782_400)) == "Tue, 29 Feb 2000 00:00:00 GMT")
        #expect(WallTime(year: 1900, month: 2, day: 29, hour: 0, minute: 0, second: 0) == nil)
        #expect(WallTime(year: 2000, month: 2, day: 29, hour: 0, minute: 0, second: 0) != nil)
        #expect(WallTime(seconds: .max).seconds > 0 && WallTime(seconds: .min).seconds < 0)
        #expect(WallTime(seconds: .max) + .max == WallTime(seconds: .max))
    }
}
