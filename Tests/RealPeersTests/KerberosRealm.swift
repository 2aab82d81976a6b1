// A Kerberos realm for the length of a test: MIT's ticket server on loopback with its files in a directory of its own,
// a user with a ticket, and Apache with mod_auth_gssapi as the service. The system's own configuration is not touched.

import Foundation
import URLLoadingTestSupport

extension Peers {
    /// Apache with the module, and MIT's programs.
    static let kerberos: [String: String]? = {
        var programs: [String: String] = [:]
        for name in ["apache2", "krb5kdc", "kdb5_util", "kadmin.local", "kinit"] {
            guard let path = PeerProcess.find(name) else { return nil }
            programs[name] = path
        }
        return access(KerberosRealm.module, R_OK) == 0 ? programs : nil
    }()
}

/// PEERS.TEST, with one user and the service HTTP/localhost.
final class KerberosRealm: Sendable {
    static let module = "/usr/lib/apache2/modules/mod_auth_gssapi.so"

    let directory: PeerDirectory
    let port: Int
    /// What a program needs to find the realm and the user's ticket.
    let environment: [String: String]
    private let ticketServer: PeerProcess
    private let apache: PeerProcess

    init() async throws {
        guard let programs = Peers.kerberos else {
            throw PeerProcess.StartFailure(description: "Kerberos is not installed")
        }
        func program(_ name: String) -> String { programs[name] ?? name }
        directory = try PeerDirectory()
        let path = directory.path
        let ports = try freePorts(2)
        port = ports[0]
        environment = [
            "KRB5_CONFIG": "\(path)/krb5.conf", "KRB5_KDC_PROFILE": "\(path)/kdc.conf",
            "KRB5CCNAME": "FILE:\(path)/ticket", "KRB5RCACHENAME": "none:",
        ]
        try directory.write(Self.realm(ports[1]), to: "krb5.conf")
        try directory.write(Self.ticketServer(in: path, ports[1]), to: "kdc.conf")
        try directory.write("Hello behind Kerberos.\n", to: "www/hello")

        try await Self.run(program("kdb5_util"), ["create", "-s", "-r", "PEERS.TEST", "-P", "master"], environment)
        for (principal, file) in [("somebody", "user.keytab"), ("HTTP/localhost", "service.keytab")] {
            try await Self.run(program("kadmin.local"), ["-q", "addprinc -randkey \(principal)"], environment)
            try await Self.run(program("kadmin.local"), ["-q", "ktadd -k \(path)/\(file) \(principal)"], environment)
        }
        // Apache gives up its rights before it reads the key.
        guard chmod("\(path)/service.keytab", 0o644) == 0 else {
            throw PeerProcess.StartFailure(description: "no key of the service")
        }
        let variables = environment.map { "\($0)=\($1)" }
        ticketServer = try PeerProcess("/usr/bin/env", variables + [program("krb5kdc"), "-n"])
        try await ticketServer.line(containing: "commencing operation")
        try await Self.run(program("kinit"), ["-k", "-t", "\(path)/user.keytab", "somebody"], environment)
        apache = try await .apache(
            program("apache2"), in: directory, on: port, as: "localhost",
            modules: ["mpm_event", "authn_core", "authz_core", "authz_user", "auth_gssapi"], variables: variables,
            Self.settings(in: path))
    }

    /// What a client prints that has the user's ticket, or none, and treats it in this manner.
    func client(
        _ manner: String, _ path: String, body: String? = nil, hasTicket: Bool = true
    ) async throws -> [String] {
        let arguments = [manner, url(path)] + (body.map { [$0] } ?? [])
        return try await run(ChildRun.testPrograms, ["kerberos"] + arguments, hasTicket: hasTicket)
    }

    /// What a program of this package prints whose user has the ticket, or none.
    func run(_ program: String, _ arguments: [String], hasTicket: Bool = true) async throws -> [String] {
        var variables = environment
        if !hasTicket { variables["KRB5CCNAME"] = "FILE:\(directory.path)/none" }
        let child = try await ChildRun.run(program, arguments, changing: variables.mapValues(Optional.some))
        return child.outputText.split(separator: "\n").map(String.init)
    }

    func url(_ path: String) -> String { "http://localhost:\(port)\(path)" }

    /// The first entries of the access log, once there are so many.
    func log(_ count: Int) async throws -> [String] {
        try await apache.lines(count, containing: "entry ")
    }

    private static func run(_ program: String, _ arguments: [String], _ environment: [String: String]) async throws {
        let child = try await ChildRun.run(program, arguments, changing: environment.mapValues(Optional.some))
        guard child.exitCode == 0 else {
            throw PeerProcess.StartFailure(description: "\(program) \(arguments): \(child.complaintsText)")
        }
    }

    private static func realm(_ port: Int) -> String {
        """
        [libdefaults]
            default_realm = PEERS.TEST
            dns_lookup_kdc = false
            dns_lookup_realm = false
            dns_canonicalize_hostname = false
            rdns = false
        [realms]
            PEERS.TEST = {
                kdc = 127.0.0.1:\(port)
            }

        """
    }

    private static func ticketServer(in path: String, _ port: Int) -> String {
        """
        [kdcdefaults]
            kdc_listen = 127.0.0.1:\(port)
            kdc_tcp_listen = 127.0.0.1:\(port)
        [realms]
            PEERS.TEST = {
                database_name = \(path)/principal
                key_stash_file = \(path)/stash
                acl_file = \(path)/acl
            }
        [logging]
            kdc = STDERR

        """
    }

    private static func settings(in path: String) -> String {
        """
        DocumentRoot \(path)/www
        LogFormat "entry %U status=%>s user=%u method=%m" peers
        CustomLog /dev/stdout peers
        EnableSendfile off
        <Location />
            AuthType GSSAPI
            AuthName "tickets"
            GssapiCredStore keytab:\(path)/service.keytab
            GssapiAllowedMech krb5
            Require valid-user
        </Location>

        """
    }
}
