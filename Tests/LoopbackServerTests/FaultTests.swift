// The bad network for tests: what each fault does to bytes, however they come, and what both ends of a connection see.

import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport

@Suite struct FaultTests {
    private static let text = Array("0123456789abcdef".utf8)

    /// What came out of a line: bytes, and in brackets what happened between them.
    private static func transcript(_ faults: [Fault], _ pieces: [ArraySlice<UInt8>]) -> String {
        var line = FaultLine(faults)
        var text = ""
        func run() {
            while true {
                switch line.next() {
                case .send(let bytes): text += String(decoding: bytes, as: UTF8.self)
                case .pause(let duration): text += "(\(duration))"
                case .yield: text += "|"
                case .cut: text += "(cut)"
                case .halfClose: text += "(half)"
                case .reset: text += "(reset)"
                case .needMore: return
                }
            }
        }
        run()
        for piece in pieces {
            piece.withUnsafeBytes { line.take($0) }
            run()
        }
        return text
    }

    private static let vectors: [([Fault], String)] = [
        ([], "0123456789abcdef"),
        ([Fault(at: 3, .corrupt(1))], "0122456789abcdef"),
        ([Fault(at: 0, .corrupt(1)), Fault(at: 15, .corrupt(2))], "1123456789abcded"),
        ([Fault(at: 4, .duplicate(2))], "012323456789abcdef"),
        ([Fault(at: 2, .duplicate(9))], "010123456789abcdef"),
        ([Fault(at: 0, .duplicate(9))], "0123456789abcdef"),
        ([Fault(at: 16, .duplicate(1))], "0123456789abcdeff"),
        ([Fault(at: 4, .delay(.seconds(1)))], "0123(1.0 seconds)456789abcdef"),
        ([Fault(at: 16, .delay(.seconds(1)))], "0123456789abcdef"),
        ([Fault(at: 5, .cut)], "01234(cut)"),
        ([Fault(at: 0, .reset)], "(reset)"),
        ([Fault(at: 16, .halfClose)], "0123456789abcdef(half)"),
        ([Fault(at: 17, .cut)], "0123456789abcdef"),
        ([Fault(at: 6, .cut), Fault(at: 2, .corrupt(1))], "013345(cut)"),
        ([Fault(at: 2, .duplicate(2)), Fault(at: 2, .corrupt(1))], "010133456789abcdef"),
    ]

    @Test("What a fault does depends on the bytes before it, not on the pieces they come in", arguments: vectors)
    func everySplit(faults: [Fault], expected: String) {
        let bytes = Self.text
        #expect(Self.transcript(faults, [bytes[...]]) == expected)
        #expect(Self.transcript(faults, bytes.indices.map { bytes[$0...$0] }) == expected)
        for split in bytes.indices {
            #expect(Self.transcript(faults, [bytes[..<split], bytes[split...]]) == expected, "split at \(split)")
        }
    }

