// The name of a stream. RFC 9113 §5.1.1.

/// A stream of one connection.
///
/// `slot` is its place in the connection's table, and in any table of a driver's that is kept along with it: places are
/// used again, numbers never.
package struct HTTP2StreamID: Hashable, Sendable {
    /// The number on the wire.
    package let number: UInt32
    /// The place in a table.
    package let slot: Int32

    /// Makes a name.
    package init(number: UInt32, slot: Int32) {
        self.number = number
        self.slot = slot
    }
}
