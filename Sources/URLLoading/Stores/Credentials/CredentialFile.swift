// The file in which a storage keeps its permanent credentials: for its owner only, replaced as a whole in one step, so
// that a reader sees what was there before or what is there now.
//
// Must not know: storages, spaces beyond their values, when something changes.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// One password in such a file.
struct CredentialRecord: Codable, Equatable, Sendable, Concealed {
    let host: String
    let port: Int
    let isProxy: Bool
    /// The protocol of a server, the type of a proxy.
    let kind: String?
    let realm: String?
    let method: String
    let user: String
    let password: String
    var isDefault = false

    /// Nil for what is not kept in a file: other persistences, and all but passwords.
    init?(_ credential: URLCredential, in space: URLProtectionSpace) {
        guard credential.persistence == .permanent, let user = credential.user, let password = credential.password
        else { return nil }
        host = space.host
        port = space.port
        isProxy = space.isProxy()
        kind = space.isProxy() ? space.proxyType : space.protocol
        realm = space.realm
        method = space.authenticationMethod
        self.user = user
        self.password = password
    }

    var space: URLProtectionSpace {
        isProxy
            ? URLProtectionSpace(proxyHost: host, port: port, type: kind, realm: realm, authenticationMethod: method)
            : URLProtectionSpace(host: host, port: port, protocol: kind, realm: realm, authenticationMethod: method)
    }

    var credential: URLCredential { URLCredential(user: user, password: password, persistence: .permanent) }

    var sortKey: [String] { [host, "\(port)", "\(isProxy)", kind ?? "", realm ?? "", method, user] }
}

/// Reads and replaces one file.
final class CredentialFile: Sendable {
    private let path: String
    private let state: Mutex<State>

    private struct State: Sendable {
        /// What the file holds, as far as is known.
        var records: [CredentialRecord]
        var failure: URLCredentialStorage.FileError?
    }

    /// What is written.
    private struct Contents: Codable {
        var version = 1
        let credentials: [CredentialRecord]
    }

    /// Opens the file and tells what is in it; one that is not there holds nothing.
    static func open(_ url: URL) throws(URLCredentialStorage.FileError) -> (CredentialFile, [CredentialRecord]) {
        guard url.isFileURL else { throw .init("The place for credentials is not named by a file URL.") }
        // A link stays a link: what it leads to is replaced.
        let path = url.resolvingSymlinksInPath().path
        tidy(directory(of: path), patience: .zero)?.hold()
        let records = try read(path)
        return (CredentialFile(path: path, records: records), records)
    }

    private init(path: String, records: [CredentialRecord]) {
        self.path = path
        state = Mutex(State(records: records))
    }

    /// What went wrong when the file was written last.
    var failure: URLCredentialStorage.FileError? { state.withLock { $0.failure } }

    /// Makes the file hold what the closure says, unless it does already. Calls follow one another, so that the last to
    /// ask is the last to write; the closure must call nothing of the program's.
    func keep(_ records: () -> [CredentialRecord]) {
        state.withLock { state in
            let wanted = records()
            guard wanted != state.records || state.failure != nil else { return }
            do throws(URLCredentialStorage.FileError) {
                try write(wanted)
                state = State(records: wanted)
            } catch {
                state.failure = error
            }
        }
    }

    // MARK: Reading

    private static func read(_ path: String) throws(URLCredentialStorage.FileError) -> [CredentialRecord] {
        let descriptor = openForReading(path)
        guard descriptor.raw >= 0 else {
            if descriptor.error == ENOENT { return [] }
            throw .init("\(path) cannot be opened: \(SystemError(errno: descriptor.error, call: "open"))")
        }
        let handle = FileHandle(fileDescriptor: descriptor.raw, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor.raw, &status) == 0 else {
            throw .init("\(path) cannot be looked at: \(SystemError(errno: errno, call: "fstat"))")
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .init("\(path) is not a file.") }
        guard status.st_uid == geteuid() else { throw .init("\(path) belongs to another user.") }
        guard status.st_mode & 0o077 == 0 else {
            throw .init("\(path) may be read or written by others than its owner; its mode must be 0600.")
        }
        let contents: Contents
        do {
            contents = try JSONDecoder().decode(Contents.self, from: try handle.readToEnd() ?? Data())
        } catch {
            // The decoder's own words may quote the file.
            throw .init("\(path) does not hold credentials as this library writes them.")
        }
        guard contents.version == 1 else { throw .init("\(path) was written by a newer version of this library.") }
        return contents.credentials
    }

    // MARK: Writing

    private func write(_ records: [CredentialRecord]) throws(URLCredentialStorage.FileError) {
        let directory = Self.directory(of: path)
        // Without the lock, which not every file system has and another program may keep, it is written all the same.
        let lock = Self.tidy(directory, patience: .seconds(1))
        defer { lock?.hold() }
        if records.isEmpty {
            guard unlink(path) != 0, errno != ENOENT else { return }
            throw failed(SystemError(errno: errno, call: "unlink"))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let data: Data
        do {
            data = try encoder.encode(Contents(credentials: records))
        } catch {
            throw .init("The credentials for \(path) cannot be encoded.")
        }
        switch TemporaryFile.create(in: directory, prefix: Self.newPrefix, suffix: Self.newSuffix) {
        case .failure(let error):
            throw failed(error)
        case .success(let file):
            if let error = data.withUnsafeBytes({ file.append($0) }) ?? file.replace(path) { throw failed(error) }
        }
    }

    /// Removes what processes have left that were killed while they wrote. Gives the lock under which that is done and
    /// files are written; nil, with nothing removed, where it is not to be had.
    private static func tidy(_ directory: String, patience: Duration) -> FileLock? {
        guard case .success(let lock) = FileLock.take(directory: directory, patience: patience) else { return nil }
        TemporaryFile.removeLeftOvers(in: directory, prefix: newPrefix, suffix: newSuffix)
        return lock
    }

    private static func directory(of path: String) -> String {
        URL(fileURLWithPath: path).deletingLastPathComponent().path
    }

    private static let newPrefix = ".credentials-"
    private static let newSuffix = ".tmp"

    private func failed(_ error: SystemError) -> URLCredentialStorage.FileError {
        .init("\(path) cannot be written: \(error)")
    }
}

/// Outside the class, whose own `open` is another.
private func openForReading(_ path: String) -> (raw: Int32, error: Int32) {
    // Without waiting, should it be a pipe.
    let raw = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    return (raw, raw < 0 ? errno : 0)
}
