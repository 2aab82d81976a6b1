// One CONNECT and the proxy's answer to it, as bytes in and bytes out. Success ends at the head's last byte: what
// follows belongs to the tunnel, whatever the fields say (B13.16). A refusal's body is read, within a budget, only so
// that the connection can carry another CONNECT; it is not delivered (B13.17). RFC 9110 §9.3.6.
//
// Must not know: streams, where credentials come from.

import URLLoadingWire

/// One CONNECT on one connection.
package struct ConnectExchange: ~Copyable {
    /// What comes next.
    package enum Step: Sendable, Equatable {
        /// All bytes were used, and more are needed.
        case needMore
        /// The tunnel stands, and the rest of the bytes is the first of what comes through it.
        case open
        /// There is no tunnel. The rest of the answer follows, so that the connection can be used again.
        case refused(ResponseHead)
        /// The rest has come, or is not worth waiting for.
        case ended(isReusable: Bool)
    }

    private var decoder = ResponseDecoder()
    private var machine = ExchangeMachine()
    private var bodyBytes = 0
    /// Whether the proxy has said anything.
    package private(set) var hasBegun = false
    /// The head that has opened the tunnel, for what it says about the proof that CONNECT brought.
    package private(set) var opening: ResponseHead?

    /// An exchange whose request has been sent.
    package init() {
        decoder.begin(.toCONNECT)
        machine.requestHeadSent(keepAliveAllowed: true)
        machine.requestBodyFinished()
    }

    /// The request: nothing in it but what the proxy needs to know (B13.14, B13.15, B13.20).
    package static func request(
        target: String, userAgent: String?, authorization: String?
    ) throws(WireError) -> [UInt8] {
        var head = RequestHead(method: "CONNECT", target: target)
        head.fields.append(.host, target)
        if let userAgent { head.fields.append(.userAgent, userAgent) }
        if let authorization { head.fields.append(.proxyAuthorization, authorization) }
        var bytes: [UInt8] = []
        try RequestEncoder.encode(head, framing: .none, into: &bytes)
        return bytes
    }

    /// Decodes from `bytes` at `offset` and moves `offset` behind what was used.
    package mutating func next(_ bytes: RawSpan, offset: inout Int) throws(WireError) -> Step {
        if offset < bytes.byteCount { hasBegun = true }
        while true {
            switch try decoder.next(bytes, offset: &offset) {
            case .needMore:
                return .needMore
            case .informational:
                continue
            case .head(let head, let framing):
                if head.status < 300 {
                    opening = head
                    return .open
                }
                let persistence = decoder.persistence
                machine.responseHead(head, framing: framing, persistence: persistence)
                return .refused(head)
            case .body(let range):
                bodyBytes += range.count
                if bodyBytes > Self.longestBody { return .ended(isReusable: false) }
            case .end:
                machine.responseEnded()
                return .ended(isReusable: machine.canReuse && offset == bytes.byteCount)
            case .switched:
                return .open
            }
        }
    }

    /// Picked by feel: what is longer is read no faster than a new connection is opened.
    private static let longestBody = 64 << 10
}
