// The limit in time of one direction of a stream. It must not know what time it is, nor what a call does.

/// The time of the first read, or of the first write: it runs from when the call is the first of its kind (B6.12).
struct StreamCallClock: Sendable {
    private enum State {
        case off
        case running(until: Duration)
        case held(left: Duration)
    }

    private var call: StreamCall?
    private var state = State.off

    var deadline: Duration? { if case .running(let deadline) = state { deadline } else { nil } }

    mutating func run(for call: StreamCall?, _ timeout: Duration?, isHeld: Bool, _ now: Duration) {
        guard call != self.call else { return }
        self.call = call
        guard let timeout, timeout > .zero else {
            state = .off
            return
        }
        let span = Span.bounded(timeout)
        state = isHeld ? .held(left: span) : .running(until: now + span)
    }

    mutating func hold(_ now: Duration) {
        if case .running(let deadline) = state { state = .held(left: max(.zero, deadline - now)) }
    }

    mutating func release(_ now: Duration) {
        if case .held(let left) = state { state = .running(until: now + left) }
    }
}
