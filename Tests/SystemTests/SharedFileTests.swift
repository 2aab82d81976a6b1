// Files that several processes share: whole or not at all, one change at a time.

import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("Shared files")
struct SharedFileTests {
    private let folder = Folder()

    private func write(_ file: SharedFile, _ text: String) -> SystemError? {
        file.change(atMost: 1000) { _ in .replace(Array(text.utf8)) }
    }

    @Test("a file is made with its folders, replaced, kept and removed")
    func changes() {
        let file = SharedFile(path: folder.path + "/a/b/file")
        #expect(file.read(atMost: 100) == nil)
        #expect(file.change(atMost: 100) { content in content == .missing ? .keep : .remove } == nil)
        #expect(write(file, "one") == nil && file.read(atMost: 100) == Array("one".utf8))
        #expect(write(file, "") == nil && file.read(atMost: 100) == [])
        #expect(write(file, "two") == nil && file.read(atMost: 2) == nil, "longer than asked for")
        #expect(file.change(atMost: 100) { content in content == .whole(Array("two".utf8)) ? .keep : .remove } == nil)
        #expect(file.read(atMost: 3) == Array("two".utf8))
        var about = stat()
        #expect(stat(file.path, &about) == 0 && about.st_mode & 0o777 == 0o600)
        #expect(file.change(atMost: 100) { _ in .remove } == nil && file.read(atMost: 100) == nil)
    }

    @Test("one change at a time: a change that waits too long for the lock fails")
    func locks() {
        let file = SharedFile(path: folder.path + "/file")
        let inner = Guarded<SystemError?>(nil)
        let outer = file.change(atMost: 100) { _ in
            inner.withLock {
                $0 = file.change(atMost: 100, patience: .milliseconds(10)) { _ in .replace([1]) }
            }
            return .replace([2])
        }
        #expect(outer == nil && inner.withLock { $0 }?.call == "flock")
        #expect(file.read(atMost: 100) == [2])
    }

    @Test("what a killed process has left half written goes with the next change, and nothing else")
    func leftOvers() {
        let file = SharedFile(path: folder.path + "/file")
        for makesChange: SharedFile.Change in [.keep, .replace([1]), .remove] {
            let leftOver = SharedFile(path: folder.path + "/file.new-abc")
            let other = SharedFile(path: folder.path + "/other.new-abc")
            #expect(write(leftOver, "secret") == nil && write(other, "x") == nil)
            #expect(file.change(atMost: 100) { _ in makesChange } == nil)
            #expect(leftOver.read(atMost: 100) == nil && other.read(atMost: 100) != nil)
        }
    }

    @Test("changes from many threads all count")
    func threads() async {
        let file = SharedFile(path: folder.path + "/file")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<10 { _ = file.change(atMost: 100) { .replace(($0.bytes ?? []) + [1]) } }
                }
            }
        }
        #expect(file.read(atMost: 100)?.count == 40)
    }

    @Test("what is no file, or too long, is not missing")
    func unusable() {
        let file = SharedFile(path: folder.path + "/file")
        #expect(file.content(atMost: 2) == .success(.missing))
        #expect(SharedFile(path: file.path + "/below").content(atMost: 2) == .success(.missing))
        #expect(SharedFile(path: folder.path).content(atMost: 2) == .success(.unusable))
        #expect(write(file, "two") == nil && file.content(atMost: 2) == .success(.unusable))
        #expect(file.content(atMost: 3) == .success(.whole(Array("two".utf8))))
    }

    @Test("another user's file is left alone")
    func foreign() {
        // A file of root's that every user may read, where this is not root; else one that is given away.
        let isRoot = geteuid() == 0
        let file = SharedFile(path: isRoot ? folder.path + "/file" : "/etc/passwd")
        if isRoot { #expect(write(file, "theirs") == nil && chown(file.path, 65534, 65534) == 0) }
        #expect(file.content(atMost: 1 << 20) == .success(.foreign) && file.read(atMost: 1 << 20) == nil)
        guard isRoot else { return }
        #expect(write(file, "ours")?.errno == EPERM)
        var about = stat()
        #expect(stat(file.path, &about) == 0 && about.st_uid == 65534 && about.st_size == 6)
    }

    @Test("where nothing can be written the error says what failed")
    func errors() {
        #expect(write(SharedFile(path: "/proc/none/file"), "x")?.call == "mkdir")
        let file = SharedFile(path: folder.path + "/file")
        #expect(write(file, "x") == nil)
        #expect(write(SharedFile(path: file.path + "/below"), "x")?.call == "open")
        #expect(symlink(folder.path + "/loop", folder.path + "/loop") == 0)
        let unread = SharedFile(path: folder.path + "/loop")
        #expect(write(unread, "x")?.call == "open" && unread.read(atMost: 100) == nil, "it may hold something")
        #expect(symlink("/proc/none", folder.path + "/link.lock") == 0)
        #expect(write(SharedFile(path: folder.path + "/link"), "x")?.call == "open", "a link is no lock")
    }
}

/// A folder of its own, gone with its object.
private final class Folder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/shared-file-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, mkdtemp(start) != nil else { return "/proc/none" }
            return String(cString: start)
        }
    }

    deinit {
        for name in ["/a/b/file.lock", "/file", "/file.lock", "/link.lock", "/loop", "/loop.lock"] {
            unlink(path + name)
        }
        for name in ["/file.new-abc.lock", "/other.new-abc", "/other.new-abc.lock"] { unlink(path + name) }
        for name in ["/a/b", "/a", ""] { rmdir(path + name) }
    }
}
