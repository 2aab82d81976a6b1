// Files that hold secrets: cookies, archives, notes. Written in one step, readable by their owner only.

import Foundation

/// Files for their owner alone.
enum PrivateFile {
    /// Writes what the user wants under a name: a file in one step, and through to standard output, a device or a pipe.
    static func write(_ data: Data, named name: String) throws(FetchError) {
        let place = OutputPlace(name)
        if try place.writeThrough(data) { return }
        removeLeftOvers(in: OutputPlace.folder(of: place.path))
        let error = write(data, to: place.path, isForcedOut: true)
        if error != 0 { throw FetchError(.cannotWrite, "\(name) cannot be written: \(FetchError.system(error))") }
    }

    /// Writes a file in one step, with rights for its owner only; the error number where it cannot, 0 otherwise. One
    /// that is forced out is whole, or the old one, after a loss of power too.
    static func write(_ data: Data, to path: String, isForcedOut: Bool = false) -> Int32 {
        let temporary: String
        let descriptor: Int32
        switch create(in: OutputPlace.folder(of: path)) {
        case .failure(let failure): return failure.number
        case .success(let file): (temporary, descriptor) = file
        }
        // Order: last, since a file without a lock is a left-over.
        defer { close(descriptor) }
        var error = FileDescriptor.write(data, to: descriptor)
        if error == 0, isForcedOut, fsync(descriptor) != 0 { error = errno }
        if error == 0, rename(temporary, path) != 0 { error = errno }
        if error != 0 { unlink(temporary) }
        return error
    }

    // MARK: Files that are still to take their place

    private struct Failure: Error {
        let number: Int32
    }

    /// What their names begin with. Six letters follow.
    private static let newPrefix = ".fetch-new-"

    private static func path(of name: String, in folder: String) -> String {
        folder.isEmpty ? name : "\(folder)/\(name)"
    }

    /// How often a new file is made where others take each for a left-over. Picked by feel: to
    /// lose two in a row is rare.
    private static let tries = 20

    /// Makes a new file, and locks it.
    private static func create(in folder: String) -> Result<(path: String, descriptor: Int32), Failure> {
        for _ in 0..<tries {
            // mkstemp gives no other user any right, whatever the mask says.
            var template = Array(path(of: newPrefix + "XXXXXX", in: folder).utf8CString)
            let descriptor = mkstemp(&template)
            guard descriptor >= 0 else { return .failure(Failure(number: errno)) }
            // Another run may have taken it for a left-over before it was locked. Where there are no locks none does.
            let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            var facts = stat()
            if isLocked, fstat(descriptor, &facts) == 0, facts.st_nlink > 0 {
                let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
                return .success((path, descriptor))
            }
            close(descriptor)
        }
        return .failure(Failure(number: EWOULDBLOCK))
    }

    /// Removes the files of runs that were killed while they wrote: those of this user that no process has locked.
    private static func removeLeftOvers(in folder: String) {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)
        for name in names ?? [] where name.hasPrefix(newPrefix) && name.utf8.count == newPrefix.utf8.count + 6 {
            let path = path(of: name, in: folder)
            let descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            var facts = stat()
            guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(),
                flock(descriptor, LOCK_EX | LOCK_NB) == 0
            else { continue }
            unlink(path)
        }
    }
}
