// Everything that can be wrong with what a peer sends on an HTTP/2 connection, one case a reason, with the code that it
// is answered with; and whether the whole connection ends by it or one stream. No bytes of the peer are kept in here.
// RFC 9113 §5.4, §7.

/// What is wrong, and how far it reaches.
package struct HTTP2Fault: Error, Sendable, Equatable {
    /// What ends by it (RFC 9113 §5.4.1, §5.4.2).
    package enum Scope: Sendable, Equatable {
        /// Everything: GOAWAY is sent, and the connection closed.
        case connection
        /// The stream: RST_STREAM is sent, and the connection lives on.
        case stream
    }

    /// What is wrong.
    package let reason: Reason
    /// What ends by it.
    package let scope: Scope
    /// The number of the stream on which it happened; 0 where it happened on none.
    package let stream: UInt32

    /// A fault by which the connection ends; `stream` names the one that brought it about.
    package static func connection(_ reason: Reason, stream: UInt32 = 0) -> HTTP2Fault {
        HTTP2Fault(reason: reason, scope: .connection, stream: stream)
    }

    /// A fault by which one stream ends.
    package static func stream(_ stream: UInt32, _ reason: Reason) -> HTTP2Fault {
        HTTP2Fault(reason: reason, scope: .stream, stream: stream)
    }

    /// What the peer is told.
    package var code: HTTP2ErrorCode { reason.code }
}

extension HTTP2Fault {
    /// What is wrong.
    package enum Reason: UInt8, Error, CaseIterable {
        // Frames.

        /// The peer's first bytes are no HTTP/2 (H8.1).
        case notHTTP2
        /// A frame that belongs to a stream came for the connection, or the other way round (H8.2).
        case wrongStream
        /// A frame for a stream that was never opened (H8.2).
        case idleStream
        /// PUSH_PROMISE, which no peer may send us (H8.3).
        case push
        /// A frame has a size that its type does not allow (H8.4).
        case frameSize
        /// A frame is larger than our SETTINGS_MAX_FRAME_SIZE (H8.4).
        case frameTooLarge
        /// More padding than there is frame (H8.5).
        case padding
        /// Another frame inside a header block, or the middle of a block outside of one (H8.8).
        case brokenBlock
        /// SETTINGS_ENABLE_PUSH has a value that it may not have (H8.3).
        case pushSetting
        /// SETTINGS_NO_RFC7540_PRIORITIES is neither 0 nor 1 (H8.6).
        case prioritySetting
        /// SETTINGS_MAX_FRAME_SIZE is outside its bounds (H8.6).
        case frameSizeSetting
        /// SETTINGS_INITIAL_WINDOW_SIZE is too large (H8.6).
        case windowSetting
        /// The last-stream-id of a GOAWAY is above an earlier one's (H7.1).
        case goAwayRises

        // Streams and messages.

        /// DATA or HEADERS behind the end of the message (H8.9).
        case afterEnd
        /// A message that breaks the rules of HTTP (H4.7).
        case malformed
        /// DATA without a head before it (H4.7).
        case dataBeforeHead
        /// More or fewer bytes of body than were declared (H4.6).
        case bodyLength
        /// A field list above our limit, which is decoded and not kept (H4.9).
        case listTooLarge
        /// One stream more than we allow at once.
        case tooManyStreams

        // Flow control.

        /// DATA beyond our window (H5.7).
        case windowOverrun
        /// A WINDOW_UPDATE of nothing (H8.7).
        case emptyUpdate
        /// A window above 2^31-1 (H8.6, H8.7).
        case windowOverflow

        // Budgets.

        /// Too many frames that bring nothing (H9.1).
        case uselessFrames
        /// Too many answers wait because the peer does not read (H9.2).
        case unreadAnswers
        /// Too many CONTINUATION frames in a block (H9.3).
        case continuations
        /// A header block or a field list above the limit at which we stop decoding (H9.5).
        case blockTooLarge
        /// Too many 1xx answers before the final one (H9.6).
        case informationalAnswers
        /// The peer has made us reset too many streams in a second (H9.7).
        case resets

        // Others.

        /// A header block that cannot be decoded (H8.10).
        case compression
        /// Our SETTINGS were not acknowledged in time (H8.12).
        case settingsUnacknowledged
        /// Nothing came after a PING, for so long that the peer is taken for gone (H6.4, H6.5).
        case silence
        /// Our own side has broken the order of calls.
        case misuse

        /// What the peer is told.
        package var code: HTTP2ErrorCode {
            switch self {
            case .notHTTP2, .wrongStream, .idleStream, .push, .padding, .brokenBlock, .pushSetting, .frameSizeSetting,
                .prioritySetting, .goAwayRises, .malformed, .dataBeforeHead, .bodyLength, .emptyUpdate:
                .protocolError
            case .frameSize, .frameTooLarge: .frameSizeError
            case .windowSetting, .windowOverrun, .windowOverflow: .flowControlError
            case .afterEnd: .streamClosed
            case .tooManyStreams: .refusedStream
            case .listTooLarge, .uselessFrames, .unreadAnswers, .continuations, .blockTooLarge, .informationalAnswers,
                .resets:
                .enhanceYourCalm
            case .compression: .compressionError
            case .settingsUnacknowledged: .settingsTimeout
            case .silence: .noError
            case .misuse: .internalError
            }
        }
    }
}

