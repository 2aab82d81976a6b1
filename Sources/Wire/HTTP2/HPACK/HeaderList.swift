// The fields of one header block as they were decoded: one byte buffer and a table of offsets into it, used for one
// block after the other. It knows no rule of HTTP: `HeaderBlockRules` makes a head of it. RFC 9113 §8.2.

/// An ordered list of fields, pseudo-header fields included.
package struct HeaderList: Sendable {
    /// Names and values.
    var bytes: [UInt8] = []
    var slots: [Fields.Slot] = []
    /// The list was larger than allowed, and its fields were not kept (H4.9).
    package internal(set) var isTooLarge = false

    /// Makes an empty list; allocates nothing.
    package init() {}

    /// The number of fields.
    package var count: Int { slots.count }

    /// The name of a field; `index` counts from 0 to `count - 1`.
    package func name(at index: Int) -> String { bytes.withUnsafeBytes { $0.name(of: slots[index]).text } }

    /// The value of a field.
    package func value(at index: Int) -> String { bytes.withUnsafeBytes { $0.value(of: slots[index]).text } }

    /// Forgets the fields, and gives back memory that only an unusual list needs.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= HeaderList.keptBytes)
        slots.removeAll(keepingCapacity: slots.capacity <= HeaderList.keptBytes / 64)
        isTooLarge = false
    }

    /// Adds an entry of a table that has these bytes.
    @inline(__always)
    mutating func append(_ entry: HPACKEntry, in table: borrowing [UInt8]) {
        let start = bytes.count
        appendBytes(entry.start, entry.byteCount, in: table)
        appendSlot(start: start, nameLength: Int(entry.nameLength), valueLength: Int(entry.valueLength))
    }

    /// Adds bytes of a table without making them a field.
    @inline(__always)
    mutating func appendBytes(_ start: Int, _ count: Int, in table: borrowing [UInt8]) {
        table.withUnsafeBytes { bytes.append(contentsOf: $0.part(start, start &+ count)) }
    }

    /// Makes a field of bytes that have been added.
    @inline(__always)
    mutating func appendSlot(start: Int, nameLength: Int, valueLength: Int) {
        slots.append(
            Fields.Slot(
                nameStart: start, nameLength: nameLength, valueStart: start &+ nameLength, valueLength: valueLength))
    }

    /// The fields of nearly every head take less.
    private static var keptBytes: Int { 16 * 1024 }
}
