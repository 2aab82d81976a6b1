// What close frames may say, received and sent.

import Testing
import URLLoadingWire

@Suite("Web socket close frames")
struct WebSocketCloseTests {
    private func received(_ payload: [UInt8]) -> [WebSocketOutcome] {
        WebSocketOutcome.run([WireFrame.bytes(8, payload)[...]])
    }

    private func code(_ code: Int) -> [UInt8] { [UInt8(code >> 8), UInt8(code & 0xFF)] }

    @Test("B15.30: codes that may be received, and the others, which are 1002")
    func codes() {
        let legal = Set(Array(1000...1003) + Array(1007...1014) + Array(3000...4999))
        for number in 0...65_535 {
            let outcomes = received(code(number))
            if legal.contains(number) {
                #expect(outcomes == [.close(number)])
            } else {
                #expect(outcomes == [.fault(.invalidCloseCode)], "\(number)")
            }
        }
        #expect(WebSocketFault.invalidCloseCode.closeCode == 1002)
    }

    @Test("B15.30: one byte is 1002, a reason that is not UTF-8 is 1007")
    func malformed() {
        #expect(received([3]) == [.fault(.malformedClose)])
        #expect(WebSocketFault.malformedClose.closeCode == 1002)
        for reason: [UInt8] in [[0xFF], [0xE2, 0x82], [0x61, 0xED, 0xA0, 0x80]] {
            #expect(received(code(1000) + reason) == [.fault(.invalidCloseReason)])
        }
        #expect(WebSocketFault.invalidCloseReason.closeCode == 1007)
    }

    @Test("R6455 §7.1.5: without a code it is 1005, and an empty reason is none")
    func withoutCode() {
        #expect(received([]) == [.event(.close(.withoutCode))])
        #expect(WebSocketClose.withoutCode.code == 1005)
        #expect(WebSocketClose.withoutCode.payload == [])
        #expect(WebSocketClose(code: 1000, reason: []).reason == nil)
        #expect(received(code(1000) + Array("bye é".utf8)) == [.close(1000, Array("bye é".utf8))])
    }

    @Test("B15.30: codes that are not to be sent become 1000, or no code")
    func sending() {
        for number in [0, 1005] {
            #expect(WebSocketClose(code: number, reason: [0x61]) == .withoutCode)
        }
        for number in [1006, 1015, 1004, 999, -1, 1016, 2999, 5000, 70_000, .max, .min] {
            #expect(WebSocketClose(code: number).payload == [0x03, 0xE8], "\(number)")
        }
        for number in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] {
            #expect(WebSocketClose(code: number, reason: [0x61]).payload == code(number) + [0x61])
        }
    }

    @Test("B15.29: a reason is cut to 123 bytes at the end of a character, and before what is not UTF-8")
    func truncation() {
        func reason(_ bytes: [UInt8]) -> [UInt8]? { WebSocketClose(code: 1000, reason: bytes).reason }
        let long = [UInt8](repeating: 0x61, count: 123)
        #expect(reason(long) == long)
        #expect(reason(long + [0x61]) == long)
        for (text, cut) in [("é", 122), ("日", 121), ("😀", 120)] {
            for keep in (cut - 1)...122 {
                let start = [UInt8](repeating: 0x61, count: keep)
                let fits = keep < cut
                #expect(reason(start + Array(text.utf8) + long) == (fits ? start + Array(text.utf8) : start), "\(keep)")
            }
        }
        #expect(reason([0x61, 0x62, 0xFF, 0x63]) == [0x61, 0x62])
        #expect(reason([0x61, 0xE2, 0x82]) == [0x61])
        #expect(reason([0xFF]) == nil)
        #expect(WebSocketClose(code: 1000, reason: long + long).payload.count == 125)
    }
}
