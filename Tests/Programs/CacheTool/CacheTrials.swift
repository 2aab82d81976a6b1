// Trials that need several processes: one that is killed again and again while it stores, two that store, read and
// remove in one directory. A trial says at its end what it has seen, and fails as soon as something is torn or lost.

import Foundation
import Synchronization
import URLLoading
import URLLoadingTestSupport

/// Trials in one directory.
struct CacheTrials {
    let directory: String

    private var place: URL { URL(filePath: directory, directoryHint: .isDirectory) }

    /// Kills a process so often, each time at a random moment of its storing; whether after each kill the cache opens,
    /// all bodies are whole, and at most what was being written is forgotten.
    func kill(rounds: Int) -> Bool {
        var known: Set<Int> = []
        for round in 1...max(1, rounds) {
            let pause = Int.random(in: 0..<6000)
            guard
                let run = try? ChildRun(Self.program, ["cache", "store-until-killed", directory, "0", "\(pause)"]),
                run.exitCode == 128 + 9
            else { return complain("round \(round): the process was not killed") }
            for number in run.outputText.split(separator: "\n").compactMap({ Int($0) }) { known.insert(number % 40) }
            var whole: Set<Int> = []
            let cache = URLCache(memoryCapacity: 0, diskCapacity: 64 << 20, directory: place)
            for number in 0..<40 {
                guard let cached = cache.cachedResponse(for: SampleEntry.request(number)) else { continue }
                guard SampleEntry.isWhole(cached, number) else { return complain("round \(round): \(number) is torn") }
                whole.insert(number)
            }
            // What was being replaced when the process died may be gone, if anything is.
            let lost = known.subtracting(whole)
            guard lost.count <= 1 else { return complain("round \(round): lost \(lost.sorted())") }
            known = whole
        }
        let cache = URLCache(memoryCapacity: 0, diskCapacity: 64 << 20, directory: place)
        // A cache that asks the log while no other writes removes what dead processes have left. One that stores does
        // not: it writes itself.
        _ = cache.currentDiskUsage
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        guard !names.contains(where: { $0.hasPrefix("new-") }) else {
            return complain("something half written is left")
        }
        print("killed \(max(1, rounds)) times: \(known.count) entries, all whole")
        return true
    }

    /// Lets so many processes hammer the directory for so long; whether none has read anything torn.
    func hammer(processes: Int, seconds: Double) -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        let totals = Mutex((runs: 0, found: 0, failures: [String]()))
        DispatchQueue.concurrentPerform(iterations: max(1, processes)) { index in
            var seed = index
            repeat {
                seed += processes
                let run = try? ChildRun(Self.program, ["cache", "hammer", directory, "400000", "\(seed)", "1500"])
                let text = run?.outputText.trimmingCharacters(in: .whitespacesAndNewlines) ?? "no start"
                totals.withLock { totals in
                    totals.runs += 1
                    if run?.exitCode == 0 { totals.found += Int(text) ?? 0 } else { totals.failures.append(text) }
                }
            } while Date() < end && totals.withLock { $0.failures.isEmpty }
        }
        let (runs, found, failures) = totals.withLock { $0 }
        guard failures.isEmpty else { return complain(failures.joined(separator: "\n")) }
        print("\(runs) runs of 1500 steps by \(max(1, processes)) processes: \(found) answers, none torn")
        return true
    }

    private func complain(_ text: String) -> Bool {
        print(text)
        return false
    }

    private static var program: String { CommandLine.arguments.first ?? ChildRun.testPrograms }
}
