// Which loads are tried again. Ours: Apple's loader does that only where a kept connection
// turns out to be dead (B6.26).

import Foundation
import URLLoadingPolicy
import URLLoadingSystem

extension URLSession {
    /// Ours: which loads are tried again after a failure, or after an answer that says that another time may be better.
    ///
    /// ```swift
    /// let configuration = URLSessionConfiguration.default
    /// configuration.retryPolicy = URLSession.RetryPolicy(maximumRetries: 3)
    /// ```
    ///
    /// A load is tried again as long as the program has seen nothing of its answer. A delegate, a handler or an `async`
    /// call gets the last attempt's answer or error, and the metrics have an entry for each attempt. A body that is a
    /// stream cannot be sent twice, and a web socket is no load. `timeoutIntervalForRequest` counts for each attempt
    /// anew, and `timeoutIntervalForResource` for all of them with their pauses.
    public struct RetryPolicy: Sendable {
        /// How many attempts may follow the first.
        public var maximumRetries: Int
        /// Statuses after which a request is sent again.
        public var statusCodes: Set<Int> = [408, 429, 500, 502, 503, 504]
        /// Errors after which a request is sent again.
        public var errorCodes: Set<URLError.Code> = [
            .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
            .notConnectedToInternet,
        ]
        /// The methods of requests that may be sent again although a server may have carried them out already. Other
        /// requests are sent again only where no server can have begun with them: no connection was made, or the status
        /// is one of `unprocessedStatusCodes`. GET, HEAD, PUT, DELETE, OPTIONS and TRACE unless set.
        public var methods: Set<String> = ReplayRules.idempotentMethods
        /// Statuses by which a server says that it has done nothing. 503 is none of them: a gateway sends it also where
        /// the server behind it took too long.
        public var unprocessedStatusCodes: Set<Int> = [429]
        /// The pause before the second attempt, in seconds.
        public var firstPause: TimeInterval = 0.5
        /// No pause is longer, but for what a server asks for by `Retry-After`.
        public var longestPause: TimeInterval = 30
        /// By how much each pause is longer than the one before.
        public var pauseGrowth = 2.0
        /// The part of a pause that chance may take away, from 0 to 1. Without it, all that failed
        /// together come back together.
        public var jitter = 0.5
        /// How long a server may ask to be left alone by `Retry-After`, in seconds or as a date; a pause is never
        /// shorter than it asks for. Where it asks for more, its answer is the result.
        public var longestRetryAfter: TimeInterval = 120
        /// Has the last word about a failure that could be followed by another attempt. Such a failure is each error,
        /// and each status from 400 on, whether or not the other properties say anything of it; `proposal` is what
        /// follows from them. It is called in a task of its own, once for each failure.
        public var decide: (@Sendable (_ failure: Failure) async -> Decision)?

        /// A policy with so many attempts after the first, and the usual rules.
        public init(maximumRetries: Int = 3) {
            self.maximumRetries = maximumRetries
        }

        /// No second attempt, for a request in a session that has a policy.
        public static var never: RetryPolicy { RetryPolicy(maximumRetries: 0) }

        /// An attempt that has failed.
        public struct Failure: Sendable {
            /// The request of the attempt: after redirects that of the last.
            public let request: URLRequest
            /// What the server has answered, if it was an answer that made the attempt fail.
            public let response: HTTPURLResponse?
            /// What the attempt has failed with, if it was no answer.
            public let error: URLError?
            /// How many attempts there were before this one.
            public let retries: Int
            /// What the policy's other properties say.
            public let proposal: Decision
        }

        /// What follows a failure.
        public enum Decision: Sendable, Hashable {
            /// Another attempt, after so many seconds.
            case retry(after: TimeInterval)
            /// The failure is the result.
            case giveUp
        }

        /// What the policy, without `decide`, says about a request that has failed, or was answered like this, after so
        /// many attempts before; for programs that carry out their attempts themselves.
        public func decision(
            about request: URLRequest, response: HTTPURLResponse? = nil, error: URLError? = nil, retries: Int
        ) -> Decision {
            var chance = Chance()
            let rules = RetryRules(self)
            let pause = rules.pause(
                after: request, response, error?.code, retries: retries, now: .now,
                chance: Double.random(in: 0...1, using: &chance))
            return pause.map { .retry(after: $0 / .seconds(1)) } ?? .giveUp
        }
    }

    /// Ours: how many repetitions the loads of a session share.
    ///
    /// Where a server fails for all, three attempts more for each load ask it four times as much, just when it can bear
    /// it least. The budget holds so many repetitions, and each load that a policy holds for pays a part of one into
    /// it. Where nothing is left in it, a failure is the result.
    public struct RetryBudget: Sendable, Hashable {
        /// How many repetitions it holds at most, and at first.
        public var reserve: Int
        /// The part of a repetition that each load pays in, from 0 to 1.
        public var share: Double

        /// A budget of so many repetitions, and one more for each `1 / share` loads.
        public init(reserve: Int = 10, share: Double = 0.2) {
            self.reserve = reserve
            self.share = share
        }

        /// A repetition for each load that wants one.
        public static var unlimited: RetryBudget { RetryBudget(reserve: .max, share: 1) }
    }
}

extension URLSessionConfiguration {
    /// Ours: which loads of the session are tried again; nil, the default, for none. Background sessions try again by
    /// themselves (B6.13), and do not know this setting.
    public var retryPolicy: URLSession.RetryPolicy? {
        get { value(\.retryPolicy) }
        set { assign(\.retryPolicy, newValue) }
    }

    /// Ours: how many repetitions the loads of the session share.
    public var retryBudget: URLSession.RetryBudget {
        get { value(\.retryBudget) }
        set { assign(\.retryBudget, newValue) }
    }
}

extension URLRequest {
    /// Ours: whether and when this request is tried again, in place of what its session says; nil, the default, leaves
    /// it to the session. Requests that differ only in this are equal. Background sessions do not know it.
    public var retryPolicy: URLSession.RetryPolicy? {
        get { values.retryPolicy?.policy }
        set { values.retryPolicy = newValue.map { RetryRules($0) } }
    }
}

extension URLSessionTaskMetrics {
    /// Ours: how many attempts followed the first because of a `URLSession.RetryPolicy`.
    /// `transactionMetrics` has them all.
    public var retryCount: Int { retries }
}
