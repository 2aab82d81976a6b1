// Bodies that are read as a sequence while they come. FoundationNetworking has no such thing.

import Foundation

#if FOUNDATION_NETWORKING
    import FoundationNetworking
#else
    import URLLoading
#endif

/// Reads bodies by `bytes(from:)`.
enum Streaming {
    /// Loads a URL and throws the body away; gives its length.
    static func read(_ url: URL, byByte: Bool, by session: URLSession) async throws -> Int {
        #if FOUNDATION_NETWORKING
            Console.unsupported("bytes(from:)")
        #else
            let (bytes, response) = try await session.bytes(from: url)
            try SessionClient.check(response)
            var count = 0
            if byByte {
                // The sum is what keeps the loop from being nothing at all.
                var sum: UInt8 = 0
                for try await byte in bytes {
                    sum &+= byte
                    count += 1
                }
                withExtendedLifetime(sum) {}
            } else {
                for try await piece in bytes.chunks { count += piece.count }
            }
            return count
        #endif
    }
}
