// SHA-1 (FIPS 180-4 §6.1), for the Accept value of a web socket's handshake only, where it proves that the server
// speaks the protocol and nothing else (RFC 6455 §10.8 expects no security of it). It is written here because both ends
// of the handshake stand on this layer, and the system's OpenSSL may refuse a function that is broken for signatures.

/// SHA-1.
package enum SHA1 {
    /// The hash of some bytes, 20 bytes long.
    package static func hash(_ bytes: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        // A one bit, zeros, and the length in bits so that all is a number of blocks.
        var padded = bytes + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(bytes.count) &* 8
        for place in (0..<8).reversed() { padded.append(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(place)))) }
        for start in stride(from: 0, to: padded.count, by: 64) { mix(padded[start..<start + 64], into: &state) }
        return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) } }
    }

    private static func mix(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = [UInt32](repeating: 0, count: 80)
        for (index, byte) in block.enumerated() { words[index / 4] = words[index / 4] << 8 | UInt32(byte) }
        for step in 16..<80 {
            words[step] = rotated(words[step - 3] ^ words[step - 8] ^ words[step - 14] ^ words[step - 16], by: 1)
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for step in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch step / 20 {
                case 0: (b & c | ~b & d, 0x5A82_7999)
                case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, by: 5) &+ mixed &+ e &+ constant &+ words[step]
            (a, b, c, d, e) = (next, a, rotated(b, by: 30), c, d)
        }
        for (index, word) in [a, b, c, d, e].enumerated() { state[index] &+= word }
    }

    private static func rotated(_ word: UInt32, by bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
}
