// A table with the order in which its entries were used and the sum of what they cost: what a store of limited size
// needs to know to choose the entry to drop. Behaviour B7.5 to B7.7. It must not know what is kept, nor any limit.

/// Values by key, the longest unused first in line to go.
package struct RecencyTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// An entry that has left the table.
    package struct Removed: Sendable {
        /// What it was found by.
        package let key: Key
        /// What it was.
        package let value: Value
        /// What it cost.
        package let cost: Int
    }

    private struct Node: Sendable {
        let key: Key
        var value: Value
        var cost: Int
        /// The index of the entry used next after this one; −1 for the newest.
        var newer = -1
        /// The index of the entry used last before this one; −1 for the oldest.
        var older = -1
    }

    private var nodes: [Node?] = []
    private var free: [Int] = []
    private var places: [Key: Int] = [:]
    private var newest = -1
    private var oldest = -1

    /// The sum of what the entries cost.
    package private(set) var totalCost = 0

    /// Makes an empty table.
    package init() {}

    /// Makes room for so many entries.
    package mutating func reserve(_ count: Int) {
        nodes.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    /// The number of entries.
    package var count: Int { places.count }

    /// Whether there is an entry, without using it.
    package func contains(_ key: Key) -> Bool { places[key] != nil }

    /// The value of an entry, without using it.
    package func peek(_ key: Key) -> Value? {
        places[key].flatMap { nodes[$0]?.value }
    }

    /// The value of an entry, which becomes the newest.
    package mutating func use(_ key: Key) -> Value? {
        guard let place = places[key], let value = nodes[place]?.value else { return nil }
        if place != newest {
            unlink(place)
            link(place)
        }
        return value
    }

    /// Adds an entry as the newest, in place of one with the same key.
    package mutating func insert(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        let node = Node(key: key, value: value, cost: cost)
        let place: Int
        if let unused = free.popLast() {
            place = unused
            nodes[place] = node
        } else {
            place = nodes.count
            nodes.append(node)
        }
        places[key] = place
        totalCost += cost
        link(place)
    }

    /// Takes an entry out.
    @discardableResult
    package mutating func remove(_ key: Key) -> Removed? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        return take(place)
    }

    /// Takes out the entry that was not used for the longest time.
    package mutating func removeOldest() -> Removed? {
        guard oldest >= 0, let key = nodes[oldest]?.key else { return nil }
        return remove(key)
    }

    /// Takes everything out.
    package mutating func removeAll() { self = RecencyTable() }

    /// Calls `body` for each entry, the longest unused first.
    package func forEach(_ body: (Key, Value, _ cost: Int) throws -> Void) rethrows {
        var place = oldest
        while place >= 0, let node = nodes[place] {
            try body(node.key, node.value, node.cost)
            place = node.newer
        }
    }

    /// The keys of entries that cost more together than there is room for, the longest unused first. Only these are
    /// looked at, and the one behind them: `looksAt` is called for each.
    package func excess(over room: Int, looksAt: () -> Void = {}) -> [Key] {
        var keys: [Key] = []
        var (place, left) = (oldest, totalCost)
        while left > room, place >= 0, let node = nodes[place] {
            looksAt()
            keys.append(node.key)
            left -= node.cost
            place = node.newer
        }
        return keys
    }

    private mutating func take(_ place: Int) -> Removed? {
        unlink(place)
        guard let node = nodes[place] else { return nil }
        nodes[place] = nil
        free.append(place)
        totalCost -= node.cost
        return Removed(key: node.key, value: node.value, cost: node.cost)
    }

    private mutating func link(_ place: Int) {
        nodes[place]?.newer = -1
        nodes[place]?.older = newest
        if newest >= 0 { nodes[newest]?.newer = place } else { oldest = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        guard let node = nodes[place] else { return }
        if node.newer >= 0 { nodes[node.newer]?.older = node.older } else { newest = node.older }
        if node.older >= 0 { nodes[node.older]?.newer = node.newer } else { oldest = node.newer }
    }
}
