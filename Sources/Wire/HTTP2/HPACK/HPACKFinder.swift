// Finds entries of the encoder's dynamic table by their bytes. Entries whose names have hashes with the same end form a
// chain, newest first; each knows the number of the next older one. Numbers only rise, so an entry that was dropped ends
// its chain without anybody having told it.

/// An index of a dynamic table for the one who encodes.
struct HPACKFinder {
    /// What is known of an entry.
    private struct Link {
        var nameHash: UInt32
        var valueHash: UInt32
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

    /// For each end of a hash the number of the newest entry; -1 where there has been none.
    private var newest: [Int] = []
    /// Of entry n at n modulo the count.
    private var links: [Link] = []

    /// Looks for a field.
    @inline(__always)
    func find(
        _ name: UnsafeRawBufferPointer, _ nameHash: UInt32, _ value: UnsafeRawBufferPointer, _ valueHash: UInt32,
        in table: borrowing HPACKDynamicTable
    ) -> Match {
        var match = Match()
        guard !newest.isEmpty else { return match }
        var number = newest[Int(nameHash) & HPACKFinder.mask]
        while number >= table.evictions {
            let link = links[number & HPACKFinder.mask]
            if link.nameHash == nameHash, match.name == nil || link.valueHash == valueHash {
                let entry = table.entry(number: number)
                let hit = table.bytes.withUnsafeBytes { bytes in
                    let known = bytes.part(entry.start &+ Int(entry.nameLength), entry.start &+ entry.byteCount)
                    let hasName = bytes.part(entry.start, entry.start &+ Int(entry.nameLength)).isSame(as: name)
                    return (name: hasName, field: hasName && link.valueHash == valueHash && known.isSame(as: value))
                }
                if hit.name, match.name == nil { match.name = number }
                if hit.field {
                    match.field = number
                    return match
                }
            }
            number = link.older
        }
        return match
    }

    /// The table's newest entry has just been added.
    mutating func noteInsertion(_ nameHash: UInt32, _ valueHash: UInt32, in table: borrowing HPACKDynamicTable) {
        if newest.isEmpty {
            newest = Array(repeating: -1, count: HPACKFinder.mask + 1)
            links = Array(
                repeating: Link(nameHash: 0, valueHash: 0, older: -1), count: HPACKFinder.mask + 1)
        }
        let number = table.insertions - 1
        let place = Int(nameHash) & HPACKFinder.mask
        links[number & HPACKFinder.mask] = Link(nameHash: nameHash, valueHash: valueHash, older: newest[place])
        newest[place] = number
    }

    /// No table of ours has more entries: each counts 32 bytes and more.
    private static var mask: Int { HPACKDynamicTable.initialSize / HPACKEntry.overhead - 1 }
}
