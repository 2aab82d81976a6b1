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

    /// The instructions alone, for half of the time.
    func instructions(_ work: CountedWork) throws -> Double {
        let (few, many) = try (instructions(work, work.units), instructions(work, work.growth * work.units))
        return (many - few) / Double((work.growth - 1) * work.units)
    }

    private func totals(_ work: CountedWork, _ units: Int) throws -> Count {
        let instructions = try instructions(work, units)
        let allocations = try number(
            after: "total heap usage: ",
            in: run(["--tool=memcheck", "--leak-check=no", "--undef-value-errors=no"], work, units))
        return Count(instructions: instructions, allocations: allocations)
    }

    private func instructions(_ work: CountedWork, _ units: Int) throws -> Double {
        try number(
            after: "Collected : ", in: run(["--tool=callgrind", "--callgrind-out-file=/dev/null"], work, units))
    }

    private func run(_ tool: [String], _ work: CountedWork, _ units: Int) throws -> String {
        let outcome = try ChildProcess.run(
            program, tool + [work.program] + work.arguments(units), limit: .seconds(3_600))
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
