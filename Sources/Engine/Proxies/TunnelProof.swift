// What a CONNECT proves itself with before its proxy asks for that.
//
// Must not know: where it is remembered, what a refusal of it leads to.

import URLLoadingPolicy

/// A proof for a CONNECT.
package struct TunnelProof: Sendable, Concealed {
    /// What the proxy refuses, should it refuse this.
    package let authorization: Authorization
    /// The value of Proxy-Authorization.
    package let value: String
    /// Who is told that the proxy has taken it.
    package let accepted: ProxyQuestion.Acceptance?

    /// Makes a proof.
    package init(authorization: Authorization, value: String, accepted: ProxyQuestion.Acceptance? = nil) {
        self.authorization = authorization
        self.value = value
        self.accepted = accepted
    }
}
