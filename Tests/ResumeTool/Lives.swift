// The lives of the downloading process, one after the other, and what they leave: their memory at its highest, how much
// they have fetched, and the file.

import Foundation
import LoopbackServer
import Synchronization
import TestSupport
import Trust

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Runs downloaders until one has come to its end.
final class Lives: Sendable {
    let folder: String
    private let peak = Mutex(0)

    init() throws {
        var pattern = Array((FileManager.default.temporaryDirectory.path + "/resume-tool-XXXXXX").utf8CString)
        guard mkdtemp(&pattern) != nil else { throw POSIXError(.EIO) }
        folder = String(decoding: pattern.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard mkdir(folder + "/tmp", 0o700) == 0 else { throw POSIXError(.EIO) }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The highest resident memory of any life, in KiB.
    var peakKiB: Int {
        let own = (try? String(contentsOfFile: folder + "/peak", encoding: .utf8)).flatMap { Int($0) } ?? 0
        return max(own, peak.withLock { $0 })
    }

    /// Runs a life after the other; how many there were, or nil where one ended in another way than by being killed.
    func run(_ url: String, interval: Int64, deaths: [Int64] = []) async -> Int? {
        let words = ["load", url, folder, "\(interval)", deaths.map(String.init).joined(separator: ",")]
        let program = CommandLine.arguments.first.map { URL(filePath: $0).path } ?? "resume-tool"
        var lives = 0
        while true {
            lives += 1
            let run = await withHandover { continuation in
                Thread.detachNewThread { [folder] in
                    continuation.resume(
                        returning: try? ChildRun(program, words, changing: ["TMPDIR": folder + "/tmp"]))
                }
            }
            guard let run else { return nil }
            if let line = run.outputText.split(separator: "\n").last { notePeak(Int(line) ?? 0) }
            switch run.exitCode {
            case 0: return lives
            case 128 + SIGKILL: continue
            default:
                FileHandle.standardError.write(
                    Data("the downloader said \(run.exitCode): \(run.complaintsText)\n".utf8))
                return nil
            }
        }
    }

    /// Ends the life that is under way, once its memory has been looked at.
    func kill() {
        guard let text = try? String(contentsOfFile: folder + "/life", encoding: .utf8), let life = pid_t(text) else {
            return
        }
        notePeak(Self.peak(of: "\(life)"))
        signal(life)
    }

    private func signal(_ life: pid_t) {
        // By its full name, since a method here is called like it.
        #if canImport(Glibc)
            _ = Glibc.kill(life, SIGKILL)
        #elseif canImport(Musl)
            _ = Musl.kill(life, SIGKILL)
        #endif
    }

    /// The highest resident memory of a process, in KiB.
    static func peak(of process: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
    }

    private func notePeak(_ value: Int) { peak.withLock { $0 = max($0, value) } }

    /// How many bytes all lives have written.
    var fetched: Int64 {
        (try? String(contentsOfFile: folder + "/fetched", encoding: .utf8)).flatMap { Int64($0) } ?? 0
    }

    /// Whether the file is what was to be loaded; both hashes.
    func check(_ bytes: Int64) -> (isRight: Bool, hash: String) {
        let whole = GeneratedFile.hash(ofFile: folder + "/whole")
        let wanted = GeneratedFile.hash(ofLength: bytes)
        return (whole != nil && whole == wanted, whole ?? "none")
    }

    /// What is left of downloads beside the file.
    var leftovers: Int { (try? FileManager.default.contentsOfDirectory(atPath: folder + "/tmp").count) ?? -1 }
}

/// `GeneratedBytes` as a file.
enum GeneratedFile {
    /// Writes a file of so many bytes.
    static func write(_ length: Int64, to path: String) -> Bool {
        guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
        else { return false }
        return blocks(length) { block in (try? file.write(contentsOf: Data(block))) != nil }
    }

    static func hash(ofLength length: Int64) -> String? {
        guard let hash = SecureHashStream(.sha256) else { return nil }
        let isWhole = blocks(length) { block in
            block.withUnsafeBytes { hash.update($0) }
            return true
        }
        return isWhole ? text(hash.finished()) : nil
    }

    static func hash(ofFile path: String) -> String? {
        guard let hash = SecureHashStream(.sha256) else { return nil }
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            if count == 0 { return text(hash.finished()) }
            buffer.withUnsafeBytes { hash.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        }
    }

    /// All bytes in blocks, each a whole number of periods but the last.
    private static func blocks(_ length: Int64, _ body: (ArraySlice<UInt8>) -> Bool) -> Bool {
        let block = (0..<Int64(251 * 4096)).map(GeneratedBytes.byte(at:))
        var left = length
        while left > 0 {
            let part = block.prefix(Int(min(left, Int64(block.count))))
            guard body(part) else { return false }
            left -= Int64(part.count)
        }
        return true
    }

    private static func text(_ hash: [UInt8]?) -> String? {
        hash.map { bytes in
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
    }
}
