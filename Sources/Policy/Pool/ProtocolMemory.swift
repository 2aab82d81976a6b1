// What servers chose when they were last asked which protocol to speak. Must not know what a protocol is: what counts is
// whether requests share its connections.

/// The origins of a session whose connections are shared.
struct ProtocolMemory {
    private var sharing: Set<Origin> = []

    /// Whether a connection that is opened for a key will probably be shared.
    func expectsShared(_ key: PoolKey) -> Bool {
        switch key.protocols {
        case .http1, .nothing: false
        case .http2OrHTTP1: !sharing.isEmpty && sharing.contains(key.origin)
        case .http2: true
        }
    }

    /// Notes what the server of a key has chosen; where it had no choice there is nothing to be learnt. Returns whether it is
    /// something new.
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

    /// Picked by feel: some hundred kilobytes.
    private static let mostOrigins = 1_024
}
