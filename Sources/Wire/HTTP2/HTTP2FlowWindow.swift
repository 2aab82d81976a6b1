// The sending side of a window of flow control: what we may still send. It does not know whether it is a stream's
// window or the connection's. RFC 9113 §5.2, §6.9.

/// What may still be sent.
package struct HTTP2FlowWindow: Sendable, Equatable {
    /// How many bytes; below zero where a setting has taken back what was used already (H5.2).
    package private(set) var available: Int

    /// Makes a window.
    package init(_ size: UInt32) { available = Int(size) }

    /// The most that a window can be (RFC 9113 §6.9.1).
    package static var largest: UInt32 { 0x7FFF_FFFF }

    /// Bytes were sent: no more than are available.
    package mutating func use(_ count: Int) { available -= min(max(count, 0), max(available, 0)) }

    /// Moves the window by a difference; false, and nothing is changed, where it would be too large or too small.
    package mutating func move(by difference: Int) -> Bool {
        let (sum, overflows) = available.addingReportingOverflow(difference)
        guard !overflows, sum.magnitude <= UInt(Self.largest) else { return false }
        available = sum
        return true
    }
}
