// What a server is told of a request's priority: the Priority field of RFC 9218. It must not know tasks.

/// How urgent a request is among others of the same client.
package enum RequestUrgency {
    /// The value of the field; nil where a request is as urgent as most are (H2.11).
    ///
    /// `priority` is between 0 and 1. `isIncremental` says whether the receiver can use a part of
    /// the answer before the rest.
    package static func field(priority: Float, isIncremental: Bool) -> String? {
        let level = level(priority)
        guard level != usual else { return nil }
        return isIncremental ? "u=\(level), i" : "u=\(level)"
    }

    /// 0 is the most urgent: 0.75 is 1, 0.25 is 5.
    private static func level(_ priority: Float) -> Int {
        guard !priority.isNaN else { return usual }
        let level = (Float(usual) + (0.5 - priority) * 8).rounded()
        return Int(min(max(level, 0), 7))
    }

    private static var usual: Int { 3 }
}
