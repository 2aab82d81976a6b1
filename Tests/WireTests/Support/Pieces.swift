// The ways a run of bytes is cut before it is given to a decoder: whole, byte by byte, and once at every place. A
// vector that was not cut is half a test.

/// The ways to cut bytes.
enum Pieces {
    /// Every way to cut, each as the list of its pieces.
    ///
    /// Places in the middle of very long inputs are sampled.
    static func waysToCut(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
        var ways: [[ArraySlice<UInt8>]] = [[bytes[...]]]
        if bytes.count <= 20_000 { ways.append(bytes.indices.map { bytes[$0...$0] }) }
        ways.append(stride(from: 0, to: bytes.count, by: 7).map { bytes[$0..<min($0 + 7, bytes.count)] })
        for place in places(bytes.count) { ways.append([bytes[..<place], bytes[place...]]) }
        return ways
    }

    private static func places(_ count: Int) -> [Int] {
        guard count > 3000 else { return Array(0...count) }
        return Array(0..<40) + Array(stride(from: 40, to: count - 40, by: count / 40)) + Array((count - 40)...count)
    }
}
