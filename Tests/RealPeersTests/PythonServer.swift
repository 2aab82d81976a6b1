// Python's http.server as a peer: HTTP/1.0, one connection for each request.

/// Python's http.server over a directory.
final class PythonServer: Sendable {
    let directory: PeerDirectory
    let port: Int
    private let process: PeerProcess

    init() async throws {
        guard let program = Peers.python else {
            throw PeerProcess.StartFailure(description: "python3 is not installed")
        }
        directory = try PeerDirectory()
        try directory.write("Hello from Python.\n", to: "www/hello.txt")
        process = try PeerProcess(
            program, ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", "\(directory.path)/www"])
        // "Serving HTTP on 127.0.0.1 port 43211 (http://127.0.0.1:43211/) ..."
        let words = try await process.line(containing: "Serving HTTP on").split(separator: " ")
        let number = words.firstIndex(of: "port").flatMap { words.dropFirst($0 + 1).first }
        port = number.flatMap { Int($0) } ?? 0
    }

    /// The first lines of the log about requests, once there are so many.
    func log(_ count: Int) async throws -> [String] {
        try await process.lines(count, containing: "HTTP/1.")
    }
}
