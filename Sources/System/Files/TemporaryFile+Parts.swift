// Temporary files that are written in several goes: taken up again by name, given other names when they are
// whole or are left for later, and with room on the disk taken ahead. Must not know what is written, nor
// where the names are kept.

extension TemporaryFile {
    /// Takes up a file that was left; nil while another object has it open. The file is to have `least`
    /// bytes at least; what was written behind them, by a process that was stopped in the middle, is kept too.
    ///
    /// Nothing but a regular file of this user's alone is taken, and no link is followed; nil also where it is too
    /// short. What stands in a file that is longer than `most` was not written by us, and is cut off. Fails where the
    /// process or the machine is short of something, so that nothing is known of the file.
    package static func reopen(
        _ path: String, keeping least: Int64, atMost most: Int64 = .max
    ) throws(SystemError) -> (file: TemporaryFile, length: Int64)? {
        let opened = Platform.openExisting(path)
        if opened.failed {
            let error = SystemError(errno: opened.error, call: "open")
            if error.isShortage { throw error }
            return nil
        }
        let descriptor = Descriptor(owning: opened.value)
        // Order: locked before it is looked at, since its last user may just have given it another name.
        guard !Platform.tryLock(descriptor.raw).failed, Platform.isPrivate(file: descriptor.raw, at: path) else {
            return nil
        }
        let found = Platform.length(ofFile: descriptor.raw)
        guard least >= 0, !found.failed, found.value >= least else { return nil }
        let written = written(to: descriptor.raw, of: found.value, behind: least)
        let length = written > most ? least : written
        guard !Platform.shorten(descriptor.raw, to: length).failed, !Platform.seek(descriptor.raw, to: length).failed
        else { return nil }
        return (TemporaryFile(path: path, descriptor: descriptor), length)
    }

    /// How much of a file was written from its beginning on. A process that is killed loses nothing of what `write` has
    /// answered for; a machine without power may, and then a hole is where the disk has not come to.
    private static func written(to raw: Int32, of length: Int64, behind least: Int64) -> Int64 {
        guard length > least else { return least }
        let hole = Platform.nextHole(raw, from: least)
        return hole.failed ? length : min(length, hole.value)
    }

    /// A file, closed and written before, that this object names and does not remove; fails with EPERM where it is not
    /// this user's alone. A process that has no descriptor left can have it too.
    package static func borrow(_ path: String) -> Result<TemporaryFile, SystemError> {
        let found = Platform.findPrivateFile(path)
        if found.failed { return .failure(SystemError(errno: found.error, call: "lstat")) }
        let file = TemporaryFile(path: path, descriptor: Descriptor(owning: -1))
        file.letGo()
        return .success(file)
    }

    /// Gives the file a name in its directory that is free.
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

    /// Whether so many bytes more will not fit, as far as the file system can tell beforehand.
    package func lacksRoom(for count: Int64) -> SystemError? {
        state.withLock { state in
            guard let room = Platform.freeRoom(for: state.descriptor.raw), room < count else { return nil }
            return SystemError(errno: Platform.noRoom, call: "fstatvfs")
        }
    }

    /// Takes room for bytes to come; answers only that there is too little. Where the system cannot tell, writing will.
    package func reserve(from offset: Int64, count: Int64) -> SystemError? {
        state.withLock { state in
            Platform.reserve(state.descriptor.raw, from: offset, count: count)
                .map { SystemError(errno: $0, call: "fallocate") }
        }
    }

    /// Waits until the disk has what was written.
    package func synchronise() -> SystemError? {
        state.withLock { state in
            let outcome = Platform.synchronise(state.descriptor.raw)
            return outcome.failed ? SystemError(errno: outcome.error, call: "fsync") : nil
        }
    }

    /// Cuts off what stands behind the first bytes, and gives back the room that was taken for more.
    package func shorten(to length: Int64) -> SystemError? {
        state.withLock { state in
            let outcome = Platform.shorten(state.descriptor.raw, to: length)
            return outcome.failed ? SystemError(errno: outcome.error, call: "ftruncate") : nil
        }
    }

    /// Removes the files that `create` has made of these in a directory. The caller knows that no living process writes
    /// one.
    package static func removeLeftOvers(in directory: String, prefix: String, suffix: String) {
        guard case .success(let names) = Platform.allNames(in: directory) else { return }
        for name in names where isName(name, prefix: prefix, suffix: suffix) {
            Platform.remove(path: directory + "/" + name)
        }
    }

    /// The last part of a path, if it is what `rename` or `create` would have made of these; nothing else may be
    /// believed that comes from elsewhere.
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
