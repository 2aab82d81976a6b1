// What a peer may ask of us without bringing anything. Each limit ends the connection with
// ENHANCE_YOUR_CALM. RFC 9113 §10.5.

/// The limits for one connection (H9).
package struct HTTP2Limits: Sendable, Equatable {
    /// Frames that bring nothing, at once (H9.1).
    package var uselessFrames = 10_000
    /// How many of them are forgiven in a second (H9.1).
    package var uselessFramesPerSecond = 330
    /// Acknowledgements, and RST_STREAM frames for streams that are over, that wait because the
    /// peer does not read (H9.2).
    package var unreadAnswers = 1_000
    /// CONTINUATION frames of one block (H9.3).
    package var continuations = 16
    /// CONTINUATION frames without a byte, in a row (H9.3).
    package var emptyContinuations = 2
    /// Bytes of one header block on the wire (H9.5).
    package var blockBytes = 1024 * 1024
    /// 1xx answers before the final one (H9.6).
    package var informationalAnswers: UInt8 = 32
    /// Streams that we reset in a second because of what the peer sent (H9.7).
    package var resetsPerSecond = 100

    /// The limits of H9.
    package init() {}
}
