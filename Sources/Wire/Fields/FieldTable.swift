// The memory of a list of fields: their bytes, and behind them, for each field, where its name and its value lie. One
// array, so that a list is one reference, and a head costs one allocation.
//
// It knows no rule about fields; `Fields` asks it, and so does the code that writes them.

/// Fields as bytes with a table.
struct FieldTable: Sendable {
    /// The bytes, and behind them the table.
    private var memory: [UInt8] = []
    /// How many of them are in front of the table; some may belong to no field, such as line ends and a start line.
    private(set) var byteCount = 0
    /// The number of fields.
    private(set) var count = 0

    /// Makes an empty table; allocates nothing.
    init() {}

    /// Copies bytes, and where in them the fields lie.
    init(_ bytes: UnsafeRawBufferPointer, _ slots: borrowing [Fields.Slot], from first: Int = 0) {
        slots.withUnsafeBytes { slots in
            let table = slots.part(first &* FieldSlots.stride, slots.count)
            memory = [UInt8](unsafeUninitializedCapacity: bytes.count &+ table.count) { target, initializedCount in
                var writer = WireWriter(UnsafeMutableRawBufferPointer(target))
                writer.write(bytes)
                writer.write(table)
                initializedCount = writer.count
            }
            byteCount = bytes.count
            count = table.count / FieldSlots.stride
        }
    }

    /// Whether it has no memory yet.
    var isUntouched: Bool { memory.capacity == 0 }

    /// Calls `body` with the bytes, and with where in them the fields lie.
    @inline(__always)
    func withContents<R, E: Error>(
        _ body: (UnsafeRawBufferPointer, FieldSlots) throws(E) -> R
    ) throws(E) -> R {
        try memory.withUnsafeBufferPointer { (memory) throws(E) -> R in
            let all = UnsafeRawBufferPointer(memory)
            return try body(all.part(0, byteCount), FieldSlots(all.part(byteCount, all.count)))
        }
    }

    /// Makes room, so that the next appends do not allocate.
    mutating func reserve(fields: Int, bytes: Int) {
        memory.reserveCapacity(bytes &+ fields &* FieldSlots.stride)
    }

    /// Adds a field behind the others; the table moves up to make room.
    mutating func append(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
        let added = name.count + value.count
        let slot = Fields.Slot(
            nameStart: byteCount, nameLength: name.count, valueStart: byteCount + name.count, valueLength: value.count)
        let needed = memory.count + added + FieldSlots.stride
        if needed > memory.capacity { memory.reserveCapacity(max(needed, 2 * memory.capacity)) }
        memory.append(addingCapacity: added + FieldSlots.stride) { room in
            room.withUnsafeMutableBufferPointer { room, initializedCount in
                room.initialize(repeating: 0)
                initializedCount = room.count
            }
        }
        memory.withUnsafeMutableBytes { memory in
            var writer = WireWriter(UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...]))
            UnsafeMutableRawBufferPointer(rebasing: memory[(byteCount + added)...])
                .copyMemory(
                    from: UnsafeRawBufferPointer(
                        rebasing: memory[byteCount..<(memory.count - added - FieldSlots.stride)]))
            writer.write(name)
            writer.write(value)
            memory.storeBytes(of: slot, toByteOffset: memory.count - FieldSlots.stride, as: Fields.Slot.self)
        }
        byteCount += added
        count += 1
    }

    /// Changes bytes and places at will; for what is rare, since both are copied twice.
    mutating func rewrite(_ body: (inout [UInt8], inout [Fields.Slot]) -> Void) {
        var (bytes, slots) = withContents { ([UInt8]($0), [Fields.Slot]($1)) }
        body(&bytes, &slots)
        self = bytes.withUnsafeBytes { FieldTable($0, slots) }
    }
}

/// Where the fields lie, read out of a table; valid as long as the table's bytes are.
struct FieldSlots: RandomAccessCollection {
    private let table: UnsafeRawBufferPointer

    /// What one entry takes.
    static var stride: Int { MemoryLayout<Fields.Slot>.stride }

    init(_ table: UnsafeRawBufferPointer) { self.table = table }

    var startIndex: Int { 0 }
    var endIndex: Int { table.count / FieldSlots.stride }

    @inline(__always)
    subscript(index: Int) -> Fields.Slot {
        table.loadUnaligned(fromByteOffset: index &* FieldSlots.stride, as: Fields.Slot.self)
    }
}
