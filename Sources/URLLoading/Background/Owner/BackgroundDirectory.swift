// Where a background session keeps what has to outlive processes (B10.30): a directory of its own, for its user's eyes
// only, with
//
//     session         the session's own journal: identifier and settings
//     task-<number>   the journal of a task
//     damaged-…       journals that could not be read, kept to be looked into
//     files/          what downloads and answers are collected in, and kept in until they are delivered
//     program         held by the one program whose session it is
//     lock            held by the one owner of the session's transfers (B10.32)
//     socket          where a helper process listens
//
// A journal is replaced as a whole: written beside its place, brought to the disk, and renamed; so there is always one,
// the last or the one before.
//
// Must not know: what is in journals (`TransferRecordCoding`), which process owns transfers.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// Why a session's directory cannot be used.
enum BackgroundDirectoryFailure: Error, Equatable, CustomStringConvertible {
    /// The environment names no absolute directory, neither by XDG_STATE_HOME nor by HOME.
    case noStateDirectory
    /// It belongs to another user, others may write to it, or it cannot be made.
    case notPrivate(path: String)
    /// The session's transfers have an owner already (B10.32).
    case inUse
    /// A call of the system failed.
    case system(SystemError, path: String)
    /// A journal would be longer than any that is read again.
    case tooLong

    /// Why a lock was not got. Where the file system knows no locks, no process has it.
    init(lock error: SystemError, path: String) {
        self = error.call == "flock" && error.errno == EWOULDBLOCK ? .inUse : .system(error, path: path)
    }

    /// One sentence for people.
    var description: String {
        switch self {
        case .noStateDirectory:
            "There is no directory for the state of background sessions: neither XDG_STATE_HOME nor HOME is absolute."
        case .notPrivate(let path):
            "\(path) cannot be made, or is not a directory of this user's into which no other user may write."
        case .inUse: "Another process has the background session."
        case .system(let error, let path): "\(path) cannot be used: \(error)"
        case .tooLong: "What has to be written down of the task is too long."
        }
    }

    /// The code of the error that tasks end with.
    var code: URLError.Code {
        switch self {
        case .noStateDirectory, .notPrivate: .cannotCreateFile
        case .inUse: .backgroundSessionInUseByAnotherProcess
        case .system(let error, _):
            error.call == "write" || error.call == "fsync" || error.call == "close"
                ? .cannotWriteToFile : .cannotCreateFile
        case .tooLong: .dataLengthExceedsMaximum
        }
    }
}

/// The directory of one background session.
struct BackgroundDirectory: Sendable {
    /// Where it is.
    var path: String { folder.path }
    private let folder: PrivateFolder
    private let answers: PrivateFolder

    /// What was found in a directory.
    struct Contents: Sendable {
        /// The session's own journal, if there is a readable one.
        var settings: TransferSettings?
        /// The tasks, by number.
        var records: [TransferRecord] = []
        /// The journals that could not be read, by the names they have now, and why.
        var damaged: [Damage] = []
        /// Whether all journals could be opened: others may be whole, and name files.
        var isComplete = true
        /// The tasks whose journals could not be opened.
        var unopened: Set<UInt64> = []
        /// The highest number of a task that has a journal, whatever is in it; 0 where there is none.
        var lastTask: UInt64 = 0

        /// A journal that could not be read.
        struct Damage: Sendable, Equatable {
            var name: String
            var reason: String

            /// One sentence for people.
            var text: String { "a journal of a background session is unusable, \(reason): \(name)" }
        }
    }

    /// The directory of a session of this process's program, made where it is missing.
    init(identifier: String) throws(BackgroundDirectoryFailure) {
        try self.init(identifier: identifier, in: try Self.root())
    }

    /// The directory of a session below another root.
    init(identifier: String, in root: String) throws(BackgroundDirectoryFailure) {
        try self.init(path: root + "/" + Self.name(of: identifier))
    }

    /// A session's directory, made where it is missing.
    init(path: String) throws(BackgroundDirectoryFailure) {
        guard let folder = PrivateFolder(path: path), let answers = PrivateFolder(path: path + "/files") else {
            throw .notPrivate(path: path)
        }
        self.folder = folder
        self.answers = answers
    }

