// A program that downloads and is interrupted, for what only a process of its own can show: what is left when it is
// killed, and how much memory a download of any length takes.

import Foundation
import URLLoading
import URLLoadingLoopbackServer

/// Torments downloads.
enum ResumeTool {
    static func run(_ arguments: [String]) async {
        var words = arguments
        let sparesLives = words.last == "--without-kills"
        if sparesLives { words.removeLast() }
        switch (words.first, words.count) {
        case ("load", 4): exit(await load(words))
        case ("torment", 4):
            guard let plan = plan(words), let torment = try? Torment(plan, kills: !sparesLives) else { usage() }
            exit(await torment.run() ? 0 : 1)
        case ("torment", 6) where words[4] == "--url":
            guard let plan = plan(words), let url = URL(string: words[5]) else { usage() }
            exit(await DistantTorment(plan, url: url).run() ? 0 : 1)
        case ("once", 2): await once(words[1])
        case ("generate", 3):
            exit(GeneratedFile.write(Int64(words[1]) ?? 0, to: words[2]) ? 0 : 1)
        default: usage()
        }
    }

    private static func plan(_ words: [String]) -> TormentPlan? {
        guard let bytes = Int64(words[1]), bytes > 0, let cuts = Int(words[2]), cuts >= 0, let seed = UInt64(words[3])
        else { return nil }
        return TormentPlan(bytes: bytes, cuts: cuts, seed: seed)
    }

    /// One life of the downloading process: `load URL FOLDER SELF-KILLS`.
    private static func load(_ words: [String]) async -> Int32 {
        guard let url = URL(string: words[1]) else { return 64 }
        let folder = LifeFolder(path: words[2])
        let deaths = words[3].split(separator: ",").compactMap { Int64($0) }
        let isWhole = await Downloader(url: url, folder: folder, deaths: deaths).run()
        folder.noteMemory()
        return isWhole ? 0 : 1
    }

    /// Says how one download went, and what is left of it.
    private static func once(_ text: String) async {
        guard let url = URL(string: text) else { usage() }
        var outcome = "whole"
        do {
            let (location, _) = try await URLSession(configuration: .ephemeral).download(from: url)
            try FileManager.default.removeItem(at: location)
        } catch {
            let failure = error as? URLError
            let cause = failure?.userInfo[NSUnderlyingErrorKey] as? POSIXError
            let data = failure?.downloadTaskResumeData == nil ? "no data" : "data"
            outcome = "\(failure?.code.rawValue ?? 0) errno \(cause?.code.rawValue ?? 0), \(data)"
        }
        let left = try? FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
        print("\(outcome), \(left?.count ?? -1) files")
    }

    private static func usage() -> Never {
        print(
            "usage: resume torment BYTES CUTS SEED [--without-kills | --url URL] | generate BYTES FILE | once URL")
        exit(64)
    }
}

/// What a torment is made of.
struct TormentPlan: Sendable {
    let bytes: Int64
    let cuts: Int
    let seed: UInt64

    /// Where the download is cut, in order; the same for the same seed.
    var offsets: [Int64] {
        var state = seed
        let offsets = (0..<cuts).map { _ -> Int64 in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return 1 + Int64(state >> 1) % max(1, bytes - 1)
        }
        return offsets.sorted()
    }
}
