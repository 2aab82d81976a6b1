// How servers begin and end, their threads included.

import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("LoopbackServer's life", .timeLimit(.minutes(1)))
struct ServerLifeTests {
    @Test("A server that was stopped has no connections to close, and says so")
    func stoppedServer() async throws {
        let server = try LoopbackServer.start { _ in .text("never") }
        await server.stop()
        await server.closeConnections()
        #expect(server.stats.connectionsOpen == 0)
    }

    @Test("A server that cannot start leaves nothing behind")
    func failedStart() async {
        // In a process of its own, where no other test opens descriptors.
        await #expect(processExitsWith: .success) {
            func start() {
                #expect(throws: LoopbackServer.StartError.self) {
                    try LoopbackServer.start(.init(unixPath: "/nowhere/at/all")) { _ in .text("never") }
                }
            }
            start()
            let before = ProcessCounts.now().descriptors
            start()
            #expect(ProcessCounts.now().descriptors <= before)
        }
    }

    @Test(
        "A server can be stopped where the system starts no thread that could wait for the server's",
        .enabled(if: FullAddressSpace.isPossible))
    func stoppedWithoutThreads() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer.start { _ in .text("never") }
            let space = FullAddressSpace()
            await server.stop()
            space.release()
            try await until { ProcessCounts.threads(named: "loopback") == 0 }
        }
    }

    @Test("The thread of a server whose last reference goes on that thread ends, too")
    func lastReferenceOnLoop() async {
        // In a process of its own, where no other server has a thread.
        await #expect(processExitsWith: .success) {
            let holder = Guarded<LoopbackServer?>(nil)
            holder.value = try LoopbackServer.start { _ in
                holder.value = nil
                return .text("last")
            }
            let port = try #require(holder.value?.port)
            let client = try RawClient(port: port)
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readToEnd().text.hasSuffix("last"))
            try await until { ProcessCounts.threads(named: "loopback") == 0 }
            // The thread that waits for the server's, which one cannot do for itself, has done so, too.
            try await until { BlockingPool.shared.idleCount == BlockingPool.shared.threadCount }
        }
    }
}
