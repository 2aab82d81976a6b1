// Bodies that follow from their number and length, so that the receiver of one can say whether it is right, and one
// request's body is never another's.

import Foundation
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// The bodies of the load.
enum SoakBody {
    /// The body of this number: the number itself, then bytes that compress badly.
    static func bytes(_ number: Int, length: Int) -> [UInt8] {
        var body = [UInt8]()
        body.reserveCapacity(length)
        body.append(contentsOf: "\(number):\(length)\n".utf8.prefix(length))
        var from = (number &* 7919) & (noise.count / 2 - 1)
        while body.count < length {
            let count = min(length - body.count, noise.count - from)
            body.append(contentsOf: noise[from..<from + count])
            from = 0
        }
        return body
    }

    /// A hash of the bytes, in hexadecimal digits.
    static func hash(_ bytes: some Collection<UInt8>) -> String {
        let digest = ContentDigest()
        if bytes.withContiguousStorageIfAvailable({ digest.update(UnsafeRawBufferPointer($0)) }) == nil {
            Array(bytes).withUnsafeBytes { digest.update($0) }
        }
        return digest.text
    }

    private static let noise: [UInt8] = {
        var random = SeededRandom(seed: 2397)
        return (0..<(1 << 17)).flatMap { _ -> [UInt8] in
            let word = random.next()
            return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * UInt64($0))) }
        }
    }()
}
