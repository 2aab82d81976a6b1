// The soak: many workers carry out exercises on several lanes until the time is over, while memory, descriptors and
// threads are looked at. Then everything is ended, and what is left is counted.

import Foundation
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport

/// Runs the mixed load.
enum MixedLoad {
    static func run(_ options: SoakOptions) async throws -> SoakReport {
        // The first use of a library opens what stays open.
        let before = ProcessCounts.now()
        let progress = Progress()
        let ledgers = LaneProtocol.allCases.map { Ledger($0) }
        let lanes = try ledgers.map { ledger in
            try Lane.Kind.allCases.enumerated().map { index, kind in
                try Lane(kind, seed: options.seed &+ UInt64(index), ledger: ledger)
            }
        }
        let start = ContinuousClock.now
        let end = start + .seconds(options.seconds)
        let workers = (0..<options.workers).map { worker in
            Task {
                var random = SeededRandom(seed: options.seed, of: worker)
                while ContinuousClock.now < end {
                    guard let lane = Self.lane(of: lanes, &random) else { break }
                    let exercise = Self.exercise(on: lane, &random)
                    let number = progress.nextExercise()
                    do {
                        try await lane.carryOut(exercise, number: number, &random)
                    } catch {
                        lane.ledger.judge(
                            exercise.rawValue, lane.kind.rawValue, .wrong("the load itself failed: \(error)"))
                    }
                }
                progress.workerEnded()
            }
        }
        let allLanes = lanes.flatMap { $0 }
        var samples = [Sample(at: 0, ledgers, allLanes)]
        let interval = max(0.25, Double(options.seconds) / 600)
        // What is still open some time after the end will never be answered; some exercises wait in
        // vain for several answers.
        let mercy = Duration.seconds(Sanitizer.isActive ? 240 : 120)
        while progress.endedWorkers < options.workers, ContinuousClock.now < end + mercy {
            try await Task.sleep(for: .seconds(interval))
            samples.append(Sample(at: (ContinuousClock.now - start) / .seconds(1), ledgers, allLanes))
        }
        for ledger in ledgers { ledger.close() }
        for worker in workers { worker.cancel() }
        var faults: [String: Int] = [:]
        for kind in Fault.Kind.allCases {
            faults[kind.rawValue] = allLanes.reduce(0) { $0 + ($1.proxy?.books.counts[kind] ?? 0) }
        }
        let connections = allLanes.reduce(0) { $0 + ($1.proxy?.books.connections ?? 0) }
        let protocols = zip(ledgers, lanes).map { ProtocolReport($0, $1) }
        for lane in allLanes { await lane.stop() }
        // Sessions that were ended let their connections go in their own time.
        let limit = ContinuousClock.now + .seconds(60)
        while ProcessCounts.now().descriptors > before.descriptors + Self.keptDescriptors, ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(50))
        }
        let after = ProcessCounts.now()
        return SoakReport(
            options: options, protocols: protocols, complaints: ledgers.flatMap(\.complaints), faults: faults,
            faultyConnections: connections, samples: samples,
            descriptorsLeft: after.descriptors - before.descriptors)
    }

    /// The process's own loops, Dispatch's queue and the runtime keep an epoll and an eventfd each.
    static let keptDescriptors = 2 * 4 + 4

    /// One in either protocol with the same chance.
    private static func lane(of lanes: [[Lane]], _ random: inout SeededRandom) -> Lane? {
        var share = Int.random(in: 0..<100, using: &random)
        return lanes.randomElement(using: &random)?.first { lane in
            share -= lane.kind.share
            return share < 0
        }
    }

    private static func exercise(on lane: Lane, _ random: inout SeededRandom) -> Exercise {
        let choices = Exercise.choices(on: lane.kind, over: lane.ledger.spoken)
        var place = Int.random(in: 0..<choices.reduce(0) { $0 + $1.weight }, using: &random)
        for choice in choices {
            place -= choice.weight
            if place < 0 { return choice }
        }
        return .get
    }
}

/// What the process held at one moment, and how far the load was.
struct Sample: Codable, Sendable {
    let seconds: Double
    let residentKiB: Int
    /// Allocated and not freed; nil where the C library does not tell.
    let inUseKiB: Int?
    let descriptors: Int
    let threads: Int
    let requests: Int
    let faults: Int

    init(at seconds: Double, _ ledgers: [Ledger], _ lanes: [Lane]) {
        let counts = ProcessCounts.now()
        self.seconds = seconds
        residentKiB = counts.residentBytes >> 10
        inUseKiB = HeapCounts.bytesInUse().map { $0 >> 10 }
        descriptors = counts.descriptors
        threads = counts.threads
        requests = ledgers.reduce(0) { $0 + $1.endedCount }
        faults = lanes.reduce(0) { $0 + ($1.proxy?.books.counts.values.reduce(0, +) ?? 0) }
    }
}
