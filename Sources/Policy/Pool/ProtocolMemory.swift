// What servers chose when they were last asked which protocol to speak. Must not know what a protocol is: what counts is
// whether requests share its connections.

/// The origins of a session whose connections are shared.
struct ProtocolMemory {
    private var sharing: Set<Origin> = []

    /// Whether a connection that is opened for a key will probably be shared.
    func expectsShared(_ key: PoolKey) -> Bool {
        !sharing.isEmpty && sharing.contains(key.origin)
    }

    /// Notes what the server of a key has chosen.
    mutating func note(isShared: Bool, of key: PoolKey) {
        guard isShared else { return sharing.remove(key.origin).map { _ in } ?? () }
        // Forgetting costs a few dials.
        if sharing.count >= Self.mostOrigins { sharing.removeAll() }
        sharing.insert(key.origin)
    }

    /// Picked by feel: some hundred kilobytes.
    private static let mostOrigins = 1_024
}
