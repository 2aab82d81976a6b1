// The directory of a background session: journals come back as they were written, and foreign files in it do no harm.

import Foundation
import Testing
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport

@testable import URLLoading

@Suite struct BackgroundDirectoryTests {
    private static func record(_ task: UInt64) -> TransferRecord {
        TransferRecord(Rig.download("http://h/", task: task), allowed: nil, isDiscretionary: false, now: .now)
    }

    private static func mode(_ path: String) throws -> Int {
        var about = stat()
        try #require(lstat(path, &about) == 0)
        return Int(about.st_mode & 0o777)
    }

    @Test("B10.30, B10.38: journals are written, read, replaced and removed, for their owner's eyes only")
    func journals() throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        try directory.write(settings: Rig.settings)
        try directory.write(Self.record(7))
        var other = Self.record(3)
        try directory.write(other)
        other.label = "changed"
        try directory.write(other)
        let contents = try directory.read()
        #expect(contents.records == [other, contents.records[1]])
        #expect(contents.records.map(\.task) == [3, 7])
        #expect(contents.settings == Rig.settings)
        #expect(contents.damaged.isEmpty)
        #expect(try Self.mode(directory.path) == 0o700)
        #expect(try Self.mode(directory.path + "/task-3") == 0o600)
        #expect(try Self.mode(directory.path + "/session") == 0o600)
        directory.remove(task: 3)
        #expect(try directory.read().records.map(\.task) == [7])
        directory.removeAll()
        #expect(try directory.read().records.isEmpty)
        #expect(try directory.read().settings == nil)
    }

    @Test("B10.30: journals that are torn or bear another task's name are set aside and reported; the others are read")
    func damage() throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        for task in 1...4 { try directory.write(Self.record(UInt64(task))) }
        func change(_ name: String, _ body: (inout Data) -> Void) throws {
            let url = URL(fileURLWithPath: directory.path + "/" + name)
            var data = try Data(contentsOf: url)
            body(&data)
            try data.write(to: url)
        }
        try change("task-1") { $0.removeLast(5) }
        try change("task-2") { $0[40] ^= 1 }
        try FileManager.default.moveItem(atPath: directory.path + "/task-4", toPath: directory.path + "/task-5")
        try Data("junk".utf8).write(to: URL(fileURLWithPath: directory.path + "/session"))
        try Data("half".utf8).write(to: URL(fileURLWithPath: directory.path + "/.new-abc"))
        let contents = try directory.read()
        #expect(contents.records.map(\.task) == [3])
        #expect(
            contents.damaged.map(\.reason).sorted() == [
                "it ends too early", "it has an impossible value", "it is damaged", "it is none of ours",
            ])
        for damage in contents.damaged {
            #expect(damage.name.hasPrefix("damaged-"))
            #expect(FileManager.default.fileExists(atPath: directory.path + "/" + damage.name))
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/.new-abc"))
        // They are reported once.
        #expect(try directory.read().damaged.isEmpty)
    }

    @Test("B10.46: a journal that cannot be opened stays where it is, and so do all files: some may be of its task")
    func unopened() throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        // A directory stands for a journal for which the process has no descriptor.
        try FileManager.default.createDirectory(atPath: directory.path + "/task-1", withIntermediateDirectories: false)
        try directory.write(Self.record(2))
        let file = directory.file("download-1")
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        let reports = Guarded<[String]>([])
        let owner = try Rig.owner(directory) { $0.report = { text in reports.withLock { $0.append(text) } } }
        #expect(owner.run { $0.transfers.keys.sorted() } == [2])
        #expect(reports.value == ["a journal of a background session is unusable, it cannot be read: task-1"])
        #expect(FileManager.default.fileExists(atPath: directory.path + "/task-1"))
        #expect(FileManager.default.fileExists(atPath: file))
    }

    @Test("B10.30: each identifier has a directory of its own, whatever characters it holds")
    func names() throws {
        let name = BackgroundDirectory.name(of: "com.example.a")
        #expect(name.utf8.count == 32)
        #expect(name == BackgroundDirectory.name(of: "com.example.a"))
        for hostile in ["../../etc", "", "/", "com.example.b", String(repeating: "x", count: 10_000), "a\0b"] {
            let other = BackgroundDirectory.name(of: hostile)
            #expect(other != name)
            #expect(other.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) })
        }
    }

    @Test("B10.30: a directory that others may write to is refused, and so is a file or a relative path")
    func foreign() throws {
        let folder = try StateFolder()
        let open = folder.path + "/" + BackgroundDirectory.name(of: "open")
        try FileManager.default.createDirectory(atPath: open, withIntermediateDirectories: false)
        chmod(open, 0o777)
        #expect(throws: BackgroundDirectoryFailure.notPrivate(path: open)) { try folder.directory("open") }
        let file = folder.path + "/" + BackgroundDirectory.name(of: "file")
        try Data().write(to: URL(fileURLWithPath: file))
        #expect(throws: BackgroundDirectoryFailure.notPrivate(path: file)) { try folder.directory("file") }
        #expect(BackgroundDirectoryFailure.notPrivate(path: file).code == .cannotCreateFile)
        #expect(throws: BackgroundDirectoryFailure.notPrivate(path: "relative")) {
            try BackgroundDirectory(path: "relative")
        }
    }

    @Test("B10.30: files are removed by paths in the directory only")
    func removal() throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let outside = folder.path + "/outside"
        for path in [outside, directory.file("inside"), directory.path + "/session"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: path))
        }
        for path in [outside, directory.filesPath + "/../session", directory.filesPath + "/..", "", "inside"] {
            directory.removeFile(at: path)
        }
        #expect(FileManager.default.fileExists(atPath: outside))
        #expect(FileManager.default.fileExists(atPath: directory.path + "/session"))
        directory.removeFile(at: directory.file("inside"))
        #expect(!FileManager.default.fileExists(atPath: directory.file("inside")))
    }

    @Test("B10.30: a journal that cannot be put into its place is an error, and says where")
    func unwritable() throws {
        let folder = try StateFolder()
        let directory = try folder.directory()
        let path = directory.path + "/task-1"
        try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
        do throws(BackgroundDirectoryFailure) {
            try directory.write(Self.record(1))
            Issue.record("it was written")
        } catch {
            guard case .system(let cause, path) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(cause.call == "rename")
            #expect(error.code == .cannotCreateFile)
        }
        // Nothing unfinished is left.
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).allSatisfy { !$0.hasPrefix(".new") })
        var long = Self.record(2)
        long.label = String(repeating: "x", count: TransferLimits.record + 1)
        #expect(throws: BackgroundDirectoryFailure.tooLong) { try directory.write(long) }
        // A directory where a journal should be is no journal, and stops nothing.
        #expect(try directory.read().damaged.map(\.reason) == ["it cannot be read"])
    }

    @Test("B10.24: a session is in use only where another process has its lock, not where the file system knows none")
    func locksThatFail() {
        let held = SystemError(errno: EWOULDBLOCK, call: "flock")
        #expect(BackgroundDirectoryFailure(lock: held, path: "/p").code == .backgroundSessionInUseByAnotherProcess)
        for errno in [ENOLCK, EOPNOTSUPP, ENOSYS] {
            let failure = BackgroundDirectoryFailure(lock: SystemError(errno: errno, call: "flock"), path: "/p")
            #expect(failure.code == .cannotCreateFile && failure.description.hasPrefix("/p cannot be used: flock: "))
        }
    }
}
