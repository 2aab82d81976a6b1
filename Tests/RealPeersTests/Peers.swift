// The servers of other people that the tests talk to, each configured here and started with its own files in a
// directory of its own. Where a program is not installed its tests are reported as skipped.

import Foundation
import LoopbackServer

/// Which programs there are.
enum Peers {
    static let nginx = PeerProcess.find("nginx")
    static let openssl = PeerProcess.find("openssl")
    static let python = PeerProcess.find("python3")
}

/// A directory that is removed with its owner, with a certificate for 127.0.0.1 and peers.test in it.
final class PeerDirectory: Sendable {
    let path: String
    let anchor: String

    init() throws {
        path = NSTemporaryDirectory() + "peers-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path + "/www", withIntermediateDirectories: true)
        let (root, identity) = try CertificateFactory.server("127.0.0.1", "peers.test")
        anchor = root.pem
        try write(identity.certificatePEM, to: "certificate.pem")
        try write(identity.keyPEM, to: "key.pem")
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }
}

/// Ports that nobody listens on now.
func freePorts(_ count: Int) throws -> [Int] {
    // All are held before the first is given back: no port comes twice.
    try (0..<count).map { _ in try LoopbackServer.start { _ in .status(404) } }.map(\.port)
}

/// nginx with three servers: plain HTTP, TLS 1.2 only, and TLS 1.3 only; its access log comes on its output.
final class Nginx: Sendable {
    let directory: PeerDirectory
    let plain: Int
    let tls12: Int
    let tls13: Int
    private let process: PeerProcess

    init() async throws {
        guard let program = Peers.nginx else { throw PeerProcess.StartFailure(description: "nginx is not installed") }
        directory = try PeerDirectory()
        let ports = try freePorts(3)
        (plain, tls12, tls13) = (ports[0], ports[1], ports[2])
        try directory.write("Hello from nginx.\n", to: "www/hello")
        try directory.write(String(repeating: "the same again, ", count: 4096), to: "www/long.txt")
        try directory.write(configuration, to: "nginx.conf")
        process = try PeerProcess(
            program, ["-e", "stderr", "-p", directory.path, "-c", "nginx.conf"], directory: directory.path)
        // Printed when the sockets are bound and the loop is about to run.
        try await process.line(containing: "using the \"epoll\" event method")
    }

    func url(_ scheme: String, _ port: Int, _ path: String) throws -> URL {
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
        return url
    }

    /// The first entries of the access log, once there are so many.
    func log(_ count: Int) async throws -> [String] {
        try await process.lines(count, containing: "entry ")
    }

    private var configuration: String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr notice;
        events { worker_connections 64; }
        http {
            log_format peers 'entry $request_uri connection=$connection request=$connection_requests '
                'tls=$ssl_protocol reused=$ssl_session_reused status=$status sent=$sent_http_content_encoding';
            access_log /dev/stdout peers;
            client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            default_type text/plain;
            types { text/plain txt; }
            gzip on;
            gzip_min_length 100;
            root www;
            ssl_certificate certificate.pem;
            ssl_certificate_key key.pem;
            ssl_session_cache shared:peers:1m;
            \(servers)
        }
        """
    }

    private var servers: String {
        [(plain, "", ""), (tls12, " ssl", "TLSv1.2"), (tls13, " ssl", "TLSv1.3")].map { port, ssl, version in
            """
            server {
                listen 127.0.0.1:\(port)\(ssl);
                \(version.isEmpty ? "" : "ssl_protocols \(version);")
                location /closing/ { alias www/; keepalive_timeout 0; }
            }
            """
        }.joined(separator: "\n")
    }
}

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
        process = try PeerProcess(
            program,
            [
                "s_server", "-accept", "127.0.0.1:0", "-www", version, "-cert", "certificate.pem",
                "-cert_chain", "certificate.pem", "-key", "key.pem",
            ], directory: directory.path)
        let line = try await process.line(containing: "ACCEPT ")
        port = line.split(separator: ":").last.flatMap { Int($0) } ?? 0
    }
}

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
            program, ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", "www"],
            directory: directory.path)
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
