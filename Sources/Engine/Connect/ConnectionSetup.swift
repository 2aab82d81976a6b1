// When each step of opening a connection happened; the first exchange's timeline takes it over, and so do those that
// end because it is not opened.
//
// Times are those of the loop's turns, as those of exchanges are, so that they are in order without a comparison.

import URLLoadingTLS

/// The record of how a connection came to be.
struct ConnectionSetup {
    /// Looking the name up: not done for literals.
    var lookup = Period()
    /// From the first address to a connection that can be used, TLS included.
    var connect = Period()
    /// Setting up TLS.
    var secure = Period()
    /// What TLS has agreed on.
    var negotiated: Negotiated?

    /// When a step began and ended, in nanoseconds of the loops' clock; negative where it did not.
    struct Period {
        private(set) var start: Int64 = -1
        private(set) var end: Int64 = -1

        mutating func begin(_ now: Int64) { start = now }

        mutating func finish(_ now: Int64) { end = now }

        /// There is more to do in it.
        mutating func goOn() { end = -1 }
    }
}
