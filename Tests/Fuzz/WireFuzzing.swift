// What the fuzz targets of URLLoadingWire share.

extension WireLimits {
    /// Budgets that a short input can exceed.
    static var tight: WireLimits {
        WireLimits(
            lineBytes: 80, headBytes: 300, fieldCount: 8, chunkLineBytes: 24, trailerBytes: 60, informationalCount: 3)
    }
}
