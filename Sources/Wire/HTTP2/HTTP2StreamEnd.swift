// How streams can end. Whether a request is sent again is decided elsewhere; the facts for it are here.
// RFC 9113 §5.4.2, §8.7.

/// How a stream ended.
package enum HTTP2StreamEnd: Sendable, Equatable {
    /// What was to be received is whole; so is what was to be sent, or it is of no use any more (H7.5).
    case finished
    /// We wanted no more of it (H6.1).
    case cancelled
    /// Its time was over (H6.3).
    case timedOut
    /// The source of our body gave less than was declared (H3.5).
    case bodyTooShort
    /// The peer has reset it.
    case reset(HTTP2ErrorCode)
    /// The peer has said by GOAWAY that it did not look at it and never will (H7.1).
    case turnedAway(HTTP2ErrorCode)
    /// What the peer sent on it was wrong.
    case faulted(HTTP2Fault)
    /// The connection has failed, by no fault of this stream.
    case connectionFailed(HTTP2Fault)
    /// The connection has ended, or does not answer any more.
    case connectionLost

    /// Whether the peer certainly did nothing about the request, so that any request may be sent again (H7.1, H7.2).
    package var isUnprocessed: Bool {
        switch self {
        case .reset(let code): code == .refusedStream
        case .turnedAway: true
        case .finished, .cancelled, .timedOut, .bodyTooShort, .faulted, .connectionFailed, .connectionLost: false
        }
    }

    /// What the peer has said by it, if it was the peer.
    package var peerCode: HTTP2ErrorCode? {
        switch self {
        case .reset(let code), .turnedAway(let code): code
        case .finished, .cancelled, .timedOut, .bodyTooShort, .faulted, .connectionFailed, .connectionLost: nil
        }
    }
}
