// Caddy as a peer: the one server here that compresses with Zstandard, by an encoder of its own, not by the library
// that we decode with.

/// Caddy over a directory, which compresses what is long enough with Zstandard; plain HTTP.
final class Caddy: Sendable {
    let directory: PeerDirectory
    let port: Int
    private let process: PeerProcess

    init() async throws {
        guard let program = Peers.caddy else { throw PeerProcess.StartFailure(description: "caddy is not installed") }
        directory = try PeerDirectory()
        port = try freePorts(1)[0]
        try directory.write(String(repeating: "the same again, ", count: 4096), to: "www/long.txt")
        try directory.write(Self.settings(in: directory.path, port), to: "Caddyfile")
        // Its own folders are ours, too.
        process = try PeerProcess(
            "/usr/bin/env",
            [
                "HOME=\(directory.path)", program, "run", "--adapter", "caddyfile", "--config",
                "\(directory.path)/Caddyfile",
            ])
        try await process.line(containing: "serving initial configuration")
    }

    private static func settings(in path: String, _ port: Int) -> String {
        """
        {
            admin off
            auto_https off
        }
        http://127.0.0.1:\(port) {
            bind 127.0.0.1
            root * \(path)/www
            encode zstd
            file_server
        }

        """
    }
}
