// Whose judgement a connection stands by (B2.8). It must not know what is judged, nor what a delegate is.

/// The judge of a connection: it has judged the server, and has chosen which client certificate that server saw.
///
/// What the session has decided holds for all its requests. What the delegate of a single task has decided
/// holds for the tasks of that delegate: others may refuse such a server, and have not chosen to be known
/// to it by that certificate.
package struct ConnectionJudge: Hashable, Sendable {
    private let number: Int

    private init(number: Int) { self.number = number }

    /// The session, by its settings or its delegate.
    package static var session: ConnectionJudge { ConnectionJudge(number: 0) }

    /// A delegate that is not the session's, by a number above 0 that no other delegate of the session ever has.
    package static func delegate(_ number: Int) -> ConnectionJudge { ConnectionJudge(number: number) }
}
