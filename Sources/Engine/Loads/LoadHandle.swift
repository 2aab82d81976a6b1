// What the submitter of a load can do with it, whichever kind it is of. Every call may come from any thread at
// any time, any number of times, also after the end.
//
// Must not know: what is loaded, and how.

/// The outside of a load.
package protocol LoadHandle: AnyObject, Sendable {
    /// Ends the load with a cancellation, unless it has ended already.
    func cancel()
    /// Answers a `ReceiverDemand.pause`: the receiver can take more.
    func resumeReading()
    /// Answers a pause: the receiver can take more, but what follows waits only briefly for it (B4.33).
    func resumeReadingBriefly()
    /// What is left of a body is not wanted.
    func discardRest()
    /// Stops sending and reading and the idle time (B1.39, B1.40); nests.
    func suspend()
    /// Undoes one `suspend()`.
    func resume()
    /// Changes the order among loads that wait for a connection (B1.53).
    func setPriority(_ priority: Float)
}

extension LoadHandle {
    /// Goes on: no other load's rest is kept for a cache while something waits for it.
    package func resumeReadingBriefly() { resumeReading() }
}

/// The outside of a load of an engine: what is said is carried out on the loop, in the order in which it was said.
package protocol EngineHandle: LoadHandle {
    /// The number of the load within its engine.
    var id: LoadID { get }
    /// The way to it.
    var port: EnginePort { get }
}

extension EngineHandle {
    /// Ends the load with a cancellation, unless it has ended already.
    package func cancel() { steer { $0.cancel() } }

    /// Answers a `ReceiverDemand.pause`: the receiver can take more.
    package func resumeReading() { steer { $0.resumeReading() } }

    /// Has the rest of a response read as long as what is not wanted would be, and then ended (B4.33).
    package func resumeReadingBriefly() { steer { $0.resumeReadingBriefly() } }

    /// Ends a transaction without waiting for the rest of its response, which is read only to keep the connection, and
    /// within a budget (B4.33).
    package func discardRest() { steer { $0.discardRest() } }

    /// Stops sending and reading and the idle time (B1.39, B1.40); nests.
    package func suspend() { steer { $0.suspend() } }

    /// Undoes one `suspend()`.
    package func resume() { steer { $0.resume() } }

    /// Changes the order among requests that wait for a connection (B1.53).
    package func setPriority(_ priority: Float) { steer { $0.setPriority(priority) } }

    /// Runs this on the loop, if the load is still there.
    private func steer(_ work: @escaping @Sendable (any SteeredLoad) -> Void) {
        port.tell { [id] core in
            if let load = core.loads[id] { work(load.steered) }
        }
    }
}
