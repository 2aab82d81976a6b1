// What a close frame says: a code and a reason, or nothing. Received ones are checked here, those to be sent are made
// sendable here. Behaviour B15.27 to B15.30. RFC 6455 §5.5.1, §7.4.

/// The content of a close frame.
package struct WebSocketClose: Sendable, Equatable {
    /// The code; 1005 where the frame has none (B15.27).
    package let code: UInt16
    /// The reason, UTF-8; nil where there is none or an empty one (B15.28).
    package let reason: [UInt8]?

    /// A close frame without content.
    package static var withoutCode: WebSocketClose { WebSocketClose(unchecked: noCode, nil) }

    /// Reads a received payload.
    package init(received payload: [UInt8]) throws(WebSocketFault) {
        guard !payload.isEmpty else {
            self = .withoutCode
            return
        }
        guard payload.count >= 2 else { throw .malformedClose }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        guard WebSocketClose.isSendable(code) else { throw .invalidCloseCode }
        let reason = payload[2...]
        guard UTF8Validator.lengthOfValidPrefix(reason, atMost: reason.count) == reason.count else {
            throw .invalidCloseReason
        }
        self.init(unchecked: code, Array(reason))
    }

    /// Makes content that may be sent of what a program wants to say.
    ///
    /// No code, and what says so, becomes a frame without content; another code that may not be sent becomes 1000
    /// (B15.30). Of a reason that is too long or not UTF-8 the part is taken that fits and is valid (B15.29).
    package init(code: Int, reason: [UInt8]? = nil) {
        guard code != 0, code != Int(WebSocketClose.noCode) else {
            self = .withoutCode
            return
        }
        let sendable = UInt16(exactly: code).flatMap { WebSocketClose.isSendable($0) ? $0 : nil }
        let reason = reason ?? []
        let length = UTF8Validator.lengthOfValidPrefix(reason[...], atMost: WebSocketClose.longestReason)
        self.init(unchecked: sendable ?? WebSocketClose.normal, Array(reason.prefix(length)))
    }

    private init(unchecked code: UInt16, _ reason: [UInt8]?) {
        self.code = code
        self.reason = reason?.isEmpty == true ? nil : reason
    }

    /// The content as it is sent.
    package var payload: [UInt8] {
        guard code != WebSocketClose.noCode else { return [] }
        return [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)] + (reason ?? [])
    }

    /// Whether a close frame may carry the code.
    ///
    /// Those below 3000 must be registered (RFC 6455 §7.4.2): 1012 to 1014 have been since, and 1004 to 1006 and 1015
    /// are registered as what is never sent.
    package static func isSendable(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    private static var normal: UInt16 { 1000 }
    private static var noCode: UInt16 { 1005 }
    /// A control frame's payload without the code.
    private static var longestReason: Int { 123 }
}
