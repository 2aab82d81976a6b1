// From names to addresses: what the layers above see. Which address is tried first, and when, is decided there.

/// Turns host names into addresses for one loop.
package protocol Resolver: AnyObject {
    /// Looks up `host`, a name or a literal without brackets.
    ///
    /// `completion` is called once, on the loop, never before `resolve` has returned, and not after `cancel`. The
    /// addresses are in the system's order of preference (RFC 6724), without repetition, and at least one.
    func resolve(
        _ host: String, port: Int, completion: @escaping (Result<[SocketAddress], ResolverFailure>) -> Void
    ) -> any Resolution

    /// The addresses of `host` where no name service has to be asked for them: those of a literal, or of an answer that
    /// is still good. Nil for everything else, also for what is bound to fail.
    func addressesAtHand(_ host: String, port: Int) -> [SocketAddress]?

    /// Drops a cached answer, because none of its addresses could be connected to.
    func forget(_ host: String, port: Int)
}

/// A look-up under way.
package protocol Resolution: AnyObject {
    /// Forgets the completion. What was asked is called off, unless others wait for it; what the system has begun to
    /// look up ends by itself. Idempotent.
    func cancel()
}

/// A name that could not be resolved.
package struct ResolverFailure: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    package enum Reason: Sendable, Hashable {
        /// The name does not exist, or has no address.
        case noSuchHost
        /// What was to be looked up cannot be a name, whatever the network is like.
        case notAName
        /// The name service did not answer; it may later.
        case temporary
        /// The name service failed for good, or the system could not ask it.
        case failed
        /// The caller gave up.
        case cancelled
    }

    /// What kind of failure it is.
    package let reason: Reason
    /// `getaddrinfo`'s code (EAI_…), or 0 where it was not asked.
    package let code: Int32
    /// The name that was looked up.
    package let host: String
    /// The system's words.
    package let message: String

    /// The look-up found no descriptor to ask with, whatever it said; nil otherwise.
    package let shortage: SystemError?
    /// What the program's own name service has thrown; nil for the system's.
    package let cause: (any Error)?

    /// Makes a failure.
    package init(
        reason: Reason, code: Int32, host: String, message: String, shortage: SystemError? = nil,
        cause: (any Error)? = nil
    ) {
        self.shortage = shortage
        self.cause = cause
        self.reason = reason
        self.code = code
        self.host = host
        self.message = message
    }

    /// "example.invalid: Name or service not known".
    package var description: String { "\(host): \(message)" }

    /// This failure, told about another name: the one that was to be looked up.
    func about(_ host: String) -> ResolverFailure {
        ResolverFailure(
            reason: reason, code: code, host: host, message: message, shortage: shortage, cause: cause)
    }
}

extension ResolverFailure: Equatable {
    /// Whether they say the same, whatever has caused it.
    package static func == (left: ResolverFailure, right: ResolverFailure) -> Bool {
        left.reason == right.reason && left.code == right.code && left.host == right.host
            && left.message == right.message && left.shortage == right.shortage
    }
}