    @Test("Small writes and slow ones are of the size that was planned")
    func paces() {
        let split = [Fault(at: 2, .split(length: 5, piece: 2))]
        #expect(Self.transcript(split, [Self.text[...]]) == "0123|45|6|789abcdef")
        let throttle = [Fault(at: 8, .throttle(length: 100, piece: 4, pause: .seconds(2)))]
        #expect(
            Self.transcript(throttle, [Self.text[...]]) == "0123456789ab(2.0 seconds)cdef(2.0 seconds)")
    }

    @Test("Plans follow from their seed, another seed makes other plans, and every kind of fault comes up")
    func seeds() {
        func plans(_ seed: UInt64) -> [FaultPlan] {
            (1...500).map { number in
                var random = SeededRandom(seed: seed, of: number)
                return .random(of: Fault.Kind.allCases, using: &random)
            }
        }
        #expect(plans(1) == plans(1))
        #expect(plans(1) != plans(2))
        #expect(Set(plans(1)).count > 250)
        #expect(Set(plans(1).flatMap { $0.toClient + $0.toServer }.map(\.kind)) == Set(Fault.Kind.allCases))
        var random = SeededRandom(seed: 1)
        #expect(FaultPlan.random(of: [], using: &random) == FaultPlan())
    }

    /// A server that says twenty bytes on each connection, and a bad network in front of it.
    private func withNetwork(
        _ plan: FaultPlan, _ body: (FaultProxy, LoopbackServer, RawClient) async throws -> Void
    ) async throws {
        // One of the tests stops the server: no other listener may answer in its place.
        let place = try ReservedPort()
        let server = try LoopbackServer.start(LoopbackServer.Options(port: place.number)) { request in
            .script([.send(Array("answer to \(request.target)".utf8)), .close])
        }
        let proxy = try FaultProxy.start(before: server.port) { options in
            options.plan = { _ in plan }
            options.keptBytes = 1 << 20
        }
        try await body(proxy, server, RawClient(port: proxy.port))
        place.keep()
        await proxy.stop()
        await server.stop()
    }

    /// Sends a request and reads the answer; a reset before the first byte may be there before the request.
    private static func exchange(_ request: String, _ client: RawClient) throws -> (text: String, end: RawClient.End) {
        do {
            try client.send(request)
        } catch RawClient.ClientError.system("send", ECONNRESET) {
            return ("", .reset)
        }
        return try client.readToEnd()
    }

    private static let seen: [([Fault], String, RawClient.End)] = [
        ([], "answer to /request", .finished), ([Fault(at: 6, .cut)], "answer", .finished),
        ([Fault(at: 6, .halfClose)], "answer", .finished), ([Fault(at: 0, .cut)], "", .finished),
        ([Fault(at: 18, .reset)], "answer to /request", .reset), ([Fault(at: 0, .reset)], "", .reset),
        ([Fault(at: 0, .corrupt(0x20)), Fault(at: 3, .split(length: 9, piece: 1))], "Answer to /request", .finished),
        ([Fault(at: 9, .duplicate(2)), Fault(at: 11, .delay(.milliseconds(1)))], "answer toto /request", .finished),
        ([Fault(at: 1, .throttle(length: 5, piece: 2, pause: .milliseconds(1)))], "answer to /request", .finished),
    ]

    @Test("The client sees what was planned, and the books say what it was sent and why", arguments: seen)
    func toClient(faults: [Fault], text: String, end: RawClient.End) async throws {
        let start = ContinuousClock.now
        try await withNetwork(FaultPlan(toClient: faults)) { proxy, _, client in
            let seen = try Self.exchange("GET /request HTTP/1.1\r\nHost: x\r\n\r\n", client)
            #expect(seen.end == end)
            // What a reset overtakes is lost to the client, and not to the books.
            #expect(end == .reset ? text.hasPrefix(seen.text) : seen.text == text)
            let entry = try #require(proxy.books.entry(clientPort: client.localPort))
            #expect(String(decoding: entry.delivered, as: UTF8.self) == text)
            #expect(entry.isComplete)
            #expect(entry.toClient == faults)
            #expect(entry.toServer.isEmpty)
            #expect(proxy.books.counts == Dictionary(faults.map { ($0.kind, 1) }, uniquingKeysWith: +))
            #expect(proxy.books.connections == 1)
            #expect(proxy.books.wasHarmed(since: start) == faults.contains { !$0.kind.isHarmless })
            #expect(proxy.books.harms == faults.count { !$0.kind.isHarmless })
        }
    }

    @Test("The server sees what was planned")
    func toServer() async throws {
        let faults = [Fault(at: 6, .corrupt(0x20)), Fault(at: 10, .split(length: 30, piece: 3))]
        try await withNetwork(FaultPlan(toServer: faults)) { proxy, _, client in
            try client.send("GET /request HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readToEnd().text == "answer to /rEquest")
            #expect(proxy.books.entry(clientPort: client.localPort)?.toServer == faults)
        }
        try await withNetwork(FaultPlan(toServer: [Fault(at: 6, .halfClose)])) { _, server, client in
            try client.send("GET /request HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.readToEnd().text == "")
            #expect(server.stats.requests == 0)
        }
    }

    @Test("Ends pass through: a server's, a client's, and that of a server that is not there")
    func ends() async throws {
        try await withNetwork(FaultPlan()) { proxy, server, client in
            try client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
            client.finishSending()
            #expect(try client.readToEnd().text == "answer to /a")
            let another = try RawClient(port: proxy.port)
            await server.wait { $0.connectionsAccepted == 2 }
            another.finishSending()
            #expect(try another.readToEnd().end == .finished)
            await server.wait { $0.connectionsOpen == 0 }
            await server.stop()
            #expect(try RawClient(port: proxy.port).readToEnd().end == .reset)
        }
    }

    @Test("A large body passes whole under every harmless fault, and a client that does not read stops the sender")
    func largeBody() async throws {
        let server = try LoopbackServer.start { _ in .generated(length: 24 << 20, framing: .untilClose) }
        let proxy = try FaultProxy.start(before: server.port) { options in
            options.plan = { number in
                var random = SeededRandom(seed: 7, of: number)
                return .random(of: Fault.Kind.allCases.filter(\.isHarmless), percentUntouched: 0, using: &random)
            }
        }
        for _ in 0..<3 {
            let client = try RawClient(port: proxy.port, receiveBuffer: 64 << 10)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try client.read(through: "\r\n\r\n")
            await server.wait { $0.blockedWriters == 1 }
            let body = try client.read(count: 24 << 20)
            #expect(body.count == 24 << 20)
            #expect(body.withUnsafeBytes { GeneratedBytes.matches($0, at: 0) })
        }
        #expect(proxy.books.harms == 0)
        #expect(!proxy.books.counts.isEmpty)
        await proxy.stop()
        await server.stop()
    }
}
