// What was measured about a task (behaviour chapter 12), made from the engine's timelines.

import Foundation

/// The measurements of one task.
open class URLSessionTaskMetrics: NSObject, @unchecked Sendable {
    // Safe to share: every stored property is immutable.
    private let transactions: [URLSessionTaskTransactionMetrics]
    private let interval: DateInterval
    private let redirects: Int
    /// How many attempts followed the first.
    let retries: Int

    /// Makes an empty object, for mocks.
    @available(*, deprecated, message: "Metrics are made by sessions")
    public override init() {
        transactions = []
        interval = DateInterval()
        redirects = 0
        retries = 0
        super.init()
    }

    /// - Parameter earlierCreation: when an earlier run of the program made the task.
    init(
        records: [TransactionRecord], redirectCount: Int, retries: Int, creation: ContinuousClock.Instant,
        earlierCreation: Date?
    ) {
        let clock = WallClock()
        transactions = records.map { URLSessionTaskTransactionMetrics($0, clock: clock) }
        let start = earlierCreation ?? clock.date(creation)
        interval = DateInterval(start: start, end: max(start, clock.now))
        redirects = redirectCount
        self.retries = retries
        super.init()
    }

    /// One entry per exchange: redirects and repeated attempts included (B12.5).
    open var transactionMetrics: [URLSessionTaskTransactionMetrics] { transactions }

    /// From the making of the task to its end (B12.3).
    open var taskInterval: DateInterval { interval }

    /// How many redirects were followed (B12.4).
    open var redirectCount: Int { redirects }

    /// Where a response came from.
    public enum ResourceFetchType: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// The network.
        case networkLoad = 1
        /// Sent by the server without having been asked for.
        @available(*, deprecated, message: "Server push is not supported")
        case serverPush = 2
        /// The local cache.
        case localCache = 3
    }

    /// How a name was looked up.
    public enum DomainResolutionProtocol: Int, Sendable {
        /// Not known; the system's resolver does not tell (B12.23).
        case unknown = 0
        /// Plain DNS over UDP.
        case udp = 1
        /// Plain DNS over TCP.
        case tcp = 2
        /// DNS over TLS.
        case tls = 3
        /// DNS over HTTPS.
        case https = 4
    }
}

/// Turns instants of the monotonic clock into dates, all by the same reading of both clocks.
struct WallClock {
    let now = Date()
    private let instant = ContinuousClock.now

    func date(_ instant: ContinuousClock.Instant) -> Date {
        let distance = self.instant.duration(to: instant).components
        return now.addingTimeInterval(
            TimeInterval(distance.seconds) + TimeInterval(distance.attoseconds) * 1e-18)
    }
}
