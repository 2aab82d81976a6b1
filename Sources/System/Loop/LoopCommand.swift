// What other threads send to a loop.

/// An object that carries one order from any thread to a loop; it is allocated by its sender, once.
package protocol LoopCommand: AnyObject, Sendable {
    /// Called once on the loop's thread for each submission.
    func run(on reactor: Reactor)

    /// Called instead, on the sender's thread, where the loop's thread could not be started; `reactor` is a virtual one
    /// of that moment, which runs what is put off until later.
    func couldNotRun(_ error: SystemError, on reactor: Reactor)
}
