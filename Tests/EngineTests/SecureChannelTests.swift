// The one place that encrypts and decrypts: what becomes of reads and writes when the peer, the buffers or TLS itself
// do what they may do.

import Testing
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

@testable import URLLoadingEngine

@Suite("A channel with TLS and without")
struct SecureChannelTests {
    private let reactor = Reactor(virtualTime: ())
    private let end: TunnelEnd

    init() throws { end = try TunnelEnd() }

    /// A channel, and the server at its other end.
    private struct Sealed {
        let channel: SecureChannel
        let stream: MemoryStream
        let far: MemoryStream
        let server: TLSSession

        /// Everything that the server has not read, as it lies on the wire.
        func arrived() -> [UInt8] {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while case .bytes(let count) = buffer.withUnsafeMutableBytes({ far.read(into: $0) }), count > 0 {
                bytes += buffer[..<count]
            }
            return bytes
        }

        /// What the server makes of it.
        func decrypted(_ ciphertext: [UInt8]) -> [UInt8] {
            var (plaintext, offset) = ([UInt8](), 0)
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while case .plaintext(let count) = ciphertext.withUnsafeBytes({ input in
                buffer.withUnsafeMutableBytes { server.decrypt(input, offset: &offset, into: $0) }
            }) {
                plaintext += buffer[..<count]
            }
            return plaintext
        }

        /// Sends what the server has to send.
        func push() {
            while server.hasOutgoing, case .bytes(let count) = server.withOutgoing({ far.write($0) }) {
                server.outgoingSent(count)
            }
        }

        func say(_ bytes: [UInt8]) throws {
            try bytes.withUnsafeBytes { try server.encrypt($0) }
            push()
        }
    }

    /// Both sides have shaken hands; the client's last message waits to be sent.
    private func sealed(capacity: Int = 1 << 20, to end: TunnelEnd? = nil) throws -> Sealed {
        let (stream, far) = MemoryStream.pair(on: reactor, capacity: capacity)
        let client = try TLSSession(
            client: try TLSContext(client: TLSClientOptions()), serverName: "host.test")
        let server = try TLSSession(server: (end ?? self.end).context)
        let channel = SecureChannel(stream, tls: client, buffers: LoopBuffers.of(reactor))
        let sealed = Sealed(channel: channel, stream: stream, far: far, server: server)
        var hasFinished = false
        for _ in 0..<4 where !hasFinished {
            var input = [UInt8](repeating: 0, count: 64 << 10)
            var count = 0
            if case .bytes(let read) = input.withUnsafeMutableBytes({ stream.read(into: $0) }) { count = read }
            var offset = 0
            hasFinished = input[..<count].withUnsafeBytes { bytes in
                while true {
                    switch client.handshake(bytes, offset: &offset) {
                    case .needVerdict(let chain): client.supply(.vouchedForByApplication(chain))
                    case .needIdentity: client.supply(identity: nil)
                    case .finished: return true
                    case .needInput, .failed: return false
                    }
                }
            }
            if hasFinished { break }
            channel.sendOutgoing()
            offset = 0
            let hello = sealed.arrived()
            _ = hello.withUnsafeBytes { server.handshake($0, offset: &offset) }
            sealed.push()
        }
        try #require(hasFinished)
        return sealed
    }

    /// Sends the handshake's end, so that the server can speak.
    private func open(capacity: Int = 1 << 20, to end: TunnelEnd? = nil) throws -> Sealed {
        let sealed = try sealed(capacity: capacity, to: end)
        sealed.channel.sendOutgoing()
        let last = sealed.arrived()
        var offset = 0
        let step = last.withUnsafeBytes { sealed.server.handshake($0, offset: &offset) }
        guard case .finished = step else { throw TLSError.closedDuringHandshake }
        return sealed
    }

    private func read(_ channel: SecureChannel, atMost limit: Int = 64 << 10) -> (SecureChannel.Input, [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: limit)
        let input = buffer.withUnsafeMutableBytes { channel.read(into: $0) }
        guard case .bytes(let count) = input else { return (input, []) }
        return (input, Array(buffer[..<count]))
    }

    private func write(_ channel: SecureChannel, _ first: [UInt8], _ second: [UInt8] = []) -> SecureChannel.Output {
        first.withUnsafeBytes { first in second.withUnsafeBytes { channel.write(first, $0) } }
    }

    @Test("The handshake's last message and the first request leave with one write, head and small body in one record")
    func firstWrite() throws {
        let sealed = try sealed()
        #expect(sealed.channel.hasOutgoing)
        let before = sealed.stream.writeCount
        guard case .bytes(12) = write(sealed.channel, Array("head ".utf8), Array("content".utf8)) else {
            Issue.record("not all of it was taken")
            return
        }
        #expect(sealed.stream.writeCount == before + 1 && !sealed.channel.hasOutgoing)
        let ciphertext = sealed.arrived()
        var offset = 0
        guard case .finished = ciphertext.withUnsafeBytes({ sealed.server.handshake($0, offset: &offset) }) else {
            Issue.record("the handshake is not over")
            return
        }
        let record = Array(ciphertext[offset...])
        #expect(record.count == 5 + Int(record[3]) << 8 + Int(record[4]), "one record")
        #expect(sealed.decrypted(record) == Array("head content".utf8))
    }

