// The servers to which a session has connections that belong to a user: NTLM or Negotiate was proven there, once for
// all requests of the connection (B2.93). An answer over such a connection is that user's, though its request does not
// say so (B7.104). It must not know tasks, caches or locks.

/// Servers with connections that belong to a user. None is forgotten, since a connection may outlive
/// everything else that is known.
package struct BoundServers: Sendable {
    /// With so many of them every server counts as one.
    package static let maximum = 256

    private var sides: Set<AuthenticationSide> = []

    /// Knows none.
    package init() {}

    /// Notes a proof that was accepted. A proxy's says nothing about whose an answer is.
    package mutating func note(_ authorization: Authorization) {
        guard authorization.bindsConnection, case .server = authorization.space.side, sides.count < Self.maximum
        else { return }
        sides.insert(authorization.space.side)
    }

    /// Whether a server may be one of them.
    package func mayInclude(_ side: AuthenticationSide) -> Bool {
        sides.count >= Self.maximum || sides.contains(side)
    }
}