    // MARK: Where it is

    /// The directory of all sessions of this process's program (XDG Base Directory Specification; B10.30).
    static func root() throws(BackgroundDirectoryFailure) -> String {
        guard let state = UserDirectories.state else { throw .noStateDirectory }
        return root(in: state)
    }

    /// The identifiers of the sessions below `root` that have something to tell or to ask (B10.35).
    static func identifiersWithNews(in root: String) -> [String] {
        guard case .success(let names)? = PrivateFolder(existing: root)?.list() else { return [] }
        return names.sorted().compactMap { name in
            guard let directory = BackgroundDirectory(existing: root + "/" + name),
                let contents = try? directory.read(settingAside: false), let settings = contents.settings,
                Self.name(of: settings.identifier) == name
            else { return nil }
            return contents.records.contains(where: \.wantsProgram) ? settings.identifier : nil
        }
    }

    private init?(existing path: String) {
        guard let folder = PrivateFolder(existing: path), let answers = PrivateFolder(existing: path + "/files")
        else { return nil }
        self.folder = folder
        self.answers = answers
    }

    /// What a session's directory is called: whatever is in an identifier, this leads nowhere else.
    static func name(of identifier: String) -> String { UserDirectories.digits(of: identifier) }

    /// The directory of all sessions of this process's program below another one for state.
    static func root(in state: String) -> String {
        state + "/" + UserDirectories.folderOfProcess + "/URLLoading/background"
    }

    // MARK: Ownership

    /// Takes the lock of the program whose session this is; it goes with its object.
    func takeProgramLock() throws(BackgroundDirectoryFailure) -> FileLock {
        switch FileLock.take(folder.file(Self.program), patience: .zero) {
        case .success(let lock): return lock
        case .failure(let error): throw BackgroundDirectoryFailure(lock: error, path: folder.file(Self.program))
        }
    }

    /// Takes the lock of the owner of the session's transfers; the lock goes with its object.
    func takeLock(patience: Duration = .zero) throws(BackgroundDirectoryFailure) -> FileLock {
        switch FileLock.take(folder.file("lock"), patience: patience) {
        case .success(let lock): return lock
        case .failure(let error): throw BackgroundDirectoryFailure(lock: error, path: folder.file("lock"))
        }
    }

    // MARK: Journals

    /// Reads all journals. Those that are damaged are set aside under another name, where `settingAside` says so. Those
    /// that cannot be opened, for want of a descriptor for instance, stay for the next reader.
    func read(settingAside: Bool = true) throws(BackgroundDirectoryFailure) -> Contents {
        let names: [String]
        switch folder.list(cleaning: settingAside) {
        case .success(let found): names = found
        case .failure(let error): throw .system(error, path: path)
        }
        var contents = Contents()
        for name in names.sorted() {
            let task = Self.task(of: name)
            guard name == Self.session || task != nil else { continue }
            contents.lastTask = max(contents.lastTask, task ?? 0)
            do throws(JournalProblem) {
                try read(name, into: &contents)
            } catch {
                let aside = "damaged-\(name)-\(UInt32.random(in: 0...UInt32.max))"
                let isAside = settingAside && error.isDamage && folder.rename(name, to: aside) == nil
                if !error.isDamage {
                    contents.isComplete = false
                    if let task { contents.unopened.insert(task) }
                }
                contents.damaged.append(Contents.Damage(name: isAside ? aside : name, reason: error.text))
            }
        }
        contents.records.sort { $0.task < $1.task }
        return contents
    }

    private struct JournalProblem: Error {
        let text: String
        /// Whether it is the journal's bytes that are wrong.
        let isDamage: Bool
    }

    private func read(_ name: String, into contents: inout Contents) throws(JournalProblem) {
        guard let bytes = SharedFile(path: folder.file(name)).read(atMost: TransferLimits.record + 64) else {
            throw JournalProblem(text: "it cannot be read", isDamage: false)
        }
        do throws(TransferCodingError) {
            if name == Self.session {
                contents.settings = try TransferRecordCoding.settings(bytes)
            } else {
                let record = try TransferRecordCoding.record(bytes)
                guard record.task == Self.task(of: name) else { throw .impossible }
                contents.records.append(record)
            }
        } catch {
            throw JournalProblem(text: error.text, isDamage: true)
        }
    }

