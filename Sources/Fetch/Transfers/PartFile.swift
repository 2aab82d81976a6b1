// An open file that a body is written to: locked, so that two runs never write the same one, and not believed to be
// ours merely because of its name. Knows nothing of HTTP.

import Foundation

/// A file under way.
final class PartFile: Sendable {
    private let descriptor: Int32
    /// Under which name it is written.
    private let path: String
    /// Whether it is no regular file, such as a device or a pipe: nothing is put in place or gone on with.
    let isSpecial: Bool
    /// Whether it has its own name already.
    private let isInPlace: Bool
    /// Whether it must not take the place of another file.
    private let isNew: Bool
    /// How long it was when it was opened.
    let length: Int64

    /// Opens or makes the part of a file; `isNew` where nothing may be there yet, neither under its name nor, at the
    /// end, in its place. Users that may not read the file that it will replace may not read the part either.
    init(of place: OutputPlace, isNew: Bool = false) throws(FetchError) {
        path = place.part
        let old = try Self.replaced(place.path)
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        descriptor = open(path, isNew ? flags | O_EXCL : flags, old == nil ? 0o666 : 0o600)
        guard descriptor >= 0 else { throw isNew && errno == EEXIST ? Self.taken(path) : Self.unwritable(path, errno) }
        isSpecial = false
        isInPlace = false
        self.isNew = isNew
        do throws(FetchError) {
            length = try Self.check(descriptor, path, isOwnName: true)
        } catch {
            close(descriptor)
            throw error
        }
        if let old { Self.passOn(old.st_mode | 0o600, of: old, to: descriptor) }
        lseek(descriptor, 0, SEEK_END)
    }

    /// Opens a device or a pipe.
    init(special path: String, _ patience: Patience) throws(FetchError) {
        self.path = path
        descriptor = try Self.openSpecial(path, patience)
        isSpecial = true
        isInPlace = true
        isNew = false
        length = 0
    }

    /// Opens a file of which the first bytes are kept, by the word of the user. The others stay
    /// until the server has agreed.
    init(continuing path: String, at offset: Int64) throws(FetchError) {
        self.path = path
        descriptor = open(path, O_RDWR | (offset == 0 ? O_CREAT : 0) | O_CLOEXEC | O_NONBLOCK, 0o666)
        if descriptor < 0, errno == ENOENT, offset > 0 {
            throw FetchError(.cannotResume, "\(path) is not there, so that it cannot be gone on with at \(offset)")
        }
        guard descriptor >= 0 else { throw Self.unwritable(path, errno) }
        isSpecial = false
        isInPlace = true
        isNew = false
        do throws(FetchError) {
            length = try Self.check(descriptor, path, isOwnName: false)
        } catch {
            close(descriptor)
            throw error
        }
        // From here on nothing is missing, and the deinit closes, whether this throws or not.
        guard length >= offset else {
            throw FetchError(.cannotResume, "\(path) has only \(length) bytes, and cannot go on at \(offset)")
        }
    }

    deinit { close(descriptor) }

    func append(_ data: Data, _ patience: Patience) throws(FetchError) {
        let error = FileDescriptor.write(data, to: descriptor, patience)
        if error != 0 { throw FetchError.writing(path, error) }
    }

