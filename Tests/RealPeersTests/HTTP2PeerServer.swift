// Servers of HTTP/2 as peers, each configured here: TLS on a free port of loopback, what is asked for passed on
// to an origin, and a long patience with connections on which nothing happens. docs/behaviour/http2.md says of
// which versions they are.

import Foundation
import URLLoading

/// A server of HTTP/2 that runs.
final class HTTP2PeerServer: Sendable {
    let directory: PeerDirectory
    let port: Int
    /// The one that clients talk to.
    let process: PeerProcess
    /// What stands behind it.
    private let backing: PeerProcess?
    /// Through what it is reached.
    private let proxy: ProxyPeer?

    private init(
        _ directory: PeerDirectory, _ port: Int, _ process: PeerProcess, before backing: PeerProcess? = nil,
        through proxy: ProxyPeer? = nil
    ) {
        self.directory = directory
        self.port = port
        self.process = process
        self.backing = backing
        self.proxy = proxy
    }

    /// Starts a server in front of the origin.
    static func start(_ peer: HTTP2Peer, before origin: PeerOrigin) async throws -> HTTP2PeerServer {
        let directory = try PeerDirectory()
        let port = try freePorts(1)[0]
        let originPort = origin.server.port
        switch peer {
        case .nginx: return try await nginx(directory, port, originPort)
        case .apache: return try await apache(directory, port, originPort)
        case .h2o: return try await h2o(directory, port, originPort)
        case .haproxy: return try await haproxy(directory, port, "127.0.0.1:\(originPort)")
        case .nghttpd:
            let process = try await nghttpd(directory, port, isSecure: true)
            return HTTP2PeerServer(directory, port, process)
        case .nghttpdBehindHAProxy:
            let backingPort = try freePorts(1)[0]
            let backing = try await nghttpd(directory, backingPort, isSecure: false)
            return try await haproxy(directory, port, "127.0.0.1:\(backingPort) proto h2", backing)
        case .nginxThroughTinyproxy: return try await nginx(directory, port, originPort, through: .tinyproxy())
        case .h2oThroughSquid: return try await h2o(directory, port, originPort, through: .squid())
        }
    }

    /// An nginx whose configuration can be read again, by new workers, while the old ones end what they have.
    static func reloadableNginx(before origin: PeerOrigin) async throws -> HTTP2PeerServer {
        try await nginx(PeerDirectory(), freePorts(1)[0], origin.server.port, isReloadable: true)
    }

