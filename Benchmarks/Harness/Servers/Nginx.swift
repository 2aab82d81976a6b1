// nginx as the server: where it is, and its configuration.

import Foundation

/// An nginx that is installed on this machine.
struct Nginx {
    let program: String
    let version: String

    /// Nil where there is none.
    static func find() -> Nginx? {
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/sbin", "/sbin"]
        for place in places {
            let program = "\(place)/nginx"
            guard FileManager.default.isExecutableFile(atPath: program),
                let said = try? ChildProcess.run(program, ["-v"], limit: .seconds(5)).complaints
            else { continue }
            let version = said.split(separator: " ").last.map { $0.replacingOccurrences(of: "\n", with: "") } ?? "nginx"
            return Nginx(program: program, version: version)
        }
        return nil
    }

    /// One worker, no log, connections kept for good; every path that the scenarios for fast servers name.
    func configuration(_ material: Material, at ports: ServeCommand.Ports) -> String {
        let fields = Material.extraFields.map { "add_header \($0.name) \"\($0.value)\";" }.joined(separator: " ")
        let locations = """
                    location = /small { default_type text/plain; return 200 "\(Material.smallBody)"; }
                    location = /fields { default_type application/json; \(fields) return 200 '\(Material.document)'; }
                    location = /close { keepalive_timeout 0; default_type text/plain; return 200 "\(Material.smallBody)"; }
                    location = /json { default_type application/json; add_header Content-Encoding gzip; \
            try_files /\(Material.jsonFile) =404; }
            """
        return """
            daemon off;
            worker_processes 1;
            worker_rlimit_nofile 20000;
            pid nginx.pid;
            events { worker_connections 16384; }
            http {
                access_log off;
                sendfile on;
                tcp_nopush on;
                tcp_nodelay on;
                keepalive_requests 1000000000;
                keepalive_timeout 3600s;
                client_body_temp_path temporary;
                proxy_temp_path temporary;
                fastcgi_temp_path temporary;
                uwsgi_temp_path temporary;
                scgi_temp_path temporary;
                ssl_certificate \(Material.certificateFile);
                ssl_certificate_key \(Material.keyFile);
                ssl_protocols TLSv1.3;
                root .;
                server {
                    listen \(ports.plain) backlog=4096;
                    listen \(ports.secure) ssl backlog=4096;
                    listen \(ports.http2) ssl http2 backlog=4096;
            \(locations)
                }
                server {
                    listen \(ports.secureWithoutTickets) ssl backlog=4096;
                    ssl_session_tickets off;
                    ssl_session_cache off;
            \(locations)
                }
            }

            """
    }

    /// Ports without a listener. All are held until the last has been given: none comes twice.
    static func freePorts() throws -> ServeCommand.Ports {
        let holders = (0..<4).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) }
        defer { for holder in holders { Glibc.close(holder) } }
        let ports = try holders.map(bindAnywhere)
        return ServeCommand.Ports(
            plain: ports[0], secure: ports[1], secureWithoutTickets: ports[2], http2: ports[3])
    }

    private static func bindAnywhere(_ descriptor: Int32) throws -> Int {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                bind(descriptor, general, length) == 0 && getsockname(descriptor, general, &length) == 0
            }
        }
        guard result else { throw HarnessError("no port is free") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Waits until a server accepts connections there, for five seconds at most.
    static func answers(at port: Int) -> Bool {
        let deadline = ContinuousClock.now + .seconds(5)
        while ContinuousClock.now < deadline {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { Glibc.close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(clamping: port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let result = withUnsafePointer(to: address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if result == 0 { return true }
            usleep(10_000)
        }
        return false
    }
}
