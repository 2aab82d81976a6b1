// Runs a program under valgrind and reads what it has counted.

import Foundation

/// What one unit of work takes.
struct Count: Codable, Equatable {
    var instructions: Double
    var allocations: Double

    /// Seen: up to 30, by threads that were started in one run only.
    private static let strayAllocations = 40.0

    /// The lesser of two counts of one work.
    func least(_ other: Count) -> Count {
        Count(
            instructions: min(instructions, other.instructions), allocations: min(allocations, other.allocations))
    }

    /// What is above a threshold, in words; nothing where all is well.
    ///
    /// Some allocations of the start-up are made in one run and not in the other; `units` says how thinly they spread.
    func exceeds(_ threshold: Count, slack: Double, units: Int) -> [String] {
        var found: [String] = []
        if instructions > threshold.instructions * slack {
            found.append(
                "\(Figures.short(instructions)) instructions instead of \(Figures.short(threshold.instructions))")
        }
        if allocations > threshold.allocations * slack + Count.strayAllocations / Double(units) {
            found.append("\(Figures.short(allocations)) allocations instead of \(Figures.short(threshold.allocations))")
        }
        return found
    }
}

/// valgrind on this machine.
struct Valgrind {
    private static let callgrind = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]
    private static let collected = "Collected : "
    private static let limit: Duration = .seconds(3_600)

    private let program: String

    init() throws {
        let places = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        let found = places.map { "\($0)/valgrind" }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found else { throw HarnessError("valgrind is not installed (package valgrind)") }
        program = found
    }

    /// What one unit of a work takes.
    func count(_ work: CountedWork) throws -> Count {
        let (few, many) = try (totals(work, work.units), totals(work, work.growth * work.units))
        let units = Double((work.growth - 1) * work.units)
        return Count(
            instructions: ((many.instructions - few.instructions) / units).rounded(),
            allocations: max(0, ((many.allocations - few.allocations) / units * 100).rounded() / 100))
    }

    /// The instructions alone, for half of the work.
    func instructions(_ work: CountedWork) throws -> Double {
        let (few, many) = try (instructions(work, work.units), instructions(work, work.growth * work.units))
        return (many - few) / Double((work.growth - 1) * work.units)
    }

    /// Both counts, each by a run of its own; the two runs go on beside each other.
    private func totals(_ work: CountedWork, _ units: Int) throws -> Count {
        let counting = try start(Self.callgrind, work, units)
        let tracing = try start(["--tool=memcheck", "--leak-check=no", "--undef-value-errors=no"], work, units)
        let (counted, traced) = (counting.wait(limit: Self.limit), tracing.wait(limit: Self.limit))
        return try Count(
            instructions: number(after: Self.collected, in: said(counted, work)),
            allocations: number(after: "total heap usage: ", in: said(traced, work)))
    }

    private func instructions(_ work: CountedWork, _ units: Int) throws -> Double {
        let outcome = try start(Self.callgrind, work, units).wait(limit: Self.limit)
        return try number(after: Self.collected, in: said(outcome, work))
    }

    private func start(_ tool: [String], _ work: CountedWork, _ units: Int) throws -> ChildProcess {
        try ChildProcess(program, tool + [work.program] + work.arguments(units), on: nil, inOwnGroup: true)
    }

    /// What valgrind has printed, where the program did its work.
    private func said(_ outcome: ChildProcess.Outcome, _ work: CountedWork) throws -> String {
        guard outcome.status == 0 else {
            let reason = outcome.complaints.split(separator: "\n").last ?? ""
            throw HarnessError("\(work.name) failed under valgrind: \(reason)")
        }
        return outcome.complaints
    }

    private func number(after label: String, in text: String) throws -> Double {
        guard let place = text.range(of: label),
            let number = Double(text[place.upperBound...].prefix { $0.isNumber || $0 == "," }.filter { $0 != "," })
        else { throw HarnessError("valgrind said nothing after \(label)") }
        return number
    }
}
