// What the demo's server answers: to the demo itself, and to the programs in Examples.

import URLLoadingLoopbackServer
import URLLoadingWire

/// The routes.
enum Site {
    /// Answers one request.
    @Sendable
    static func answer(_ request: ServerRequest) -> ServerResponse {
        switch request.path {
        case "/", "/hello": .text("Hello!\n")
        case "/slow": .slow([.init("Here ", after: .milliseconds(5)), .init("it is.\n", after: .milliseconds(5))])
        case "/people" where request.method == "POST": .echo(request)
        case "/people": .bytes(Array(people.utf8), type: "application/json")
        case "/uploads": .text("\(request.bodyByteCount) bytes")
        case "/large": .generated(length: 256 << 20, tag: "\"large-1\"", to: request)
        case "/events": events
        case "/echo": .webSocket()
        case let path where path.hasPrefix("/pages/"): page(path.dropFirst("/pages/".count))
        default: .text("There is nothing here.\n", status: 404)
        }
    }

    private static let people = #"[{"name":"Ada","born":1815},{"name":"Emmy","born":1882}]"#

    private static var events: ServerResponse {
        let pieces = (1...3).map { ServerResponse.Piece("data: \($0)\n\n", after: .milliseconds(20)) }
        return .slow(pieces, framing: .chunked).adding("Content-Type", "text/event-stream")
    }

    /// Each of a hundred pages leads to the two with twice its number, as in a heap.
    private static func page(_ name: Substring) -> ServerResponse {
        guard let number = Int(name), (0..<100).contains(number) else { return .text("no such page\n", status: 404) }
        let next = [2 * number + 1, 2 * number + 2].filter { $0 < 100 }
        let links = next.map { "<a href=\"/pages/\($0)\">\($0)</a>" }.joined(separator: " ")
        return .bytes(Array("<html><body>\(number) \(links)</body></html>".utf8), type: "text/html")
    }
}
