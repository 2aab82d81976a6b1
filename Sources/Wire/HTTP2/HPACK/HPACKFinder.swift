// Finds entries of the encoder's dynamic table by their bytes. Entries whose names have hashes with the same beginning
// form a chain, newest first; each knows the number of the next older one. Numbers only rise, so an entry that was
// dropped ends its chain by itself.

/// An index of a dynamic table for the encoder.
struct HPACKFinder {
    /// What is known of an entry.
    private struct Link {
        var nameHash: UInt32
        var valueMark: UInt32
        /// The number of the next older entry of the chain, or of one that is gone.
        var older: Int
    }

    /// What was found.
    struct Match {
        /// The number of an entry with this name, the newest.
        var name: Int?
        /// The number of an entry with this name and value.
        var field: Int?
    }

    /// For each beginning of a hash the number of the newest entry; -1 where there has been none.
    private var newest: [Int] = []
    /// Of entry n at n modulo the count.
    private var links: [Link] = []

    /// Looks for a field.
    @inline(__always)
    func find(
        _ name: UnsafeRawBufferPointer, _ nameHash: UInt32, _ value: UnsafeRawBufferPointer, _ valueMark: UInt32,
        in table: borrowing HPACKDynamicTable
    ) -> Match {
        var match = Match()
        guard !newest.isEmpty else { return match }
        var number = newest[HPACKFinder.chain(nameHash)]
        while number >= table.evictions {
            let link = links[number & HPACKFinder.mask]
            if link.nameHash == nameHash, match.name == nil || link.valueMark == valueMark {
                let entry = table.entry(number: number)
                let nameEnd = entry.start &+ Int(entry.nameLength)
                table.bytes.withUnsafeBytes { bytes in
                    guard bytes.part(entry.start, nameEnd).isSame(as: name) else { return }
                    if match.name == nil { match.name = number }
                    guard link.valueMark == valueMark else { return }
                    if bytes.part(nameEnd, entry.start &+ entry.byteCount).isSame(as: value) { match.field = number }
                }
                if match.field != nil { return match }
            }
            number = link.older
        }
        return match
    }

    /// The table's newest entry has just been added.
    mutating func noteInsertion(_ nameHash: UInt32, _ valueMark: UInt32, in table: borrowing HPACKDynamicTable) {
        if newest.isEmpty {
            newest = Array(repeating: -1, count: HPACKFinder.mask + 1)
            links = Array(
                repeating: Link(nameHash: 0, valueMark: 0, older: -1), count: HPACKFinder.mask + 1)
        }
        let number = table.insertions - 1
        let chain = HPACKFinder.chain(nameHash)
        links[number & HPACKFinder.mask] = Link(nameHash: nameHash, valueMark: valueMark, older: newest[chain])
        newest[chain] = number
    }

    @inline(__always)
    private static func chain(_ hash: UInt32) -> Int { Int(hash &>> 25) }

    /// No table of ours has more entries: each counts 32 bytes and more.
    private static var mask: Int { HPACKDynamicTable.initialSize / HPACKEntry.overhead - 1 }
}
