// Numbers of streams that ended by our own RST_STREAM, so that what the peer had sent before it heard of it is told
// from what it may not send. It knows no frames. RFC 9113 §5.1.

/// Which streams we have reset of late: what was under way for them then is no fault of the peer's (H6.2).
///
/// Of more than it can hold the oldest are forgotten, and their peers are told once more.
struct HTTP2ResetMemory {
    private var numbers: [UInt32] = []
    private var oldest = 0

    func contains(_ number: UInt32) -> Bool { numbers.contains(number) }

    mutating func add(_ number: UInt32) {
        if numbers.count < Self.size {
            numbers.append(number)
        } else {
            numbers[oldest] = number
            oldest = (oldest + 1) % Self.size
        }
    }

    private static var size: Int { 256 }
}
