// A directory of this user into which nobody else may write, and its files. Must not know what they are for.

/// A directory for one user's eyes.
package struct PrivateFolder: Sendable {
    /// Where it is.
    package let path: String

    /// Makes the directory, and those above it, where they are missing; nil where one that is there is open to others,
    /// or none can be made.
    package init?(path: String) {
        guard path.hasPrefix("/") else { return nil }
        self.path = path
        guard prepare() else { return nil }
    }

    /// Makes the directory again if somebody has removed it; whether it is there.
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

    /// Removes a file; one that is not there is fine.
    package func remove(_ name: String) { Platform.remove(path: file(name)) }
}
