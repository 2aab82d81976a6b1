// The few calls of the C library that Trust needs: environment, directories, numeric addresses. The only file of this
// target that imports it.

import CURLLoadingOpenSSL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Bionic)
    import Bionic
#endif

/// The C library as Trust uses it.
enum Platform {
    /// An environment variable; nil when unset or empty, and in a program with more rights than the user who has
    /// started it: that user would choose whom it trusts. OpenSSL does the same.
    static func environment(_ name: String) -> String? {
        guard OPENSSL_issetugid() == 0, let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Whether a regular file can be read at this path.
    static func isReadableFile(_ path: String) -> Bool {
        FileWatch.note("stat")
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return access(path, R_OK) == 0
    }

    /// Why no file can be opened now; nil where one can.
    static func shortage() -> Int32? {
        FileWatch.note("open")
        let descriptor = open("/", O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        let error = errno
        return error == EMFILE || error == ENFILE || error == ENOMEM ? error : nil
    }

    /// Which file is at a path, and when it was written to last.
    struct FileIdentity: Equatable {
        let device: UInt64
        let number: UInt64
        let size: Int64
        let seconds: Int
        let nanoseconds: Int
    }

    /// The file at this path; nil where there is none.
    static func identity(of path: String) -> FileIdentity? {
        FileWatch.note("stat")
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileIdentity(
            device: UInt64(truncatingIfNeeded: status.st_dev), number: UInt64(truncatingIfNeeded: status.st_ino),
            size: Int64(status.st_size), seconds: Int(status.st_mtim.tv_sec), nanoseconds: Int(status.st_mtim.tv_nsec))
    }

    /// Calls `visit` with each entry's name until it answers false; false when the directory cannot be opened.
    static func forEachEntry(of directory: String, _ visit: (String) -> Bool) -> Bool {
        FileWatch.note("opendir")
        guard let handle = opendir(directory) else { return false }
        defer { closedir(handle) }
        while let entry = readdir(handle) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !visit(name) { break }
        }
        return true
    }

    /// A file's whole content; nil when it cannot be read or is longer than `limit`.
    static func contents(of path: String, limit: Int = 64 << 20) -> [UInt8]? {
        FileWatch.note("open")
        guard let file = fopen(path, "rbe") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { return ferror(file) == 0 ? bytes : nil }
            if bytes.count + count > limit { return nil }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    /// Where this user's symbolic link leads to, so that a file can be replaced without its link; any other path as it
    /// is.
    static func followingOwnLink(_ path: String) -> String {
        FileWatch.note("stat")
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, status.st_uid == geteuid(),
            let resolved = realpath(path, nil)
        else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// What became of reading a file that only its owner may write.
    enum PrivateContents {
        case missing
        case unsafe
        case unreadable
        case bytes([UInt8])
    }

    /// A file's whole content, if it belongs to this user and no other user may write it.
    static func privateContents(of path: String, limit: Int) -> PrivateContents {
        FileWatch.note("open")
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { return errno == ENOENT ? .missing : .unreadable }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) <= limit else {
            return .unreadable
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 else { return .unsafe }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while bytes.count <= limit {
            let count = read(descriptor, &chunk, chunk.count)
            if count == 0 { return .bytes(bytes) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return .unreadable }
            bytes.append(contentsOf: chunk[..<count])
        }
        return .unreadable
    }

    /// Puts a file of mode 0600 in the place of another at once: a reader sees the old one or the new one. Removes what
    /// killed processes have left half written, so it needs a lock under which alone it is called for this path.
    static func replace(_ path: String, with bytes: [UInt8]) -> Bool {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { String(path[...$0]) } ?? "./"
        let start = (slash.map { String(path[path.index(after: $0)...]) } ?? path) + ".new-"
        var leftOvers: [String] = []
        _ = forEachEntry(of: directory) { name in
            // A copy that the user has made is the user's.
            if name.hasPrefix(start), isNewName(name.utf8.dropFirst(start.utf8.count)) { leftOvers.append(name) }
            return true
        }
        for name in leftOvers { unlink(directory + name) }
        FileWatch.note("open")
        let random = String(UInt64.random(in: 0 ... .max), radix: 36)
        let temporary = directory + start + String(repeating: "0", count: newNameLength - random.count) + random
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        // Whatever the umask has taken away.
        var isWritten = fchmod(descriptor, 0o600) == 0
        var offset = 0
        while isWritten, offset < bytes.count {
            let count = bytes[offset...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            isWritten = count > 0
            offset += max(0, count)
        }
        isWritten = isWritten && fsync(descriptor) == 0
        close(descriptor)
        if isWritten, rename(temporary, path) == 0 { return true }
        unlink(temporary)
        return false
    }

    /// As long as the largest number is with the base 36.
    private static let newNameLength = 13

    /// Whether `replace` could have chosen this.
    private static func isNewName(_ name: some Collection<UInt8>) -> Bool {
        name.count == newNameLength
            && name.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
                default: false
                }
            }
    }

    /// What became of locking a file.
    enum Locking {
        case locked(Int32)
        /// Another process or thread still holds the lock.
        case held
        case unusable
    }

    /// Locks the file; waits for another process's lock for a while only, since that process may hang.
    static func lock(_ path: String, patience: Duration) -> Locking {
        FileWatch.note("lock")
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return .unusable }
        let end = ContinuousClock.now + patience
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let isHeld = errno == EWOULDBLOCK
            guard isHeld || errno == EINTR, ContinuousClock.now < end else {
                close(descriptor)
                return isHeld ? .held : .unusable
            }
            if isHeld { usleep(2_000) }
        }
        return .locked(descriptor)
    }

    /// Ends the lock.
    static func unlock(_ descriptor: Int32) {
        // A child that another thread is just starting has a copy of the descriptor, and closes it only by becoming
        // another program: closing alone would leave the lock held meanwhile.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// The bytes of a numeric IPv4 or IPv6 address without zone; nil for anything else.
    static func addressBytes(_ text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: &four) { Array($0) } }
        var six = in6_addr()
        if inet_pton(AF_INET6, text, &six) == 1 { return withUnsafeBytes(of: &six) { Array($0) } }
        return nil
    }

    /// The usual text of a 4 or 16 byte address; nil for other lengths.
    static func addressText(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Seconds since 1970.
    static func now() -> Int64 {
        Int64(time(nil))
    }
}
