// `openssl s_server` as a peer: OpenSSL's own view of a connection, on a page or in what it prints.

/// `openssl s_server`, which answers every GET with a page about the connection and then closes it, or does what
/// another mode of it says.
final class OpenSSLServer: Sendable {
    let directory: PeerDirectory
    let port: Int
    private let process: PeerProcess

    /// A server that speaks this version, given as an option, perhaps with other options, and perhaps insists on a
    /// client's certificate.
    init(
        _ version: String, _ others: String..., mode: String = "-www", forClients: Bool = false
    ) async throws {
        guard let program = Peers.openssl else {
            throw PeerProcess.StartFailure(description: "openssl is not installed")
        }
        directory = try PeerDirectory()
        let (certificate, key) = ("\(directory.path)/certificate.pem", "\(directory.path)/key.pem")
        let options = [
            "s_server", "-accept", "127.0.0.1:0", mode, version, "-cert", certificate, "-cert_chain", certificate,
            "-key", key,
        ]
        let asking = ["-Verify", "2", "-verify_return_error", "-CAfile", "\(directory.path)/clients.pem"]
        process = try PeerProcess(program, options + others + (forClients ? asking : []))
        let line = try await process.line(containing: "ACCEPT ")
        port = line.split(separator: ":").last.flatMap { Int($0) } ?? 0
    }

    /// Waits until it has printed a line with this text.
    func printed(_ text: String) async throws {
        try await process.line(containing: text)
    }
}
