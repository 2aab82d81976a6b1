// Compares directory names: equal, and within a subtree. Names that differ only in case, in runs of spaces or in the
// kind of string are equal (RFC 5280 section 7.1). Does not print names.

/// Comparison of encoded names.
enum DistinguishedName {
    /// The name in a form in which equal names have equal bytes, one entry for each relative name; nil when malformed.
    ///
    /// `sequence` is the content of the name's outer sequence.
    static func canonical(_ sequence: UnsafeRawBufferPointer) -> [[UInt8]]? {
        parts(of: sequence, framed).map { sets in
            sets.map { set in
                // A relative name is a set: the order of its attributes does not count.
                set.count == 1 ? set[0] : Array(set.sorted { $0.lexicographicallyPrecedes($1) }.joined())
            }
        }
    }

    /// The name, with its outer sequence, as DER in which equal names have equal bytes; nil when malformed.
    static func normalized(whole name: UnsafeRawBufferPointer) -> [UInt8]? {
        var outer = DERReader(name)
        guard let list = outer.next(DERReader.sequence), outer.isAtEnd,
            let sets = parts(of: name[part: list.content], DERWriter.element)
        else { return nil }
        return DERWriter.sequence(
            sets.map { set in
                let attributes = set.map { DERWriter.element(DERReader.sequence, $0) }
                // X.690 section 11.6: the elements of a set in ascending order.
                let ordered = attributes.sorted { $0.lexicographicallyPrecedes($1) }
                return DERWriter.element(DERReader.set, Array(ordered.joined()))
            })
    }

    /// The attributes of each relative name, with values that are equal where they count as equal.
    private static func parts(
        of sequence: UnsafeRawBufferPointer, _ framed: (UInt8, [UInt8]) -> [UInt8]
    ) -> [[[UInt8]]]? {
        var sets = DERReader(sequence)
        var result: [[[UInt8]]] = []
        while !sets.isAtEnd {
            guard let set = sets.next(DERReader.set), result.count < mostParts else { return nil }
            var attributes = DERReader(sequence, set.content)
            var parts: [[UInt8]] = []
            while !attributes.isAtEnd {
                guard let attribute = attributes.next(DERReader.sequence), parts.count < mostParts else { return nil }
                var fields = DERReader(sequence, attribute.content)
                guard let type = fields.next(DERReader.objectIdentifier), let value = fields.next(), fields.isAtEnd
                else { return nil }
                let (tag, content) = text(value.tag, sequence[part: value.content])
                parts.append(Array(sequence[part: type.whole]) + framed(tag, content))
            }
            guard !parts.isEmpty else { return nil }
            result.append(parts)
        }
        return result
    }

    /// The canonical form of a name with its outer sequence.
    static func canonical(whole name: UnsafeRawBufferPointer) -> [[UInt8]]? {
        var outer = DERReader(name)
        guard let list = outer.next(DERReader.sequence), outer.isAtEnd else { return nil }
        return canonical(name[part: list.content])
    }

    /// Calls `visit` with each value of an attribute in a name with its outer sequence.
    static func forEachValue(
        of type: [UInt8], in name: UnsafeRawBufferPointer, _ visit: (UnsafeRawBufferPointer) -> Void
    ) {
        var outer = DERReader(name)
        guard let list = outer.next(DERReader.sequence) else { return }
        var sets = DERReader(name, list.content)
        while let set = sets.next(DERReader.set) {
            var attributes = DERReader(name, set.content)
            while let attribute = attributes.next(DERReader.sequence) {
                var fields = DERReader(name, attribute.content)
                guard let found = fields.next(DERReader.objectIdentifier), let value = fields.next() else { continue }
                if name[part: found.content].elementsEqual(type) { visit(name[part: value.content]) }
            }
        }
    }

    /// A value's tag and content; strings become UTF8String, in lower case with single spaces.
    private static func text(_ tag: UInt8, _ value: UnsafeRawBufferPointer) -> (tag: UInt8, content: [UInt8]) {
        switch tag {
        // UTF8String, PrintableString, T61String, IA5String, VisibleString: bytes that ASCII is a part of.
        case 0x0C, 0x13, 0x14, 0x16, 0x1A: return (0x0C, folded(value))
        // BMPString and UniversalString: a name must not become another name by being written in these.
        case 0x1E: return (0x0C, folded(String(decoding: units(value, UInt16.self), as: UTF16.self).utf8))
        case 0x1C: return (0x0C, folded(String(decoding: units(value, UInt32.self), as: UTF32.self).utf8))
        default: return (tag, Array(value))
        }
    }

    private static func units<Unit: FixedWidthInteger>(_ value: UnsafeRawBufferPointer, _: Unit.Type) -> [Unit] {
        let width = Unit.bitWidth / 8
        return (0..<value.count / width).map { index in
            value[part: index * width..<(index + 1) * width].reduce(0) { $0 << 8 | Unit($1) }
        }
    }

    private static func folded(_ value: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(value.count)
        var isPending = false
        for byte in value {
            if byte == 0x20 || (0x09...0x0D).contains(byte) {
                isPending = !result.isEmpty
            } else {
                if isPending { result.append(0x20) }
                isPending = false
                result.append(NameSyntax.lowered(byte))
            }
        }
        return result
    }

    private static func framed(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = UInt32(truncatingIfNeeded: content.count)
        return [tag] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - $0 * 8)) } + content
    }

    // By feel: names have about five parts.
    private static let mostParts = 64
}
