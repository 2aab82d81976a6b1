// How far a coded body may grow while it is undone (B16.60, B16.75). Two kilobytes can be a gigabyte.
//
// Must not know: where a limit is from.

/// What a coded body may come to.
package struct DecodingLimits: Sendable, Equatable {
    /// The most bytes; nil for any number.
    private let bytes: Int64?
    /// The most bytes for each coded one; nil for any number.
    private let ratio: Int64?
    /// What a body may come to whatever its ratio is.
    private let bytesWithoutRatio: Int64

    /// Makes limits. Negative bytes count as none, and a ratio below 1 as 1.
    package init(bytes: Int64? = nil, ratio: Int64? = nil, bytesWithoutRatio: Int64 = 0) {
        self.bytes = bytes.map { max(0, $0) }
        self.ratio = ratio.map { max(1, $0) }
        self.bytesWithoutRatio = bytesWithoutRatio
    }

    /// What is wrong with a body that has come to `decoded` bytes, of which `coded` were read; nil within the limits.
    package func fault(decoded: Int64, coded: Int64) -> WireError? {
        if let bytes, decoded > bytes { return .decodedTooLong(reached: decoded, limit: bytes) }
        guard let ratio, decoded > bytesWithoutRatio else { return nil }
        let (most, isOverflow) = coded.multipliedReportingOverflow(by: ratio)
        if isOverflow || decoded <= most { return nil }
        return .decodedTooMuch(reached: decoded, coded: coded, ratio: ratio)
    }
}
