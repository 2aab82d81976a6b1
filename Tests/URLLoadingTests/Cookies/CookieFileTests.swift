// Storages that outlive their process (B8.60, B8.61, B8.68 to B8.70), each in a process of its own.

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

@testable import URLLoading

@Suite("Cookies on the disk")
struct CookieFileTests {
    private let home = DataHome()

    @Test("B8.68, B8.69: a cookie with an end survives the process, in a file that only its owner may read")
    func survives() async throws {
        try await home.run(["set", "a", "1", "3600"])
        #expect(try await home.run(["list"]) == ["a=1"])
        let path = home.path + "/URLLoadingTestPrograms/.cookies.shared"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let folder = try FileManager.default.attributesOfItem(atPath: home.path + "/URLLoadingTestPrograms")
        #expect((folder[.posixPermissions] as? NSNumber)?.intValue == 0o700)
    }

    @Test(
        "B8.61, B7.4: two groups, and two relative paths of caches, have two folders, however long and odd their names are"
    )
    func folders() {
        let long = String(repeating: "x", count: 79)
        let odd = ["", "%", ".", "..", "../..", "a/b", "a.b", "+", "\u{2}b", "\u{a}", "%0a", "ä"]
        let longer = ["a", "b", "ab", "ac", "/"].map { long + $0 }
        let names = odd + longer + [String(repeating: "ä/", count: 99), String(repeating: "ä/", count: 198)]
        let folders = names.map { UserDirectories.folder($0) }
        #expect(Set(folders).count == names.count, "\(folders)")
        for folder in folders {
            #expect((1...255).contains(folder.utf8.count), "\(folder)")
            #expect(!folder.contains("/") && folder != "." && folder != "..")
        }
        #expect(UserDirectories.folder(long + "a") == long + "a")
    }

    @Test("B8.68, B8.70: a session cookie is not written to the file")
    func session() async throws {
        try await home.run(["set", "a", "1", "-"])
        #expect(try await home.run(["list"]) == [])
        #expect(home.files == [])
        try await home.run(["set", "b", "2", "3600"])
        try await home.run(["set", "b", "3", "-"])
        #expect(try await home.run(["list"]) == [], "one that became a session's is in the file no more")
    }

