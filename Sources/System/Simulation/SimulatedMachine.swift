// What stands in for the machine while the whole library is played on one thread: its clocks, its helper threads, its
// loop and its network, and where random numbers come from. One for the process, in debug builds only: a release build
// has no place for it, so that another clock or another network can never be put under a program.
//
// Must not know: what is played, and whether it goes well.

/// A simulated machine. Everything of it is called on the one thread that plays.
package protocol SimulatedMachine: AnyObject, Sendable {
    /// Where every engine lives.
    var loop: Loop { get }
    /// What `LoopClock` says.
    var nanoseconds: Int64 { get }
    /// What the wall clock says, since 1970.
    var wallMicroseconds: Int64 { get }
    /// The next random number.
    func random() -> UInt64
    /// Does some time later what a helper thread would do.
    func runAside(_ work: @escaping @Sendable () -> Void)
    /// Does something at a moment of the loops' clock; the number calls it off.
    func run(at moment: Duration, _ work: @escaping @Sendable () -> Void) -> Int
    /// Calls off what was to be done at a moment.
    func callOff(_ number: Int)
    /// Hears what the library would write to the standard error output.
    func note(_ complaint: String)
    /// Connects to the network.
    func makeDialer(on reactor: Reactor) -> any Dialer
    /// Looks up the network's names.
    func makeResolver(on reactor: Reactor) -> any Resolver
}

/// The machine under this process.
package enum Machine {
    #if DEBUG
        /// The simulated one, if there is one.
        //
        // `nonisolated(unsafe)`: a program that plays sets it before it uses anything else, on its only thread.
        nonisolated(unsafe) package static var simulated: (any SimulatedMachine)?
    #else
        /// None in release builds.
        @inline(__always) package static var simulated: (any SimulatedMachine)? { nil }
    #endif

    /// What the wall clock says, in microseconds since 1970.
    package static var wallMicroseconds: Int64 { simulated?.wallMicroseconds ?? Platform.wallMicroseconds }
}

/// Random numbers that cannot be foreseen; in a simulation they follow from its seed.
package struct Chance: RandomNumberGenerator, Sendable {
    private var system = SystemRandomNumberGenerator()

    /// The process's.
    package init() {}

    /// The next number.
    package mutating func next() -> UInt64 { Machine.simulated?.random() ?? system.next() }
}
