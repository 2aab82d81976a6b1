// A server for the length of a test.

/// Runs `body` with a server, and stops the server afterwards, whatever has come of it.
package func withServer<R>(
    _ options: LoopbackServer.Options = LoopbackServer.Options(), router: @escaping LoopbackServer.Router,
    _ body: (LoopbackServer) async throws -> R
) async throws -> R {
    let server = try LoopbackServer.start(options, router: router)
    do {
        let result = try await body(server)
        await server.stop()
        return result
    } catch {
        await server.stop()
        throw error
    }
}
