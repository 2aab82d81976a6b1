// Where a connection keeps what it knows of each stream: rows of one array that are used again. Numbers on the wire are
// found among those that are open by halving, after a look at the one that was meant last: frames of a stream mostly
// follow one another. It decides nothing. RFC 9113 §5.1.1.

/// What a connection knows of one stream.
struct HTTP2StreamRecord {
    /// 0 while the row is free.
    var number: UInt32 = 0
    var machine = HTTP2StreamMachine()
    /// Whether our HEADERS have been written; until then the stream exists for us alone.
    var isOnTheWire = false
    /// Whether the driver has bytes of a body.
    var wantsToSend = false
    /// Neighbours among those that can send; `none` for one that cannot.
    var next = HTTP2StreamTable.none
    var previous = HTTP2StreamTable.none
    var sendWindow = HTTP2FlowWindow(0)
    var receiveWindow = HTTP2ReceiveWindow(size: 0)
    var toSend = HTTP2DeclaredLength.unknown
    var toReceive = HTTP2DeclaredLength.unknown
    /// How many bytes had come on the connection when the stream was opened (H6.4).
    var bytesBefore: UInt64 = 0
}

/// The streams of a connection.
struct HTTP2StreamTable: ~Copyable {
    static var none: Int32 { -1 }

    private struct Entry {
        let number: UInt32
        let slot: Int32
    }

    private var records: [HTTP2StreamRecord] = []
    private var free: [Int32] = []
    /// Those in use, by number; a new one has the highest, mostly.
    private var open: [Entry] = []
    private var latest: Int32 = none

    var count: Int { open.count }
    var isEmpty: Bool { open.isEmpty }

    /// A row, by a place that this table gave out.
    subscript(slot: Int32) -> HTTP2StreamRecord {
        _read { yield records[Int(slot)] }
        _modify { yield &records[Int(slot)] }
    }

    /// The names of all that are open, by place in the order of their numbers.
    func id(at place: Int) -> HTTP2StreamID { HTTP2StreamID(number: open[place].number, slot: open[place].slot) }

    func id(of slot: Int32) -> HTTP2StreamID { HTTP2StreamID(number: records[Int(slot)].number, slot: slot) }

    /// Whether a name, which may be an old one, means a stream that is open.
    func contains(_ id: HTTP2StreamID) -> Bool {
        id.slot >= 0 && Int(id.slot) < records.count && id.number != 0 && records[Int(id.slot)].number == id.number
    }

    /// The row of a number on the wire, nil if that stream is not open.
    mutating func slot(of number: UInt32) -> Int32? {
        guard number != 0 else { return nil }
        if latest != Self.none, records[Int(latest)].number == number { return latest }
        let place = place(of: number)
        guard place < open.count, open[place].number == number else { return nil }
        latest = open[place].slot
        return latest
    }

    mutating func add(_ record: HTTP2StreamRecord) -> Int32 {
        let slot: Int32
        if let last = free.popLast() {
            slot = last
            records[Int(slot)] = record
        } else {
            slot = Int32(clamping: records.count)
            records.append(record)
        }
        open.insert(Entry(number: record.number, slot: slot), at: place(of: record.number))
        return slot
    }

    mutating func remove(_ slot: Int32) {
        let place = place(of: records[Int(slot)].number)
        if place < open.count, open[place].slot == slot { open.remove(at: place) }
        records[Int(slot)].number = 0
        free.append(slot)
    }

    /// Where a number is among the open ones, or belongs.
    private func place(of number: UInt32) -> Int {
        var (low, high) = (0, open.count)
        while low < high {
            let middle = (low + high) / 2
            if open[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
