// A server of HTTP/2 whose first connection follows a script.

import URLLoadingLoopbackServer

/// Runs a server for the length of `body`; further connections are answered as ever.
func withScript<R>(
    _ script: HTTP2Script? = nil, _ record: HTTP2Record? = nil,
    router: @escaping LoopbackServer.Router = { _ in .text("fine") },
    _ body: (LoopbackServer) async throws -> R
) async throws -> R {
    var options = LoopbackServer.Options()
    options.http2 = .required
    options.http2.record = record
    if let script { options.http2.script = { $0 == 1 ? script : nil } }
    return try await withServer(options, router: router, body)
}
