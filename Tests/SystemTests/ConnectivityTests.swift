// What the kernel says about the machine's network, and which monitors hear of it.

import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Connectivity")
struct ConnectivityTests {
    /// One message: length, type, flags, sequence number, port, and so many bytes of payload.
    private static func message(_ type: UInt16, payload: Int = 12, length: UInt32? = nil) -> [UInt8] {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value) { Array($0) } }
        let size = length ?? UInt32(16 + payload)
        return bytes(size) + bytes(type) + bytes(UInt16(0)) + bytes(UInt32(7)) + bytes(UInt32(0))
            + [UInt8](repeating: 0, count: (payload + 3) & ~3)
    }

    private static func changes(_ bytes: [UInt8]) -> NetworkChanges {
        bytes.withUnsafeBytes { NetlinkMessages.changes(in: $0) }
    }

    @Test(
        "Each message of a routing socket tells what changed",
        arguments: [
            (16, "appeared"), (17, "vanished"), (20, "appeared"), (21, "vanished"), (24, "appeared"),
            (25, "vanished"), (28, ""), (2, "unknown"), (3, ""), (4, "unknown"), (65535, ""),
        ] as [(UInt16, String)])
    func types(type: UInt16, expected: String) {
        #expect(Self.changes(Self.message(type)).description == expected)
    }

    @Test("Several messages in one datagram, odd lengths and the last one unpadded")
    func several() {
        let joined = Self.message(17, payload: 5) + Self.message(20, payload: 3)
        #expect(Self.changes(joined) == [.vanished, .appeared])
        #expect(Self.changes(Array(joined.dropLast())) == [.vanished, .appeared])
        #expect(Self.changes([]) == [])
        #expect(Self.changes(Self.message(17)).mayHaveOpenedAWay == false)
        #expect(Self.changes(joined).mayHaveOpenedAWay)
    }

    @Test(
        "Impossible lengths crash nothing: they mean that anything may have changed",
        arguments: [0, 1, 15, 29, 4096, UInt32.max])
    func badLengths(length: UInt32) {
        #expect(Self.changes(Self.message(17, length: length)) == .unknown)
    }

    @Test("A datagram cut anywhere is read as far as it goes")
    func cuts() {
        let whole = Self.message(17, payload: 0) + Self.message(20, payload: 0)
        for end in 1..<whole.count where end != 16 {
            #expect(Self.changes(Array(whole[..<end])).contains(.unknown), "\(end)")
        }
        #expect(Self.changes(Array(whole[..<16])) == .vanished)
    }

    @Test(
        "B16.84: an address of this machine is not missed, one of another machine is",
        arguments: [
            ("127.0.0.1", false), ("127.9.9.9", false), ("::1", false), ("203.0.113.1", true), ("2001:db8::1", true),
        ])
    func lacks(literal: String, isLacking: Bool) throws {
        let address = try #require(SocketAddress(literal: literal, port: 80))
        #expect(NetworkPresence.lacks(address) == isLacking)
    }

    @Test(
        "A real address that appears is told at once",
        .enabled(if: NetworkNamespace.isAllowed, "needs the right to make a network namespace"))
    func realChange() async throws {
        let loops = LoopGroup(count: 1, name: "namespace")
        let loop = loops.next()
        let told = await withHandover { (continuation: Handover<Bool, Never>) in
            loop.run { reactor in
                // The loop's thread moves to a namespace of its own; everything else stays where it is.
                guard NetworkNamespace.enter() else { return continuation.resume(returning: false) }
                let monitor = SystemConnectivityMonitor(reactor: reactor)
                reactor.hold(monitor)
                monitor.start {
                    monitor.stop()
                    reactor.release(monitor)
                    continuation.resume(returning: true)
                }
                #expect(monitor.isTold)
                #expect(NetworkNamespace.bringLoopbackUp())
            }
        }
        #expect(told)
        loops.stop()
    }
}
