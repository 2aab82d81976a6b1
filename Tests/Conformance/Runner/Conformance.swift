// The program: reads the cases, runs them against a driver, tells what became of them. docs/conformance.md.

import Foundation
import URLLoadingTestSupport

/// Runs the project's conformance cases.
@main
enum Conformance {
    static func main() async {
        signal(SIGPIPE, SIG_IGN)
        do {
            let options = try Options(Array(CommandLine.arguments.dropFirst()))
            if options.wantsHelp { return print(Options.help) }
            if let seconds = options.fuzzSeconds { exit(try await fuzz(options, seconds: seconds) ? 0 : 1) }
            exit(try await run(options) ? 0 : 1)
        } catch {
            FileHandle.standardError.write(Data("conformance: \(error)\n".utf8))
            exit(2)
        }
    }

    /// Whether all went well.
    private static func run(_ options: Options) async throws -> Bool {
        let all = try CaseFolder.cases(in: options.cases ?? home + "/Cases")
        let expected = try CaseFolder.expectedFailures(
            in: options.expectedFailures ?? (options.cases == nil ? home + "/expected-failures.txt" : nil), of: all)
        let fitting = all.filter { $0.matches(options.filter) }
        let cases = stride(from: 0, to: fitting.count, by: options.every).map { fitting[$0] }
        guard !cases.isEmpty else { throw OptionFault("no case fits") }
        if options.lists {
            for conformanceCase in cases {
                print("\(conformanceCase.name) [\(conformanceCase.references.joined(separator: ", "))]")
            }
            return true
        }
        let progress = Progress(total: cases.count)
        let start = ContinuousClock.now
        let results = await CaseQueue(cases, expectedFailures: expected, driver: options.driver) {
            progress.tell($0)
        }.run(jobs: options.jobs)
        progress.end()
        print(Table.byGroup(results), Table.byChapter(results), separator: "\n\n", terminator: "\n\n")
        print("\(results.count) cases in \((ContinuousClock.now - start) / .seconds(1)) seconds")
        if let path = options.json { try ReportFiles.json(results).write(to: URL(fileURLWithPath: path)) }
        if let path = options.junit { try ReportFiles.junit(results).write(to: URL(fileURLWithPath: path)) }
        return !results.contains { $0.outcome.isBad }
    }

    /// Whether the driver has answered everything and lived.
    private static func fuzz(_ options: Options, seconds: Int) async throws -> Bool {
        let fuzz = DriverFuzz(driver: options.driver, seed: options.seed)
        // Each keeps sixteen requests in progress.
        let tally = try await fuzz.run(seconds: seconds, jobs: min(options.jobs, 2))
        print("seed \(options.seed), \(seconds) seconds: \(tally.text)")
        return tally.failures.isEmpty
    }

    /// Tests/Conformance of the package that this program was built from.
    private static var home: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
    }
}

extension ConformanceCase {
    /// Whether a text occurs in what can be looked for.
    fileprivate func matches(_ text: String?) -> Bool {
        guard let text else { return true }
        return name.contains(text) || references.contains { $0.contains(text) }
    }
}
