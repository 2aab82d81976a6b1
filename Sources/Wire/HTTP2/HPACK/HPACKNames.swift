// Finds the names of the static table by their bytes. RFC 7541 appendix A.

/// An index of the static table for the encoder.
struct HPACKNames: Sendable {
    /// The first static index of a name, at its hash or the next free place behind it; 0 for free places.
    private let places: [UInt8]
    private let table = HPACKStaticTable.shared

    /// Made once; code that asks for it often keeps it.
    static let shared = HPACKNames()

    private init() {
        var places = [UInt8](repeating: 0, count: HPACKNames.mask + 1)
        let table = HPACKStaticTable.shared
        for index in 1...HPACKStaticTable.count where !table.hasNameOfPrevious(index) {
            var place = table.withName(of: index) { HPACKNames.place(HPACKHash.of($0)) }
            while places[place] != 0 { place = (place + 1) & HPACKNames.mask }
            places[place] = UInt8(index)
        }
        self.places = places
    }

    /// The first static index of a name in lower case, 0 where it has none.
    @inline(__always)
    func index(of name: UnsafeRawBufferPointer, hash: UInt32) -> Int {
        var place = HPACKNames.place(hash)
        while true {
            let index = Int(places[place])
            if index == 0 || table.withName(of: index, { $0.isSame(as: name) }) { return index }
            place = (place &+ 1) & HPACKNames.mask
        }
    }

    /// The static index of a field whose name has that index; nil where the value is another.
    @inline(__always)
    func index(ofValue value: UnsafeRawBufferPointer, nameIndex: Int) -> Int? {
        // Only pseudo-header fields and Accept-Encoding have values.
        guard nameIndex > 0, nameIndex <= HPACKNames.lastWithValue, !value.isEmpty else { return nil }
        var index = nameIndex
        repeat {
            if table.withValue(of: index, { $0.isSame(as: value) }) { return index }
            index &+= 1
        } while table.hasNameOfPrevious(index)
        return nil
    }

    @inline(__always)
    private static func place(_ hash: UInt32) -> Int { Int(hash &>> 24) }

    /// Four times as many places as names, so that most are found at once.
    private static var mask: Int { 255 }

    private static var lastWithValue: Int { 16 }
}

extension HPACKStaticTable {
    @inline(__always)
    func withName<R>(of index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let entry = entries[index &- 1]
        return bytes.withUnsafeBytes { body($0.part(entry.start, entry.start &+ Int(entry.nameLength))) }
    }

    @inline(__always)
    func withValue<R>(of index: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let entry = entries[index &- 1]
        let start = entry.start &+ Int(entry.nameLength)
        return bytes.withUnsafeBytes { body($0.part(start, start &+ Int(entry.valueLength))) }
    }

    /// Whether an entry has the name of the one before it.
    func hasNameOfPrevious(_ index: Int) -> Bool {
        guard index > 1, index <= HPACKStaticTable.count else { return false }
        return withName(of: index) { name in withName(of: index - 1) { $0.isSame(as: name) } }
    }
}
