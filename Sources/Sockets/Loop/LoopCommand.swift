// What other threads send to a loop.

/// An object that carries one order from any thread to a loop; it is allocated by its sender, once.
package protocol LoopCommand: AnyObject, Sendable {
    /// Called once on the loop's thread for each submission.
    func run(on reactor: Reactor)
}