    @Test(
        "B8.69: without XDG_DATA_HOME, or with a relative one, it lies in the home directory",
        arguments: [nil, "", "relative"])
    func homeDirectory(data: String?) async throws {
        let run = try await ChildRun.run(
            testProgram: "cookie", ["set", "a", "1", "3600"], changing: ["XDG_DATA_HOME": data, "HOME": home.path])
        #expect(run.exitCode == 0)
        #expect(
            FileManager.default.fileExists(atPath: home.path + "/.local/share/URLLoadingTestPrograms/.cookies.shared"))
    }

    @Test("B8.69: without any directory to write to, cookies are kept in memory and nothing fails")
    func nowhere() async throws {
        let run = try await ChildRun.run(
            testProgram: "cookie", ["set", "a", "1", "3600"],
            changing: ["XDG_DATA_HOME": "/proc/none", "HOME": "/proc/none"])
        #expect(run.exitCode == 0 && run.complaints.isEmpty)
    }

    @Test(
        "B8.61: groups have files of their own, whatever their names are",
        arguments: ["one", "../../two", ".", "", "ü/\n"])
    func groups(name: String) async throws {
        try await home.run(["--group", name, "set", "a", "1", "3600"])
        try await home.run(["--group", name + "x", "set", "b", "2", "3600"])
        #expect(try await home.run(["--group", name, "list"]) == ["a=1"])
        #expect(try await home.run(["list"]) == [])
        #expect(home.files.count == 2, "none of them lies elsewhere")
    }

    @Test("B8.69: a file that is torn or holds something else counts as none, and the next writing replaces it")
    func torn() async throws {
        try await home.run(["set", "a", "1", "3600"])
        let path = home.path + "/URLLoadingTestPrograms/.cookies.shared"
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        let torn: [Data] =
            [whole.dropLast(1), whole.prefix(whole.count / 2), whole + Data("x\n".utf8), Data()]
            + [Data("bplist00".utf8), Data([0, 255, 10, 13]), Data("URLLoading cookies 1\n\nend 1\n".utf8)]
        for bytes in torn {
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(try await home.run(["list"]) == [])
            try await home.run(["set", "b", "2", "3600"])
            #expect(try await home.run(["list"]) == ["b=2"])
        }
    }

    @Test(
        "B8.69: a directory, a pipe or a link to nowhere in place of the file counts as no cookies",
        arguments: ["folder", "pipe", "link"])
    func strange(kind: String) async throws {
        try FileManager.default.createDirectory(
            atPath: home.path + "/URLLoadingTestPrograms", withIntermediateDirectories: true)
        let path = home.path + "/URLLoadingTestPrograms/.cookies.shared"
        switch kind {
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        default: try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/proc/none/x")
        }
        #expect(try await home.run(["list"]) == [])
        try await home.run(["set", "a", "1", "3600"])
        #expect(try await home.run(["list"]) == (kind == "folder" ? [] : ["a=1"]))
    }

    @Test("B8.69: of two processes the last to change a cookie wins, and each keeps what the other has set")
    func merges() async throws {
        // A store knows the cookies that it read before another process wrote.
        let file = SharedFile(path: home.path + "/URLLoadingTestPrograms/.cookies.shared")
        // A store without a storage: a storage would write by itself after a while.
        let mine = CookieStore(file: file)
        try await home.run(["set", "a", "1", "3600"])
        try await home.run(["set", "b", "1", "3600"])
        #expect(Self.values(mine) == ["a=1", "b=1"])
        try await home.run(["set", "a", "2", "3600"])
        try await home.run(["set", "c", "2", "3600"])
        try await home.run(["delete", "b"])
        #expect(mine.set(try Self.cookie("d", "3").cookie))
        #expect(Self.values(mine) == ["a=1", "b=1", "d=3"])
        #expect(mine.write(), "others' changes are noticed")
        #expect(Self.values(mine) == ["a=2", "c=2", "d=3"])
        #expect(Set(try await home.run(["list"])) == ["a=2", "c=2", "d=3"])
        #expect(mine.set(try Self.cookie("a", "3").cookie))
        try await home.run(["set", "a", "4", "3600"])
        #expect(!mine.write())
        #expect(Set(try await home.run(["list"])) == ["a=3", "c=2", "d=3"], "the last to write about it")
        #expect(!mine.needsWriting)
    }

    @Test("B8.69: two processes at once lose nothing of what only one of them changes")
    func hammers() async throws {
        let home = self.home
        async let left = home.hammer("l")
        async let right = home.hammer("r")
        let codes = try await (left, right)
        #expect(codes == (0, 0))
        let kept = Set(try await home.run(["list"]).map { String($0.prefix { $0 != "=" }) })
        // Of every eight names two are deleted again, also in the last round.
        #expect(kept == Set("lr".flatMap { prefix in [0, 1, 2, 4, 5, 6].map { "\(prefix)\($0)" } }))
        #expect(home.files.filter { $0.contains(".new-") } == [], "nothing half-written is left")
    }

    @Test("B1.26: reset removes the file, also with another process's cookies in it; flush writes it")
    func reset() async throws {
        try await home.run(["set", "a", "1", "3600"])
        try await home.run(["reset"])
        #expect(try await home.run(["list"]) == [])
        #expect(home.files == [])

        let storage = HTTPCookieStorage(
            CookieStore(file: SharedFile(path: home.path + "/URLLoadingTestPrograms/.cookies.shared")))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = storage
        let session = URLSession(configuration: configuration)
        storage.setCookie(try Self.cookie("b", "2"))
        await session.flush()
        #expect(try await home.run(["list"]) == ["b=2"])
        session.invalidateAndCancel()
    }

    @Test("B8.60, B8.68: for a task the file is read on a thread for files, not on the caller's or a loop's")
    func readElsewhere() async throws {
        let file = SharedFile(path: home.path + "/x/cookies")
        let earlier = CookieStore(file: file)
        #expect(earlier.set(Cookie(name: "a", domain: "127.0.0.1")))
        _ = earlier.write()

        let readers = Guarded<[String]>([])
        let reader = Guarded<CookieStore?>(nil)
        // The storage asks for the time before anything else.
        let store = CookieStore(
            file: file,
            clock: {
                if reader.withLock({ $0?.isReady }) == false { readers.withLock { $0.append(ThreadName.current) } }
                return Date.timeIntervalSinceReferenceDate
            })
        reader.withLock { $0 = store }
        defer { reader.withLock { $0 = nil } }
        try await withServer(router: { .text($0.fields.first(.cookie) ?? "-") }) { server in
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpCookieStorage = HTTPCookieStorage(store)
            let session = URLSession(configuration: configuration)
            let (body, _) = try await session.data(from: server.at("/"))
            #expect(String(decoding: body, as: UTF8.self) == "a=1")
            #expect(store.isReady)
            #expect(readers.withLock { $0 } == ["url-files"])
            session.invalidateAndCancel()
        }
    }

    @Test("B8.69: a lock that another process keeps is waited for a while; then the cookies stay unwritten")
    func locked() async throws {
        let file = SharedFile(path: home.path + "/x/cookies")
        let store = CookieStore(file: file)
        #expect(store.set(Cookie(name: "a")))
        let failure = file.change(atMost: 10) { _ in
            #expect(!store.write(patience: .milliseconds(20)))
            return .keep
        }
        #expect(failure == nil)
        #expect(store.needsWriting)
        #expect(file.read(atMost: 10) == nil)
        _ = store.write()
        #expect(!store.needsWriting && file.read(atMost: 1000) != nil)
    }

    @Test("B8.69: a file that cannot be read at the moment is left alone, and memory keeps what it has")
    func unreadable() throws {
        let file = SharedFile(path: home.path + "/x/cookies")
        let store = CookieStore(file: file)
        #expect(store.set(Cookie(name: "a")) && store.set(Cookie(name: "b")))
        _ = store.write()

        let files = FileManager.default
        try files.moveItem(atPath: file.path, toPath: file.path + ".aside")
        // A link to itself cannot be opened, not even by root.
        try files.createSymbolicLink(atPath: file.path, withDestinationPath: file.path)
        #expect(store.set(Cookie(name: "c")))
        #expect(!store.write() && store.needsWriting)
        #expect(Self.values(store) == ["a=1", "b=1", "c=1"])
        let late = CookieStore(file: file)
        #expect(Self.values(late) == [] && late.mayHoldCookies && !late.isReady)
        #expect(late.set(Cookie(name: "d")))

        try files.removeItem(atPath: file.path)
        try files.moveItem(atPath: file.path + ".aside", toPath: file.path)
        late.prepare()
        #expect(late.isReady && Self.values(late) == ["a=1", "b=1", "d=1"], "read when it can be")
        _ = store.write()
        _ = late.write()
        #expect(Self.values(CookieStore(file: file)) == ["a=1", "b=1", "c=1", "d=1"])
    }

    @Test("B1.26: what is emptied removes a file that cannot be read, too", arguments: [false, true])
    func unreadableRemoved(isSetAgain: Bool) throws {
        let file = SharedFile(path: home.path + "/x/cookies")
        let files = FileManager.default
        try files.createDirectory(atPath: home.path + "/x", withIntermediateDirectories: true)
        // A link to itself cannot be opened, not even by root.
        try files.createSymbolicLink(atPath: file.path, withDestinationPath: file.path)
        let store = CookieStore(file: file)
        _ = store.removeAll()
        if isSetAgain { #expect(store.set(Cookie(name: "a"))) }
        _ = store.write()
        #expect(!store.needsWriting)
        #expect(file.content(atMost: 0) == .success(isSetAgain ? .unusable : .missing))
        #expect(Self.values(CookieStore(file: file)) == (isSetAgain ? ["a=1"] : []))
    }

    @Test("B8.69: where the file was torn by others, what memory has is written anew")
    func tornLater() throws {
        let file = SharedFile(path: home.path + "/x/cookies")
        let store = CookieStore(file: file)
        #expect(store.set(Cookie(name: "a")) && store.set(Cookie(name: "b")))
        _ = store.write()
        #expect(file.change(atMost: 1000) { _ in .replace([1, 2, 3]) } == nil)
        #expect(store.set(Cookie(name: "c")))
        _ = store.write()
        #expect(Self.values(store) == ["a=1", "b=1", "c=1"])
        #expect(Self.values(CookieStore(file: file)) == ["a=1", "b=1", "c=1"])
    }

    @Test("B8.69: where the file became too long, or no file, memory keeps what it has", arguments: [false, true])
    func unusableLater(isFolder: Bool) throws {
        let file = SharedFile(path: home.path + "/x/cookies")
        let store = CookieStore(file: file)
        #expect(store.set(Cookie(name: "a")) && store.set(Cookie(name: "b")))
        _ = store.write()
        if isFolder {
            try FileManager.default.removeItem(atPath: file.path)
            try FileManager.default.createDirectory(atPath: file.path, withIntermediateDirectories: false)
        } else {
            let handle = try #require(FileHandle(forWritingAtPath: file.path))
            try handle.truncate(atOffset: UInt64(CookieFile.mostBytes) + 1)
            try handle.close()
        }
        #expect(store.set(Cookie(name: "c")))
        _ = store.write()
        #expect(Self.values(store) == ["a=1", "b=1", "c=1"])
        #expect(store.needsWriting == isFolder)
        #expect(Self.values(CookieStore(file: file)) == (isFolder ? [] : ["a=1", "b=1", "c=1"]))
    }

    @Test("B8.68: a cookie that has lost its place makes no room in the file")
    func lostPlace() {
        var (long, longer) = (Cookie(name: "long"), Cookie(name: "longer"))
        long.value = String(repeating: "x", count: 500)
        longer.value = String(repeating: "x", count: 1000)
        let (text, leftOut) = CookieFile.encode([long, Cookie(name: "a")], atMost: 400, new: [long, longer])
        #expect(leftOut == [long.identity] && text.count <= 400)
        #expect(CookieFile.decode(text)?.map(\.name) == ["a"])
    }

    @Test("B8.68: cookies for which a file has no room stay in memory, and what the file holds stays there")
    func tooLong() throws {
        let file = SharedFile(path: home.path + "/x/cookies")
        func open() -> CookieStore { CookieStore(file: file, mostBytes: 1000) }
        let store = open()
        var long = Cookie(name: "long")
        long.value = String(repeating: "x", count: 1000)
        #expect(store.set(long))
        _ = store.write()
        #expect(file.content(atMost: 2000) == .success(.missing))
        #expect(store.set(Cookie(name: "a")))
        _ = store.write()
        #expect(Self.values(open()) == ["a=1"])
        // Escaped, it has three times as many bytes. Another's cookie, which is longer, had its place before.
        let other = open()
        var first = Cookie(name: "first")
        first.value = String(repeating: "y", count: 500)
        #expect(other.set(first))
        _ = other.write()
        var escaped = Cookie(name: "escaped")
        escaped.value = String(repeating: "%", count: 150)
        #expect(store.set(escaped) && store.set(Cookie(name: "b")))
        _ = store.write()
        #expect(Self.values(open()) == ["a=1", "b=1", "first=\(first.value)"])
        #expect(store.all.count == 5 && store.needsWriting)
        // Where there is room again they are written.
        #expect(store.remove(first.identity) && store.remove(long.identity))
        _ = store.write()
        #expect(Self.values(open()) == ["a=1", "b=1", "escaped=\(escaped.value)"])
        #expect(!store.needsWriting)
    }

    @Test("B8.68: while changes are being written there is something to wait for")
    func writingIsWaitedFor() {
        let file = SharedFile(path: home.path + "/x/cookies")
        let writer = Guarded<CookieStore?>(nil)
        let seen = Guarded<[Bool]>([])
        // The time is asked for behind the file's lock, when the changes have been taken.
        let store = CookieStore(
            file: file,
            clock: {
                if let store = writer.withLock({ $0 }) {
                    let needsWriting = store.needsWriting
                    seen.withLock { $0.append(needsWriting) }
                }
                return Date.timeIntervalSinceReferenceDate
            })
        #expect(store.set(Cookie(name: "a")))
        writer.withLock { $0 = store }
        _ = store.write()
        writer.withLock { $0 = nil }
        #expect(seen.withLock { $0 } == [true])
        #expect(!store.needsWriting)
        #expect(Self.values(CookieStore(file: file)) == ["a=1"])
    }

    @Test("B8.68: a writing waits for another one of its process as long as that takes, whatever its patience")
    func writingsFollow() async throws {
        let file = SharedFile(path: home.path + "/x/cookies")
        let isArmed = Guarded(false)
        let (isInside, goOn) = (Signal(), DispatchSemaphore(value: 0))
        // The time is asked for behind the file's lock, when the changes have been taken.
        let store = CookieStore(
            file: file,
            clock: {
                let waits = isArmed.change { isArmed in
                    defer { isArmed = false }
                    return isArmed
                }
                if waits {
                    isInside.fire()
                    goOn.wait()
                }
                return Date.timeIntervalSinceReferenceDate
            })
        #expect(store.set(Cookie(name: "a")))
        isArmed.value = true
        let written = Signal()
        Thread.detachNewThread {
            _ = store.write()
            written.fire()
        }
        await isInside.wait()
        #expect(store.set(Cookie(name: "b")))
        let thread = Guarded<String?>(nil)
        Thread.detachNewThread {
            thread.value = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
            _ = store.write(patience: .zero)
            written.fire()
        }
        try await until { written.count > 0 || thread.value.map(ThreadName.sleeps) == true }
        #expect(written.count == 0)
        goOn.signal()
        await written.wait(times: 2)
        #expect(!store.needsWriting)
        #expect(Self.values(CookieStore(file: file)) == ["a=1", "b=1"])
    }

    private static func cookie(_ name: String, _ value: String) throws -> HTTPCookie {
        try #require(
            HTTPCookie(properties: [
                .name: name, .value: value, .domain: "example.com", .expires: Date(timeIntervalSinceNow: 3600),
            ]))
    }

    private static func values(_ store: CookieStore) -> [String] {
        store.all.map { "\($0.name)=\($0.value)" }.sorted()
    }
}

