// What has changed in a cache and is not on disk yet: the newest word about each key, the oldest first. A value.
//
// Must not know: how it gets there.

import URLLoadingPolicy

/// Changes on their way to the disk.
struct UnwrittenChanges: Sendable {
    /// What has become of a key.
    enum Change: Sendable {
        case stored(CacheStore.Entry)
        case removed

        fileprivate var byteCount: Int {
            if case .stored(let entry) = self { entry.byteCount } else { 0 }
        }
    }

    /// A change that is being written.
    struct Step: Sendable {
        let key: CacheKey
        let change: Change
        fileprivate let number: Int
    }

    private var changes: [CacheKey: (number: Int, change: Change)] = [:]
    /// The keys in the order in which they first had something to be written; some have been dropped since.
    private var line: [CacheKey] = []
    private var head = 0
    private var byteCount = 0
    private var lastNumber = 0
    /// Whether a thread is writing.
    private var isServed = false

    /// What has to be written about a key.
    subscript(key: CacheKey) -> Change? { changes[key]?.change }

    /// Notes a change, in place of what was to be written about the key, which it gives; and whether the
    /// caller has to begin to write.
    mutating func note(_ change: Change, for key: CacheKey) -> (mustStart: Bool, dropped: Change?) {
        let dropped = drop(key)
        if dropped == nil { line.append(key) }
        // A disk that is slower than the network loses the answer and must not keep the one before. What waits alone is
        // not too much, however long it is (B7.8).
        let fits = byteCount == 0 || byteCount + change.byteCount <= Self.maximumBytes
        let change = fits ? change : .removed
        lastNumber += 1
        changes[key] = (lastNumber, change)
        byteCount += change.byteCount
        defer { isServed = true }
        return (!isServed, dropped)
    }

    /// The next change to be written, which stays known until that is done; nil when there is none.
    mutating func next() -> Step? {
        while head < line.count {
            let key = line[head]
            if let (number, change) = changes[key] { return Step(key: key, change: change, number: number) }
            head += 1
            if head > 1024, head > line.count / 2 {
                line.removeFirst(head)
                head = 0
            }
        }
        line = []
        head = 0
        isServed = false
        return nil
    }

    /// A change is on disk, and goes unless another has taken its place, which is then the next.
    @discardableResult
    mutating func done(_ step: Step) -> Change? {
        changes[step.key]?.number == step.number ? drop(step.key) : nil
    }

    /// Forgets what was to be written about a key.
    @discardableResult
    mutating func drop(_ key: CacheKey) -> Change? {
        guard let dropped = changes.removeValue(forKey: key)?.change else { return nil }
        byteCount -= dropped.byteCount
        return dropped
    }

    /// Forgets everything.
    mutating func dropAll() {
        changes = [:]
        byteCount = 0
    }

    /// Picked by feel: far more than comes in the time of a few writes.
    static let maximumBytes = 16 << 20
}
