// Integers with a prefix: what fits into the rest of a byte, and else seven bits a byte behind it, the lowest first.
// Read byte by byte, since a block may be cut anywhere. RFC 7541 §5.1.

/// An integer that is being read.
struct HPACKInteger {
    private(set) var value: Int
    private var shift = 0

    /// Begins with the byte that holds the prefix.
    @inline(__always)
    init(_ first: UInt8, prefixBits: Int) {
        value = Int(first & HPACKInteger.mask(prefixBits))
    }

    /// Whether the prefix, which has that many bits, is the whole integer.
    @inline(__always)
    func isWhole(prefixBits: Int) -> Bool { value < Int(HPACKInteger.mask(prefixBits)) }

    /// Reads a byte behind the prefix; true if it was the last one.
    mutating func add(_ byte: UInt8) throws(HPACKError) -> Bool {
        // At most five bytes of seven bits come here: the sum stays below 2^36.
        value &+= Int(byte & 0x7F) &<< shift
        shift &+= 7
        guard value <= HPACKInteger.largest else { throw .integerTooLarge }
        if byte & 0x80 == 0 { return true }
        guard shift < 35 else { throw .integerTooLarge }
        return false
    }

    /// Appends an integer behind the bits that its first byte already has.
    static func append(_ value: Int, _ bits: UInt8, prefixBits: Int, to out: inout [UInt8]) {
        let mask = mask(prefixBits)
        guard value >= Int(mask) else {
            out.append(bits | UInt8(truncatingIfNeeded: value))
            return
        }
        out.append(bits | mask)
        var rest = value - Int(mask)
        while rest >= 0x80 {
            out.append(0x80 | UInt8(truncatingIfNeeded: rest & 0x7F))
            rest >>= 7
        }
        out.append(UInt8(truncatingIfNeeded: rest))
    }

    /// The largest that is taken. [RFC 7541 §7.4 leaves it to the implementation.]
    private static var largest: Int { 1 << 31 }

    @inline(__always)
    private static func mask(_ prefixBits: Int) -> UInt8 { 0xFF &>> (8 &- UInt8(truncatingIfNeeded: prefixBits)) }
}
