// How servers begin and end, their threads included.

import Testing
import URLLoadingLoopbackServer

@Suite("LoopbackServer's life", .timeLimit(.minutes(1)))
struct ServerLifeTests {
    @Test("A server that was stopped has no connections to close, and says so")
    func stoppedServer() async throws {
        let server = try LoopbackServer.start { _ in .text("never") }
        await server.stop()
        await server.closeConnections()
        #expect(server.stats.connectionsOpen == 0)
    }
}
