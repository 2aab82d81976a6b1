// The two ends of a connection: most rules are the same for both. RFC 9113 §2.2.

/// Which end of a connection we are.
package enum HTTP2Role: Sendable, Equatable {
    /// The end that connected, and opens the streams.
    case client
    /// The end that was connected to.
    case server
}
