// Compresses whole bodies for the server and for tests. Knows bytes only, nothing of messages.
// RFC 1950 (zlib), RFC 1951 (deflate), RFC 1952 (gzip).

import CURLLoadingZlib

/// Compression in the formats that HTTP's content codings name.
package enum Gzip {
    /// The wrapping around the deflate data.
    package enum Format: Sendable, CaseIterable {
        /// `Content-Encoding: gzip`.
        case gzip
        /// `Content-Encoding: deflate`, as the RFC means it.
        case zlib
        /// Deflate data without any wrapping, as some servers send for `deflate`.
        case raw

        /// What zlib calls this: the logarithm of the window, with the format coded into it.
        fileprivate var windowBits: Int32 {
            switch self {
            case .gzip: 15 + 16
            case .zlib: 15
            case .raw: -15
            }
        }
    }

    /// The compressed form of `bytes`; nil only where zlib finds no memory.
    package static func compress(_ bytes: [UInt8], format: Format = .gzip, level: Int32 = 6) -> [UInt8]? {
        var stream = z_stream()
        guard urlloading_deflateInit2(&stream, level, format.windowBits) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }

        var input = bytes
        let bound = Int(deflateBound(&stream, UInt(input.count)))
        return input.withUnsafeMutableBufferPointer { source in
            let compressed = [UInt8](unsafeUninitializedCapacity: bound) { target, count in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(clamping: source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(clamping: bound)
                count = deflate(&stream, Z_FINISH) == Z_STREAM_END ? bound - Int(stream.avail_out) : 0
            }
            return compressed.isEmpty ? nil : compressed
        }
    }
}
