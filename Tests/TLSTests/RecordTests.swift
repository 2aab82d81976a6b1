import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@Suite struct RecordTests {
    private func open(_ version: TLSVersion = .v13) throws -> TLSPair {
        let pair = try TLSPair(client: .init(minimum: version, maximum: version), server: Made.serverOptions())
        pair.shakeHands()
        pair.exchange()
        try #require(pair.client.end?.isFinished == true)
        return pair
    }

    @Test("A record may be cut anywhere", arguments: [TLSVersion.v12, .v13])
    func everySplit(_ version: TLSVersion) throws {
        let pair = try open(version)
        let message = (0..<100).map { UInt8($0) }
        var split = 0
        while true {
            try pair.server.write(message)
            let record = pair.server.takeOutgoing()
            if split > record.count { break }
            pair.client.received = []
            pair.client.inbox = Array(record[..<split])
            pair.client.read()
            #expect(pair.client.received == (split == record.count ? message : []))
            pair.client.inbox = Array(record[split...])
            pair.client.read()
            #expect(pair.client.received == message, "cut at \(split)")
            split += 1
        }
    }

    @Test("Large data passes both ways in pieces of any size", arguments: [TLSVersion.v12, .v13])
    func large(_ version: TLSVersion) throws {
        let pair = try open(version)
        let data = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        for piece in [Int.max, 65_536, 16_384, 1_000, 17] {
            (pair.client.received, pair.server.received) = ([], [])
            try pair.client.write(data)
            try pair.server.write(data)
            pair.exchange(piece: piece)
            #expect(firstDifference(pair.server.received, data) == nil)
            #expect(firstDifference(pair.client.received, data) == nil)
        }
    }

    @Test("A small output buffer gets the plaintext bit by bit")
    func smallOutput() throws {
        let pair = try open()
        let data = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
        try pair.server.write(data)
        pair.move()
        pair.client.read(room: 7)
        #expect(firstDifference(pair.client.received, data) == nil)
        #expect(pair.client.session.hasBufferedInput == false)
    }

    @Test("Plaintext that was not asked for yet is known to wait")
    func bufferedInput() throws {
        let pair = try open()
        try pair.server.write([1, 2, 3, 4])
        let record = pair.server.takeOutgoing()
        var output = [UInt8](repeating: 0, count: 2)
        var offset = 0
        let step = record.withUnsafeBytes { input in
            output.withUnsafeMutableBytes { pair.client.session.decrypt(input, offset: &offset, into: $0) }
        }
        guard case .plaintext(2) = step else {
            Issue.record("\(step)")
            return
        }
        #expect(offset == record.count)
        #expect(pair.client.session.hasBufferedInput)
        pair.client.read()
        #expect(pair.client.received == [3, 4])
        #expect(pair.client.session.hasBufferedInput == false)
    }

    @Test("Outgoing ciphertext can be sent in parts")
    func partialSends() throws {
        let pair = try open()
        let data = [UInt8](repeating: 7, count: 10_000)
        try pair.client.write(data)
        while pair.client.session.hasOutgoing {
            pair.server.inbox += pair.client.session.withOutgoing { Array($0.prefix(333)) }
            pair.client.session.outgoingSent(333)
            if pair.server.inbox.count == 333 { try pair.client.write([8]) }
        }
        pair.server.read()
        #expect(firstDifference(pair.server.received, data + [8]) == nil)
    }

    @Test("close_notify is told apart from a cut connection", arguments: [TLSVersion.v12, .v13])
    func closeNotify(_ version: TLSVersion) throws {
        let cut = try open(version)
        #expect(cut.client.session.endOfInput() == .truncated)
        let closed = try open(version)
        try closed.server.write([5])
        closed.server.session.close()
        closed.exchange()
        #expect(closed.client.received == [5])
        #expect(closed.client.isClosed)
        #expect(closed.client.session.endOfInput() == nil)
    }

    @Test("After our close_notify the peer can still send, and we cannot")
    func halfClose() throws {
        let pair = try open()
        pair.client.session.close()
        #expect(throws: TLSError.self) { try pair.client.write([1]) }
        pair.move()
        pair.server.read()
        #expect(pair.server.isClosed)
        try pair.server.write([6])
        pair.move()
        pair.client.read()
        #expect(pair.client.received == [6])
    }

    @Test("close is idempotent and does nothing before the handshake is over")
    func closeTwice() throws {
        let pair = try TLSPair(server: Made.serverOptions())
        pair.client.session.close()
        #expect(pair.client.session.hasOutgoing == false)
        pair.shakeHands()
        pair.client.session.close()
        let count = pair.client.session.withOutgoing { $0.count }
        pair.client.session.close()
        #expect(pair.client.session.withOutgoing { $0.count } == count)
    }

    @Test("B3.74: a record that was changed on the way fails, and the peer is told", arguments: [TLSVersion.v12, .v13])
    func corrupted(_ version: TLSVersion) throws {
        let pair = try open(version)
        try pair.server.write([1, 2, 3])
        pair.move()
        pair.client.inbox[pair.client.inbox.count - 1] ^= 1
        pair.client.read()
        guard case .protocolViolation(_, alert: 20)? = pair.client.readError else {
            Issue.record("\(String(describing: pair.client.readEnd))")
            return
        }
        #expect(pair.client.received.isEmpty)
        pair.move()
        pair.server.read()
        #expect(pair.server.readError == .alertReceived(code: 20, name: "bad record mac"))
        #expect(throws: TLSError.self) { try pair.client.write([1]) }
    }

    @Test("Plaintext before a broken record is still delivered, then the failure")
    func deliveredBeforeFailure() throws {
        let pair = try open()
        try pair.server.write([1, 2, 3])
        pair.move()
        pair.client.inbox += [99, 99, 99, 99, 99, 99]
        pair.client.read()
        #expect(pair.client.received == [1, 2, 3])
        #expect(pair.client.readError != nil)
    }

    @Test("Data before the handshake is over is refused on both sides")
    func tooEarly() throws {
        let pair = try TLSPair(server: Made.serverOptions())
        #expect(throws: TLSError.self) { try pair.client.write([1]) }
        pair.client.read()
        #expect(pair.client.readError == .internalFailure("the handshake is not over"))
        #expect(throws: TLSError.self) { try pair.server.write([1]) }
    }

    @Test("Writing nothing sends nothing")
    func emptyWrite() throws {
        let pair = try open()
        try pair.client.write([])
        #expect(pair.client.session.hasOutgoing == false)
    }
}
