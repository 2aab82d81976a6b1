// The vector files, cut in every way.

import Testing
import URLLoadingWire

@Suite("HTTP/1.1 messages as bytes")
struct WireVectorTests {
    @Test("Responses, cut in every way", arguments: Vector.load("responses.txt"))
    func responses(vector: Vector) {
        for pieces in Pieces.waysToCut(vector.bytes) {
            let events = ResponseTranscript.run(vector, pieces)
            guard events == vector.expectedEvents else {
                #expect(events == vector.expectedEvents, "cut into \(pieces.prefix(3).map(\.count))…")
                return
            }
        }
    }

    @Test(
        "B16.30, B16.39: bytes behind a response are never part of it",
        arguments: Vector.load("responses.txt").filter(\.endsByItself))
    func bytesBehind(vector: Vector) {
        let behind = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
        let ownLeft = vector.events.last.flatMap { $0.hasPrefix("left ") ? Int($0.dropFirst(5)) : nil } ?? 0
        let expected =
            vector.expectedEvents.filter { !$0.hasPrefix("left ") } + ["left \(ownLeft + behind.count)"]
        #expect(ResponseTranscript.run(vector, [vector.bytes[...]], behind: behind) == expected)
        let joined = vector.bytes + behind
        for pieces in Pieces.waysToCut(joined) where ResponseTranscript.run(vector, pieces) != expected {
            #expect(ResponseTranscript.run(vector, pieces) == expected, "cut into \(pieces.prefix(3).map(\.count))…")
            return
        }
    }

    @Test("R9112 §3: requests, cut in every way", arguments: Vector.load("requests.txt"))
    func requests(vector: Vector) {
        for pieces in Pieces.waysToCut(vector.bytes) {
            let events = RequestTranscript.run(vector, pieces)
            guard events == vector.expectedEvents else {
                #expect(events == vector.expectedEvents, "cut into \(pieces.prefix(3).map(\.count))…")
                return
            }
        }
    }

    @Test("Every statement about bytes has a vector")
    func everyStatementHasAVector() {
        let titles = Vector.load("responses.txt").map(\.title).joined(separator: "\n")
        // B16.28 is about the idle timer, B16.29 and B16.40 about a connection's driver.
        let elsewhere: Set = [28, 29, 40]
        for number in 16...48 where !elsewhere.contains(number) {
            #expect(titles.contains("B16.\(number) "), "B16.\(number)")
        }
    }
}

extension Vector {
    /// Whether the response ends without the connection's help.
    var endsByItself: Bool {
        guard !has("close"), let last = events.last else { return false }
        return last.hasPrefix("end") || last.hasPrefix("switched") || last.hasPrefix("left")
    }
}
