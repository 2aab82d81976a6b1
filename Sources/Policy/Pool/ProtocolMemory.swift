// What servers chose when they were last asked which protocol to speak, and how many requests they let share a
// connection. Must not know what a protocol is: what counts is whether requests share its connections.

/// The origins of a session whose connections are shared.
struct ProtocolMemory {
    private var sharing: Set<Origin> = []
    /// How many requests may share a connection, of origins that have let it be fewer than was thought.
    private var capacities: [Origin: Int] = [:]

    /// Whether a connection that is opened for a key will probably be shared.
    func expectsShared(_ key: PoolKey) -> Bool {
        switch key.protocols {
        case .http1, .nothing: false
        case .http2OrHTTP1: !sharing.isEmpty && sharing.contains(key.origin)
        case .http2: true
        }
    }

    /// Notes what the server of a key has chosen; where it had no choice there is nothing to be learnt. Returns whether
    /// it is something new.
    mutating func note(isShared: Bool, of key: PoolKey) -> Bool {
        guard key.protocols == .http2OrHTTP1, expectsShared(key) != isShared else { return false }
        if isShared {
            // Forgetting costs a few dials.
            if sharing.count >= Self.mostOrigins { sharing.removeAll() }
            sharing.insert(key.origin)
        } else {
            sharing.remove(key.origin)
        }
        return true
    }

    /// How many requests a connection that is opened for a key will probably serve at once, where that is known.
    func capacity(of key: PoolKey) -> Int? { capacities.isEmpty ? nil : capacities[key.origin] }

    /// Notes that a connection of a key serves so many requests at once, after another number. One that serves none for
    /// the moment says nothing of the next, and then nothing of itself by being back.
    mutating func note(capacity: Int, after before: Int, of key: PoolKey) {
        guard capacity > 0, capacity < before || before == 0 || self.capacity(of: key) != nil else { return }
        // Forgetting costs refused requests.
        if capacities.count >= Self.mostOrigins, capacities[key.origin] == nil { capacities.removeAll() }
        capacities[key.origin] = capacity
    }

    /// Picked by feel: some hundred kilobytes.
    private static let mostOrigins = 1_024
}
