// An object that wants to know when a turn of the loop is over. Must not know what the turn was about.

/// Collects during a turn what is cheaper to deal with all at once.
package protocol TurnObserver: AnyObject {
    /// The turn in which this was asked for with `Reactor.atEndOfTurn` is over; on the loop's thread.
    func turnEnded()
}
