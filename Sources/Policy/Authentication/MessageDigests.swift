// MD4 (RFC 1320), MD5 (RFC 1321) and HMAC-MD5 (RFC 2104). Both hashes are broken for signatures and live on in NTLM and
// Digest, which need no more of them than that they cannot be run backwards. They are written here because the system's
// OpenSSL may lack them: MD4 is in its legacy provider, MD5 not in a FIPS one. They see secrets, and take the same
// steps whatever those are.

/// What makes one of the family: how it mixes a block of sixteen words into its state.
package protocol MessageDigestRounds {
    /// Mixes a block into the state.
    static func mix(_ words: [UInt32], into state: inout SIMD4<UInt32>)
}

/// A hash that is fed piece by piece.
package struct MessageDigest<Rounds: MessageDigestRounds>: Sendable {
    private var state = SIMD4<UInt32>(0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476)
    private var pending: [UInt8] = []
    private var byteCount: UInt64 = 0

    /// Makes a hash of nothing.
    package init() {}

    /// The hash of some bytes, 16 bytes long.
    package static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var digest = MessageDigest()
        digest.update(bytes)
        return digest.finished()
    }

    /// Adds bytes.
    package mutating func update(_ bytes: some Collection<UInt8>) {
        byteCount &+= UInt64(bytes.count)
        pending.append(contentsOf: bytes)
        mixPending()
    }

    /// Mixes what makes whole blocks.
    private mutating func mixPending() {
        let whole = pending.count / 64
        guard whole > 0 else { return }
        var words = [UInt32](repeating: 0, count: 16)
        for block in 0..<whole {
            for word in 0..<16 {
                let place = block * 64 + word * 4
                words[word] =
                    UInt32(pending[place]) | UInt32(pending[place + 1]) << 8 | UInt32(pending[place + 2]) << 16
                    | UInt32(pending[place + 3]) << 24
            }
            Rounds.mix(words, into: &state)
        }
        pending.removeFirst(whole * 64)
    }

    /// The hash of all bytes so far.
    package func finished() -> [UInt8] {
        var last = self
        // A one bit, zeros, and the length in bits so that all is a number of blocks.
        last.pending.append(0x80)
        last.pending.append(contentsOf: repeatElement(0, count: (119 - pending.count) % 64))
        last.pending.append(littleEndian: byteCount &* 8)
        last.mixPending()
        var hash: [UInt8] = []
        hash.reserveCapacity(16)
        for word in last.state.indices { hash.append(littleEndian: last.state[word]) }
        return hash
    }
}

/// RFC 1320.
package typealias MD4 = MessageDigest<MD4Rounds>

/// RFC 1321.
package typealias MD5 = MessageDigest<MD5Rounds>

/// HMAC over MD5.
package enum HMACMD5 {
    /// The code of some bytes under a key.
    package static func code(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        var key = key.count > 64 ? MD5.hash(key) : key
        key += [UInt8](repeating: 0, count: 64 - key.count)
        let inner = MD5.hash(key.map { $0 ^ 0x36 } + bytes)
        return MD5.hash(key.map { $0 ^ 0x5C } + inner)
    }
}

