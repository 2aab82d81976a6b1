// Writes single elements of DER: names in one spelling, and what made certificates hold. Does not know what they mean.
// X.690.

/// Encoded DER elements.
package enum DERWriter {
    /// One element with a single-octet tag.
    package static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag] + length(content.count) + content
    }

    /// A SEQUENCE of encoded elements.
    package static func sequence(_ elements: [[UInt8]]) -> [UInt8] {
        element(0x30, Array(elements.joined()))
    }

    /// A BOOLEAN.
    package static func boolean(_ value: Bool) -> [UInt8] {
        element(0x01, [value ? 0xFF : 0x00])
    }

    /// A non-negative INTEGER.
    package static func integer(_ value: UInt) -> [UInt8] {
        var octets: [UInt8] = []
        var rest = value
        repeat {
            octets.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        } while rest > 0
        if let first = octets.first, first >= 0x80 { octets.insert(0, at: 0) }
        return element(0x02, octets)
    }

    /// An OCTET STRING.
    package static func octetString(_ bytes: [UInt8]) -> [UInt8] {
        element(0x04, bytes)
    }

    /// A directory name with one attribute for each relative name.
    package static func name(_ attributes: [(type: String, value: String)]) -> [UInt8] {
        sequence(
            attributes.map { type, value in
                element(0x31, sequence([objectIdentifier(type), element(0x0C, Array(value.utf8))]))
            })
    }

    /// An OBJECT IDENTIFIER from its dotted text; empty when the text is none, or has a number that is too large.
    package static func objectIdentifier(_ text: String) -> [UInt8] {
        let numbers = text.split(separator: ".").compactMap { UInt($0) }
        guard numbers.count >= 2, numbers[0] <= 2, numbers[1] < 40 || numbers[0] == 2 else { return [] }
        let (first, isTooLarge) = (numbers[0] * 40).addingReportingOverflow(numbers[1])
        return isTooLarge ? [] : element(0x06, ([first] + numbers.dropFirst(2)).flatMap(base128))
    }

    private static func length(_ count: Int) -> [UInt8] {
        if count < 0x80 { return [UInt8(count)] }
        var octets: [UInt8] = []
        var rest = count
        while rest > 0 {
            octets.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [0x80 | UInt8(octets.count)] + octets
    }

    private static func base128(_ number: UInt) -> [UInt8] {
        var octets = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            octets.insert(0x80 | UInt8(rest & 0x7F), at: 0)
            rest >>= 7
        }
        return octets
    }
}
