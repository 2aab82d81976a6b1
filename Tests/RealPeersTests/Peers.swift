// The servers of other people that the tests talk to, each configured here and started with its own files in a
// directory of its own. Where a program is not installed its tests are reported as skipped.

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Which programs there are.
enum Peers {
    static let nginx = PeerProcess.find("nginx")
    static let curl = PeerProcess.find("curl")
    static let openssl = PeerProcess.find("openssl")
    static let python = PeerProcess.find("python3")
    /// Debian's python3 where the module websockets is installed for it.
    static let webSockets: String? = {
        let python = "/usr/bin/python3"
        return (try? ChildRun(python, ["-c", "import websockets"]))?.exitCode == 0 ? python : nil
    }()
    static let squid = PeerProcess.find("squid")
    static let tinyproxy = PeerProcess.find("tinyproxy")
    static let danted = PeerProcess.find("danted")
    static let unshare = PeerProcess.find("unshare")
    /// What `unshare` needs to be told for files of a program's own.
    static let namespaceOptions = geteuid() == 0 ? ["-m"] : ["-r", "-m"]
    /// Whether this machine allows that.
    static let allowsNamespaces: Bool = {
        guard let unshare else { return false }
        return (try? ChildRun(unshare, namespaceOptions + ["true"]))?.exitCode == 0
    }()
    static let microsocks = PeerProcess.find("microsocks")
    /// OpenSSH's client, server and key generator.
    static let ssh: (client: String, server: String, keys: String)? = {
        guard let client = PeerProcess.find("ssh"), let server = PeerProcess.find("sshd"),
            let keys = PeerProcess.find("ssh-keygen")
        else { return nil }
        // As root the server wants a place of its own in /run.
        return geteuid() == 0 && !allowsNamespaces ? nil : (client, server, keys)
    }()
    static let apache = PeerProcess.find("apache2")
    static let caddy = PeerProcess.find("caddy")
    static let nghttpd = PeerProcess.find("nghttpd")
    static let h2o = PeerProcess.find("h2o")
    static let haproxy = PeerProcess.find("haproxy")
    /// It changes to a user of its own, which only root can let it.
    static let vsftpd = geteuid() == 0 ? PeerProcess.find("vsftpd") : nil
}

/// A directory that is removed with its owner, with a certificate for 127.0.0.1 and peers.test in it.
final class PeerDirectory: Sendable {
    let path: String
    let anchor: String
    /// A client's certificate with its key as PKCS #12, under the passphrase "secret".
    let clientFile: Data

    init() throws {
        path = NSTemporaryDirectory() + "peers-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path + "/www", withIntermediateDirectories: true)
        let (root, identity) = try CertificateFactory.server("127.0.0.1", "peers.test")
        anchor = root.pem
        let authority = try CertificateFactory.root("Clients")
        clientFile = Data(try authority.issue(.client("somebody")).pkcs12(passphrase: "secret"))
        try write(identity.certificatePEM, to: "certificate.pem")
        try writeSecret(identity.keyPEM, to: "key.pem")
        try write(authority.certificate.pem, to: "clients.pem")
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }

    /// For our user alone.
    func writeSecret(_ text: String, to name: String) throws {
        let isWritten = FileManager.default.createFile(
            atPath: "\(path)/\(name)", contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        guard isWritten else { throw CocoaError(.fileWriteUnknown) }
    }
}

/// Ports on which no server listens now, each given out once. They lie below those that the system gives to
/// connections, which could take them before the peer does.
func freePorts(_ count: Int) throws -> [Int] {
    var ports: [Int] = []
    for _ in 0..<20_000 where ports.count < count {
        let port = lastPort.withLock { last in
            last = last < 32_000 ? last + 1 : 12_000
            return last
        }
        if LoopbackPort.isFree(port) { ports.append(port) }
    }
    guard ports.count == count else { throw PeerProcess.StartFailure(description: "there are no free ports") }
    return ports
}

/// Begins elsewhere in each process, so that two that run at once do not ask for the same.
private let lastPort = Guarded(Int.random(in: 12_000..<32_000))

/// The methods that a delegate was asked about, in order.
final class AskedMethods: Sendable {
    private let asked = Guarded<[String]>([])

    func note(_ method: String) { asked.withLock { $0.append(method) } }

    var methods: [String] { asked.withLock { $0 } }
}

extension URLSessionConfiguration {
    /// For what shall reach the peer each time: without a cache, which would ask whether the page has changed.
    static var uncached: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        return configuration
    }
}
