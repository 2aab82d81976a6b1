// Frames by the examples of RFC 6455 §5.7, and every rule about their headers, cut in every way.

import Testing
import URLLoadingWire

@Suite("Web socket frames")
struct WebSocketFrameTests {
    private func expect(
        _ bytes: [UInt8], _ outcomes: [WebSocketOutcome], role: WebSocketRole = .client,
        _ location: SourceLocation = #_sourceLocation
    ) {
        for pieces in Pieces.waysToCut(bytes) {
            #expect(
                WebSocketOutcome.run(pieces, role: role) == outcomes, "\(pieces.map(\.count))",
                sourceLocation: location)
        }
    }

    @Test("R6455 §5.7: the examples, read")
    func examples() {
        expect([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], [.text("Hello")])
        expect(
            [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.text("Hello")], role: .server)
        expect([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], [.text("Hello")])
        expect([0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], [.ping(Array("Hello".utf8))])
        expect(
            [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.pong(Array("Hello".utf8))],
            role: .server)
    }

    @Test("R6455 §5.7: the examples, written")
    func written() {
        var bytes: [UInt8] = []
        WebSocketFrameEncoder.encode(
            .message(WebSocketMessage(text: "Hello")), mask: WebSocketMask(0x3D21_FA37), into: &bytes)
        #expect(bytes == [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58])
        bytes = []
        WebSocketFrameEncoder.encode(.pong(Array("Hello".utf8)), mask: nil, into: &bytes)
        #expect(bytes == [0x8A, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F])
    }

    @Test(
        "R6455 §5.2: a length is written in as few bytes as it needs and read again",
        arguments: [nil, 0xA1B2_C3D4] as [UInt32?])
    func lengths(key: UInt32?) {
        let role: WebSocketRole = key == nil ? .client : .server
        for count in [0, 1, 124, 125, 126, 127, 128, 255, 256, 65_534, 65_535, 65_536, 65_537, 200_000] {
            let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            var bytes: [UInt8] = []
            let message = WebSocketMessage(.binary, payload)
            WebSocketFrameEncoder.encode(.message(message), mask: key.map { WebSocketMask($0) }, into: &bytes)
            let maskBytes = key == nil ? 0 : 4
            #expect(bytes.count == count + maskBytes + (count < 126 ? 2 : count < 65_536 ? 4 : 10))
            for pieces in Pieces.someWaysToCut(bytes) {
                #expect(WebSocketOutcome.run(pieces, role: role) == [.binary(payload)], "\(count)")
            }
        }
    }

    @Test("R6455 §5.1: a masked frame from the server is a fault, and so is one without a mask from the client")
    func masks() {
        expect(WireFrame.bytes(1, [0x61], mask: [1, 2, 3, 4]), [.fault(.maskedByServer)])
        expect(WireFrame.bytes(9, [], mask: [0, 0, 0, 0]), [.fault(.maskedByServer)])
        expect(WireFrame.bytes(1, [0x61]), [.fault(.unmaskedByClient)], role: .server)
        expect(WireFrame.bytes(8), [.fault(.unmaskedByClient)], role: .server)
        #expect(WebSocketFault.maskedByServer.closeCode == 1002)
        #expect(WebSocketFault.unmaskedByClient.closeCode == 1002)
    }

    @Test("R6455 §5.1: each frame is under the mask it is given, and another mask gives other bytes")
    func freshMasks() {
        var outputs: Set<[UInt8]> = []
        for key in [0, 1, 0x0100_0000, 0xFFFF_FFFF, 0x1234_5678] as [UInt32] {
            var bytes: [UInt8] = []
            WebSocketFrameEncoder.encode(.ping([1, 2, 3]), mask: WebSocketMask(key), into: &bytes)
            #expect(bytes[1] == 0x83)
            outputs.insert(bytes)
            #expect(WebSocketOutcome.run([bytes[...]], role: .server) == [.ping([1, 2, 3])])
        }
        #expect(outputs.count == 5)
    }

    @Test(
        "B15.16: a control frame is never a fragment and never longer than 125 bytes", arguments: [8, 9, 10] as [UInt8])
    func control(opcode: UInt8) {
        expect(WireFrame.bytes(opcode, [3, 0xE8], fin: false), [.fault(.fragmentedControl)])
        // The announcement is enough.
        expect([0x80 | opcode, 126], [.fault(.controlTooLong)])
        expect([0x80 | opcode, 127], [.fault(.controlTooLong)])
        #expect(WebSocketFault.fragmentedControl.closeCode == 1002)
        #expect(WebSocketFault.controlTooLong.closeCode == 1002)
    }

    @Test("B15.16: control frames may lie between fragments")
    func between() {
        expect(
            WireFrame.text("Hel", fin: false) + WireFrame.ping([7]) + WireFrame.more("l", fin: false) + WireFrame.pong()
                + WireFrame.more("o", fin: true) + WireFrame.binary([1]),
            [.ping([7]), .pong(), .text("Hello"), .binary([1])])
    }

    @Test("B15.18: reserved bits and opcodes")
    func reserved() {
        for opcode in [0, 1, 2, 8, 9, 10] as [UInt8] {
            for rsv in 1...7 as ClosedRange<UInt8> {
                expect(WireFrame.bytes(opcode, rsv: rsv), [.fault(.reservedBit)])
            }
        }
        for opcode in [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8] {
            expect(WireFrame.bytes(opcode), [.fault(.reservedOpcode)])
            expect(WireFrame.bytes(opcode, [1, 2], fin: false), [.fault(.reservedOpcode)])
        }
        #expect(WebSocketFault.reservedBit.closeCode == 1002)
        #expect(WebSocketFault.reservedOpcode.closeCode == 1002)
    }

    @Test("B15.18: what continues, and what may not")
    func continuation() {
        expect(WireFrame.more("x", fin: true), [.fault(.continuationWithoutStart)])
        expect(WireFrame.more("x", fin: false), [.fault(.continuationWithoutStart)])
        expect(WireFrame.text("a") + WireFrame.more("x", fin: true), [.text("a"), .fault(.continuationWithoutStart)])
        expect(WireFrame.text("a", fin: false) + WireFrame.text("b"), [.fault(.messageInsideMessage)])
        expect(WireFrame.binary([1], fin: false) + WireFrame.binary([1], fin: false), [.fault(.messageInsideMessage)])
        #expect(WebSocketFault.continuationWithoutStart.closeCode == 1002)
        #expect(WebSocketFault.messageInsideMessage.closeCode == 1002)
    }

    @Test("B15.18: lengths in more bytes than needed, and of 64 bits")
    func badLengths() {
        for count in [0, 1, 125] as [UInt8] { expect([0x82, 126, 0, count], [.fault(.lengthNotMinimal)]) }
        expect([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 5], [.fault(.lengthNotMinimal)])
        expect([0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], [.fault(.lengthNotMinimal)])
        expect([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], [.fault(.lengthTooLarge)])
        expect([0x82, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [.fault(.lengthTooLarge)])
        // The highest bit says enough.
        expect([0x82, 127, 0x80], [.fault(.lengthTooLarge)])
        #expect(WebSocketFault.lengthNotMinimal.closeCode == 1002)
        #expect(WebSocketFault.lengthTooLarge.closeCode == 1002)
    }

    @Test("R6455 §5.2: 63 bits of length are legal, too much, and cost nothing")
    func largestLength() {
        expect(
            [0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            [.fault(.messageTooBig(limit: 1 << 20))])
        // Where everything is allowed the announcement alone takes no memory that could not be had.
        let bytes: [UInt8] = [0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3]
        #expect(WebSocketOutcome.run([bytes[...]], maximum: .max) == [])
    }

    @Test("R6455 §5.5.1: bytes behind a close frame are ignored, whatever they are")
    func behindClose() {
        expect(WireFrame.close(1000) + [0xFF, 0xFF, 0xFF] + WireFrame.text("x"), [.close(1000)])
    }

    @Test("After a fault every call tells it again, for the decoder and for the reader")
    func sticky() {
        var decoder = WebSocketFrameDecoder(.client)
        var reader = WebSocketReader(.client, maximumMessageSize: 10)
        let bytes: [UInt8] = [0x83, 0x00, 0x81, 0x00]
        for _ in 0..<3 {
            var offset = 0
            var faults: [WebSocketFault] = []
            do throws(WebSocketFault) { _ = try decoder.next(bytes.span.bytes, offset: &offset) } catch {
                faults.append(error)
            }
            do throws(WebSocketFault) { _ = try reader.next(bytes.span.bytes, offset: &offset) } catch {
                faults.append(error)
            }
            #expect(faults == [.reservedOpcode, .reservedOpcode])
        }
    }

    @Test("The decoder lends payload where it lies, of at most the length asked for")
    func lending() throws {
        var decoder = WebSocketFrameDecoder(.server)
        let bytes = WireFrame.bytes(2, [1, 2, 3, 4, 5, 6, 7], mask: [9, 8, 7, 6])
        var offset = 0
        var steps: [WebSocketFrameDecoder.Step] = []
        repeat {
            steps.append(try decoder.next(bytes.span.bytes, offset: &offset, limit: 3))
        } while steps.last != .needMore
        let mask = WebSocketMask(0x0607_0809)
        #expect(
            steps == [
                .frame(WebSocketFrameHeader(.binary, mask: mask, payloadLength: 7)), .payload(6..<9, mask: mask),
                .payload(9..<12, mask: mask.advanced(by: 3)), .payload(12..<13, mask: mask.advanced(by: 6)),
                .frameEnd(isFinal: true), .needMore,
            ])
        let isClosed = decoder.isClosed
        #expect(!isClosed)
    }

    @Test("Every fault has a sentence of its own")
    func sentences() {
        let faults: [WebSocketFault] = [
            .reservedBit, .reservedOpcode, .maskedByServer, .unmaskedByClient, .fragmentedControl, .controlTooLong,
            .lengthNotMinimal, .lengthTooLarge, .continuationWithoutStart, .messageInsideMessage, .malformedClose,
            .invalidCloseCode, .invalidCloseReason, .invalidText, .messageTooBig(limit: 5), .corruptCompression,
            .outOfMemory,
        ]
        #expect(Set(faults.map(\.description)).count == faults.count)
        #expect(faults.allSatisfy { $0.description.hasSuffix(".") && WebSocketClose.isSendable($0.closeCode) })
    }
}
