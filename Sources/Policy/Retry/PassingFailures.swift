// Which failures of a load may pass by themselves, so that another time may be better (B10.39, B5.86).
//
// Must not know: what is tried again, and when.

/// Failures that another time may not have.
package enum PassingFailures {
    /// Whether a code of `NSURLErrorDomain` is one of them: time-out, unknown host, no connection, lost connection, a
    /// resolver that has failed, no network.
    package static func contains(_ code: Int64) -> Bool { codes.contains(code) }

    private static let codes: Set<Int64> = [-1001, -1003, -1004, -1005, -1006, -1009]
}
