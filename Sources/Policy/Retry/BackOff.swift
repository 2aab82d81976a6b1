// How long is waited before what has failed several times in a row is tried again.
//
// Must not know: what is tried, what time it is.

/// Waits that grow with the number of failures.
package enum BackOff {
    /// The wait after the `number`th failure in a row: `first`, each twice as long as the one before,
    /// and none above `longest`.
    package static func wait<Time: Comparable & AdditiveArithmetic>(
        afterFailure number: Int, first: Time, longest: Time
    ) -> Time {
        var wait = min(first, longest)
        guard number > 1, wait > .zero else { return wait }
        for _ in 1..<number {
            // No overflow: what is doubled is half of the longest at most.
            guard wait <= longest - wait else { return longest }
            wait += wait
        }
        return wait
    }

    /// A wait of milliseconds, less up to a quarter of it: what failed at one moment does not come back at one moment.
    package static func spread(_ wait: Int64, random: UInt32) -> Int64 {
        let quarter = max(0, wait / 4)
        return quarter == 0 ? wait : wait - Int64(random) % (quarter + 1)
    }
}