extension HTTP2Fault: CustomStringConvertible {
    /// One sentence a person can act on.
    package var description: String {
        let place = stream == 0 ? "" : " (stream \(stream))"
        return "\(reason.sentence)\(place): \(code)."
    }
}

extension HTTP2Fault.Reason {
    fileprivate var sentence: String {
        switch self {
        case .notHTTP2: "The peer does not begin as HTTP/2 does"
        case .wrongStream: "A frame came on a stream that frames of its kind have no place on"
        case .idleStream: "A frame came for a stream that was never opened"
        case .push: "The peer promised a push that was not allowed"
        case .frameSize: "A frame has a size that its type does not allow"
        case .frameTooLarge: "A frame is larger than allowed"
        case .padding: "A frame is padded with more bytes than it has"
        case .brokenBlock: "A header block is not in one piece"
        case .pushSetting: "The peer's SETTINGS_ENABLE_PUSH has a value that it may not have"
        case .prioritySetting: "The peer's SETTINGS_NO_RFC7540_PRIORITIES has a value that it may not have"
        case .frameSizeSetting: "The peer's SETTINGS_MAX_FRAME_SIZE is out of bounds"
        case .windowSetting: "The peer's SETTINGS_INITIAL_WINDOW_SIZE is out of bounds"
        case .goAwayRises: "A second GOAWAY takes back what the first one said"
        case .afterEnd: "The peer went on behind the end of a message"
        case .malformed: "A message breaks the rules of HTTP"
        case .dataBeforeHead: "A body came before its head"
        case .bodyLength: "A body has another length than its head declared"
        case .listTooLarge: "A message has more fields than allowed"
        case .tooManyStreams: "The peer opened more streams than allowed"
        case .windowOverrun: "The peer sent more than its window allowed"
        case .emptyUpdate: "The peer opened a window by nothing"
        case .windowOverflow: "The peer opened a window too far"
        case .uselessFrames: "The peer sent too many frames that bring nothing"
        case .unreadAnswers: "The peer asks and does not read the answers"
        case .continuations: "A header block came in too many frames"
        case .blockTooLarge: "A header block is too large"
        case .informationalAnswers: "The peer sent too many informational answers"
        case .resets: "The peer made too many streams fail in a second"
        case .compression: "A header block cannot be decoded"
        case .settingsUnacknowledged: "The peer did not acknowledge our settings"
        case .silence: "The peer did not answer a PING"
        case .misuse: "The connection was used out of order"
        }
    }
}