    /// Sets when the file has changed last. A file system that cannot is no reason to fail.
    func setTime(_ date: Date) {
        if isSpecial { return }
        let seconds = time_t(max(0, min(date.timeIntervalSince1970, 253_402_300_799)))
        _ = futimens(descriptor, [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: 0), count: 2))
    }

    /// Begins anew.
    func empty() throws(FetchError) { try goOn(at: 0) }

    /// Takes away what is behind that byte. What comes next stands there.
    func goOn(at offset: Int64) throws(FetchError) {
        if isSpecial { return }
        guard ftruncate(descriptor, off_t(offset)) == 0, lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
            throw Self.unwritable(path, errno)
        }
    }

    /// Puts the file in its place, with the owner and the rights of the one that was there.
    func finish(at place: OutputPlace) throws(FetchError) {
        if isInPlace { return }
        if isNew {
            // Unlike rename, this takes the place of nothing. File systems that know no links have no such step.
            if link(place.part, place.path) == 0 {
                unlink(place.part)
                return
            }
            if errno == EEXIST { throw Self.taken(place.path) }
        }
        var old = stat()
        if stat(place.path, &old) == 0 {
            // Only root can give a file away.
            if old.st_uid != geteuid(), fchown(descriptor, old.st_uid, gid_t.max) != 0 {
                return try copy(to: place, old)
            }
            Self.passOn(old.st_mode, of: old, to: descriptor)
        }
        guard rename(place.part, place.path) == 0 else { throw Self.unwritable(place.path, errno) }
    }

    /// Writes what has come into a file of another user, who would lose it by a new file in its place.
    private func copy(to place: OutputPlace, _ old: stat) throws(FetchError) {
        let target = open(place.path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard target >= 0 else { throw Self.unwritable(place.path, errno) }
        defer { close(target) }
        var facts = stat()
        guard fstat(target, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_ino == old.st_ino,
            facts.st_dev == old.st_dev
        else { throw FetchError(.cannotWrite, "\(place.path) is another file by now") }
        var new = stat()
        guard fstat(descriptor, &new) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw Self.unwritable(place.path, errno)
        }
        // Order: room is taken first, and what is too much is cut off last. Where there is no room the file stays as it
        // was; whatever else this says, writing will tell.
        let lack = posix_fallocate(target, 0, new.st_size)
        if [ENOSPC, EDQUOT, EFBIG].contains(lack) {
            _ = ftruncate(target, facts.st_size)
            throw Self.unwritable(place.path, lack)
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = FileDescriptor.read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            let error = count < 0 ? errno : FileDescriptor.write(Data(buffer.prefix(count)), to: target)
            if error != 0 { throw Self.unwritable(place.path, error) }
        }
        guard ftruncate(target, lseek(target, 0, SEEK_CUR)) == 0 else { throw Self.unwritable(place.path, errno) }
        unlink(place.part)
    }

    /// Takes the name away, if it is still this file's.
    func remove(_ path: String) {
        if Self.isNamed(descriptor, path) { unlink(path) }
    }

    /// A file that will be replaced; nil where there is none. What may not be written is not replaced, though a new
    /// name in its folder would do.
    private static func replaced(_ path: String) throws(FetchError) -> stat? {
        var facts = stat()
        guard stat(path, &facts) == 0 else {
            if errno == ENOENT { return nil }
            throw unwritable(path, errno)
        }
        guard access(path, W_OK) == 0 else { throw unwritable(path, errno) }
        return facts
    }

    /// Gives a file the rights and the group of the one that it replaces. Where it cannot have that
    /// group no group has rights.
    private static func passOn(_ mode: mode_t, of old: stat, to descriptor: Int32) {
        var own = stat()
        let isSameGroup = fstat(descriptor, &own) == 0 && own.st_gid == old.st_gid
        let isGroups = isSameGroup || fchown(descriptor, uid_t.max, old.st_gid) == 0
        fchmod(descriptor, mode & (isGroups ? 0o777 : 0o707))
    }

    /// The descriptor of a device or a pipe. A pipe is waited for until it has a reader; the system
    /// would do so without an end.
    private static func openSpecial(_ path: String, _ patience: Patience) throws(FetchError) -> Int32 {
        var facts = stat()
        let isPipe = stat(path, &facts) == 0 && facts.st_mode & S_IFMT == S_IFIFO
        while true {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC | (isPipe ? O_NONBLOCK : 0))
            if descriptor >= 0 { return descriptor }
            guard isPipe, errno == ENXIO else { throw unwritable(path, errno) }
            let error = patience.error
            if error != 0 { throw unwritable(path, error) }
            _ = poll(nil, 0, Patience.pace)
        }
    }

    private static func check(_ descriptor: Int32, _ path: String, isOwnName: Bool) throws(FetchError) -> Int64 {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw FetchError(.cannotWrite, "\(path) is no regular file")
        }
        if isOwnName, facts.st_uid != geteuid() || facts.st_nlink > 1 {
            throw FetchError(.cannotWrite, "\(path) is not yours alone: remove it, or choose another name")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw FetchError(.cannotWrite, "\(path) is being written by another run")
        }
        // The run that had the lock may just have put the file in its place.
        guard isNamed(descriptor, path) else {
            throw FetchError(.cannotWrite, "\(path) was being written by another run")
        }
        return Int64(facts.st_size)
    }

    private static func isNamed(_ descriptor: Int32, _ path: String) -> Bool {
        var (one, other) = (stat(), stat())
        return fstat(descriptor, &one) == 0 && stat(path, &other) == 0 && one.st_ino == other.st_ino
            && one.st_dev == other.st_dev
    }

    /// Why a name that the server has chosen is not used.
    static func taken(_ path: String) -> FetchError {
        FetchError(.cannotWrite, "\(path) is there already, and the server chose the name")
    }

    private static func unwritable(_ path: String, _ error: Int32) -> FetchError {
        let folder = OutputPlace.folder(of: path)
        let lacksFolder = error == ENOENT && !folder.isEmpty && access(folder, F_OK) != 0
        return FetchError.writing(
            path, error, advice: lacksFolder ? "--create-dirs makes folders that are not there" : nil)
    }
}
