// Apache httpd as a peer with its folders and passwords. The account is "user" with the password
// "secret", the realm "files".

import Foundation

/// Apache with `/basic/` and `/digest/` behind passwords; `/br` is compressed with Brotli.
final class Apache: Sendable {
    let directory: PeerDirectory
    let port: Int
    /// The port of TLS, with the same folders, over HTTP/2 and HTTP/1.1.
    let http2: Int
    private let process: PeerProcess

    init() async throws {
        guard let program = Peers.apache else {
            throw PeerProcess.StartFailure(description: "apache2 is not installed")
        }
        directory = try PeerDirectory()
        let ports = try freePorts(2)
        (port, http2) = (ports[0], ports[1])
        for folder in ["basic", "digest"] {
            try FileManager.default.createDirectory(
                atPath: "\(directory.path)/www/\(folder)", withIntermediateDirectories: true)
            try directory.write("Hello behind \(folder).\n", to: "www/\(folder)/hello")
        }
        try directory.write(String(repeating: "the same again, ", count: 4096), to: "www/br")
        // The SHA-1 of the password, and the MD5 of user, realm and password.
        try directory.write("user:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n", to: "basic.txt")
        try directory.write("user:files:bb0e80bde22263617d5d76c668d21d01\n", to: "digest.txt")
        let modules = [
            "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "auth_digest",
            "alias", "brotli", "dir", "filter", "deflate", "headers", "mime",
            "ssl", "http2",
        ]
        process = try await .apache(
            program, in: directory, on: port, modules: modules, Self.settings(in: directory.path, http2: http2))
    }

    func url(_ path: String, user: String = "") throws -> URL {
        let place = user.isEmpty ? "" : "\(user)@"
        guard let url = URL(string: "http://\(place)127.0.0.1:\(port)\(path)") else { throw URLError(.badURL) }
        return url
    }

    /// The first entries of the access log, once there are so many.
    func log(_ count: Int) async throws -> [String] {
        try await process.lines(count, containing: "entry ")
    }

    private static func settings(in path: String, http2: Int) -> String {
        """
        Listen 127.0.0.1:\(http2)
        <VirtualHost 127.0.0.1:\(http2)>
            Protocols h2 http/1.1
            SSLEngine on
            SSLCertificateFile \(path)/certificate.pem
            SSLCertificateKeyFile \(path)/key.pem
        </VirtualHost>
        DocumentRoot \(path)/www
        LogFormat "entry %U status=%>s user=%u connection=%{c}L keepalive=%k method=%m" peers
        CustomLog /dev/stdout peers
        EnableSendfile off
        KeepAlive on
        TypesConfig /dev/null
        AddType text/plain .txt
        AddOutputFilterByType DEFLATE text/plain
        Redirect 302 /moved /hello
        Redirect 410 /teapot
        <Location /br>
            SetOutputFilter BROTLI_COMPRESS
        </Location>
        <Location /fields>
            Header set X-One 1
            Header set X-Two "a, b"
        </Location>
        <Location /basic>
            AuthType Basic
            AuthName files
            AuthBasicProvider file
            AuthUserFile \(path)/basic.txt
            Require valid-user
        </Location>
        <Location /digest>
            AuthType Digest
            AuthName files
            AuthDigestDomain /digest/
            AuthDigestProvider file
            AuthUserFile \(path)/digest.txt
            Require valid-user
        </Location>

        """
    }
}
