// What the path of an ftp URL asks for: the directories to change into one by one, the name behind them, and the way it
// is transferred. RFC 1738 §3.2.2 and §3.2.3; B14.23, B14.24.
//
// Must not know: commands, replies, the rest of the URL.

/// The path of an ftp URL, undone into names.
package struct FTPPath: Sendable, Hashable {
    /// How what is there is transferred: RFC 1738's typecodes.
    package enum Form: Sendable, Hashable {
        /// As the bytes are; what is meant where nothing is said.
        case image
        /// As lines of text.
        case text
        /// The names in a directory.
        case names
    }

    /// What is changed into, in this order. Bytes, since servers differ in how they read them.
    package let directories: [[UInt8]]
    /// The file's name; nil where the path ends in a slash and so means the directory itself.
    package let name: [UInt8]?
    /// How it is transferred.
    package let form: Form

    /// Reads a path as it stands in the URL; a CR, LF or NUL in it would end the command that it becomes a part of, and
    /// makes it unusable, as does an escape that is none.
    package init(percentEncoded path: String) throws(FTPFailure) {
        var rest = Array(path.utf8)[...]
        (rest, form) = Self.splitForm(rest)
        if rest.first == UInt8(ascii: "/") { rest = rest.dropFirst() }
        var names: [[UInt8]] = []
        for part in rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            names.append(try Self.decoded(part))
        }
        let last = names.popLast() ?? []
        // RFC 1738 would have an empty name in the middle sent as such, which servers refuse. In front it means the
        // root, as users of other clients expect of `ftp://host//etc/motd`.
        let startsAtRoot = names.first?.isEmpty == true
        names.removeAll(where: \.isEmpty)
        if startsAtRoot { names.insert([UInt8(ascii: "/")], at: 0) }
        if form == .names, !last.isEmpty {
            directories = names + [last]
            name = nil
        } else {
            directories = names
            name = last.isEmpty ? nil : last
        }
    }

    /// Cuts `;type=a`, `i` or `d` off the end.
    private static func splitForm(_ path: ArraySlice<UInt8>) -> (ArraySlice<UInt8>, Form) {
        let suffix = path.suffix(7)
        guard suffix.count == 7, suffix.dropLast().elementsEqual(";type=".utf8, by: { ASCII.lowercase($0) == $1 }),
            let code = suffix.last
        else { return (path, .image) }
        switch ASCII.lowercase(code) {
        case UInt8(ascii: "a"): return (path.dropLast(7), .text)
        case UInt8(ascii: "i"): return (path.dropLast(7), .image)
        case UInt8(ascii: "d"): return (path.dropLast(7), .names)
        default: return (path, .image)
        }
    }

    private static func decoded(_ part: ArraySlice<UInt8>) throws(FTPFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var place = part.startIndex
        while place < part.endIndex {
            var byte = part[place]
            place += 1
            if byte == UInt8(ascii: "%") {
                guard part.endIndex - place >= 2, let high = ASCII.hexValue(part[place]),
                    let low = ASCII.hexValue(part[place + 1])
                else { throw .unusablePath }
                byte = high << 4 | low
                place += 2
            }
            guard FTPCommand.isSendable(byte) else { throw .unusablePath }
            bytes.append(byte)
        }
        return bytes
    }
}
