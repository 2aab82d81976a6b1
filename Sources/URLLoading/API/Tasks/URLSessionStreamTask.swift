// A task that is a connection. Everything it does is `TaskStream`'s.

import Foundation

/// A connection to a host and a port, plain until `startSecureConnection()`.
///
/// Calls may be made before the task is resumed, and wait for it. Reads are answered one after the other, writes too,
/// both independently of each other (B15.43); handlers are called on the session's delegate queue. The task is complete
/// when both directions are over, when it has failed or was cancelled, or when its streams were captured.
open class URLSessionStreamTask: URLSessionTask, @unchecked Sendable {
    // Safe to share: it has no state but the core, which guards its own.

    /// Makes a task that belongs to no session, for mocks.
    @available(*, deprecated, message: "Tasks are made by sessions")
    public override init() {
        super.init()
    }

    override init(core: TaskCore) {
        super.init(core: core)
    }

    /// Reads at least `minBytes` and at most `maxBytes` bytes; at the end of what comes, those that are left, with
    /// `true` for the end (B15.40).
    ///
    /// The time runs from when this is the first read that waits; 0 means no limit. A read that was not done in its
    /// time fails, and so do all reads after it; writes go on (B15.41). With a `minBytes` of 0 one byte is waited for.
    @preconcurrency
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval,
        completionHandler: @escaping @Sendable (Data?, Bool, (any Error)?) -> Void
    ) {
        core.stream.read(least: minBytes, most: maxBytes, timeout: timeout, completionHandler)
    }

    /// Reads at least `minBytes` and at most `maxBytes` bytes; at the end of what comes, those that are
    /// left, with `true` for the end (B15.40). Cancelling the surrounding Swift task does not end the
    /// read: cancel the stream task.
    @discardableResult
    open func readData(
        ofMinLength minBytes: Int, maxLength maxBytes: Int, timeout: TimeInterval
    ) async throws -> (Data?, Bool) {
        try await withUnsafeThrowingContinuation { continuation in
            readData(ofMinLength: minBytes, maxLength: maxBytes, timeout: timeout) { data, isAtEnd, error in
                if let error {
                    continuation.resume(throwing: error)
                } else {
                    continuation.resume(returning: (data, isAtEnd))
                }
            }
        }
    }

    /// Writes all bytes; done when the system has them, which says nothing of the peer (B15.42).
    ///
    /// The time runs from when this is the first write that waits; 0 means no limit. A part of a write that was not
    /// done in its time may have been sent; all writes after it fail.
    @preconcurrency
    open func write(
        _ data: Data, timeout: TimeInterval, completionHandler: @escaping @Sendable ((any Error)?) -> Void
    ) {
        core.stream.write(data, timeout: timeout, completionHandler)
    }

    /// Writes all bytes; done when the system has them, which says nothing of the peer (B15.42).
    open func write(_ data: Data, timeout: TimeInterval) async throws {
        try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
            write(data, timeout: timeout) { error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }
        }
    }

    /// Gives the connection to the delegate as a pair of streams, behind all that waits; the task is complete then, and
    /// nothing more is told of it (B15.51).
    open func captureStreams() { core.stream.say(.capture) }

    /// Finishes our side of the connection behind the writes that wait; reading goes on (B15.48).
    open func closeWrite() { core.stream.say(.closeWrite) }

    /// Ends reading behind the reads that wait; writing goes on (B15.49).
    open func closeRead() { core.stream.say(.closeRead) }

    /// Sets TLS up behind all that waits; what is asked later waits for it (B15.45). The server's certificates are
    /// judged as for https, and delegates are asked the same challenges.
    ///
    /// Bytes that have come before TLS and were not read end the task with `URLError.secureConnectionFailed`:
    /// they need not have come from the server (B15.46).
    open func startSecureConnection() { core.stream.say(.startSecure) }

    /// Does nothing (B15.47).
    @available(*, deprecated, message: "TLS cannot be ended; it ends with the connection")
    open func stopSecureConnection() {}
}
