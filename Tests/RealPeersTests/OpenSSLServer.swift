// `openssl s_server` as a peer: OpenSSL's own view of a connection, on a page.

/// `openssl s_server`, which answers every GET with a page about the connection and then closes it.
final class OpenSSLServer: Sendable {
    let directory: PeerDirectory
    let port: Int
    private let process: PeerProcess

    init(_ version: String) async throws {
        guard let program = Peers.openssl else {
            throw PeerProcess.StartFailure(description: "openssl is not installed")
        }
        directory = try PeerDirectory()
        let (certificate, key) = ("\(directory.path)/certificate.pem", "\(directory.path)/key.pem")
        process = try PeerProcess(
            program,
            [
                "s_server", "-accept", "127.0.0.1:0", "-www", version, "-cert", certificate,
                "-cert_chain", certificate, "-key", key,
            ])
        let line = try await process.line(containing: "ACCEPT ")
        port = line.split(separator: ":").last.flatMap { Int($0) } ?? 0
    }
}
