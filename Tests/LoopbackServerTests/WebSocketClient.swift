// A client of web sockets over a blocking socket, as simple as it can be: it masks, and keeps no rule.

import URLLoadingLoopbackServer
import URLLoadingWire

/// A blocking web socket.
final class WebSocketClient {
    let raw: RawClient
    private let handshake: WebSocketHandshake
    private var reader: WebSocketReader
    private var input: [UInt8] = []
    private let agreement: WebSocketHandshake.Agreement

    /// A request for a web socket, and what it asks for.
    static func request(
        protocols: [String] = [], compression: DeflateParameters? = nil
    ) throws -> (bytes: [UInt8], handshake: WebSocketHandshake, fields: Fields) {
        let handshake = WebSocketHandshake(
            nonce: Array(0..<16), protocols: protocols, compression: compression)
        var head = RequestHead(method: "GET", target: "/socket")
        head.fields.append("Host", "server.test")
        handshake.ask(in: &head.fields)
        var bytes: [UInt8] = []
        try RequestEncoder.encode(head, framing: .none, into: &bytes)
        return (bytes, handshake, head.fields)
    }

    init(port: Int, protocols: [String] = [], compression: DeflateParameters? = nil, receiveBuffer: Int32? = nil) throws
    {
        raw = try RawClient(port: port, receiveBuffer: receiveBuffer)
        let asked = try Self.request(protocols: protocols, compression: compression)
        handshake = asked.handshake
        try raw.send(asked.bytes)
        let answer = try Self.head(raw.read(through: "\r\n\r\n"))
        agreement = try handshake.agreement(with: answer, asked: asked.fields)
        reader = WebSocketReader(.client, maximumMessageSize: 64 << 20, compression: agreement.compression)
        input = raw.takeRead()
    }

    var subprotocol: String? { agreement.subprotocol }
    var compression: DeflateAgreement? { agreement.compression }

    func send(_ frame: WebSocketFrame) throws {
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(frame, mask: WebSocketMask(0x1234_5678), into: &bytes)
        try raw.send(bytes)
    }

    func send(_ text: String) throws { try send(.message(WebSocketMessage(text: text))) }

    /// A compressed message in one frame.
    func sendCompressed(_ text: String) throws {
        var deflater = MessageDeflater(DeflateDirection())
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(
            .text, deflater.compress(Array(text.utf8)) ?? [], isCompressed: true, mask: WebSocketMask(1), into: &bytes)
        try raw.send(bytes)
    }

    /// The next thing that the server sends; nil at the end of the connection.
    func next() throws -> WebSocketReader.Event? {
        while true {
            var offset = 0
            let event = try input.withUnsafeBytes { try reader.next($0.bytes, offset: &offset) }
            input.removeFirst(offset)
            guard event == .needMore else { return event }
            input = try raw.readSome()
            if input.isEmpty { return nil }
        }
    }

    static func head(_ text: String) throws -> ResponseHead {
        var decoder = ResponseDecoder()
        decoder.begin(.toUpgrade)
        var offset = 0
        let bytes = Array(text.utf8)
        switch try decoder.next(bytes.span.bytes, offset: &offset) {
        case .head(let head, _), .informational(let head): return head
        case .needMore, .body, .end, .switched: throw RawClient.ClientError.system("no head", 0)
        }
    }
}
