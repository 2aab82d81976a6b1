// A directory of this user into which no other user may write, and its files. Must not know what they are for.

/// A directory for one user's eyes.
package struct PrivateFolder: Sendable {
    /// Where it is.
    package let path: String

    /// Makes the directory, and those above it, where they are missing; nil where one that is there is open to others,
    /// or none can be made.
    package init?(path: String) {
        guard path.hasPrefix("/") else { return nil }
        self.path = Self.withoutSlash(path)
        guard prepare() else { return nil }
    }

    /// A directory that has to be there already; nil where it is not, or is open to others.
    package init?(existing path: String) {
        guard path.hasPrefix("/") else { return nil }
        self.path = Self.withoutSlash(path)
        guard Platform.isPrivateDirectory(self.path) else { return nil }
    }

    /// Behind a slash at its end a link would be followed.
    private static func withoutSlash(_ path: String) -> String {
        var path = path
        while path.utf8.last == UInt8(ascii: "/"), path.utf8.count > 1 { path.removeLast() }
        return path
    }

    /// Makes the directory again if it was removed; whether it is there.
    package func prepare() -> Bool {
        if Platform.isPrivateDirectory(path) { return true }
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            // Where one above may not be written to it may still be there; what counts is the last.
            _ = Platform.makeDirectory(made)
        }
        return Platform.isPrivateDirectory(path)
    }

    /// The names in it, without those that begin with a dot.
    package var names: [String] { Platform.names(in: path) }

    /// The path of a file in it.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Whether there is a file of that name.
    package func has(_ name: String) -> Bool { Platform.exists(path: file(name)) }

    /// Removes a file; one that is not there is fine. Whether it is gone.
    @discardableResult
    package func remove(_ name: String) -> Bool { Platform.remove(path: file(name)) }

    /// Removes a file, or empties it where its name cannot be taken away, as in a directory that may not be written to.
    /// Whether nothing of what was in it can be read there any more.
    package func removeOrEmpty(_ name: String) -> Bool {
        if remove(name) { return true }
        let opened = Platform.openExisting(file(name))
        if opened.failed { return false }
        let descriptor = Descriptor(owning: opened.value)
        return !Platform.shorten(descriptor.raw, to: 0).failed
    }

    /// The names in it, or why they cannot be had; files that were not finished, whose names begin with a dot, are
    /// removed where `cleaning` says so.
    package func list(cleaning: Bool = false) -> Result<[String], SystemError> {
        switch Platform.allNames(in: path) {
        case .failure(let error): return .failure(error)
        case .success(let names):
            if cleaning {
                for name in names where name.hasPrefix(Self.unfinished) { remove(name) }
            }
            return .success(names.filter { !$0.hasPrefix(".") })
        }
    }

    /// Puts a file into its place in one step; when it succeeds the disk has the file, and its name.
    package func replace(_ name: String, with bytes: [UInt8]) -> SystemError? {
        switch TemporaryFile.create(in: path, prefix: Self.unfinished, suffix: "") {
        case .failure(let error): return error
        case .success(let file):
            // A file that is not put into its place goes with its object.
            return bytes.withUnsafeBytes { file.append($0) } ?? file.replace(self.file(name)) ?? synchronise()
        }
    }

    /// Waits until the disk has the names of what is in it.
    package func synchronise() -> SystemError? {
        let opened = Platform.openDirectory(path)
        if opened.failed { return SystemError(errno: opened.error, call: "open") }
        let descriptor = Descriptor(owning: opened.value)
        let outcome = Platform.synchronise(descriptor.raw)
        // Some file systems know no such thing; they have nothing to wait for.
        return outcome.failed && !Platform.isUnsupported(outcome.error)
            ? SystemError(errno: outcome.error, call: "fsync") : nil
    }

    /// Takes in a file of the same file system under a name, in place of any that has it; when it succeeds the disk has
    /// the file, and its name.
    package func adopt(_ path: String, as name: String) -> SystemError? {
        let opened = Platform.openExisting(path)
        if opened.failed { return SystemError(errno: opened.error, call: "open") }
        let descriptor = Descriptor(owning: opened.value)
        let written = Platform.synchronise(descriptor.raw)
        if written.failed { return SystemError(errno: written.error, call: "fsync") }
        let moved = Platform.rename(path, to: file(name))
        if moved.failed { return SystemError(errno: moved.error, call: "rename") }
        return synchronise()
    }

    /// Gives a file another name in it; one that is not there is an error.
    package func rename(_ name: String, to other: String) -> SystemError? {
        let outcome = Platform.rename(file(name), to: file(other))
        return outcome.failed ? SystemError(errno: outcome.error, call: "rename") : nil
    }

    /// Removes the directory, which has to be empty.
    package func removeEmpty() { Platform.removeDirectory(path) }

    private static let unfinished = ".new-"
}
