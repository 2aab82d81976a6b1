// Whether an answer is a stream of server-sent events, and what follows its end: whether it is asked for again, and
// when (WHATWG HTML, "Server-sent events"; B5.84 to B5.87).
//
// Must not know: requests, clocks, what the events are.

/// Decides about the connections of one stream of events.
package struct EventStreamMachine: Sendable {
    /// What becomes of an answer.
    package enum Verdict: Sendable, Equatable {
        /// Its body is read.
        case read
        /// There are no more events.
        case end
        /// It has a status that no stream has.
        case refuseStatus
        /// It is something else than a stream of events.
        case refuseType
    }

    /// What follows when an answer has ended, or none has come.
    package enum Sequel: Sendable, Equatable {
        /// It is asked for again, in so many milliseconds.
        case askAgain(after: Int64)
        /// It is over, by the error if there was one.
        case over
    }

    private let comesBack: Bool
    private var failures = 0
    private var hasReceived = false

    /// Makes a machine; without `comesBack` the stream is asked for once.
    package init(comesBack: Bool) {
        self.comesBack = comesBack
    }

    /// A head has come; what is not HTTP has no status.
    package mutating func answered(status: Int?, isEventStream: Bool) -> Verdict {
        hasReceived = false
        switch status {
        case nil, 200: return isEventStream ? .read : .refuseType
        case 204: return .end
        default: return .refuseStatus
        }
    }

    /// Bytes of a body have come: what failed before is forgotten.
    package mutating func received() {
        (failures, hasReceived) = (0, true)
    }

    /// A body has ended as it should. One that was empty counts as a failure: the wait grows until bytes come.
    package mutating func ended(reconnectionTime: Int64, random: UInt32) -> Sequel {
        guard comesBack else { return .over }
        return hasReceived ? .askAgain(after: max(Self.shortest, reconnectionTime)) : backOff(reconnectionTime, random)
    }

    /// A load has failed, with a code of `NSURLErrorDomain`; `random` spreads those that failed together.
    package mutating func failed(code: Int64, reconnectionTime: Int64, random: UInt32) -> Sequel {
        guard comesBack, PassingFailures.contains(code) || code == Self.brokenCoding && hasReceived
        else { return .over }
        return backOff(reconnectionTime, random)
    }

    /// The code of a compressed body that does not end as it should: one of which something has come was well coded so
    /// far, and its server has gone.
    private static let brokenCoding: Int64 = -1015

    /// One and a half times to twice the reconnection time, and twice as long after each further failure.
    private mutating func backOff(_ reconnectionTime: Int64, _ random: UInt32) -> Sequel {
        failures = min(failures, Self.mostFailures) + 1
        let first = max(Self.shortest, reconnectionTime)
        let wait = BackOff.wait(afterFailure: failures + 1, first: first, longest: max(first, Self.longest))
        return .askAgain(after: BackOff.spread(wait, random: random))
    }

    /// After these no wait is longer.
    private static let mostFailures = 64
    /// Picked by feel, in milliseconds: a server that wants to be asked at once, again and again, is not.
    private static let shortest: Int64 = 100
    /// A minute; picked by feel.
    private static let longest: Int64 = 60_000
}
