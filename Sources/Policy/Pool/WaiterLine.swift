// The requests of one key that wait for a connection: higher priority first, order of asking within a priority
// (B16.1). One doubly linked list a priority, so that joining, leaving and being served cost the same however many
// wait; the nodes of all lines live in one array that the pool owns. Each key has two lines: of all that wait, and of
// those for which no dial is under way.

/// One waiting request, linked into its key's line.
struct Waiter {
    var request: RequestID
    var key: Int
    var priority: Float
    /// Place among equals, smaller first, never the same twice.
    ///
    /// How many had asked before, or for one put at the front a negative number that makes the last of those the first.
    var order: Int
    /// Whether only a connection dialled after it asked will do.
    var needsNewConnection: Bool
    /// The dial under way for it.
    var dial = PoolRecords.none
    /// Whether it is asked about that dial's peer, and so gets this connection or none.
    var isBound = false
    private var inAll = WaiterLine.Links()
    private var inUndialled = WaiterLine.Links()

    init(request: RequestID, key: Int, priority: Float, order: Int, needsNewConnection: Bool) {
        self.request = request
        self.key = key
        self.priority = priority
        self.order = order
        self.needsNewConnection = needsNewConnection
    }

    /// Its neighbours in one of its lines.
    subscript(line: WaiterLine.Kind) -> WaiterLine.Links {
        get { line == .all ? inAll : inUndialled }
        set { if line == .all { inAll = newValue } else { inUndialled = newValue } }
    }

    /// How many requests had asked before.
    var askedAt: Int { order < 0 ? -1 - order : order }

    static func order(askedAt: Int, atFront: Bool) -> Int { atFront ? -1 - askedAt : askedAt }

    /// Whether this one is served before `other`.
    func precedes(_ other: Waiter) -> Bool {
        priority == other.priority ? order < other.order : priority > other.priority
    }
}

/// A key's line of waiting requests.
struct WaiterLine {
    /// Which line of its key this is.
    enum Kind {
        case all
        case undialled
    }

    /// The neighbours of a waiting request in one line.
    struct Links {
        var next = PoolRecords.none
        var previous = PoolRecords.none
    }

    private let kind: Kind

    init(_ kind: Kind) { self.kind = kind }

    private struct Rank {
        let priority: Float
        var head: Int
        var tail: Int
    }

    /// Ascending priority, so that the rank that is served, and empties, first is the last.
    private var ranks: [Rank] = []

    var first: Int? { ranks.last?.head }

    mutating func insert(_ node: Int, in waiters: inout [Waiter]) {
        let priority = waiters[node].priority
        let rank = position(of: priority)
        if rank == ranks.count || ranks[rank].priority != priority {
            ranks.insert(Rank(priority: priority, head: node, tail: node), at: rank)
            return
        }
        // From the tail: a newcomer asked last, and only a changed priority or a front seat walks on.
        if waiters[node].order < waiters[ranks[rank].head].order {
            let head = ranks[rank].head
            waiters[node][kind].next = head
            waiters[head][kind].previous = node
            ranks[rank].head = node
            return
        }
        var before = ranks[rank].tail
        while waiters[before].order > waiters[node].order { before = waiters[before][kind].previous }
        let after = waiters[before][kind].next
        waiters[node][kind].previous = before
        waiters[node][kind].next = after
        waiters[before][kind].next = node
        if after == PoolRecords.none { ranks[rank].tail = node } else { waiters[after][kind].previous = node }
    }

    mutating func remove(_ node: Int, from waiters: inout [Waiter]) {
        let rank = position(of: waiters[node].priority)
        let (previous, next) = (waiters[node][kind].previous, waiters[node][kind].next)
        if previous == PoolRecords.none { ranks[rank].head = next } else { waiters[previous][kind].next = next }
        if next == PoolRecords.none { ranks[rank].tail = previous } else { waiters[next][kind].previous = previous }
        if ranks[rank].head == PoolRecords.none { ranks.remove(at: rank) }
        waiters[node][kind].previous = PoolRecords.none
        waiters[node][kind].next = PoolRecords.none
    }

    /// The first node for which `isWanted` holds, in the order of service.
    func first(in waiters: [Waiter], where isWanted: (Waiter) -> Bool) -> Int? {
        walk(waiters) { isWanted(waiters[$0]) }
    }

    /// All nodes for which `isWanted` holds, in the order of service.
    func all(in waiters: [Waiter], where isWanted: (Waiter) -> Bool) -> [Int] {
        var found: [Int] = []
        _ = walk(waiters) { node in
            if isWanted(waiters[node]) { found.append(node) }
            return false
        }
        return found
    }

    /// Goes through the line in the order of service, to the node that ends it.
    private func walk(_ waiters: [Waiter], until ends: (Int) -> Bool) -> Int? {
        for rank in ranks.reversed() {
            var node = rank.head
            while node != PoolRecords.none {
                if ends(node) { return node }
                node = waiters[node][kind].next
            }
        }
        return nil
    }

    /// Index of the rank with this priority, or where it belongs.
    private func position(of priority: Float) -> Int {
        var (low, high) = (0, ranks.count)
        while low < high {
            let middle = (low + high) / 2
            if ranks[middle].priority < priority { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