    /// Writes a task's journal; when it succeeds, the disk has it.
    func write(_ record: TransferRecord) throws(BackgroundDirectoryFailure) {
        guard let bytes = TransferRecordCoding.encoded(record) else { throw .tooLong }
        try write(bytes, as: Self.name(ofTask: record.task))
    }

    /// Writes the session's own journal.
    func write(settings: TransferSettings) throws(BackgroundDirectoryFailure) {
        guard let bytes = TransferRecordCoding.encoded(settings: settings) else { throw .tooLong }
        try write(bytes, as: Self.session)
    }

    private func write(_ bytes: [UInt8], as name: String) throws(BackgroundDirectoryFailure) {
        guard folder.prepare(), answers.prepare() else { throw .notPrivate(path: path) }
        if let error = folder.replace(name, with: bytes) { throw .system(error, path: folder.file(name)) }
    }

    /// Removes a task's journal, and with it the secrets in it (B10.38). Whether it is gone.
    @discardableResult
    func remove(task: UInt64) -> Bool { folder.remove(Self.name(ofTask: task)) }

    /// Removes everything that is the session's (B10.40); the lock stays, since it is held.
    func removeAll() {
        if case .success(let names) = answers.list(cleaning: true) { for name in names { answers.remove(name) } }
        if case .success(let names) = folder.list(cleaning: true) {
            for name in names where name != "lock" && name != "files" && name != Self.program { folder.remove(name) }
        }
    }

    /// Removes all files, and the directory itself. The caller holds both locks.
    func removeEverything() {
        removeAll()
        answers.removeEmpty()
        folder.remove("lock")
        folder.remove(Self.program)
        folder.removeEmpty()
    }

    private static let session = "session"
    private static let program = "program"

    private static func name(ofTask task: UInt64) -> String { "task-\(task)" }

    private static func task(of name: String) -> UInt64? {
        // Numbers beyond any count are of a file that is not ours: nothing could be counted on from there.
        guard name.hasPrefix("task-"), let number = UInt64(name.dropFirst(5)), Self.name(ofTask: number) == name,
            number <= 1 << 53
        else { return nil }
        return number
    }

    // MARK: Files

    /// Where downloads and answers are collected.
    var filesPath: String { answers.path }

    /// The path of a file in it.
    func file(_ name: String) -> String { answers.file(name) }

    /// Removes a file in it; a path that leads elsewhere is left alone.
    func removeFile(at path: String) {
        let prefix = answers.path + "/"
        guard path.hasPrefix(prefix) else { return }
        let name = String(path.dropFirst(prefix.count))
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != ".." else { return }
        answers.remove(name)
    }

    /// Takes a file in under a name, until it is delivered; answers its path.
    func keepFile(at path: String, as name: String) throws(BackgroundDirectoryFailure) -> String {
        if let error = answers.adopt(path, as: name) { throw .system(error, path: answers.file(name)) }
        return answers.file(name)
    }

    /// A new file under a name, for an answer that is collected.
    func makeFile(_ name: String) throws(BackgroundDirectoryFailure) -> TemporaryFile {
        let made = TemporaryFile.create(in: answers.path, prefix: name + "-", suffix: "")
        switch made {
        case .success(let file): return file
        case .failure(let error): throw .system(error, path: answers.file(name))
        }
    }

    /// Removes the files that no journal names, of tasks that are no more. Parts of downloads, which a program may have
    /// resume data for, stay until they are older than so many milliseconds.
    func removeFiles(except kept: Set<String>, now: TransferInstant, partsOlderThan age: Int64) {
        guard case .success(let names) = answers.list() else { return }
        for name in names where !kept.contains(name) {
            if FileNaming.downloads.isPartial(name), case .success(let file) = OpenFile.open(path: answers.file(name)),
                let written = file.modificationTime, now.wall - written / 1_000_000 < age
            {
                continue
            }
            answers.remove(name)
        }
    }
}

extension TransferRecord {
    /// Whether there is something that only the program can do.
    var wantsProgram: Bool {
        if case .asking = state { return true }
        return !events.isEmpty
    }
}
