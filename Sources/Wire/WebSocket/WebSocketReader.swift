// What a web socket's driver gives a connection's bytes to: the frame decoder and the assembler, joined. It answers
// with messages and control frames in the order in which they were completed. It decides nothing about them.

/// A resumable reader of the messages on one connection.
package struct WebSocketReader: ~Copyable {
    /// What was received.
    package enum Event: Sendable, Equatable {
        /// All bytes were used.
        case needMore
        /// Enough was done for one call: to be called again.
        case unfinished
        /// A whole message.
        case message(WebSocketMessage)
        /// The peer wants a pong with these bytes.
        case ping([UInt8])
        /// The peer answers a ping, or says that it lives.
        case pong([UInt8])
        /// The peer has said its last word; what follows is ignored.
        case close(WebSocketClose)
    }

    private var decoder: WebSocketFrameDecoder
    private var assembler: WebSocketMessageAssembler
    private var failure: WebSocketFault?

    /// Makes a reader; `role` is its own, and `compression` is what was agreed on.
    package init(_ role: WebSocketRole, maximumMessageSize: Int, compression: DeflateAgreement? = nil) {
        decoder = WebSocketFrameDecoder(role, allowsCompression: compression != nil)
        assembler = WebSocketMessageAssembler(
            maximumSize: max(0, maximumMessageSize),
            inflater: compression.map { MessageInflater($0.received(by: role)) })
    }

    /// How many bytes a message may have; never below zero.
    package var maximumMessageSize: Int {
        get { assembler.maximumSize }
        set { assembler.maximumSize = max(0, newValue) }
    }

    /// Reads from `bytes` at `offset` and moves `offset` behind what was used.
    ///
    /// After a fault every call throws it again.
    package mutating func next(_ bytes: RawSpan, offset: inout Int) throws(WebSocketFault) -> Event {
        if let failure { throw failure }
        do throws(WebSocketFault) {
            return try step(bytes, &offset)
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func step(_ bytes: RawSpan, _ offset: inout Int) throws(WebSocketFault) -> Event {
        var produced = 0
        while true {
            let limit = assembler.isInflating ? Self.compressedAtOnce : .max
            switch try decoder.next(bytes, offset: &offset, limit: limit) {
            case .needMore: return .needMore
            case .frame(let header): try assembler.frameBegan(header)
            case .payload(let range, let mask):
                let before = assembler.byteCount
                try receive(bytes, range, mask)
                produced += assembler.byteCount - before
                if assembler.isInflating, produced >= Self.producedAtOnce { return .unfinished }
            case .frameEnd(let isFinal):
                if let message = try assembler.frameEnded(isFinal: isFinal) { return .message(message) }
            case .control(let opcode, let payload):
                switch opcode {
                case .close: return .close(try WebSocketClose(received: payload))
                case .ping: return .ping(payload)
                case .pong: return .pong(payload)
                case .continuation, .text, .binary: break
                }
            }
        }
    }

    private mutating func receive(
        _ bytes: RawSpan, _ range: Range<Int>, _ mask: WebSocketMask?
    ) throws(WebSocketFault) {
        try bytes.withUnsafeBytes { memory throws(WebSocketFault) in
            try assembler.received(memory.part(range.lowerBound, range.upperBound), mask: mask)
        }
    }

    /// Deflate multiplies by a thousand and thirty-two at most, so that a piece becomes four megabytes.
    private static var compressedAtOnce: Int { 4 * 1024 }
    /// After so much a loop looks after its other connections. Picked by feel.
    private static var producedAtOnce: Int { 1024 * 1024 }
}