    @Test(
        "A head and a large body leave with one write, as does a chunk with its end; of more only a part is taken",
        arguments: [(20_000, 20_000), (65_538, 65_538), (200_000, 65_536)])
    func largeBody(_ count: Int, _ most: Int) throws {
        let sealed = try open()
        let (head, body) = ([UInt8]("head ".utf8), [UInt8](repeating: 1, count: count))
        let before = sealed.stream.writeCount
        guard case .bytes(let taken) = write(sealed.channel, head, body) else {
            Issue.record("nothing was taken")
            return
        }
        #expect(taken == head.count + most)
        #expect(sealed.stream.writeCount == before + 1 && !sealed.channel.hasOutgoing)
        #expect(firstDifference(sealed.decrypted(sealed.arrived()), head + body.prefix(most)) == nil)
    }

    @Test("Of a head that is longer than one write the body does not overtake the rest")
    func largeHead() throws {
        let sealed = try open()
        let (head, body) = ([UInt8](repeating: 1, count: 70_000), [UInt8](repeating: 2, count: 100))
        guard case .bytes(65_536) = write(sealed.channel, head, body) else {
            Issue.record("another part was taken")
            return
        }
        #expect(firstDifference(sealed.decrypted(sealed.arrived()), Array(head.prefix(65_536))) == nil)
    }

    @Test("TLS tickets are not read as bytes of the connection; the bytes behind them are")
    func tickets() throws {
        let sealed = try open()
        sealed.push()
        guard case (.bytes(0), _) = read(sealed.channel) else {
            Issue.record("a ticket passed for something else")
            return
        }
        #expect(!sealed.channel.holdsInput)
        try sealed.say([7])
        #expect(read(sealed.channel).1 == [7])
        guard case (.wouldBlock, _) = read(sealed.channel) else {
            Issue.record("there is more")
            return
        }
    }

    @Test("B3.87: a read costs its ciphertext, and each message of TLS itself as much as a read")
    func prices() throws {
        let sealed = try open()
        sealed.push()
        _ = read(sealed.channel)
        #expect(sealed.channel.readPrice == 2 * ReadingTurn.leastPrice, "two tickets")
        try sealed.say([7])
        _ = read(sealed.channel)
        #expect(sealed.channel.readPrice > 1 && sealed.channel.readPrice < 100)
        try sealed.say([UInt8](repeating: 7, count: 10_000))
        _ = read(sealed.channel)
        #expect(sealed.channel.readPrice > 10_000 && sealed.channel.readPrice < 10_100)
    }

    @Test("A small buffer gets a record piece by piece; the rest of it is reported, and comes without a system call")
    func smallBuffer() throws {
        let sealed = try open()
        let said = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        try sealed.say(said)
        var got: [UInt8] = []
        for _ in 0..<1_000 where got.count < said.count {
            let (input, bytes) = read(sealed.channel, atMost: 64)
            guard case .bytes = input else { break }
            got += bytes
        }
        #expect(got == said)
        #expect(!sealed.channel.holdsInput && !sealed.channel.hasPendingInput)
    }

    @Test("B3.11: an end that TLS announces is whole, and every later read tells it again; a cut is not whole")
    func ends() throws {
        let announced = try open()
        try announced.say([1])
        announced.server.close()
        announced.push()
        announced.far.shutdownWrite()
        #expect(read(announced.channel).1 == [1])
        #expect(announced.channel.holdsInput, "the end came behind it")
        for _ in 1...2 {
            guard case (.end(isWhole: true), _) = read(announced.channel) else {
                Issue.record("the end is not told")
                return
            }
        }
        let cut = try open()
        try cut.say([1])
        cut.far.shutdownWrite()
        #expect(read(cut.channel).1 == [1])
        guard case (.end(isWhole: false), _) = read(cut.channel) else {
            Issue.record("a cut passes for an end")
            return
        }
    }

    @Test("Bytes that are not TLS break the channel, and the peer is told by an alert")
    func broken() throws {
        let sealed = try open()
        _ = Array("HTTP/1.1 200 OK\r\n\r\n".utf8).withUnsafeBytes { sealed.far.write($0) }
        guard case (.broken, _) = read(sealed.channel) else {
            Issue.record("it passes for TLS")
            return
        }
        #expect(!sealed.arrived().isEmpty)
        guard case .broken = write(sealed.channel, [1]) else {
            Issue.record("it can still be written to")
            return
        }
    }

    @Test("Writing to a peer that does not read stops, and no more waits to be sent than one write has taken")
    func backPressure() throws {
        let sealed = try open(capacity: 10_000)
        let piece = [UInt8](repeating: 1, count: 200_000)
        var taken = 0
        for _ in 0..<100 {
            guard case .bytes(let count) = write(sealed.channel, piece) else { break }
            taken += count
        }
        #expect(taken <= 2 * 65_536)
        #expect(sealed.channel.tls?.outgoingCount ?? 0 < 70_000)
        var got: [UInt8] = []
        while sealed.channel.hasOutgoing {
            got += sealed.decrypted(sealed.arrived())
            sealed.channel.sendOutgoing()
        }
        got += sealed.decrypted(sealed.arrived())
        #expect(got.count == taken)
    }

