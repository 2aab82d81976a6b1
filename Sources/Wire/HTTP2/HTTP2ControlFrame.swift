// The frames that carry neither a body nor fields, as values: none has bytes of its own, so that none is allocated.
// What they bring about is decided by `HTTP2ConnectionMachine`. RFC 9113 §6.3 to §6.9.

/// A frame about the connection, or about one stream.
package enum HTTP2ControlFrame: Sendable, Equatable {
    /// How the peer wants to be spoken to; to be acknowledged.
    case settings(HTTP2SettingsChange)
    /// The peer has taken over our settings.
    case settingsAcknowledged
    /// Wants the same eight bytes back.
    case ping(UInt64)
    /// The bytes of a ping of ours.
    case pingAcknowledged(UInt64)
    /// More may be sent on a stream, or with number 0 on the connection.
    case windowUpdate(stream: UInt32, increment: UInt32)
    /// The stream ends at once.
    case resetStream(UInt32, HTTP2ErrorCode)
    /// No new streams; those with a number above `last` were not looked at. `HTTP2FrameDecoder.debugData` is its text.
    case goAway(last: UInt32, HTTP2ErrorCode)
    /// What was said about a stream's priority, which is ignored (H4.5).
    case priority
    /// A frame of a kind that we don't know, which is ignored (H4.5).
    case unknown(type: UInt8)
}
