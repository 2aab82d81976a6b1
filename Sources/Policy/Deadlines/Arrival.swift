// How far a request has reached its peer: what `DeadlineMachine` is told when the idle limit is reached (B6.42).
//
// Must not know: sockets, protocols.

/// How far a request has reached the peer, as is found out when the idle limit is reached.
package struct Arrival: Sendable {
    /// Up to where the peer has acknowledged what goes out, counted from anywhere.
    package let position: Int
    /// Up to where the peer had acknowledged when this was asked before; nil where it was not asked before.
    package let before: Int?
    /// How long ago something was acknowledged or, where all is, sent.
    package let age: Duration

    /// Takes what is known.
    package init(position: Int, before: Int?, age: Duration) {
        self.position = position
        self.before = before
        self.age = age
    }
}
