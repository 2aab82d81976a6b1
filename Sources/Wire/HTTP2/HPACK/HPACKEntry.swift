// Where an entry of a table lies, and what it counts. Name and value lie one behind the other, so that both are copied
// at once. RFC 7541 §4.1.

/// The place of an entry among the bytes of its table.
struct HPACKEntry {
    var start: Int
    var nameLength: Int32
    var valueLength: Int32

    init(start: Int, nameLength: Int, valueLength: Int) {
        self.start = start
        // No entry is as long as that: tables and budgets are far smaller.
        self.nameLength = Int32(clamping: nameLength)
        self.valueLength = Int32(clamping: valueLength)
    }

    /// The bytes of both.
    @inline(__always)
    var byteCount: Int { Int(nameLength) &+ Int(valueLength) }

    /// What the entry counts in a table or a list.
    @inline(__always)
    var size: Int { byteCount &+ HPACKEntry.overhead }

    /// What every entry counts beside its bytes.
    static var overhead: Int { 32 }
}
