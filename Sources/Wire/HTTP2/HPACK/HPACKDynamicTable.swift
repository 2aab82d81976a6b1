// The table that both ends build while they talk: what was sent lately, newest first. The encoder has the same as the
// decoder, entry by entry. RFC 7541 §2.3.2, §4.
//
// Names and values lie one behind the other in one buffer, newest last. What has been dropped leaves a gap at the
// buffer's front, which is closed when there is no room at the end and the gap is at least half of it: so nothing is
// ever cut in two, each byte is moved once on average, and the buffer is never larger than twice the table.

/// A dynamic table.
struct HPACKDynamicTable {
    /// The size that its entries may have together (RFC 7541 §4.2).
    private(set) var maximumSize: Int
    /// The size that its entries have together (RFC 7541 §4.1).
    private(set) var size = 0
    /// How many entries there have been, and how many of these, the oldest, are gone.
    private(set) var insertions = 0
    private(set) var evictions = 0

    private(set) var bytes: [UInt8] = []
    /// How many bytes came before the first in the buffer. An entry's start counts from the table's beginning.
    private var base = 0
    /// Where entry number n, from 0, lies: at n modulo a power of two.
    private var ring: [HPACKEntry] = []

    /// Makes an empty table; allocates nothing.
    init(maximumSize: Int) { self.maximumSize = maximumSize }

    /// SETTINGS_HEADER_TABLE_SIZE until a peer has set it (RFC 9113 §6.5.2).
    static var initialSize: Int { 4096 }

    /// The number of entries.
    @inline(__always)
    var count: Int { insertions &- evictions }

    /// The entry with an index among the dynamic ones, 0 for the newest; its start is that in `bytes`.
    @inline(__always)
    func entry(at index: Int) -> HPACKEntry? {
        guard index >= 0, index < count else { return nil }
        return entry(number: insertions &- 1 &- index)
    }

    /// An entry that is in the table, by its number.
    @inline(__always)
    func entry(number: Int) -> HPACKEntry {
        var entry = ring[number & (ring.count &- 1)]
        entry.start &-= base
        return entry
    }

    // MARK: Changing

    /// Adds an entry and drops as many as must go; one that is larger than the table empties it (RFC 7541 §4.4).
    ///
    /// `field` holds the name and, behind it, the value.
    mutating func insert(_ field: UnsafeRawBufferPointer, nameLength: Int) {
        let size = field.count + HPACKEntry.overhead
        guard size <= maximumSize else {
            evictAll()
            return
        }
        evict(to: maximumSize - size)
        makeRoom(bytes: field.count)
        if count == ring.count { growRing() }
        let entry = HPACKEntry(
            start: base + bytes.count, nameLength: nameLength, valueLength: field.count - nameLength)
        ring[insertions & (ring.count &- 1)] = entry
        bytes.append(contentsOf: field)
        insertions += 1
        self.size += size
    }

    /// Drops what is larger than a table.
    mutating func evictAll() { evict(to: 0) }

    /// Changes the size that the entries may have together.
    mutating func resize(to maximumSize: Int) {
        evict(to: maximumSize)
        self.maximumSize = maximumSize
    }

    private mutating func evict(to size: Int) {
        while self.size > size {
            self.size -= ring[evictions & (ring.count &- 1)].size
            evictions += 1
        }
    }

    /// Bytes at the buffer's front that belong to no entry any more.
    private var gap: Int {
        count == 0 ? bytes.count : ring[evictions & (ring.count &- 1)].start - base
    }

    private mutating func makeRoom(bytes needed: Int) {
        guard bytes.count + needed > bytes.capacity else { return }
        let gap = gap
        if gap > 0, gap >= bytes.count - gap {
            bytes.removeSubrange(0..<gap)
            base += gap
        }
        guard bytes.count + needed > bytes.capacity else { return }
        bytes.reserveCapacity(max(bytes.count + needed, min(2 * maximumSize, max(512, 2 * bytes.count))))
    }

    private mutating func growRing() {
        let old = ring
        ring = Array(
            repeating: HPACKEntry(start: 0, nameLength: 0, valueLength: 0), count: max(16, 2 * old.count))
        for number in evictions..<insertions {
            ring[number & (ring.count - 1)] = old[number & (old.count - 1)]
        }
    }
}
