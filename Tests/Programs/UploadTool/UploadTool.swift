// Torments a resumable upload: a file of any size, a server that cuts the connection again and again, and at the end
// the question whether everything arrived once, whole, and without being held in memory.

import Foundation
import URLLoading
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTestSupport

/// Sends one file through many lost connections.
enum UploadTool {
    static func run(_ words: [String]) async throws {
        guard words.count == 4, words[0] == "torment", let count = Int64(words[1]), count > 0,
            let cuts = Int(words[2]), cuts >= 0, let seed = UInt64(words[3])
        else {
            print("usage: upload torment BYTES CUTS SEED")
            exit(64)
        }
        exit(try await torment(count, cuts: cuts, seed: seed) ? 0 : 1)
    }

    /// Whether the file arrived once and whole.
    private static func torment(_ count: Int64, cuts: Int, seed: UInt64) async throws -> Bool {
        var random = SeededBytes(seed: seed)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("upload-tool-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        let hash = try write(count, to: url, &random)

        var settings = UploadStore.Settings()
        settings.cuts = (0..<cuts).map { _ in Int64(random.next() % UInt64(count)) }.sorted()
        let store = UploadStore(settings)
        var options = LoopbackServer.Options()
        options.uploads = store
        let server = try LoopbackServer.start(options) { _ in .status(404) }

        let configuration = URLSessionConfiguration.ephemeral
        var patience = ResumableUploadMachine.Patience()
        patience.firstDelay = .milliseconds(1)
        configuration.uploadPatience = patience
        configuration.connectionProxyDictionary = [:]
        let watcher = UploadWatcher()
        let session = URLSession(configuration: configuration, delegate: watcher, delegateQueue: nil)
        guard let target = URL(string: server.url("/files")) else { return false }
        var request = URLRequest(url: target)
        request.httpMethod = "POST"
        let start = ContinuousClock.now
        let (data, response) = try await session.upload(for: request, fromFile: url)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        session.finishTasksAndInvalidate()
        await watcher.hasEnded()
        await server.stop()

        let answer = String(decoding: data, as: UTF8.self)
        let isWhole = answer == "\(count) \(hash)" && store.summaries.map(\.hash) == [hash]
        print("status          \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        print("arrived         \(isWhole ? "once and whole" : "NOT as it was sent"): \(answer)")
        print("connections cut \(store.cutCount) of \(cuts)")
        print("requests        \(store.log.count), of which PATCH \(store.log.count { $0.hasPrefix("PATCH") })")
        print("bytes sent      \(watcher.bytesSent), of which twice \(watcher.bytesSent - count)")
        print("bytes received  \(store.bytesReceived), of which thrown away \(store.bytesReceived - count)")
        print("seconds         \((seconds * 100).rounded() / 100)")
        let memory = ProcessMemory()
        print(
            "peak memory     \(memory.peak) KiB, of which no file's page \(memory.anonymous) KiB; the server's as well")
        return isWhole && store.cutCount == cuts && store.summaries.count == 1
    }

    /// Writes random bytes and answers their hash.
    private static func write(_ count: Int64, to url: URL, _ random: inout SeededBytes) throws -> String {
        let isMade = FileManager.default.createFile(
            atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        guard isMade else { throw CocoaError(.fileWriteUnknown) }
        let handle = try FileHandle(forWritingTo: url)
        defer { try? handle.close() }
        let hash = BodyHash(.sha256)
        var left = count
        while left > 0 {
            let piece = random.piece(Int(min(left, 1 << 20)))
            piece.withUnsafeBytes { hash?.update($0) }
            try handle.write(contentsOf: Data(piece))
            left -= Int64(piece.count)
        }
        return Hexadecimal.text(hash?.finished() ?? [])
    }
}

/// Numbers that a seed decides: xorshift64*.
struct SeededBytes {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }

    mutating func piece(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: next()) { bytes.append(contentsOf: $0) } }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
