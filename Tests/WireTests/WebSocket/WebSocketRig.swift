// What the tests of web sockets share: frames as bytes, written without the code under test, and a reader that is given
// bytes in pieces and writes down what it says.

import Testing
import URLLoadingWire

/// Frames as bytes.
enum WireFrame {
    /// A frame of any bits.
    static func bytes(
        _ opcode: UInt8, _ payload: [UInt8] = [], fin: Bool = true, rsv: UInt8 = 0, mask: [UInt8]? = nil
    ) -> [UInt8] {
        var bytes: [UInt8] = [(fin ? 0x80 : 0) | rsv << 4 | opcode]
        let bit: UInt8 = mask == nil ? 0 : 0x80
        switch payload.count {
        case ..<126: bytes.append(bit | UInt8(payload.count))
        case ..<65536: bytes += [bit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
        default:
            bytes.append(bit | 127)
            for place in (0..<8).reversed() { bytes.append(UInt8(payload.count >> (8 * place) & 0xFF)) }
        }
        guard let mask else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    static func text(_ text: String, fin: Bool = true) -> [UInt8] { bytes(1, Array(text.utf8), fin: fin) }
    static func binary(_ payload: [UInt8], fin: Bool = true) -> [UInt8] { bytes(2, payload, fin: fin) }
    static func more(_ text: String, fin: Bool) -> [UInt8] { bytes(0, Array(text.utf8), fin: fin) }
    static func ping(_ payload: [UInt8] = []) -> [UInt8] { bytes(9, payload) }
    static func pong(_ payload: [UInt8] = []) -> [UInt8] { bytes(10, payload) }
    static func close(_ code: Int? = nil, _ reason: [UInt8] = []) -> [UInt8] {
        bytes(8, (code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []) + reason)
    }

    /// A message in fragments of the sizes, the rest in the last.
    static func fragments(_ opcode: UInt8, _ payload: [UInt8], of size: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: payload.count, by: size) {
            let end = min(start + size, payload.count)
            bytes += Self.bytes(start == 0 ? opcode : 0, Array(payload[start..<end]), fin: end == payload.count)
        }
        return bytes
    }
}

/// What a reader says about a connection's bytes.
enum WebSocketOutcome: Equatable, Sendable {
    case event(WebSocketReader.Event)
    case fault(WebSocketFault)

    static func text(_ text: String) -> WebSocketOutcome { .event(.message(WebSocketMessage(text: text))) }
    static func binary(_ bytes: [UInt8]) -> WebSocketOutcome { .event(.message(WebSocketMessage(.binary, bytes))) }
    static func ping(_ bytes: [UInt8] = []) -> WebSocketOutcome { .event(.ping(bytes)) }
    static func pong(_ bytes: [UInt8] = []) -> WebSocketOutcome { .event(.pong(bytes)) }
    static func close(_ code: Int = 1005, _ reason: [UInt8]? = nil) -> WebSocketOutcome {
        .event(.close(WebSocketClose(code: code, reason: reason)))
    }

    /// The outcomes of bytes that come in pieces.
    static func run(
        _ pieces: [ArraySlice<UInt8>], role: WebSocketRole = .client, maximum: Int = 1 << 20,
        compression: DeflateAgreement? = nil
    ) -> [WebSocketOutcome] {
        var reader = WebSocketReader(role, maximumMessageSize: maximum, compression: compression)
        var outcomes: [WebSocketOutcome] = []
        for piece in pieces {
            let bytes = Array(piece)
            var offset = 0
            do throws(WebSocketFault) {
                reading: while true {
                    let event = try reader.next(bytes.span.bytes, offset: &offset)
                    switch event {
                    case .needMore: break reading
                    case .unfinished: continue
                    case .message, .ping, .pong, .close: outcomes.append(.event(event))
                    }
                }
                if offset != bytes.count { Issue.record("needMore with bytes unused") }
            } catch {
                return outcomes + [.fault(error)]
            }
        }
        return outcomes
    }
}

extension Pieces {
    /// A few ways for inputs that are long.
    static func someWaysToCut(_ bytes: [UInt8]) -> [[ArraySlice<UInt8>]] {
        [997, 1460, 65_536].map { size in
            stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
        } + [[bytes[...]]]
    }
}