extension [UInt8] {
    /// Appends a number, its lowest byte first.
    mutating func append(littleEndian number: some FixedWidthInteger) {
        for place in 0..<number.bitWidth / 8 { append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    /// Two hexadecimal digits for each byte, in lower case.
    var hexText: String {
        // 39 lie between the digits and the letters. Without a branch: what is written may be a secret.
        func digit(_ value: UInt8) -> UInt8 { UInt8(ascii: "0") &+ value &+ (9 &- value) >> 7 &* 39 }
        return String(unsafeUninitializedCapacity: 2 * count) { text in
            for (index, byte) in enumerated() {
                text[2 * index] = digit(byte >> 4)
                text[2 * index + 1] = digit(byte & 15)
            }
            return 2 * count
        }
    }
}

/// RFC 1320 §3.4.
package enum MD4Rounds: MessageDigestRounds {
    /// Mixes a block into the state.
    package static func mix(_ words: [UInt32], into state: inout SIMD4<UInt32>) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<48 {
            let (mixed, word, constant): (UInt32, Int, UInt32) =
                switch step / 16 {
                case 0: (b & c | ~b & d, step, 0)
                case 1: (b & c | b & d | c & d, step % 4 * 4 + step % 16 / 4, 0x5A82_7999)
                default: (b ^ c ^ d, order[step % 16], 0x6ED9_EBA1)
                }
            let sum = a &+ mixed &+ words[word] &+ constant
            (a, b, c, d) = (d, rotated(sum, by: shifts[step / 16 * 4 + step % 4]), b, c)
        }
        state &+= SIMD4(a, b, c, d)
    }

    private static let shifts: [UInt32] = [3, 7, 11, 19, 3, 5, 9, 13, 3, 9, 11, 15]
    private static let order = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]
}

/// RFC 1321 §3.4.
package enum MD5Rounds: MessageDigestRounds {
    /// Mixes a block into the state.
    package static func mix(_ words: [UInt32], into state: inout SIMD4<UInt32>) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mixed, word): (UInt32, Int) =
                switch step / 16 {
                case 0: (b & c | ~b & d, step)
                case 1: (d & b | ~d & c, (5 * step + 1) % 16)
                case 2: (b ^ c ^ d, (3 * step + 5) % 16)
                default: (c ^ (b | ~d), 7 * step % 16)
                }
            let sum = a &+ mixed &+ constants[step] &+ words[word]
            (a, b, c, d) = (d, b &+ rotated(sum, by: shifts[step / 16 * 4 + step % 4]), b, c)
        }
        state &+= SIMD4(a, b, c, d)
    }

    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
    /// The first 32 bits of the fractions of |sin 1|, |sin 2| and so on.
    private static let constants: [UInt32] = [
        0xD76A_A478, 0xE8C7_B756, 0x2420_70DB, 0xC1BD_CEEE, 0xF57C_0FAF, 0x4787_C62A,
        0xA830_4613, 0xFD46_9501, 0x6980_98D8, 0x8B44_F7AF, 0xFFFF_5BB1, 0x895C_D7BE,
        0x6B90_1122, 0xFD98_7193, 0xA679_438E, 0x49B4_0821, 0xF61E_2562, 0xC040_B340,
        0x265E_5A51, 0xE9B6_C7AA, 0xD62F_105D, 0x0244_1453, 0xD8A1_E681, 0xE7D3_FBC8,
        0x21E1_CDE6, 0xC337_07D6, 0xF4D5_0D87, 0x455A_14ED, 0xA9E3_E905, 0xFCEF_A3F8,
        0x676F_02D9, 0x8D2A_4C8A, 0xFFFA_3942, 0x8771_F681, 0x6D9D_6122, 0xFDE5_380C,
        0xA4BE_EA44, 0x4BDE_CFA9, 0xF6BB_4B60, 0xBEBF_BC70, 0x289B_7EC6, 0xEAA1_27FA,
        0xD4EF_3085, 0x0488_1D05, 0xD9D4_D039, 0xE6DB_99E5, 0x1FA2_7CF8, 0xC4AC_5665,
        0xF429_2244, 0x432A_FF97, 0xAB94_23A7, 0xFC93_A039, 0x655B_59C3, 0x8F0C_CC92,
        0xFFEF_F47D, 0x8584_5DD1, 0x6FA8_7E4F, 0xFE2C_E6E0, 0xA301_4314, 0x4E08_11A1,
        0xF753_7E82, 0xBD3A_F235, 0x2AD7_D2BB, 0xEB86_D391,
    ]
}

private func rotated(_ word: UInt32, by bits: UInt32) -> UInt32 { word << bits | word >> (32 - bits) }
