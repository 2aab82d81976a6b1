// Undoes the Huffman code of a string that may come in pieces. Bits wait at the top of a word; the next twelve of them
// are looked up, which mostly gives two symbols. Where these are not known to have come whole, ten of them give a
// symbol or tell that its code is longer. RFC 7541 §5.2.

/// A resumable decoder of one string after the other.
struct HuffmanDecoder {
    private let code = HuffmanCode.shared
    /// The bits that were read and not used, at the top of the word; below them nothing but zeros between two pieces.
    private var bits: UInt64 = 0
    private var count = 0

    /// Appends the bytes of a piece; a code that it cuts is finished by the next one.
    mutating func decode(_ input: UnsafeRawBufferPointer, to out: inout [UInt8]) throws(HPACKError) {
        var (bits, count) = (bits, count)
        var isAtEnd = false
        code.short.withUnsafeBufferPointer { short in
            code.pairs.withUnsafeBufferPointer { pairs in
                out.append(addingCapacity: (input.count &* 8 &+ 64) / HuffmanCode.shortest) { span in
                    span.withUnsafeMutableBufferPointer { output, written in
                        var position = 0
                        while true {
                            HuffmanDecoder.refill(&bits, &count, input, &position)
                            HuffmanDecoder.takePairs(&bits, &count, pairs, input, &position, output, &written)
                            while written < output.count {
                                if HuffmanDecoder.takePair(&bits, &count, pairs, output, &written) { continue }
                                let entry = short[Int(truncatingIfNeeded: bits &>> UInt64(64 &- HuffmanCode.shortBits))]
                                var (symbol, length) = (entry &>> 8, Int(entry & 0xFF))
                                if entry == 0 {
                                    (symbol, length) = longSymbol(bits)
                                    if symbol == HuffmanCode.endOfString, length <= count {
                                        isAtEnd = true
                                        return
                                    }
                                }
                                guard length <= count else { break }
                                output[written] = UInt8(truncatingIfNeeded: symbol)
                                written &+= 1
                                bits &<<= UInt64(length)
                                count &-= length
                            }
                            if position == input.count { return }
                        }
                    }
                }
            }
        }
        if isAtEnd { throw .endOfStringSymbol }
        (self.bits, self.count) = (bits, count)
    }

    /// The string is over; the decoder is ready for the next one. Throws if what is left is no padding.
    mutating func finish() throws(HPACKError) {
        let ones = ~(UInt64.max >> UInt64(count))
        guard count < 8, bits == ones else { throw .malformedPadding }
        (bits, count) = (0, 0)
    }

    /// Decodes as long as whole words are there and the codes are short: four look-ups take no more
    /// bits than a filled word has.
    @inline(__always)
    private static func takePairs(
        _ bits: inout UInt64, _ count: inout Int, _ pairs: UnsafeBufferPointer<UInt32>, _ input: UnsafeRawBufferPointer,
        _ position: inout Int, _ output: UnsafeMutableBufferPointer<UInt8>, _ written: inout Int
    ) {
        while count >= 4 &* HuffmanCode.pairBits, output.count &- written >= 8 {
            for _ in 0..<4 {
                let entry = pairs[Int(truncatingIfNeeded: bits &>> UInt64(64 &- HuffmanCode.pairBits))]
                if entry == 0 { return }
                output[written] = UInt8(truncatingIfNeeded: entry)
                output[written &+ 1] = UInt8(truncatingIfNeeded: entry &>> 8)
                written &+= Int(truncatingIfNeeded: entry &>> 24)
                let length = entry &>> 16 & 0xFF
                bits &<<= UInt64(length)
                count &-= Int(truncatingIfNeeded: length)
            }
            refill(&bits, &count, input, &position)
        }
    }

    /// Decodes the next one or two symbols, where their codes are short and have come; false where
    /// that is to be looked at.
    @inline(__always)
    private static func takePair(
        _ bits: inout UInt64, _ count: inout Int, _ pairs: UnsafeBufferPointer<UInt32>,
        _ output: UnsafeMutableBufferPointer<UInt8>, _ written: inout Int
    ) -> Bool {
        let entry = pairs[Int(truncatingIfNeeded: bits &>> UInt64(64 &- HuffmanCode.pairBits))]
        let length = Int(truncatingIfNeeded: entry &>> 16 & 0xFF)
        guard entry != 0, length <= count, output.count &- written >= 2 else { return false }
        // The second is written over where it is none.
        output[written] = UInt8(truncatingIfNeeded: entry)
        output[written &+ 1] = UInt8(truncatingIfNeeded: entry &>> 8)
        written &+= Int(truncatingIfNeeded: entry &>> 24)
        bits &<<= UInt64(length)
        count &-= length
        return true
    }

    /// Reads whole bytes behind the bits while there is room for them.
    @inline(__always)
    private static func refill(
        _ bits: inout UInt64, _ count: inout Int, _ input: UnsafeRawBufferPointer, _ position: inout Int
    ) {
        let rest = input.count &- position
        guard rest > 0 else { return }
        if input.count >= 8 {
            // The bits below the last whole byte are read again with the next ones, and are then the same.
            let place = min(position, input.count &- 8)
            let word = UInt64(bigEndian: input.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            let bytes = min((63 &- count) &>> 3, rest)
            bits |= (word &<< UInt64((position &- place) &* 8)) &>> UInt64(count)
            position &+= bytes
            count &+= bytes &* 8
        } else {
            while count <= 56, position < input.count {
                bits |= UInt64(input[position]) &<< UInt64(56 &- count)
                position &+= 1
                count &+= 8
            }
        }
    }

    /// The symbol whose code the bits begin with, where that is no short one.
    @inline(never)
    private func longSymbol(_ bits: UInt64) -> (symbol: UInt16, length: Int) {
        for codes in code.long where bits < codes.limit {
            let value = Int(truncatingIfNeeded: bits >> UInt64(64 - codes.length))
            return (code.symbols[codes.firstPlace + value - codes.firstCode], codes.length)
        }
        // Nothing but ones, to the end of the word.
        return (HuffmanCode.endOfString, HuffmanCode.longest)
    }
}
