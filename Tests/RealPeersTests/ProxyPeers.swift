// Proxies as peers, each configured here for loopback and a free port: squid and tinyproxy for HTTP, Dante, OpenSSH and
// microsocks for SOCKS. The account that they know, where they are told to ask, is "user" with the password "secret".

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// A proxy of another project that runs.
final class ProxyPeer: Sendable {
    let port: Int
    let directory: PeerDirectory
    private let process: PeerProcess

    private init(_ port: Int, _ directory: PeerDirectory, _ process: PeerProcess) {
        self.port = port
        self.directory = directory
        self.process = process
    }

    /// Ends the program.
    func end() { process.end() }

    private static func found(_ program: String?, _ name: String) throws -> String {
        guard let program else { throw PeerProcess.StartFailure(description: "\(name) is not installed") }
        return program
    }

    // MARK: HTTP

    /// How a proxy asks for a name and a password.
    enum Authentication: Sendable, CaseIterable {
        case none
        case basic
        case digest
    }

    /// squid, which says "peers.test" in Via.
    static func squid(_ authentication: Authentication = .none) async throws -> ProxyPeer {
        let program = try found(Peers.squid, "squid")
        let directory = try PeerDirectory()
        let port = try freePorts(1)[0]
        try directory.write("user:$1$saltsalt$9xy1btjgzLYfb7hivXtC//\n", to: "basic.txt")
        try directory.write("user:secret\n", to: "digest.txt")
        let access =
            switch authentication {
            case .none: "http_access allow all"
            case .basic, .digest: "acl known proxy_auth REQUIRED\nhttp_access allow known\nhttp_access deny all"
            }
        let asks =
            switch authentication {
            case .none: ""
            case .basic:
                """
                auth_param basic program /usr/lib/squid/basic_ncsa_auth \(directory.path)/basic.txt
                auth_param basic children 1 startup=1
                auth_param basic realm way out
                """
            case .digest:
                """
                auth_param digest program /usr/lib/squid/digest_file_auth \(directory.path)/digest.txt
                auth_param digest children 1 startup=1
                auth_param digest realm way out
                """
            }
        try directory.write(
            """
            http_port 127.0.0.1:\(port)
            visible_hostname peers.test
            pid_filename none
            cache_log /dev/null
            access_log none
            cache_store_log none
            cache deny all
            netdb_filename none
            pinger_enable off
            memory_cache_shared off
            max_filedescriptors 1024
            shutdown_lifetime 0 seconds
            coredump_dir none
            \(asks)
            \(access)

            """, to: "squid.conf")
        // Its shared memory bears this name. Of several that start at once with the same, some give up.
        let name = "peer\(getpid())x\(port)"
        let process = try PeerProcess(program, ["-n", name, "-N", "-d", "1", "-f", "\(directory.path)/squid.conf"])
        defer { removeSharedMemory(of: name) }
        // It prints that it accepts connections before it listens.
        try await process.listens(on: port)
        return ProxyPeer(port, directory, process)
    }

    /// Removes what a squid that has been killed would leave; one that runs has it mapped.
    private static func removeSharedMemory(of name: String) {
        let folder = "/dev/shm"
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for file in files where file.hasPrefix("\(name)-") { unlink("\(folder)/\(file)") }
    }

    /// tinyproxy, which says "tinyproxy" in Via.
    static func tinyproxy(_ authentication: Authentication = .none) async throws -> ProxyPeer {
        let program = try found(Peers.tinyproxy, "tinyproxy")
        let directory = try PeerDirectory()
        let port = try freePorts(1)[0]
        try directory.write(
            """
            Port \(port)
            Listen 127.0.0.1
            Timeout 60
            MaxClients 20
            LogLevel Info
            ViaProxyName "tinyproxy"
            \(authentication == .none ? "" : "BasicAuth user secret")

            """, to: "tinyproxy.conf")
        let process = try PeerProcess(program, ["-d", "-c", "\(directory.path)/tinyproxy.conf"])
        try await process.line(containing: "Accepting connections")
        return ProxyPeer(port, directory, process)
    }

    // MARK: SOCKS

    /// Dante, for SOCKS4 and SOCKS5; with a password for SOCKS5 only, and in a namespace of its own, in which the
    /// machine has one more user: Dante knows no others.
    static func dante(asks: Bool = false) async throws -> ProxyPeer {
        var program = try found(Peers.danted, "dante-server")
        let directory = try PeerDirectory()
        let port = try freePorts(1)[0]
        let user = asks ? "root" : NSUserName()
        var arguments = ["-f", "\(directory.path)/danted.conf"]
        if asks {
            let users = try String(contentsOfFile: "/etc/passwd", encoding: .utf8)
            try directory.write(users + "user:x:12345:12345::/nonexistent:/usr/sbin/nologin\n", to: "passwd")
            try directory.write("user:\(passwordHash):19000:0:99999:7:::\n", to: "shadow")
            let mounts = ["passwd", "shadow"].map { "mount --bind \(directory.path)/\($0) /etc/\($0)" }
            let command = (mounts + ["exec \(program) \(arguments.joined(separator: " "))"]).joined(separator: " && ")
            arguments = Peers.namespaceOptions + ["sh", "-c", command]
            program = try found(Peers.unshare, "unshare")
        }
        try directory.write(
            """
            logoutput: stderr
            internal: 127.0.0.1 port = \(port)
            external: 127.0.0.1
            clientmethod: none
            socksmethod: \(asks ? "username" : "none")
            user.privileged: \(user)
            user.unprivileged: \(user)
            client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }
            socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 protocol: tcp }

            """, to: "danted.conf")
        let process = try PeerProcess(program, arguments)
        try await process.line(containing: "running")
        return ProxyPeer(port, directory, process)
    }

