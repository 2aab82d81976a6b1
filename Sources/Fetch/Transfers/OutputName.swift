// Which file a body becomes: names from URLs and servers made safe, links followed, companions named.

import Foundation

/// Where a file and its companions are.
struct OutputPlace: Sendable {
    /// As the user has named it.
    let name: String
    /// The file itself; behind a link, what the link leads to.
    let path: String

    init(_ path: String) {
        name = path
        // The file is put in place by its name: a link would be replaced rather than what it leads to.
        self.path = Self.end(of: path, links: 40)
    }

    /// Where a path leads. What is not there yet is where the last link says, after no more links
    /// than the system follows.
    private static func end(of path: String, links: Int) -> String {
        if let resolved = realpath(path, nil) {
            defer { free(resolved) }
            return String(cString: resolved)
        }
        // The text of a link to a pipe, below /proc, is no path, and the link itself can be opened.
        guard links > 0, access(path, F_OK) != 0,
            let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path)
        else { return path }
        let folder = folder(of: path)
        return end(of: next.hasPrefix("/") || folder.isEmpty ? next : "\(folder)/\(next)", links: links - 1)
    }

    /// The folder that a path names, empty where it names none. Foundation stops the process
    /// where a path has one letter.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The last name of a path, slashes behind it left out; empty where it names none. Foundation stops the process
    /// where there are several.
    static func lastName(of path: String) -> String {
        let bytes = Array(path.utf8)
        guard let end = bytes.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return "" }
        return String(decoding: bytes[...end].split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
    }

    /// The file while it is not whole.
    var part: String { path + ".part" }

    /// What is known about the part.
    var note: String { path + ".part.note" }

    /// Whether there is something that is no regular file.
    var isSpecial: Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && facts.st_mode & S_IFMT != S_IFREG
    }

    /// Writes to standard output, which is `-`, or to a device or a pipe. False where it is neither, and a file is to
    /// be put in place.
    func writeThrough(_ data: Data) throws(FetchError) -> Bool {
        if name == "-" {
            try Terminal.put(data)
        } else if isSpecial {
            let patience = Patience()
            try PartFile(special: path, patience).append(data, patience)
        } else {
            return false
        }
        return true
    }
}

/// Names of files.
package enum OutputName {
    /// The last part of a URL's path, which is the user's own choice.
    package static func of(_ url: URL) -> String? {
        let name = url.lastPathComponent
        return name == "/" ? nil : safe(name, hidden: true)
    }

    /// One name within a directory, without control characters; nil for what is none. Servers choose no hidden files.
    package static func safe(_ name: String, hidden: Bool) -> String? {
        var result = ""
        for scalar in name.unicodeScalars {
            if scalar == "/" {
                result += "_"
            } else if scalar.properties.generalCategory != .control {
                result.unicodeScalars.append(scalar)
            }
        }
        if !hidden, result.hasPrefix(".") { result = "_" + result.dropFirst() }
        return result.isEmpty || result == "." || result == ".." || result.utf8.count > 240 ? nil : result
    }

    /// The name that a server suggests, which must not be another file's yet.
    static func unused(_ suggested: String?, in folder: String?) throws(FetchError) -> String {
        guard let safe = suggested.flatMap({ safe($0, hidden: false) }) else {
            throw FetchError(
                .cannotWrite, "the server gives no name that a file could have", advice: "-o FILE names one")
        }
        let name = folder.map { "\($0)/\(safe)" } ?? safe
        // Parts and notes of this name are of other downloads.
        let place = OutputPlace(name)
        for path in [name, place.part, place.note] where exists(path) { throw PartFile.taken(path) }
        return name
    }

    /// The name, or with a number behind it where it is taken already.
    static func unusedNumber(_ path: String) throws(FetchError) -> String {
        func isFree(_ path: String) -> Bool { !exists(path) && !exists(OutputPlace(path).part) }
        if isFree(path) { return path }
        guard let number = (1...1000).first(where: { isFree("\(path).\($0)") }) else {
            throw FetchError(.cannotWrite, "\(path) and the thousand names behind it are taken")
        }
        return "\(path).\(number)"
    }

    /// Makes the folders that a file stands in.
    static func makeFolders(above path: String) throws(FetchError) {
        let folder = OutputPlace.folder(of: path)
        guard !folder.isEmpty else { return }
        do {
            // As curl's: for the owner, and for the group to look at.
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o750])
        } catch {
            throw FetchError(.cannotWrite, "\(folder) cannot be made: \(error.localizedDescription)")
        }
    }

    /// Whether there is anything of that name, a link that leads nowhere too.
    private static func exists(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0
    }
}
