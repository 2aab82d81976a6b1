// What the soak came to: as values for programs, as text for a terminal, as a page for the documentation.

import Foundation
import URLLoadingTestSupport

/// The outcome of the mixed load.
struct SoakReport: Codable, Sendable {
    let options: SoakOptions
    let protocols: [ProtocolReport]
    let complaints: [String]
    let faults: [String: Int]
    let faultyConnections: Int
    let samples: [Sample]
    /// Open when everything was ended, less what was open before.
    let descriptorsLeft: Int

    /// How much more of something the last quarter held than the second, in KiB; what warms up does so in the first.
    private func growth(of kibibytes: (Sample) -> Int) -> Int {
        let quarter = samples.count / 4
        guard quarter > 0 else { return 0 }
        func mean(_ part: ArraySlice<Sample>) -> Int { part.reduce(0) { $0 + kibibytes($1) } / max(1, part.count) }
        return mean(samples.suffix(quarter)) - mean(samples[quarter..<2 * quarter])
    }

    /// Nothing wrong, nothing lost, nothing left.
    var isClean: Bool {
        protocols.allSatisfy(\.sum.isClean) && descriptorsLeft <= MixedLoad.keptDescriptors
            && (options.seconds < 300 || growth { $0.inUseKiB ?? $0.residentKiB } < 16 << 10)
    }

    var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return (try? encoder.encode(self)) ?? Data()
    }

    // MARK: Text

    /// The report for a terminal.
    var text: String {
        var lines = ["soak: \(options.seconds) s, seed \(options.seed), \(options.workers) workers"]
        if let network = options.network { lines.append("network: \(network)") }
        for report in protocols {
            lines +=
                Self.aligned(report.table) + [
                    report.sentence, "errors that are accounted for: \(list(report.errors))", "",
                ]
        }
        lines.append("faults: \(list(faults))")
        lines.append("connections through bad networks: \(faultyConnections)")
        lines.append(contentsOf: memoryLines)
        lines += complaints
        lines.append(isClean ? "clean" : "NOT CLEAN")
        return lines.joined(separator: "\n")
    }

    /// The page for the documentation; its plot stands beside it.
    var page: String {
        """
        # Soak

        `make soak` runs a mixed load for half an hour: every form of request that the API has, over HTTP/1.1 and over
        HTTP/2, to servers in the same process. Five ways lead to each: http and https as they are; http through a
        network that delays, throttles, splits, cuts, half-closes and resets; https through one that also changes and
        repeats bytes; and http through such a one, where changes cannot be noticed. Every answer is compared with what
        was sent: a body follows from its URL. An error must be accounted for by a fault on the connection that it was
        met on, which the books of the faulty network name. On the last way, a success must be what that network has
        delivered, byte for byte. In *answer ahead* a server sends a forged answer before its client has asked again: no
        answer may be older than its request. In *stranger* a redirect leads to another origin, which must get nothing
        secret. In *broken off* a server ends in the midst of its answer, which must be an error, and in *fall back* one
        wants to be asked over HTTP/1.1. Servers of HTTP/2 refuse streams, say goodbye while requests are under way,
        have small windows and room for few streams; all that must cost no answer. `make soak-netem` does the same where
        the kernel loses and delays packets, in a network namespace.

        This page was written by a run of \(options.seconds) seconds with \(options.workers) workers, seed \(options.seed)\
        \(options.network.map { ", network: \($0)" } ?? ""). Servers, faulty networks and client share the process, whose memory,
        descriptors and threads the plot shows.

        ![Memory, descriptors, threads and requests over time](soak.svg)

        \(protocols.map { "\(Self.markdown($0.table))\n\n\($0.sentence).\n\nErrors: \(list($0.errors))." }.joined(separator: "\n\n"))

        *As delivered* counts answers that the network had changed where it cannot be noticed, and that reached the program
        as they were delivered. *Failed* counts errors that a fault accounts for; their codes stand below each table. *Unexplained* errors,
        *wrong* answers, *lost* ones (no completion within two minutes of the end) and completions that come *twice* must be 0.

        | fault | times |
        | --- | ---: |
        \(Self.sorted(faults).map { "| \($0.name) | \($0.count) |" }.joined(separator: "\n"))

        \(faultyConnections) connections went through bad networks.

        \(memoryLines.joined(separator: ".\n")).\
        \(complaints.isEmpty ? "" : "\n\n" + complaints.map { "- " + $0 }.joined(separator: "\n"))

        """
    }

    private var memoryLines: [String] {
        let inUse = samples.allSatisfy { $0.inUseKiB != nil }
        return (inUse ? [line("Memory in use, allocated and not freed") { $0.inUseKiB ?? 0 }] : []) + [
            // What has been freed stays with the allocator, in an arena for each thread that there has been.
            line("Resident memory") { $0.residentKiB },
            "Descriptors: at most \(samples.map(\.descriptors).max() ?? 0), and \(descriptorsLeft) more than before the run "
                + "when all was ended (the process's loops keep theirs)",
            "Threads: at most \(samples.map(\.threads).max() ?? 0)",
        ]
    }

    private func line(_ what: String, of kibibytes: (Sample) -> Int) -> String {
        let all = samples.map(kibibytes)
        return "\(what): at most \((all.max() ?? 0) >> 10) MiB, at the end \((all.last ?? 0) >> 10) MiB; "
            + "the last quarter held \(growth(of: kibibytes)) KiB more than the second on average"
    }

    private func list(_ counts: [String: Int]) -> String {
        Self.sorted(counts).map { "\($0.name) × \($0.count)" }.joined(separator: ", ")
    }

    private static func sorted(_ counts: [String: Int]) -> [(name: String, count: Int)] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
    }

    private static func markdown(_ table: [[String]]) -> String {
        var rows = table.map { "| " + $0.joined(separator: " | ") + " |" }
        rows.insert("|" + table[0].indices.map { $0 == 0 ? " --- |" : " ---: |" }.joined(), at: 1)
        return rows.joined(separator: "\n")
    }

    private static func aligned(_ rows: [[String]]) -> [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { column, text in
                let space = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 ? text + space : space + text
            }.joined(separator: "  ")
        }
    }
}
