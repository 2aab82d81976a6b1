// The two time limits of a request: the idle limit, which every byte moves, and the resource limit, which nothing
// moves. Behaviour B6.1 to B6.10. It must not know what moves, which task waits, or what time it is.
//
// Measured: times are durations since any fixed moment of the caller's, because ContinuousClock.Instant is handled
// through its metadata, and this machine is asked with every read.

/// The idle and the resource deadline of one request.
package struct DeadlineMachine: Sendable {
    /// Which limit was reached.
    package enum Expiry: Sendable, Equatable {
        /// No byte moved for the idle limit (B6.1).
        case idle
        /// The whole took longer than allowed (B6.5).
        case resource
    }

    private enum Idle {
        /// Not started, or stopped: no connection is being opened or used.
        case off
        case running(until: Duration)
        /// Standing still with this much time left.
        case held(left: Duration)
    }

    private let limit: Duration?
    private let resource: Duration?
    private var idle = Idle.off
    private var holds = 0

    /// Makes the deadlines; no limit, or one that is not above zero, never expires.
    ///
    /// The caller has turned zero into the default where that is the rule (B6.7).
    package init(idle: Duration?, resource: Duration?) {
        limit = idle.flatMap { $0 > .zero ? Span.bounded($0) : nil }
        self.resource = resource
    }

    /// The request got its connection or begins to open one: the idle time starts, or starts anew for another hop
    /// (B6.10, B4.37).
    package mutating func started(_ now: Duration) {
        guard let limit else { return }
        idle = holds > 0 ? .held(left: limit) : .running(until: now + limit)
    }

    /// The request waits for a free connection again: no idle time runs until it is started (B6.10).
    package mutating func stopped() {
        idle = .off
    }

    /// Bytes were sent or received (B6.1).
    package mutating func moved(_ now: Duration) {
        guard let limit else { return }
        switch idle {
        case .off: break
        case .running: idle = .running(until: now + limit)
        case .held: idle = .held(left: limit)
        }
    }

    /// The idle limit was reached, but what was sent before may have gone on its way since (B6.42): the time then runs
    /// from there, and the answer is true.
    package mutating func arrived(_ arrival: Arrival, _ now: Duration) -> Bool {
        guard let limit, case .running = idle, arrival.age < limit else { return false }
        // A peer that takes nothing still answers the system's probes.
        if let before = arrival.before, arrival.position &- before <= 0 { return false }
        idle = .running(until: now - arrival.age + limit)
        return true
    }

    /// The task is suspended, waits for a delegate's answer, or for connectivity: the idle time stands still (B6.9).
    ///
    /// It takes as many calls of `released` to end. The resource time runs on (B6.8).
    package mutating func held(_ now: Duration) {
        holds += 1
        if case .running(let deadline) = idle { idle = .held(left: max(.zero, deadline - now)) }
    }

    /// Ends one `held`; with the last the idle time runs on from where it stood.
    package mutating func released(_ now: Duration) {
        guard holds > 0 else { return }
        holds -= 1
        if holds == 0, case .held(let left) = idle { idle = .running(until: now + left) }
    }

    /// When to ask `expired` next; nil when no time is running.
    package var next: Duration? {
        guard case .running(let deadline) = idle else { return resource }
        return resource.map { min($0, deadline) } ?? deadline
    }

    /// The limit that has been reached; of both, the one reached first (B6.6).
    package func expired(_ now: Duration) -> Expiry? {
        guard let next, next <= now else { return nil }
        return next == resource ? .resource : .idle
    }
}
