// Whether the peer is still there: when a PING is sent, when it counts as unanswered, and when a connection is not to
// be trusted with another request. It is told the time and writes nothing. RFC 9113 §6.7.

/// The signs of life of one connection.
struct HTTP2Heartbeat {
    /// What is to be done when a moment has come.
    enum Due: Equatable {
        case nothing
        case ping
        case dead
    }

    /// How many bytes have come, ever.
    private(set) var bytesReceived: UInt64 = 0
    /// A request timed out while the peer was silent (H6.4).
    private(set) var isSuspect = false
    private var lastReceived: Duration
    /// When the transport last got room after it had none.
    private var lastMoved: Duration
    private var settingsSentAt: Duration?
    /// When the ping that waits for its answer was sent, and which one it is.
    private(set) var pingSentAt: Duration?
    private var pingNumber: UInt64 = 0

    /// A connection begins, and our settings go out.
    init(now: Duration) {
        lastReceived = now
        lastMoved = now
        settingsSentAt = now
    }

    // MARK: Events

    mutating func received(_ count: Int, now: Duration) {
        guard count > 0 else { return }
        bytesReceived &+= UInt64(clamping: count)
        lastReceived = max(lastReceived, now)
    }

    /// The transport has room again after it had none.
    mutating func outputMoved(now: Duration) { lastMoved = max(lastMoved, now) }

    /// A ping goes out; answers its eight bytes, nil if another one is not answered yet.
    mutating func ping(now: Duration) -> UInt64? {
        guard pingSentAt == nil else { return nil }
        pingSentAt = now
        pingNumber &+= 1
        return pingNumber
    }

    /// An answer came; whether it is one to our ping (H8.11).
    mutating func answered(_ bytes: UInt64) -> Bool {
        guard pingSentAt != nil, bytes == pingNumber else { return false }
        pingSentAt = nil
        isSuspect = false
        return true
    }

    mutating func settingsAcknowledged() { settingsSentAt = nil }

    mutating func suspect() { isSuspect = true }

    // MARK: Questions

    /// Whether our settings were not acknowledged in time, though the peer sends (H8.12).
    var areSettingsOverdue: Bool {
        guard let settingsSentAt else { return false }
        return lastReceived >= settingsSentAt + Self.settings
    }

    /// Whether a ping goes along with the next request of a connection that has no other (H6.5).
    func wantsPing(now: Duration) -> Bool { now - lastReceived > Self.idle && pingSentAt == nil }

    /// When to look again; nil if there is nothing to wait for.
    func deadline(isIdle: Bool) -> Duration? {
        // Any byte shows that the peer is there: the answer to the PING may stand behind much else. So may the PING
        // itself, behind a body on a slow line.
        if let pingSentAt { return max(pingSentAt, lastReceived, lastMoved) + Self.answer }
        return isIdle ? nil : lastReceived + Self.silence
    }

    /// What is to be done at this moment.
    func due(now: Duration, isIdle: Bool) -> Due {
        guard let deadline = deadline(isIdle: isIdle), now >= deadline else { return .nothing }
        return pingSentAt == nil ? .ping : .dead
    }

    /// How long nothing may come while streams are open, until we ask (H6.5).
    private static var silence: Duration { .seconds(30) }
    /// How long a ping may be without an answer while nothing moves (H6.5).
    private static var answer: Duration { .seconds(15) }
    /// After how long without a request a ping goes along with the next one (H6.5).
    private static var idle: Duration { .seconds(10) }
    /// How long settings may be without an acknowledgement (H8.12).
    private static var settings: Duration { .seconds(10) }
}
