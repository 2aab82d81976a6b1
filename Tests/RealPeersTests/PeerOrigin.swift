// What stands behind the servers that pass requests on: our own server, over HTTP/1.1, which sees what came of requests
// and answers when a test wants it to.

import URLLoadingLoopbackServer
import URLLoadingWire

/// An origin.
struct PeerOrigin: Sendable {
    static let hello = "Hello from behind.\n"
    /// What `/trailers` has behind its body.
    static let trailer = (name: "X-After", value: "body")

    let server: LoopbackServer
    /// What `/held` waits for.
    let gate: ServerGate

    init() throws {
        let gate = ServerGate()
        self.gate = gate
        var options = LoopbackServer.Options()
        // What stands before it speaks HTTP/1.1 with its origins.
        options.http2 = .off
        var trailers = Fields()
        trailers.append(Self.trailer.name, Self.trailer.value)
        server = try LoopbackServer.start(options) { [trailers] request in
            switch request.path {
            case "/hello": .text(Self.hello)
            case "/echo": .echo(request)
            case "/held": .slow([ServerResponse.Piece("let go", when: gate)])
            case "/cut":
                .script([.lines("HTTP/1.1 200 OK\nContent-Length: 4096\n\n"), .sendGenerated(length: 512), .close])
            case "/trailers":
                .chunks([Array(Self.hello.utf8)], trailers: trailers)
            default: .status(404)
            }
        }
    }
}
