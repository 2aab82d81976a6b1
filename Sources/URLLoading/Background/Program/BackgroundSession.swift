// What a background session is beyond an ordinary one: a directory, tasks that outlive the process, and an owner of
// their transfers (B10.30 to B10.36). The owner is a helper process or, where none can be had, this process.
//
// Which process may write what: the file `program` in the directory is locked by the one program that has the session,
// the file `lock` by the owner. The program writes a task's first journal itself, before `resume()` returns, so that a
// task that was resumed is not lost however soon the program is killed; from then on it is the owner's.
//
// Whatever is said to the owner while it cannot be reached need not be kept: a conversation begins with what it knows
// of the tasks, and everything that is different is said then (`BackgroundSession+Conversation`).
//
// Must not know: how a transfer is carried out.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// The background part of a session.
final class BackgroundSession: Sendable {
    let identifier: String
    let values: ConfigurationValues
    let settings: TransferSettings
    /// What keeps the transfers in this process; nil where a helper may have them.
    let ownsHere: String?
    /// Nil where there is none, for the reason in `problem`.
    let directory: BackgroundDirectory?
    /// Why no task can be taken.
    let problem: Problem?
    let loop = LoopGroup.shared.next()
    /// Where the owner is spoken to, and files are written, opened and moved: all of it may wait for the disk.
    let line = BlockingLane(pool: .shared, width: 1)
    /// Where questions are taken in and withdrawn, in their order: the program's credential storage, which is asked
    /// about them, may take its time.
    let inquiries = BlockingLane(pool: .authentication, width: 1)
    let state: Mutex<State>

    /// Why no task can be taken.
    enum Problem: Sendable {
        case directory(BackgroundDirectoryFailure)
        /// Another session of this process has the identifier (B10.25).
        case twice

        /// The error of a task.
        func error(_ url: URL?) -> URLError {
            switch self {
            case .directory(let failure): LoadFailure.make(failure.code, url, failure.description)
            case .twice:
                LoadFailure.make(
                    .backgroundSessionInUseByAnotherProcess, url,
                    "Another session of this process has the same identifier.",
                    suggestion: "Invalidate it first, and wait for urlSession(_:didBecomeInvalidWithError:).")
            }
        }
    }

    /// Takes the session's directory; nil for sessions of other kinds.
    init?(_ values: ConfigurationValues) {
        guard let identifier = values.identifier else { return nil }
        self.identifier = identifier
        self.values = values
        let (carried, uncarried) = TransferSettings.of(values)
        settings = Self.completed(carried, by: values)
        ownsHere = Self.reasonToOwnHere(values, uncarried)
        let claim = Self.claim(identifier, values)
        directory = claim.directory
        problem = claim.problem
        state = Mutex(State(lock: claim.lock, found: claim.found))
    }

    deinit {
        BackgroundDeparture.remove(self)
        // The owner notices that the program is not there any more.
        let (service, channel, hasLock) = state.withLock { ($0.service, $0.channel, $0.lock != nil) }
        if let service, let channel { line.run { service.disconnected(channel) } }
        if hasLock, let directory { Self.taken.withLock { _ = $0.remove(directory.path) } }
    }

    /// With what an owner has to know beside how the session loads.
    private static func completed(_ settings: TransferSettings, by values: ConfigurationValues) -> TransferSettings {
        var settings = settings
        settings.isDiscretionary = values.isDiscretionary
        settings.sendsLaunchEvents = values.sessionSendsLaunchEvents
        if values.background.eventHook.allSatisfy({ !$0.utf8.contains(0) }) {
            settings.hook = BackgroundHelper.located(hook: values.background.eventHook)
        } else {
            ErrorText.reportMisuse(
                "fault: backgroundEventHook has a NUL, with which no command can be run; it is ignored")
        }
        return settings
    }

    private static func reasonToOwnHere(_ values: ConfigurationValues, _ uncarried: [String]) -> String? {
        if !values.background.usesHelper { return "usesBackgroundHelper is false." }
        if uncarried.isEmpty { return nil }
        return "no other process can be given \(uncarried.joined(separator: ", "))."
    }

    // MARK: The directory

    /// A session's directory, as far as it is to be had.
    private struct Claim {
        var directory: BackgroundDirectory?
        var problem: Problem?
        var lock: FileLock?
        var found: BackgroundDirectory.Contents?
    }

    /// Takes a session's directory, first from the other sessions of this process and then from other programs, and
    /// reads it.
    private static func claim(_ identifier: String, _ values: ConfigurationValues) -> Claim {
        let directory: BackgroundDirectory
        do throws(BackgroundDirectoryFailure) {
            directory = try self.directory(of: identifier, values)
        } catch {
            return Claim(problem: .directory(error))
        }
        guard taken.withLock({ $0.insert(directory.path).inserted }) else {
            ErrorText.reportMisuse(
                "fault: a second background session with the identifier \(identifier) was made in this process; "
                    + "invalidate the first and wait for its end")
            return Claim(directory: directory, problem: .twice)
        }
        do throws(BackgroundDirectoryFailure) {
            let lock = try directory.takeProgramLock()
            return Claim(directory: directory, lock: lock, found: try directory.read(settingAside: false))
        } catch {
            taken.withLock { _ = $0.remove(directory.path) }
            return Claim(directory: directory, problem: .directory(error))
        }
    }

    private static func directory(
        of identifier: String, _ values: ConfigurationValues
    ) throws(BackgroundDirectoryFailure) -> BackgroundDirectory {
        guard let chosen = values.background.stateDirectory else {
            return try BackgroundDirectory(identifier: identifier)
        }
        return try BackgroundDirectory(identifier: identifier, in: BackgroundDirectory.root(in: chosen.path))
    }

    /// The directories of the sessions of this process.
    private static let taken = Mutex<Set<String>>([])

    /// Lets other sessions have the directory.
    func release() {
        let lock = state.withLock { state in
            defer { state.lock = nil }
            return state.lock
        }
        if lock != nil, let directory { Self.taken.withLock { _ = $0.remove(directory.path) } }
    }

    // MARK: Parts of downloads

    /// What a program has kept of a download goes to where the owner looks for it.
    func takeIn(partOf data: ResumeData) {
        // The directory may be another session's.
        guard problem == nil, let directory else { return }
        move(data.fileName, from: FileManager.default.temporaryDirectory.path, to: directory.filesPath)
    }

    /// What the owner has kept of a download goes to where resume data are good for every session.
    func giveOut(partOf data: ResumeData) {
        guard let directory else { return }
        move(data.fileName, from: directory.filesPath, to: FileManager.default.temporaryDirectory.path)
    }

    /// What a task of this session was made from goes back, unless another one was made from the same.
    func giveBack(partOf data: ResumeData, of task: UInt64) {
        guard problem == nil else { return }
        let bytes = Array(data.encoded)
        let isShared = state.withLock { state in
            state.entries.contains { $0.key != task && $0.value.order?.resumption == bytes }
        }
        if !isShared { giveOut(partOf: data) }
    }

    /// Where that fails the download begins anew, as it does with any file that is gone (B9.33).
    private func move(_ name: String, from one: String, to other: String) {
        LoopWatch.note("rename")
        try? FileManager.default.moveItem(atPath: one + "/" + name, toPath: other + "/" + name)
    }
}
