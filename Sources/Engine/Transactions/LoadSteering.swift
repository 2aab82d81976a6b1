// What whoever submitted a load can do with it, whichever kind it is of: said from any thread at any time, any number of
// times, also after the end, and carried out on the loop in the order in which it was said.
//
// Must not know: what is loaded.

/// A load on its loop, as far as it is steered from outside.
package protocol SteeredLoad: AnyObject {
    /// Ends with a cancellation, unless it has ended.
    func cancel()
    /// The receiver can take more.
    func resumeReading()
    /// Stops both directions and the idle time (B1.39, B1.40); nests.
    func suspend()
    /// Undoes one suspension.
    func resume()
}

/// A handle of such a load.
package protocol LoadSteering: Sendable {
    /// Runs this on the loop, if the load is still there.
    func steer(_ work: @escaping @Sendable (any SteeredLoad) -> Void)
}

extension LoadSteering {
    /// Ends the load with a cancellation, unless it has ended already.
    package func cancel() { steer { $0.cancel() } }

    /// Answers a `ReceiverDemand.pause`: the receiver can take more.
    package func resumeReading() { steer { $0.resumeReading() } }

    /// Stops sending and reading and the idle time (B1.39, B1.40); nests.
    package func suspend() { steer { $0.suspend() } }

    /// Undoes one `suspend()`.
    package func resume() { steer { $0.resume() } }
}
