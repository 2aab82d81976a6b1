// A web socket of a case's server, as the test server plays it.
//
// Must not know: drivers and results.

import URLLoadingLoopbackServer
import URLLoadingWire

/// Makes steps of the test server of a case's steps.
struct WebSocketScript {
    let words: KnownWords
    let gate: (String) -> ServerGate

    /// The route of an answer.
    func route(
        _ styles: Set<String>, _ fields: [CaseLine.Part], _ steps: [ServerStep], record: WebSocketRecord
    ) throws -> WebSocketRoute {
        guard !styles.contains("echo") || steps.isEmpty else { throw CaseFailure("an echo has no steps") }
        var route = WebSocketRoute(
            styles.contains("echo") ? .echo : .script(try steps.flatMap(self.steps)), record: record)
        route.answersClose = !styles.contains("silent")
        route.answersPings = !styles.contains("deaf")
        route.compresses = styles.contains("deflate")
        let changes = try fields.map { (name: $0.name, value: try $0.value.map(words.text)) }
        route.changesAnswer = { head in
            for change in changes {
                if let value = change.value {
                    // A name that the answer has not is added, and another value of one that it has takes its place.
                    head.fields.replace(change.name, with: value)
                } else {
                    head.fields.removeAll(change.name)
                }
            }
        }
        return route
    }

    private func steps(_ step: ServerStep) throws -> [WebSocketStep] {
        switch step {
        case .send(let isText, let text): return [.send(message(isText, try words.bytes(text)))]
        case .frame(let first, let text, let isBytewise):
            let bytes = Self.frame(first, try words.bytes(text))
            // A turn of the loop between two bytes gives the client a chance to see them apart. None behind the last
            // one: the client may have answered and gone by then, and the script would end before it has looked.
            let pieces: [[WebSocketStep]] = isBytewise ? bytes.map { [.raw([$0])] } : [[.raw(bytes)]]
            return Array(pieces.joined(separator: [.delay(.zero)]))
        case .raw(let text): return [.raw(try words.bytes(text))]
        case .close(let code, let reason): return [.close(code ?? 1005, try words.text(reason))]
        case .expectMessage(let isText, let text): return [.expect(.message(message(isText, try words.bytes(text))))]
        case .expectPing(let text): return [.expect(.ping(try words.bytes(text)))]
        case .expectPong(let text): return [.expect(.pong(try words.bytes(text)))]
        case .expectClose(let code, let reason): return [.expectClose(code ?? 1005, try words.text(reason))]
        case .expectEnd: return [.expectEnd]
        case .wait(let name): return [.wait(gate(name))]
        case .pause(let milliseconds): return [.delay(.milliseconds(milliseconds))]
        case .end: return [.end]
        case .drop: return [.drop]
        case .reset: return [.reset]
        }
    }

    private func message(_ isText: Bool, _ bytes: [UInt8]) -> WebSocketMessage {
        WebSocketMessage(isText ? .text : .binary, bytes)
    }

    /// Any first byte, and the shortest length.
    private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
        var header: [UInt8] = []
        WebSocketFrameHeader(.binary, mask: nil, payloadLength: payload.count).encode(into: &header)
        header[0] = first
        return header + payload
    }
}
