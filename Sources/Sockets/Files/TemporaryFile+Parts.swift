// Temporary files that are written in several goes: taken up again by name, given other names when they are whole or are
// left for later, and with room on the disk taken ahead. Must not know what is written, nor who keeps the names.

extension TemporaryFile {
    /// Takes up a file that was left, with its first bytes, for one user at a time: somebody else has it until it is closed.
    ///
    /// Nothing but a regular file of this user's alone is taken, and no link is followed; nil also where it is too short.
    package static func reopen(_ path: String, keeping length: Int64) -> TemporaryFile? {
        let opened = Platform.openExisting(path)
        guard !opened.failed else { return nil }
        let descriptor = Descriptor(owning: opened.value)
        // Order: locked before it is looked at, since whoever had it may just have given it another name.
        guard !Platform.tryLock(descriptor.raw).failed, Platform.isPrivate(file: descriptor.raw, at: path) else {
            return nil
        }
        let found = Platform.length(ofFile: descriptor.raw)
        guard length >= 0, !found.failed, found.value >= length,
            !Platform.shorten(descriptor.raw, to: length).failed, !Platform.seek(descriptor.raw, to: length).failed
        else { return nil }
        return TemporaryFile(path: path, descriptor: descriptor)
    }

    /// Gives the file a name in its directory that nobody has.
    package func rename(prefix: String, suffix: String) -> SystemError? {
        let name = prefix + Self.freshName() + suffix
        return state.withLock { state -> SystemError? in
            let path = Self.directory(of: state.path) + name
            let moved = Platform.rename(state.path, to: path)
            if moved.failed { return SystemError(errno: moved.error, call: "rename") }
            state.path = path
            return nil
        }
    }

    /// The part of a path up to its last name.
    private static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return String(path[...slash])
    }

    /// Takes room for bytes to come; answers only that there is too little. Where the system cannot tell, writing will.
    package func reserve(from offset: Int64, count: Int64) -> SystemError? {
        state.withLock { state in
            Platform.reserve(state.descriptor.raw, from: offset, count: count)
                .map { SystemError(errno: $0, call: "fallocate") }
        }
    }

    /// Cuts off what stands behind the first bytes, and gives back the room that was taken for more.
    package func shorten(to length: Int64) -> SystemError? {
        state.withLock { state in
            let outcome = Platform.shorten(state.descriptor.raw, to: length)
            return outcome.failed ? SystemError(errno: outcome.error, call: "ftruncate") : nil
        }
    }

    /// The last part of a path, if it is what `rename` or `create` would have made of these; nothing else may be believed
    /// that comes from elsewhere.
    package static func isName(_ name: String, prefix: String, suffix: String) -> Bool {
        guard name.hasPrefix(prefix), name.hasSuffix(suffix),
            name.utf8.count == prefix.utf8.count + nameLength + suffix.utf8.count
        else { return false }
        return name.utf8.dropFirst(prefix.utf8.count).prefix(nameLength).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
    }
}
