// How much a peer may send before it is refused: one budget a resource, each with an error of its own name. The
// numbers are B16.27, B16.43 and B11.20; they are far above what real servers send and far below what hurts.

/// The budgets of a decoder.
package struct WireLimits: Sendable, Equatable {
    /// Bytes in one start line or field line, line end included.
    package var lineBytes: Int
    /// Bytes in one head, start line and line ends included.
    package var headBytes: Int
    /// Fields in one head or trailer section.
    package var fieldCount: Int
    /// Bytes in one chunk-size line, extensions and line end included.
    package var chunkLineBytes: Int
    /// Bytes in one trailer section.
    package var trailerBytes: Int
    /// Informational responses before the final one.
    package var informationalCount: Int

    /// Makes a set of budgets; what is not named has its standard value.
    package init(
        lineBytes: Int = 64 * 1024, headBytes: Int = 256 * 1024, fieldCount: Int = 1000,
        chunkLineBytes: Int = 4 * 1024, trailerBytes: Int = 64 * 1024, informationalCount: Int = 100
    ) {
        self.lineBytes = lineBytes
        self.headBytes = headBytes
        self.fieldCount = fieldCount
        self.chunkLineBytes = chunkLineBytes
        self.trailerBytes = trailerBytes
        self.informationalCount = informationalCount
    }

    /// The budgets of B16.27, B16.43 and B11.20.
    package static var standard: WireLimits { WireLimits() }
}
