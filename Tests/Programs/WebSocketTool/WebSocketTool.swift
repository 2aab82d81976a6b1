// Many web sockets in one process: what each of them costs in memory, whether each carries its message, and whether all
// of them end as they should and leave nothing behind. The server is a process of its own.

import Foundation
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Opens a crowd of web sockets, or serves one.
enum WebSocketTool {
    static func run(_ words: [String]) async throws {
        switch (words.first, words.count, words.last.flatMap { Int($0) }) {
        case ("many", 2, let count?) where count > 0:
            raiseDescriptorLimit()
            exit(try await Crowd(count).run() ? 0 : 1)
        case ("serve", 1, _):
            raiseDescriptorLimit()
            try serve()
        default:
            print("usage: websocket many COUNT")
            exit(64)
        }
    }

    /// Echoes; tells its port, and for every line of input what it has seen.
    private static func serve() throws {
        var options = LoopbackServer.Options()
        options.backlog = 4096
        let server = try LoopbackServer.start(options) { _ in .webSocket() }
        say("\(server.port)")
        while readLine() != nil {
            let stats = server.stats
            say(
                "\(stats.webSockets) \(stats.webSocketsOpen) \(stats.webSocketMessages) \(stats.webSocketsClosed) "
                    + "\(ProcessCounts.now().residentBytes)")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// As many as the system allows.
    private static func raiseDescriptorLimit() {
        let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(descriptors, &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(descriptors, &limit)
    }
}