    @Test("B6.42: streams on top of others pass on what the peer has not acknowledged, with what waits in them")
    func delivery() throws {
        let sealed = try open()
        let stream = TLSStream(sealed.channel)
        let prefixed = PrefixedStream([1], stream)
        #expect(prefixed.delivery() == nil)
        sealed.far.told = Delivery(unacknowledged: 7, age: .seconds(1))
        #expect(prefixed.delivery() == Delivery(unacknowledged: 7, age: .seconds(1)))
        let much = [UInt8](repeating: 1, count: 2 << 20)
        guard case .bytes = much.withUnsafeBytes({ stream.write($0) }), let tls = sealed.channel.tls else {
            Issue.record("nothing was taken")
            return
        }
        #expect(tls.outgoingCount > 0)
        #expect(prefixed.delivery() == Delivery(unacknowledged: 7 + tls.outgoingCount, age: .seconds(1)))
    }

    /// Counts how often it was told that it may write.
    private final class Writer: ByteStreamObserver {
        private(set) var timesTold = 0

        func streamBecameReadable(_ stream: any ByteStream) {}

        func streamBecameWritable(_ stream: any ByteStream) { timesTold += 1 }
    }

    private static let written: [UInt8] = [1, 2, 3]

    private func readSome(_ stream: TLSStream) -> IOResult {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        return buffer.withUnsafeMutableBytes { stream.read(into: $0) }
    }

    /// A stream to which the first record of a ticket has come, so that a write, or our end, waits for the rest of it.
    private func heldUp(isEnding: Bool) throws -> (Sealed, TLSStream, Writer, rest: [UInt8]) {
        let sealed = try open(to: TunnelEnd(dividesTickets: true))
        let (stream, writer) = (TLSStream(sealed.channel), Writer())
        stream.observer = writer
        let tickets = sealed.server.withOutgoing { Array($0) }
        sealed.server.outgoingSent(tickets.count)
        let first = 5 + Int(tickets[3]) << 8 + Int(tickets[4])
        #expect(tickets[..<first].withUnsafeBytes { sealed.far.write($0) } == .bytes(first))
        #expect(readSome(stream) == .wouldBlock)
        if isEnding {
            stream.shutdownWrite()
        } else {
            #expect(Self.written.withUnsafeBytes { stream.write($0) } == .wouldBlock)
        }
        return (sealed, stream, writer, Array(tickets[first...]))
    }

    @Test("A write, and our end, wait for the rest of a ticket of several records", arguments: [false, true])
    func dividedTicket(isEnding: Bool) throws {
        let (sealed, stream, writer, rest) = try heldUp(isEnding: isEnding)
        reactor.runPending()
        #expect(sealed.arrived().isEmpty && !sealed.stream.hasFinishedWriting && writer.timesTold == 0)
        #expect(rest.withUnsafeBytes { sealed.far.write($0) } == .bytes(rest.count))
        #expect(readSome(stream) == .wouldBlock)
        #expect(writer.timesTold == 0, "not from within the read")
        reactor.runPending()
        #expect(writer.timesTold == 1)
        if isEnding {
            #expect(sealed.stream.hasFinishedWriting && !sealed.arrived().isEmpty)
        } else {
            #expect(Self.written.withUnsafeBytes { stream.write($0) } == .bytes(3))
            #expect(sealed.decrypted(sealed.arrived()) == Self.written)
        }
        #expect(stream.outputFailure == nil)
    }

    @Test(
        "A write that waits for the rest of a ticket fails when the peer has ended, and so does our end",
        arguments: [false, true])
    func cutTicket(isEnding: Bool) throws {
        let (sealed, stream, writer, _) = try heldUp(isEnding: isEnding)
        sealed.far.shutdownWrite()
        #expect(readSome(stream) != .wouldBlock)
        reactor.runPending()
        #expect(writer.timesTold == 1 && stream.outputFailure != nil)
        if case .failed = Self.written.withUnsafeBytes({ stream.write($0) }) {
        } else if !isEnding {
            Issue.record("the write does not fail")
        }
    }

    @Test("Without TLS bytes pass as they are, in one write, and the end is whole")
    func plain() {
        let (stream, far) = MemoryStream.pair(on: reactor)
        let channel = SecureChannel(stream, buffers: LoopBuffers.of(reactor))
        guard case .bytes(3) = write(channel, [1], [2, 3]) else {
            Issue.record("not all of it was taken")
            return
        }
        #expect(stream.writeCount == 1 && channel.bytesSent == 3 && channel.acceptance == .plain)
        var buffer = [UInt8](repeating: 0, count: 8)
        #expect(buffer.withUnsafeMutableBytes { far.read(into: $0) } == .bytes(3))
        far.shutdownWrite()
        guard case (.end(isWhole: true), _) = read(channel) else {
            Issue.record("the end is not told")
            return
        }
        channel.close(politely: true)
        #expect(!stream.isOpen)
    }
}