extension Cookie {
    /// A cookie that lasts.
    fileprivate init(name: String, domain: String = "example.com") {
        let now = Date.timeIntervalSinceReferenceDate
        self.init(
            name: name, value: "1", domain: domain, isHostOnly: true, path: "/", expires: now + 3600,
            created: now)
    }
}

/// The system's names of threads.
private enum ThreadName {
    /// The name of the calling thread.
    static var current: String {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        return name?.trimmingCharacters(in: .newlines) ?? ""
    }

    /// Whether a thread, by its place below /proc, waits for something.
    static func sleeps(_ thread: String) -> Bool {
        let text = try? String(contentsOfFile: "/proc/" + thread + "/stat", encoding: .utf8)
        return text?.split(separator: ")").last?.hasPrefix(" S") ?? false
    }
}

/// A directory for data, gone with its object.
final class DataHome: Sendable {
    let path = FileManager.default.temporaryDirectory.path + "/cookies-" + UUID().uuidString

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Runs the tool to its end and gives the lines that it wrote.
    @discardableResult
    func run(_ arguments: [String]) async throws -> [String] {
        let run = try await ChildRun.run(testProgram: "cookie", arguments, changing: ["XDG_DATA_HOME": path])
        #expect(run.exitCode == 0 && run.complaintsText == "")
        return run.outputText.split(separator: "\n").map(String.init)
    }

    func hammer(_ prefix: String) async throws -> Int32 {
        try await ChildRun.run(testProgram: "cookie", ["hammer", prefix, "100"], changing: ["XDG_DATA_HOME": path])
            .exitCode
    }

    /// The files that are there, but for locks.
    var files: [String] {
        (FileManager.default.subpaths(atPath: path) ?? []).filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: path + "/" + name, isDirectory: &isFolder)
            return !isFolder.boolValue && !name.hasSuffix(".lock")
        }
    }
}
