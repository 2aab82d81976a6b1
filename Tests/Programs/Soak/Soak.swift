// A process of its own for what can only be measured in one: memory, descriptors and threads of nothing but the load.
// The suite starts it and reads what it prints; by hand it takes the same arguments.

import Foundation
import URLLoadingTestSupport

/// The loads that run in a process of their own.
enum Soak {
    static func run(_ words: [String]) async {
        let arguments = words[...]
        let number = arguments.dropFirst().first.flatMap { Int64($0) }
        do {
            switch arguments.first {
            case "stream": print(try await StreamingLoad.run(bytes: number ?? 2 << 30))
            case "upload": print(try await UploadingLoad.run(bytes: number ?? 2 << 30))
            case "cancel": print(try await CancellingLoad.run(requests: Int(number ?? 10_000)))
            case "mixed":
                guard let options = SoakOptions(arguments.dropFirst()) else { exitWithUsage() }
                if try await !mixed(options) { exit(1) }
            default: exitWithUsage()
            }
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    /// Whether all went well.
    private static func mixed(_ options: SoakOptions) async throws -> Bool {
        let folder = options.folder.map { URL(fileURLWithPath: $0, isDirectory: true) }
        // Order: a folder that cannot be had is told before half an hour is over.
        if let folder { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        // Half an hour leaves a hundred parts of downloads that were not gone on with.
        let scratch = FileManager.default.temporaryDirectory.appendingPathComponent("soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        setenv("TMPDIR", scratch.path, 1)
        let report = try await MixedLoad.run(options)
        print(report.text)
        if let path = options.json { try report.json.write(to: URL(fileURLWithPath: path)) }
        if let folder {
            try Data(report.page.utf8).write(to: folder.appendingPathComponent("soak.md"))
            try Data(SoakPlot.svg(report.samples).utf8).write(to: folder.appendingPathComponent("soak.svg"))
        }
        return report.isClean
    }

    private static func exitWithUsage() -> Never {
        print(SoakOptions.help)
        exit(64)
    }
}
