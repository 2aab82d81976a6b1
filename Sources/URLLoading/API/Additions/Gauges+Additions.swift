// A session in numbers: what it is busy with, and what it has done. Ours; Apple's loader tells
// nothing of its connections.

import Foundation
import Synchronization
import URLLoadingEngine

extension URLSession {
    /// Ours: what a session is busy with at a moment, and what it has done since it was made.
    ///
    /// Connections and requests are those of HTTP that belong to the session's pool: web sockets, once they are open,
    /// stream tasks and FTP have connections of their own, which are not counted. The totals never become smaller.
    public struct Gauges: Sendable, Hashable {
        /// Tasks that have not ended, the suspended ones among them.
        public var unfinishedTasks = 0
        /// Requests that wait for a connection.
        public var waitingRequests = 0
        /// Connections that are being opened.
        public var openingConnections = 0
        /// Connections that carry requests.
        public var busyConnections = 0
        /// Connections that are kept and carry nothing.
        public var idleConnections = 0
        /// Connections that carry their requests to the end and then close.
        public var closingConnections = 0
        /// Open connections that speak HTTP/2; the others speak HTTP/1.1.
        public var http2Connections = 0

        /// Connections that were opened.
        public var totalConnections: Int64 = 0
        /// Requests that got a connection, each redirect, challenge and attempt for itself.
        public var totalRequests: Int64 = 0
        /// Requests that got a connection which had carried another request before.
        public var totalReuses: Int64 = 0
        /// Requests that were sent again because a kept connection was dead, or a server had not looked at them.
        public var totalReplays: Int64 = 0
        /// Attempts that followed another by a `URLSession.RetryPolicy`.
        public var totalRetries: Int64 = 0
        /// Answers that came out of the cache, those among them that a server has confirmed.
        public var totalCacheAnswers: Int64 = 0
        /// Bytes of requests that were sent, fields and bodies, without what TLS adds. They count
        /// when their exchange is over.
        public var totalBytesSent: Int64 = 0
        /// Bytes of responses that were received, fields and bodies as they came, without what TLS adds. They count
        /// when their exchange is over.
        public var totalBytesReceived: Int64 = 0

        /// A session that has done nothing.
        public init() {}
    }

    /// Ours: what the session is busy with now, and what it has done.
    ///
    /// The numbers of a session with several shards are of several moments, shortly after each other. A background
    /// session, whose loads another process carries, has its tasks alone.
    public func gauges() async -> Gauges { await core.gauges() }

    /// Ours: the gauges at once, and then each time so many seconds have passed, until the session has been invalidated
    /// and its last task has ended; the last reading is what it has done in all.
    ///
    /// Nothing is counted or read while no reading is asked for. Intervals below a millisecond count as one.
    public func gauges(every interval: TimeInterval) -> GaugeReadings {
        GaugeReadings(core: core, interval: Swift.max(Duration(clampedSeconds: interval), .milliseconds(1)))
    }

    /// Ours: the gauges of a session, again and again.
    public struct GaugeReadings: AsyncSequence, Sendable {
        /// A reading.
        public typealias Element = URLSession.Gauges
        /// There are no errors. Where the surrounding task is cancelled, the sequence ends.
        public typealias Failure = Never

        let core: SessionCore
        let interval: Duration

        /// Begins to read.
        public func makeAsyncIterator() -> Iterator { Iterator(core: core, interval: interval) }

        /// Gives readings, as they are asked for.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            /// There are no errors.
            public typealias Failure = Never

            private let core: SessionCore
            private let interval: Duration
            private var next = ContinuousClock.now
            private var isLast = false

            init(core: SessionCore, interval: Duration) {
                self.core = core
                self.interval = interval
            }

            /// The next reading; nil after the session's last.
            public mutating func next() async -> URLSession.Gauges? {
                await next(isolation: nil)
            }

            /// The next reading; nil after the session's last.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> URLSession.Gauges? {
                if isLast { return nil }
                do { try await Task.sleep(until: next, clock: .continuous) } catch { return nil }
                next = Swift.max(next, .now) + interval
                isLast = !core.outstanding.mayBeMore
                return await core.gauges()
            }
        }
    }
}

extension SessionCore {
    /// What it is busy with, and what it has done.
    fileprivate func gauges() async -> URLSession.Gauges {
        var gauges = URLSession.Gauges()
        if let engine = engineAtHand { gauges.read(await engine.gauges()) }
        gauges.unfinishedTasks = outstanding.tasks
        gauges.totalRetries = totals.retries.load(ordering: .relaxed)
        gauges.totalCacheAnswers = totals.cacheAnswers.load(ordering: .relaxed)
        return gauges
    }
}

extension URLSession.Gauges {
    fileprivate mutating func read(_ engine: EngineGauges) {
        waitingRequests = engine.pool.waiting
        openingConnections = engine.pool.dialling
        busyConnections = engine.pool.inUse
        idleConnections = engine.pool.idle
        closingConnections = engine.pool.draining
        http2Connections = engine.http2Connections
        totalConnections = engine.connectionsOpened
        totalRequests = engine.requests
        totalReuses = engine.reuses
        totalReplays = engine.replays
        totalBytesSent = engine.bytesSent
        totalBytesReceived = engine.bytesReceived
    }
}
