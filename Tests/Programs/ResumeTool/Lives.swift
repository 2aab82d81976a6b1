// The lives of the downloading process, one after the other, and what they leave: their memory at its highest, how much
// they have fetched, and the file.

import Foundation
import Synchronization
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

/// Runs downloaders until one has come to its end.
final class Lives: Sendable {
    let folder: LifeFolder
    private let highest = Mutex(ProcessMemory(peak: 0, anonymous: 0))
    /// What was in the file of a life that had saved nothing.
    private let lost = Mutex<Int64>(0)
    private let isRunning = Atomic<Bool>(false)

    init() throws {
        var pattern = Array((FileManager.default.temporaryDirectory.path + "/resume-tool-XXXXXX").utf8CString)
        guard mkdtemp(&pattern) != nil else { throw POSIXError(.EIO) }
        folder = LifeFolder(path: String(decoding: pattern.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
        guard mkdir(folder.temporary, 0o700) == 0 else { throw POSIXError(.EIO) }
    }

    /// Ends the life that is under way, and removes everything.
    func remove() {
        endLife()
        try? FileManager.default.removeItem(atPath: folder.path)
    }

    /// The highest memory of all lives.
    var memory: ProcessMemory {
        var memory = folder.memory
        memory.join(highest.withLock { $0 })
        return memory
    }

    /// Runs a life after the other; how many there were, or nil where one ended in another way than by being killed.
    func run(_ url: String, deaths: [Int64] = []) async -> Int? {
        let words = ["resume", "load", url, folder.path, deaths.map(String.init).joined(separator: ",")]
        let program = CommandLine.arguments.first.map { URL(filePath: $0).path } ?? ChildRun.testPrograms
        var lives = 0
        while true {
            lives += 1
            isRunning.store(true, ordering: .relaxed)
            let run = try? await ChildRun.run(program, words, changing: ["TMPDIR": folder.temporary])
            isRunning.store(false, ordering: .relaxed)
            guard let run else { return nil }
            switch run.exitCode {
            case 0: return lives
            case 128 + SIGKILL: count()
            default:
                FileHandle.standardError.write(
                    Data("the downloader said \(run.exitCode): \(run.complaintsText)\n".utf8))
                return nil
            }
        }
    }

    /// A life was killed: what it has written is in the file, whether or not it came to say so.
    private func count() {
        var account = folder.account
        account.reach(folder.lengthOfPart ?? 0)
        guard folder.isSaved else {
            // No later life will ask for this file.
            lost.withLock { $0 += account.place }
            try? FileManager.default.removeItem(atPath: folder.temporary)
            mkdir(folder.temporary, 0o700)
            account.place = 0
            return folder.note(account)
        }
        folder.note(account)
    }

    /// Ends the life that is under way, once its memory has been looked at.
    func kill() {
        if let life = folder.life { highest.withLock { $0.join(ProcessMemory(of: "\(life)")) } }
        endLife()
    }

    private func endLife() {
        // The number of a process that has ended may be another process's.
        guard isRunning.load(ordering: .relaxed), let life = folder.life, life > 0 else { return }
        // By its full name, since a method here is called like it.
        #if canImport(Glibc)
            _ = Glibc.kill(life, SIGKILL)
        #elseif canImport(Musl)
            _ = Musl.kill(life, SIGKILL)
        #endif
    }

    /// How many bytes all lives have written, but for those of lives that had saved nothing.
    var fetched: Int64 { folder.account.fetched - unsaved }

    /// What was written by lives that had saved nothing.
    var unsaved: Int64 { lost.withLock { $0 } }

    /// Whether the file is what was to be loaded; both hashes.
    func check(_ bytes: Int64) -> (isRight: Bool, hash: String) {
        let whole = GeneratedFile.hash(ofFile: folder.whole)
        let wanted = GeneratedFile.hash(ofLength: bytes)
        return (whole != nil && whole == wanted, whole ?? "none")
    }

    /// What is left of downloads beside the file.
    var leftovers: Int { (try? FileManager.default.contentsOfDirectory(atPath: folder.temporary).count) ?? -1 }

    /// Says how it went with a download of so many bytes; whether everything came, and nothing twice.
    func report(_ bytes: Int64, in time: Duration) -> Bool {
        let (isRight, hash) = check(bytes)
        let twice = fetched - bytes
        let seconds = time / .seconds(1)
        print("time \((seconds * 10).rounded() / 10) s, \(Int(Double(bytes) / 1_048_576 / seconds)) MiB/s")
        print("written twice \(twice) bytes, and \(unsaved) before anything was saved")
        print("sha256 \(hash) \(isRight ? "right" : "WRONG")")
        print("left behind \(leftovers) files")
        print("peak memory \(memory.peak) KiB, of which no file's page \(memory.anonymous) KiB")
        return isRight && twice == 0
    }
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
        let block = GeneratedBytes.bytes(251 * 4096)
        var left = length
        while left > 0 {
            let part = block.prefix(Int(min(left, Int64(block.count))))
            guard body(part) else { return false }
            left -= Int64(part.count)
        }
        return true
    }

    private static func text(_ hash: [UInt8]?) -> String? {
        hash.map { Hexadecimal.text($0) }
    }
}
