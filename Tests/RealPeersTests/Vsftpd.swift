// vsftpd as a peer, configured here: one process for a connection, anonymous users only, with a certain password where
// that is asked for; with its log in a file, since it has no output.

import Foundation

/// vsftpd with a directory of files, and one where something can be stored.
final class Vsftpd: Sendable {
    let directory: PeerDirectory
    let port: Int
    private let host: String
    private let process: PeerProcess

    /// On 127.0.0.1 or, where it is to be `::1`, there; with TLS for all connections, or without.
    init(isIPv6: Bool = false, isProtected: Bool = false, password: String? = nil, bytesPerSecond: Int = 0) async throws
    {
        guard let program = Peers.vsftpd else {
            throw PeerProcess.StartFailure(description: "vsftpd is not installed, or this is not root")
        }
        directory = try PeerDirectory()
        let files = FileManager.default
        let path = directory.path
        try files.createDirectory(atPath: "\(path)/files/incoming", withIntermediateDirectories: true)
        try files.createDirectory(atPath: "\(path)/files/a b", withIntermediateDirectories: true)
        try files.createDirectory(atPath: "\(path)/empty", withIntermediateDirectories: true)
        try directory.write("Hello from vsftpd.\n", to: "files/hello.txt")
        try directory.write("spaced", to: "files/a b/c%20d.html")
        try Self.large.write(to: URL(fileURLWithPath: "\(path)/files/large.bin"))
        try directory.write((password ?? "") + "\n", to: "passwords")
        // Its own user must come to the files, and may write to one place only.
        for place in ["", "/files", "/files/a b"] {
            try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path + place)
        }
        try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: "\(path)/files/incoming")
        port = try freePorts(1)[0]
        host = isIPv6 ? "[::1]" : "127.0.0.1"
        try directory.write(
            Self.configuration(
                in: path, port, isIPv6: isIPv6, isProtected: isProtected, wantsPassword: password != nil,
                bytesPerSecond: bytesPerSecond),
            to: "vsftpd.conf")
        process = try PeerProcess(program, ["\(path)/vsftpd.conf"])
        try await process.listens(on: port, isIPv6: isIPv6)
    }

    /// More than sockets hold.
    static let large = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) })

    func url(_ path: String, scheme: String = "ftp", user: String = "") throws -> URL {
        guard let url = URL(string: "\(scheme)://\(user)\(host):\(port)\(path)") else { throw URLError(.badURL) }
        return url
    }

    /// What was stored under a name.
    func stored(_ name: String) -> Data? {
        FileManager.default.contents(atPath: "\(directory.path)/files/incoming/\(name)")
    }

    private static func configuration(
        in path: String, _ port: Int, isIPv6: Bool, isProtected: Bool, wantsPassword: Bool, bytesPerSecond: Int
    ) -> String {
        """
        background=NO
        listen=\(isIPv6 ? "NO" : "YES")
        listen_ipv6=\(isIPv6 ? "YES" : "NO")
        \(isIPv6 ? "listen_address6=::1" : "listen_address=127.0.0.1")
        listen_port=\(port)
        anonymous_enable=YES
        local_enable=NO
        anon_root=\(path)/files
        write_enable=YES
        anon_upload_enable=YES
        # Slow enough for a transfer to be stopped before its end, on a busy machine too.
        anon_max_rate=\(bytesPerSecond)
        secure_chroot_dir=\(path)/empty
        seccomp_sandbox=NO
        xferlog_enable=NO
        connect_from_port_20=NO
        secure_email_list_enable=\(wantsPassword ? "YES" : "NO")
        email_password_file=\(path)/passwords
        ssl_enable=\(isProtected ? "YES" : "NO")
        allow_anon_ssl=YES
        force_anon_logins_ssl=\(isProtected ? "YES" : "NO")
        force_anon_data_ssl=\(isProtected ? "YES" : "NO")
        require_ssl_reuse=YES
        rsa_cert_file=\(path)/certificate.pem
        rsa_private_key_file=\(path)/key.pem

        """
    }
}
