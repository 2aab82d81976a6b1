// How much a peer may send before it is refused: one budget a resource, each with an error of its own name. The
// numbers are B16.27, B16.43 and B11.20; they are far above what real servers send and far below what hurts.

/// The budgets of a decoder.
package struct WireLimits: Sendable, Equatable {
    /// Kept in 32 bits: each of thousands of idle connections has several copies.
    private var small: Small

    private struct Small: Sendable, Equatable {
        var lineBytes, headBytes, fieldCount, chunkLineBytes, trailerBytes, informationalCount: Int32
    }

    private static func small(_ number: Int) -> Int32 { Int32(clamping: number) }

    /// Bytes in one start line or field line, line end included.
    package var lineBytes: Int {
        get { Int(small.lineBytes) }
        set { small.lineBytes = Self.small(newValue) }
    }
    /// Bytes in one head, start line and line ends included.
    package var headBytes: Int {
        get { Int(small.headBytes) }
        set { small.headBytes = Self.small(newValue) }
    }
    /// Fields in one head or trailer section.
    package var fieldCount: Int {
        get { Int(small.fieldCount) }
        set { small.fieldCount = Self.small(newValue) }
    }
    /// Bytes in one chunk-size line, extensions and line end included.
    package var chunkLineBytes: Int {
        get { Int(small.chunkLineBytes) }
        set { small.chunkLineBytes = Self.small(newValue) }
    }
    /// Bytes in one trailer section.
    package var trailerBytes: Int {
        get { Int(small.trailerBytes) }
        set { small.trailerBytes = Self.small(newValue) }
    }
    /// Informational responses before the final one.
    package var informationalCount: Int {
        get { Int(small.informationalCount) }
        set { small.informationalCount = Self.small(newValue) }
    }

    /// Makes a set of budgets; what is not named has its standard value.
    package init(
        lineBytes: Int = 64 * 1024, headBytes: Int = 256 * 1024, fieldCount: Int = 1000,
        chunkLineBytes: Int = 4 * 1024, trailerBytes: Int = 64 * 1024, informationalCount: Int = 100
    ) {
        small = Small(
            lineBytes: Self.small(lineBytes), headBytes: Self.small(headBytes), fieldCount: Self.small(fieldCount),
            chunkLineBytes: Self.small(chunkLineBytes), trailerBytes: Self.small(trailerBytes),
            informationalCount: Self.small(informationalCount))
    }

    /// The budgets of B16.27, B16.43 and B11.20.
    package static var standard: WireLimits { WireLimits() }
}
