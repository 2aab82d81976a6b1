// What is asked about growth: a kind of work, done among more and more of the same. Values only.

import Foundation

/// One kind of work, and the sizes at which it is counted.
struct GrowthSeries {
    /// What the command line and the file of results call it.
    let name: String
    /// What is counted at each size, for a reader: "one connection of n, opened".
    let title: String
    let cost: Cost
    /// Ascending; at least two.
    let sizes: [Int]
    /// What is counted at a size.
    let work: (Int) throws -> CountedWork

    /// What the cost at a size stands for.
    enum Cost: String, Codable, Sendable {
        /// One of n, or one among n: it should cost as much at every size.
        case ofOne
        /// All n at once, as a body of n bytes: one more should cost as much at every size.
        case ofAll
    }
}

/// What was counted of a series: instructions at each size.
struct GrowthResult: Codable, Sendable {
    struct Point: Codable, Sendable {
        let size: Int
        let instructions: Double
    }

    let name: String
    let title: String
    let cost: GrowthSeries.Cost
    let points: [Point]

    /// What one costs at each size: where all n were counted at once, one of those beyond the smallest size.
    var costsOfOne: [Point] {
        guard cost == .ofAll, let first = points.first else { return points }
        return points.dropFirst().map { point in
            let more = Double(point.size - first.size)
            return Point(size: point.size, instructions: (point.instructions - first.instructions) / more)
        }
    }

    /// How what one costs grows with the size, as a line through the points has it where both are
    /// logarithms: 0 for not at all, 1 where twice as many make each cost twice as much. Nil where there is
    /// too little to draw a line through.
    var slope: Double? {
        let points = costsOfOne.filter { $0.size > 0 && $0.instructions > 0 }
        guard points.count > 1 else { return nil }
        let (xs, ys) = (points.map { log10(Double($0.size)) }, points.map { log10($0.instructions) })
        let (x, y) = (xs.reduce(0, +) / Double(xs.count), ys.reduce(0, +) / Double(ys.count))
        let run = xs.reduce(0) { $0 + ($1 - x) * ($1 - x) }
        return zip(xs, ys).reduce(0) { $0 + ($1.0 - x) * ($1.1 - y) } / run
    }

    /// How much dearer the last step has made each one, as a slope: what a line through all points would hide.
    var lastSlope: Double? {
        let points = costsOfOne.filter { $0.size > 0 && $0.instructions > 0 }.suffix(2)
        guard let before = points.first, let last = points.last, last.size > before.size else { return nil }
        return log10(last.instructions / before.instructions) / log10(Double(last.size) / Double(before.size))
    }

    /// Whether it costs no more than its work. A search in a sorted table, or a heap, may make each a little dearer.
    var isProportional: Bool { max(slope ?? 0, lastSlope ?? 0) <= 0.1 }
}
