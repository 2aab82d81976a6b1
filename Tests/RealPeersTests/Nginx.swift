// nginx as a peer, configured here: in one process, in the foreground, with its logs on its output.

import Foundation

/// nginx with six servers: plain HTTP, TLS 1.2 only, and TLS 1.3 only, both also for clients with a certificate, and
/// one that speaks HTTP/2; its access log comes on its output.
final class Nginx: Sendable {
    let directory: PeerDirectory
    let plain: Int
    let tls12: Int
    let tls13: Int
    /// TLS 1.2 and TLS 1.3 for clients with a certificate; `/who` is answered with the name in the certificate.
    let forClients: [Int]
    /// TLS 1.2 and 1.3, HTTP/2 and HTTP/1.1.
    let http2: Int
    private let process: PeerProcess

    init() async throws {
        guard let program = Peers.nginx else { throw PeerProcess.StartFailure(description: "nginx is not installed") }
        directory = try PeerDirectory()
        let ports = try freePorts(6)
        (plain, tls12, tls13) = (ports[0], ports[1], ports[2])
        forClients = [ports[3], ports[4]]
        http2 = ports[5]
        try directory.write("Hello from nginx.\n", to: "www/hello")
        try directory.write(String(repeating: "the same again, ", count: 4096), to: "www/long.txt")
        // The MD5 of the password, as crypt(5) has it; nginx knows no Digest.
        try directory.write("user:$1$saltsalt$9xy1btjgzLYfb7hivXtC//\n", to: "passwords")
        try directory.write(Self.configuration(in: directory.path, ports), to: "nginx.conf")
        process = try PeerProcess(
            program, ["-e", "stderr", "-p", directory.path, "-c", "\(directory.path)/nginx.conf"])
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

    private static func configuration(in path: String, _ ports: [Int]) -> String {
        """
        daemon off;
        master_process off;
        pid nginx.pid;
        error_log stderr notice;
        events { worker_connections 64; }
        http {
            log_format peers 'entry $request_uri protocol=$server_protocol connection=$connection request=$connection_requests '
                'tls=$ssl_protocol reused=$ssl_session_reused status=$status user=$remote_user sent=$sent_http_content_encoding';
            access_log /dev/stdout peers;
            client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi; scgi_temp_path scgi;
            default_type text/plain;
            types { text/plain txt; }
            client_max_body_size 100m;
            gzip on;
            gzip_types text/plain;
            gzip_min_length 100;
            root \(path)/www;
            ssl_certificate \(path)/certificate.pem;
            ssl_certificate_key \(path)/key.pem;
            ssl_session_cache shared:peers:1m;
            \(servers(in: path, ports))
        }
        """
    }

    private static func servers(in path: String, _ ports: [Int]) -> String {
        zip(ports, ["", "TLSv1.2", "TLSv1.3", "TLSv1.2", "TLSv1.3", "TLSv1.2 TLSv1.3"]).enumerated().map {
            index, server in
            let (port, version) = server
            return """
                server {
                    listen 127.0.0.1:\(port)\(version.isEmpty ? "" : " ssl")\(index == 5 ? " http2" : "");
                    \(version.isEmpty ? "" : "ssl_protocols \(version);")
                    \(index < 3 || index == 5 ? "" : "ssl_client_certificate \(path)/clients.pem; ssl_verify_client on;")
                    location = /who { return 200 "$ssl_client_s_dn"; }
                    location /basic/ {
                        auth_basic "files"; auth_basic_user_file \(path)/passwords; alias \(path)/www/;
                    }
                    location = /moved { return 302 /hello; }
                    location = /fields { add_header X-One 1; add_header X-Two "a, b"; return 200 "$request_method $http_x_test"; }
                    # Slow enough for a download to be stopped before its end, on a busy machine too; its rest comes at once.
                    location = /large { if ($http_range = "") { set $limit_rate 1m; } }
                    location = /teapot { return 418 "short and stout"; }
                    location /closing/ { alias \(path)/www/; keepalive_timeout 0; }
                }
                """
        }.joined(separator: "\n")
    }
}
