// What all fuzz targets share: the control bytes at the front of an input, the ways to cut the rest, and the one way
// to report a finding. Compiled together with the sources of one layer into one module by the script `run`.

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Bionic)
    import Bionic
#endif

/// An input: a few bytes that choose, then the bytes to be parsed.
struct FuzzInput {
    private(set) var bytes: [UInt8]

    init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        bytes = Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Takes a byte from the front, 0 if there is none.
    mutating func choose(below bound: UInt8) -> Int {
        guard let byte = bytes.first else { return 0 }
        bytes.removeFirst()
        return Int(byte % bound)
    }

    /// The bytes whole, one by one, and cut at places that the seed names.
    func waysToCut(seed: Int) -> [[ArraySlice<UInt8>]] {
        var ways: [[ArraySlice<UInt8>]] = [[bytes[...]], bytes.indices.map { bytes[$0...$0] }]
        var state = UInt64(truncatingIfNeeded: seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        var pieces: [ArraySlice<UInt8>] = []
        var place = 0
        while place < bytes.count {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let end = min(bytes.count, place + 1 + Int((state >> 33) % 40))
            pieces.append(bytes[place..<end])
            place = end
        }
        ways.append(pieces)
        return ways
    }
}

/// Stops the fuzzer: the input breaks a property.
func finding(_ message: String) -> Never {
    print("FINDING: \(message)")
    fflush(nil)
    abort()
}

/// Checks a property.
func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { finding(message()) }
}
