// SHA-256, for the hashes of bodies; there is no such function in Foundation on Linux. FIPS 180-4.

import Foundation

/// Hashes bytes that come in pieces.
package struct SHA256 {
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// What does not fill a block yet.
    private var unfinished: [UInt8] = []
    private var length: UInt64 = 0

    /// Begins without any bytes.
    package init() {}

    /// Takes in the next bytes.
    package mutating func update(_ data: Data) {
        length &+= UInt64(data.count)
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            if !unfinished.isEmpty {
                let part = rest.prefix(Self.blockLength - unfinished.count)
                unfinished.append(contentsOf: part)
                rest = rest.dropFirst(part.count)
                guard unfinished.count == Self.blockLength else { return }
                unfinished.withUnsafeBytes { Self.compress($0, into: &state) }
                unfinished.removeAll(keepingCapacity: true)
            }
            let whole = rest.count - rest.count % Self.blockLength
            if whole > 0 {
                Self.compress(UnsafeRawBufferPointer(rebasing: rest.prefix(whole)), into: &state)
            }
            unfinished.append(contentsOf: rest.dropFirst(whole))
        }
    }

    /// The hash of everything so far, in hexadecimal.
    package func hexDigest() -> String {
        var state = state
        var end = unfinished
        end.append(0x80)
        while end.count % Self.blockLength != Self.blockLength - 8 { end.append(0) }
        for shift in stride(from: 56, through: 0, by: -8) {
            end.append(UInt8(truncatingIfNeeded: (length &* 8) >> UInt64(shift)))
        }
        end.withUnsafeBytes { Self.compress($0, into: &state) }
        return state.map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// Takes in whole blocks (§6.2.2).
    private static func compress(_ blocks: UnsafeRawBufferPointer, into state: inout [UInt32]) {
        state.withUnsafeMutableBufferPointer { state in
            constants.withUnsafeBufferPointer { k in
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { w in
                    for block in stride(from: 0, to: blocks.count, by: blockLength) {
                        schedule(blocks, at: block, into: w)
                        rounds(w, k, state)
                    }
                }
            }
        }
    }

    private static func schedule(
        _ blocks: UnsafeRawBufferPointer, at block: Int, into w: UnsafeMutableBufferPointer<UInt32>
    ) {
        for t in 0..<16 {
            w[t] = UInt32(bigEndian: blocks.loadUnaligned(fromByteOffset: block &+ t &* 4, as: UInt32.self))
        }
        for t in 16..<64 {
            let a = w[t &- 15]
            let b = w[t &- 2]
            let small0 = rotated(a, 7) ^ rotated(a, 18) ^ (a >> 3)
            let small1 = rotated(b, 17) ^ rotated(b, 19) ^ (b >> 10)
            w[t] = w[t &- 16] &+ small0 &+ w[t &- 7] &+ small1
        }
    }

    private static func rounds(
        _ w: UnsafeMutableBufferPointer<UInt32>, _ k: UnsafeBufferPointer<UInt32>,
        _ state: UnsafeMutableBufferPointer<UInt32>
    ) {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for t in 0..<64 {
            let big1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let first = h &+ big1 &+ ((e & f) ^ (~e & g)) &+ k[t] &+ w[t]
            let big0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let second = big0 &+ ((a & b) ^ (a & c) ^ (b & c))
            (h, g, f, e) = (g, f, e, d &+ first)
            (d, c, b, a) = (c, b, a, first &+ second)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    @inline(__always)
    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word &>> count | word &<< (32 &- count)
    }

    private static let blockLength = 64

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (§4.2.2).
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
