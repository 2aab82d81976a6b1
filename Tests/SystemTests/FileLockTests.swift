// Locks between processes, and between the threads of one.

import Testing
import URLLoadingSystem
import URLLoadingTestSupport

@Suite("File locks", .timeLimit(.minutes(5)))
struct FileLockTests {
    /// How many descriptors of this process lead to a file.
    private func descriptors(of path: String) -> Int {
        (0..<Int32(1 << 12)).count { descriptor in
            var (opened, named) = (stat(), stat())
            return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0 && opened.st_dev == named.st_dev
                && opened.st_ino == named.st_ino
        }
    }

    @Test("B10.32: a lock whose file was removed while it was waited for is no lock: the next file's is taken")
    func removedMeanwhile() async throws {
        let path = "/tmp/urlloading-\(getpid())-lock"
        var first: FileLock? = try FileLock.take(path, patience: .zero).get()
        #expect(throws: SystemError(errno: EWOULDBLOCK, call: "flock")) {
            try FileLock.take(path, patience: .zero).get()
        }
        let pool = BlockingPool(limit: 1, idleTime: .seconds(1), name: "test-lock")
        let (taken, held) = (Log<Bool>(), Gate())
        pool.run {
            let lock = try? FileLock.take(path, patience: .seconds(60)).get()
            taken.append(lock != nil)
            held.pass()
            lock?.hold()
        }
        try await until { descriptors(of: path) == 2 }
        unlink(path)
        first?.hold()
        first = nil
        try await until { !taken.all.isEmpty }
        #expect(taken.all == [true])
        // Whichever process comes next meets the one that waited.
        #expect(throws: SystemError(errno: EWOULDBLOCK, call: "flock")) {
            try FileLock.take(path, patience: .zero).get()
        }
        held.open()
        unlink(path)
    }
}
