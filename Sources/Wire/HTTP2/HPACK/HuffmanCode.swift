// The Huffman code of header strings. The code is canonical: codes of one length follow one another in the order of
// their symbols, and the first code of a length follows the last of the length before. So the lengths are all there is
// to know, and the codes of RFC 7541 appendix B come of them. RFC 7541 §5.2.

/// The code's tables, for both directions.
struct HuffmanCode: Sendable {
    /// For each byte its code, in the lowest bits.
    let codes: [UInt32]
    /// For each byte how many bits its code has.
    let lengths: [UInt8]

    /// For what the next bits begin with a symbol and its length, as `symbol << 8 | length`; 0
    /// for codes that are longer.
    let short: [UInt16]
    /// For the next `pairBits` bits what they decode to: two symbols, or one where there is no room for
    /// another, as `count << 24 | length << 16 | second << 8 | first`, the length being that of all of them; 0
    /// for codes that are longer.
    let pairs: [UInt32]
    /// The longer codes, shortest first.
    let long: [LongCodes]
    /// The symbols in the order of their codes.
    let symbols: [UInt16]

    /// The codes of one length.
    struct LongCodes: Sendable {
        var length: Int
        /// The first code that is too high for this length, moved to the top of a word.
        var limit: UInt64
        /// The first code, in the lowest bits, and its place among the symbols.
        var firstCode: Int
        var firstPlace: Int
    }

    /// Made once; code that asks for it often keeps it.
    static let shared = HuffmanCode()

    private init() {
        let all = HuffmanCode.bitCounts
        var codes = [UInt32](repeating: 0, count: all.count)
        var short = [UInt16](repeating: 0, count: 1 << HuffmanCode.shortBits)
        var long: [LongCodes] = []
        var symbols: [UInt16] = []
        var code = 0
        for length in HuffmanCode.shortest...HuffmanCode.longest {
            let (firstCode, firstPlace) = (code, symbols.count)
            for symbol in all.indices where all[symbol] == UInt8(length) {
                codes[symbol] = UInt32(code)
                symbols.append(UInt16(symbol))
                if length <= HuffmanCode.shortBits {
                    let free = HuffmanCode.shortBits - length
                    for rest in 0..<(1 << free) { short[code << free | rest] = UInt16(symbol << 8 | length) }
                }
                code += 1
            }
            if length > HuffmanCode.shortBits {
                // All ones is the last code: the limit behind it would be a bit more than a word.
                let limit = code == 1 << length ? .max : UInt64(code) << UInt64(64 - length)
                long.append(LongCodes(length: length, limit: limit, firstCode: firstCode, firstPlace: firstPlace))
            }
            code <<= 1
        }
        (self.codes, lengths, self.short, self.long, self.symbols) = (codes, all, short, long, symbols)
        pairs = (0..<(1 << HuffmanCode.pairBits)).map { HuffmanCode.pair($0, short) }
    }

    private static func pair(_ bits: Int, _ short: [UInt16]) -> UInt32 {
        func entry(behind length: Int) -> UInt32 {
            // Zeros in the place of bits that are not known: they do not count.
            let known = bits << length & (1 << pairBits - 1)
            let entry = UInt32(short[known >> (pairBits - shortBits)])
            return Int(entry & 0xFF) <= pairBits - length ? entry : 0
        }
        let first = entry(behind: 0)
        guard first != 0 else { return 0 }
        let length = first & 0xFF
        let second = entry(behind: Int(length))
        guard second != 0 else { return 1 << 24 | length << 16 | first >> 8 }
        return 2 << 24 | (length + second & 0xFF) << 16 | (second & 0xFF00) | first >> 8
    }

    /// How many bits are looked up at once: all that is common in fields is no longer.
    static var shortBits: Int { 10 }

    /// How many bits are looked up for two symbols at once: two of those that are common in fields.
    static var pairBits: Int { 12 }

    /// The length of the shortest code.
    static var shortest: Int { 5 }

    /// The length of the longest code.
    static var longest: Int { 30 }

    /// The symbol that stands for no byte.
    static var endOfString: UInt16 { 256 }

    // MARK: Encoding

    /// How many bytes the code of some bytes takes.
    func encodedLength(_ bytes: UnsafeRawBufferPointer) -> Int {
        lengths.withUnsafeBufferPointer { lengths in
            var bits = 0
            for byte in bytes { bits &+= Int(lengths[Int(byte)]) }
            return (bits &+ 7) >> 3
        }
    }

    /// Appends the code of some bytes, which takes `length`.
    func encode(_ bytes: UnsafeRawBufferPointer, length: Int, to out: inout [UInt8]) {
        codes.withUnsafeBufferPointer { codes in
            lengths.withUnsafeBufferPointer { lengths in
                out.appendWire(capacity: length) { writer in
                    var (word, count): (UInt64, UInt64) = (0, 0)
                    for byte in bytes {
                        let bits = UInt64(lengths[Int(byte)])
                        word = word &<< bits | UInt64(codes[Int(byte)])
                        count &+= bits
                        while count >= 8 {
                            count &-= 8
                            writer.write(UInt8(truncatingIfNeeded: word &>> count))
                        }
                    }
                    // RFC 7541 §5.2: filled with the first bits of the end of a string, which are ones.
                    if count > 0 { writer.write(UInt8(truncatingIfNeeded: word &<< (8 &- count) | 0xFF &>> count)) }
                }
            }
        }
    }

    /// The lengths of RFC 7541 appendix B: 256 bytes, then the end of a string.
    private static let bitCounts: [UInt8] = [
        13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
        28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
        5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
        13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
        7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
        15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
        6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
        20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
        24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
        22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
        21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
        26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
        19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
        20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
        26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
        30,
    ]
}
