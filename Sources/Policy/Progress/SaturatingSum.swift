// Sums of numbers that a server, a file or a program has named. A sum that is too large stays at the largest number:
// what is shown of it is wrong then, as the number was, and nothing stops.

extension FixedWidthInteger {
    /// The sum, or the nearest number that there is.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflows) = addingReportingOverflow(other)
        guard overflows else { return sum }
        return other < 0 ? .min : .max
    }
}
