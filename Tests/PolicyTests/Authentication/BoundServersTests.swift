// Which servers count as having connections that belong to a user (B7.104), as values.

import Testing
import URLLoadingPolicy

@Suite struct BoundServersTests {
    private func server(_ name: String) throws -> AuthenticationSide {
        .server(try AuthenticationRig.origin(name))
    }

    /// An accepted proof that answered this challenge.
    private func proof(_ challenge: String, to side: AuthenticationSide) throws -> Authorization {
        var rig = AuthenticationRig(side, usesTicketUnasked: true)
        _ = rig.refused(challenge)
        _ = rig.answered(challenge == "Negotiate" ? .token("YQ==") : .password(AuthenticationRig.password))
        return try rig.acceptance().authorization
    }

    @Test("B7.104: a server counts once a proof was accepted there that binds the connection, and no other server does")
    func bound() throws {
        let other = try server("other.test")
        for challenge in ["NTLM", "Negotiate"] {
            var servers = BoundServers()
            let one = try server("one.test")
            servers.note(try proof("Basic realm=x", to: other))
            servers.note(try proof("Digest realm=x, nonce=n, qop=auth", to: other))
            #expect(!servers.mayInclude(one) && !servers.mayInclude(other))
            servers.note(try proof(challenge, to: one))
            #expect(servers.mayInclude(one) && !servers.mayInclude(other), "\(challenge)")
        }
    }

    @Test("B7.104: where there are more servers than are noted, every one counts")
    func many() throws {
        var servers = BoundServers()
        let other = try server("other.test")
        for number in 1..<BoundServers.maximum { servers.note(try proof("NTLM", to: try server("h\(number).test"))) }
        #expect(!servers.mayInclude(other))
        servers.note(try proof("NTLM", to: try server("h0.test")))
        #expect(servers.mayInclude(other))
    }
}
