// A server for one test, stopped whatever comes of it.

import LoopbackServer

/// Runs a test against a server that answers so.
func serving(
    _ router: @escaping LoopbackServer.Router, _ body: (LoopbackServer) async throws -> Void
) async throws {
    let server = try LoopbackServer.start(router: router)
    do {
        try await body(server)
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}