    func url(_ path: String) throws -> URL {
        guard let url = URL(string: "https://127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
        return url
    }

    /// A session that trusts the server, and goes the way to it.
    func session() throws -> URLSession {
        let configuration = URLSessionConfiguration.uncached
        configuration.serverTrustEvaluation = .anchors(pem: directory.anchor)
        configuration.http2 = .offered
        if let proxy {
            configuration.proxyConfigurations = [ProxyConfiguration(url: "http://127.0.0.1:\(proxy.port)")].compactMap(
                \.self)
        }
        return URLSession(configuration: configuration)
    }

    // MARK: One by one

    private static func program(_ path: String?, _ name: String) throws -> String {
        guard let path else { throw PeerProcess.StartFailure(description: "\(name) is not installed") }
        return path
    }

    private static func nginx(
        _ directory: PeerDirectory, _ port: Int, _ origin: Int, through proxy: ProxyPeer? = nil,
        isReloadable: Bool = false
    ) async throws -> HTTP2PeerServer {
        let path = directory.path
        try directory.write(
            """
            daemon off;
            master_process \(isReloadable ? "on" : "off");
            \(geteuid() == 0 ? "user root;" : "")
            worker_processes 1;
            pid nginx.pid;
            error_log stderr notice;
            events { worker_connections 1024; }
            http {
                log_format peers 'entry $request_uri connection=$connection status=$status';
                access_log /dev/stdout peers;
                client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
                uwsgi_temp_path uwsgi; scgi_temp_path scgi;
                client_max_body_size 100m;
                keepalive_timeout 300s;
                ssl_certificate \(path)/certificate.pem;
                ssl_certificate_key \(path)/key.pem;
                upstream origin { server 127.0.0.1:\(origin); keepalive 32; }
                server {
                    listen 127.0.0.1:\(port) ssl http2;
                    location = /number { return 200 $arg_n; }
                    location / {
                        proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
                        proxy_request_buffering off; proxy_buffering off;
                    }
                }
            }

            """, to: "nginx.conf")
        // The master ends its workers before it ends; no other process would.
        let process = try PeerProcess(
            program(Peers.nginx, "nginx"), ["-e", "stderr", "-p", path, "-c", "\(path)/nginx.conf"],
            endedBy: isReloadable ? SIGTERM : SIGKILL)
        // Printed when the sockets are bound and the loop is about to run.
        try await process.line(containing: "using the \"epoll\" event method")
        return HTTP2PeerServer(directory, port, process, through: proxy)
    }

    private static func apache(_ directory: PeerDirectory, _ port: Int, _ origin: Int) async throws -> HTTP2PeerServer {
        let process = try await PeerProcess.apache(
            program(Peers.apache, "apache2"), in: directory, on: port,
            modules: ["mpm_event", "authz_core", "ssl", "http2", "proxy", "proxy_http"],
            """
            Protocols h2 http/1.1
            H2MaxWorkers 128
            KeepAliveTimeout 300
            SSLEngine on
            SSLCertificateFile \(directory.path)/certificate.pem
            SSLCertificateKeyFile \(directory.path)/key.pem
            ProxyPass / http://127.0.0.1:\(origin)/

            """)
        return HTTP2PeerServer(directory, port, process)
    }

    private static func h2o(
        _ directory: PeerDirectory, _ port: Int, _ origin: Int, through proxy: ProxyPeer? = nil
    ) async throws -> HTTP2PeerServer {
        let path = directory.path
        try directory.write(
            """
            \(geteuid() == 0 ? "user: root" : "")
            num-threads: 1
            http2-idle-timeout: 300
            listen:
              host: 127.0.0.1
              port: \(port)
              ssl:
                certificate-file: \(path)/certificate.pem
                key-file: \(path)/key.pem
            error-log: /dev/stderr
            hosts:
              default:
                paths:
                  "/":
                    proxy.reverse.url: "http://127.0.0.1:\(origin)/"

            """, to: "h2o.yaml")
        let process = try PeerProcess(program(Peers.h2o, "h2o"), ["-c", "\(path)/h2o.yaml"])
        try await process.listens(on: port)
        return HTTP2PeerServer(directory, port, process, through: proxy)
    }

    /// `backing` is the server that it stands in front of, with how it is talked to.
    private static func haproxy(
        _ directory: PeerDirectory, _ port: Int, _ server: String, _ backing: PeerProcess? = nil
    ) async throws -> HTTP2PeerServer {
        let path = directory.path
        let both = try ["certificate.pem", "key.pem"]
            .map { try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8) }.joined()
        try directory.writeSecret(both, to: "both.pem")
        try directory.write(
            """
            defaults
                mode http
                timeout client 300s
                timeout server 300s
                timeout connect 60s
            frontend ours
                bind 127.0.0.1:\(port) ssl crt \(path)/both.pem alpn h2,http/1.1
                default_backend theirs
            backend theirs
                server origin \(server)

            """, to: "haproxy.cfg")
        let process = try PeerProcess(program(Peers.haproxy, "haproxy"), ["-db", "-f", "\(path)/haproxy.cfg"])
        try await process.listens(on: port)
        return HTTP2PeerServer(directory, port, process, before: backing)
    }

    private static func nghttpd(_ directory: PeerDirectory, _ port: Int, isSecure: Bool) async throws -> PeerProcess {
        let path = directory.path
        try directory.write(PeerOrigin.hello, to: "www/hello")
        let trailer = "\(PeerOrigin.trailer.name.lowercased()): \(PeerOrigin.trailer.value)"
        let options = ["-v", "-a", "127.0.0.1", "-d", "\(path)/www", "--echo-upload", "--trailer", trailer]
        let process = try PeerProcess(
            program(Peers.nghttpd, "nghttpd"),
            options
                + (isSecure ? ["\(port)", "\(path)/key.pem", "\(path)/certificate.pem"] : ["--no-tls", "\(port)"]))
        try await process.listens(on: port)
        return process
    }
}
