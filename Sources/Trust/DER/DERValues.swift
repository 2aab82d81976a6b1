// Reads single values of certificates out of their encodings: numbers, truth values, bits, moments. RFC 5280 section
// 4.1, X.690 sections 8 and 11.

/// Values of elements.
enum DERValues {
    /// X.690 section 11.1: TRUE is one octet of ones.
    static func boolean(_ content: UnsafeRawBufferPointer) -> Bool? {
        guard content.count == 1 else { return nil }
        switch content[0] {
        case 0x00: return false
        case 0xFF: return true
        default: return nil
        }
    }

    /// A number that is not negative and fits; nil for others.
    static func smallInteger(_ content: UnsafeRawBufferPointer) -> Int? {
        guard isInteger(content), content.count <= 4, content[0] < 0x80 else { return nil }
        return content.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Whether these are the octets of an INTEGER: at least one, and no more than needed.
    static func isInteger(_ content: UnsafeRawBufferPointer) -> Bool {
        guard let first = content.first else { return false }
        guard content.count > 1 else { return true }
        return !(first == 0 && content[1] < 0x80) && !(first == 0xFF && content[1] >= 0x80)
    }

    /// The first 16 named bits, bit 0 of the encoding lowest; nil when it is no list of named bits (X.690 section
    /// 11.2.2).
    static func namedBits(_ content: UnsafeRawBufferPointer) -> UInt16? {
        guard let unused = content.first, unused < 8 else { return nil }
        if content.count == 1 { return unused == 0 ? 0 : nil }
        guard let last = content.last, last & ((1 << unused) - 1) == 0 else { return nil }
        var bits: UInt16 = 0
        for (index, octet) in content.dropFirst().prefix(2).enumerated() {
            for bit in 0..<8 where octet & (0x80 >> UInt8(bit)) != 0 { bits |= 1 << UInt16(index * 8 + bit) }
        }
        return bits
    }

    /// Seconds since 1970 of a UTCTime or GeneralizedTime in the only forms RFC 5280 section 4.1.2.5 allows: with
    /// seconds, in Greenwich time, without fractions.
    static func time(_ tag: UInt8, _ content: UnsafeRawBufferPointer) -> Int64? {
        let yearDigits = tag == 0x17 ? 2 : 4
        guard tag == 0x17 || tag == 0x18, content.count == yearDigits + 11, content.last == UInt8(ascii: "Z"),
            content.dropLast().allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        func number(_ start: Int, _ count: Int) -> Int64 {
            content[start..<start + count].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        var year = number(0, yearDigits)
        if tag == 0x17 { year += year < 50 ? 2000 : 1900 }
        let month = number(yearDigits, 2)
        let day = number(yearDigits + 2, 2)
        let (hour, minute) = (number(yearDigits + 4, 2), number(yearDigits + 6, 2))
        let second = number(yearDigits + 8, 2)
        guard (1...12).contains(month), day >= 1, day <= daysIn(month, of: year), hour < 24, minute < 60, second < 60
        else { return nil }
        return days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    }

    private static func daysIn(_ month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days since 1970-01-01 in the Gregorian calendar, years beginning in March.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
