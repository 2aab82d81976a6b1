// Turns pieces into single bytes. The step for one byte is inlined into the loop that iterates, so that a byte costs
// a comparison and a load, and only every piece an asynchronous call.

import Foundation

/// Where bytes come from.
@usableFromInline
protocol PieceSupply: Sendable {
    /// The next bytes, or `nil` at the end.
    mutating func next(isolation: isolated (any Actor)?) async throws -> Data?
}

/// Bytes out of the pieces of a supply.
@usableFromInline
struct BufferedBytes<Supply: PieceSupply>: Sendable {
    @usableFromInline var buffer: [UInt8] = []
    @usableFromInline var position = 0
    private var supply: Supply
    private var hasEnded = false

    init(_ supply: Supply) {
        self.supply = supply
    }

    @inlinable @inline(__always)
    mutating func next(isolation actor: isolated (any Actor)?) async throws -> UInt8? {
        if position < buffer.count {
            let byte = buffer[position]
            position &+= 1
            return byte
        }
        return try await refill(isolation: actor)
    }

    /// The first byte of the next piece.
    @usableFromInline @inline(never)
    mutating func refill(isolation: isolated (any Actor)?) async throws -> UInt8? {
        // Measured: a `Data` is twenty times as slow byte by byte as an array, and the copy costs next to nothing.
        buffer.removeAll(keepingCapacity: true)
        position = 0
        if hasEnded { return nil }
        // Order: before the supply is asked, since what it throws is an end, too. A terminal or a growing file would
        // give more after its end, and a URL would be loaded again.
        hasEnded = true
        while let piece = try await supply.next(isolation: isolation) {
            guard !piece.isEmpty else { continue }
            hasEnded = false
            piece.withUnsafeBytes { buffer.append(contentsOf: $0) }
            position = 1
            return buffer.first
        }
        buffer = []
        return nil
    }
}
