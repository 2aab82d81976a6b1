import URLLoadingSystem

/// A folder that is gone with its owner.
final class TemporaryFolder {
    struct Failure: Error {}

    let path: String
    private var files: [String] = []

    init() throws {
        var template = Array("/tmp/urlloading-trust-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure() }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for file in files { unlink(file) }
        rmdir(path)
    }

    /// Gives a file another name.
    static func move(_ old: String, to new: String) {
        rename(old, new)
    }

    /// Lets only the file's owner read and write it.
    func restrict(_ name: String) throws {
        guard chmod(path + "/" + name, 0o600) == 0 else { throw Failure() }
    }

    /// Makes a symbolic link, which is gone with the folder.
    func link(_ name: String, to target: String) throws -> String {
        let file = path + "/" + name
        guard symlink(target, file) == 0 else { throw Failure() }
        files.append(file)
        return file
    }

    /// Keeps the file locked while `body` runs, as another process would.
    func locked(_ name: String, _ body: () throws -> Void) throws {
        guard let file = fopen(path + "/" + name, "a") else { throw Failure() }
        defer { fclose(file) }
        guard flock(fileno(file), LOCK_EX | LOCK_NB) == 0 else { throw Failure() }
        // A process that another test is just starting has a copy of the descriptor: closing alone would
        // keep the lock until then.
        defer { flock(fileno(file), LOCK_UN) }
        try body()
    }

    /// Lets every user write the file.
    func open(_ name: String) {
        chmod(path + "/" + name, 0o666)
    }

    /// The file's permissions.
    func mode(_ name: String) -> UInt32 {
        var status = stat()
        return stat(path + "/" + name, &status) == 0 ? UInt32(status.st_mode & 0o777) : 0
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        guard let handle = fopen(file, "w") else { throw Failure() }
        defer { fclose(handle) }
        fputs(text, handle)
        files.append(file)
        return file
    }
}

/// A file's whole content.
func readFile(_ path: String) throws -> [UInt8] {
    guard let file = fopen(path, "r") else { throw TemporaryFolder.Failure() }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
        let count = fread(&chunk, 1, chunk.count, file)
        if count == 0 { return bytes }
        bytes += chunk[..<count]
    }
}