    /// "secret", by SHA-512 as crypt(5) has it.
    private static let passwordHash =
        "$6$ab$2lDVylRMp48hlYZZFOCx/xnhJEsGPynJ17rt2um9Gb8wX6ygI4uDxg"
        + "3Bg43pp/Hv397hwWfT8mciHws9eE4sR/"

    /// OpenSSH's dynamic forwarding, for SOCKS4, 4A and 5: a client that logs in at a server on its own standard input
    /// and output, so that nothing listens but the proxy.
    static func openSSH() async throws -> ProxyPeer {
        guard let programs = Peers.ssh else { throw PeerProcess.StartFailure(description: "OpenSSH cannot be used") }
        let directory = try PeerDirectory()
        let (path, port) = (directory.path, try freePorts(1)[0])
        for name in ["host", "user"] {
            let run = try await ChildRun.run(programs.keys, ["-q", "-t", "ed25519", "-N", "", "-f", "\(path)/\(name)"])
            guard run.exitCode == 0 else { throw PeerProcess.StartFailure(description: run.complaintsText) }
        }
        try directory.write(
            """
            HostKey \(path)/host
            AuthorizedKeysFile \(path)/user.pub
            StrictModes no
            UsePAM no
            PidFile none
            PermitRootLogin prohibit-password
            PasswordAuthentication no
            LogLevel ERROR

            """, to: "sshd.conf")
        // The client's shell puts "exec" before it.
        var server = "\(programs.server) -i -e -f \(path)/sshd.conf"
        if geteuid() == 0, let unshare = Peers.unshare {
            let options = Peers.namespaceOptions.joined(separator: " ")
            let place = "mount -t tmpfs tmpfs /run && mkdir -m 755 /run/sshd"
            server = "\(unshare) \(options) sh -c '\(place) && exec \(server)'"
        }
        try directory.write(
            """
            Host *
                User \(NSUserName())
                IdentityFile \(path)/user
                IdentitiesOnly yes
                UserKnownHostsFile /dev/null
                GlobalKnownHostsFile /dev/null
                StrictHostKeyChecking no
                BatchMode yes
                LogLevel ERROR
                ExitOnForwardFailure yes
                DynamicForward 127.0.0.1:\(port)
                ProxyCommand \(server)

            """, to: "ssh.conf")
        let process = try PeerProcess(programs.client, ["-N", "-F", "\(path)/ssh.conf", "peers.test"])
        try await process.listens(on: port)
        return ProxyPeer(port, directory, process)
    }

    /// microsocks, for SOCKS5, with a password where that is wanted. It prints nothing when it is ready.
    static func microsocks(asks: Bool) async throws -> ProxyPeer {
        let program = try found(Peers.microsocks, "microsocks")
        let directory = try PeerDirectory()
        let port = try freePorts(1)[0]
        let process = try PeerProcess(
            program, ["-i", "127.0.0.1", "-p", "\(port)"] + (asks ? ["-u", "user", "-P", "secret"] : []))
        try await process.listens(on: port)
        return ProxyPeer(port, directory, process)
    }
}

/// A server of ours behind the proxies, plain or under TLS, which answers with the request's target and Via.
final class ProxiedServer: Sendable {
    let server: LoopbackServer
    let anchor: String

    init(tls: Bool) throws {
        let (root, identity) = try CertificateFactory.server("127.0.0.1", "localhost", "peers.test")
        anchor = root.pem
        var options = LoopbackServer.Options()
        if tls { options.tls = .init(identity: identity) }
        server = try LoopbackServer.start(options) { request in
            if request.path == "/echo" { return .echo(request) }
            return .text("\(request.target) via \(request.fields.first("Via") ?? "nobody")")
        }
    }

    func url(_ path: String = "/hello", host: String = "127.0.0.1") throws -> URL {
        guard let url = URL(string: server.url(path, host: host)) else { throw URLError(.badURL) }
        return url
    }

    /// A session that trusts the server.
    func session(
        delegate: (any URLSessionDelegate)? = nil, _ change: (URLSessionConfiguration) -> Void
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.serverTrustEvaluation = .anchors(pem: anchor)
        change(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    /// A session that goes through the HTTP proxy at this port.
    func session(
        through port: Int, user: String? = nil, password: String = "secret", delegate: (any URLSessionDelegate)? = nil
    ) -> URLSession {
        session(delegate: delegate) { configuration in
            var dictionary: [AnyHashable: Any] = [
                kCFNetworkProxiesHTTPEnable: 1, kCFNetworkProxiesHTTPProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPPort: port, kCFNetworkProxiesHTTPSEnable: 1,
                kCFNetworkProxiesHTTPSProxy: "127.0.0.1",
                kCFNetworkProxiesHTTPSPort: port,
            ]
            if let user {
                dictionary[kCFProxyUsernameKey] = user
                dictionary[kCFProxyPasswordKey] = password
            }
            configuration.connectionProxyDictionary = dictionary
        }
    }
}
