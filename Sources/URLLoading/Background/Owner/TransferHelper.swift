// The helper process of a background session (B10.31): takes the lock, listens on the socket, owns the transfers, and
// goes when nothing is left to be done and no program is connected. News that were not confirmed stay in journals.
//
//     urlloading-transfers --start <directory> [seconds]    starts the helper of a session and waits until it listens
//     urlloading-transfers --serve <directory> [seconds]    is that helper
//     urlloading-transfers --hook <umask> <command> …       becomes the session's event hook
//
// The seconds are for how long it stays when it has nothing to do. Must not know: how transfers are carried out.

import Dispatch
import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

/// The main function of the program `urlloading-transfers`.
package enum TransferHelper {
    /// Why the program ends, as its exit status; those of sysexits.h where there is one.
    package enum Status: Int32, Sendable {
        /// All is done.
        case done = 0
        /// The arguments are none.
        case usage = 64
        /// The socket cannot be listened on.
        case noSocket = 71
        /// The directory cannot be used.
        case noDirectory = 73
        /// Another process has the transfers.
        case inUse = 75
    }

    /// Runs the program.
    package static func run(_ arguments: [String]) -> Never {
        if arguments.count >= 4, arguments[1] == hooked, let mask = mode_t(arguments[2]) {
            exit(HelperProcess.become(Array(arguments.dropFirst(3)), mask: mask))
        }
        let rest = Array(arguments.dropFirst(3))
        guard arguments.count >= 3, ["--start", "--serve", started].contains(arguments[1]), rest.count <= 1,
            arguments[2].hasPrefix("/"), let patience = rest.first.map({ UInt32($0) }) ?? usualPatience
        else {
            StandardError.write("usage: urlloading-transfers --start|--serve <directory> [seconds]\n")
            exit(Status.usage.rawValue)
        }
        if arguments[1] == "--start" {
            let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? arguments[0]
            exit(HelperProcess.detach(own, arguments: [started] + arguments.dropFirst(2)))
        }
        serve(arguments[2], patience: patience, somebodyWaits: arguments[1] == started)
    }

    /// What `--start` starts: only there a program waits to hear that it is ready.
    private static let started = "--started"

    /// Whether a process that was started with these words is the helper of a session's directory.
    static func isHelper(_ words: [String], of directory: String) -> Bool {
        words.count >= 3 && ["--serve", started].contains(words[1]) && words[2] == directory
    }

    /// What runs a hook: with a umask, and the command.
    fileprivate static let hooked = "--hook"

    private static func serve(_ path: String, patience: UInt32, somebodyWaits: Bool) -> Never {
        let mask = umask(0o077)
        signal(SIGPIPE, SIG_IGN)
        // A file that may not grow is an error like any other.
        signal(SIGXFSZ, SIG_IGN)
        // It has no terminal to lose.
        signal(SIGHUP, SIG_IGN)
        let helper = ServingHelper(patience: patience, somebodyWaits: somebodyWaits, mask: mask)
        helper.begin(path)
        return withExtendedLifetime(helper) { dispatchMain() }
    }

    /// Picked by feel: a program that is started again soon after finds the helper still there.
    private static let usualPatience: UInt32 = 10
}

/// A helper that serves one session's directory.
private final class ServingHelper: Sendable {
    private let patience: UInt32
    private let somebodyWaits: Bool
    /// The umask of the program.
    private let mask: mode_t
    private let state = Mutex(State())

    private struct State: Sendable {
        var owner: TransferOwner?
        var listener: TransferListener?
        /// Which of the times to look whether to go is the last that was arranged.
        var generation = 0
        var isLeaving = false
    }

    init(patience: UInt32, somebodyWaits: Bool, mask: mode_t) {
        self.patience = patience
        self.somebodyWaits = somebodyWaits
        self.mask = mask
    }

    func begin(_ path: String) {
        var arrangement = TransferOwner.Arrangement()
        arrangement.whenIdle = { [weak self] in self?.arrangeToGo() }
        arrangement.whenWanted = { [weak self] in self?.call($0) }
        arrangement.whenInvalidated = { [weak self] in self?.leave() }
        if somebodyWaits { arrangement.greetingPatience = .seconds(5) }
        do throws(BackgroundDirectoryFailure) {
            // The program that has started it has made the directory. Where the session has been wound up meanwhile,
            // one that comes late must not leave another (B10.40).
            guard PrivateFolder(existing: path) != nil else { throw BackgroundDirectoryFailure.notPrivate(path: path) }
            let directory = try BackgroundDirectory(path: path)
            let (owner, hasWaited) = try Self.owner(of: directory, arrangement)
            state.withLock { $0.owner = owner }
            listen(path, owner, follows: hasWaited)
        } catch {
            end(error == .inUse ? .inUse : .noDirectory)
        }
    }

    /// The owner of a session's transfers, and whether another one had to end before.
    private static func owner(
        of directory: BackgroundDirectory, _ arrangement: TransferOwner.Arrangement
    ) throws(BackgroundDirectoryFailure) -> (TransferOwner, Bool) {
        do throws(BackgroundDirectoryFailure) {
            return (try TransferOwner(directory: directory, arrangement: arrangement), false)
        } catch {
            guard error == .inUse else { throw error }
            // One that is about to end shall have ended.
            var arrangement = arrangement
            arrangement.lockPatience = .seconds(5)
            return (try TransferOwner(directory: directory, arrangement: arrangement), true)
        }
    }

    private func listen(_ path: String, _ owner: TransferOwner, follows: Bool) {
        do throws(SystemError) {
            let listener = try TransferListener(
                directory: path, service: owner, loop: LoopGroup.shared.next(),
                onEmpty: { [weak self] in self?.arrangeToGo() })
            state.withLock { $0.listener = listener }
            listener.start { [weak self] error in
                guard let self else { return }
                if error != nil { end(.noSocket) }
                watchSignals()
                if somebodyWaits { HelperProcess.report(0) }
                arrangeToGo()
                if follows { goUnlessWanted() }
            }
        } catch {
            end(.noSocket)
        }
    }

    /// Says why, to the program that waits for the helper to be ready, and ends.
    private func end(_ status: TransferHelper.Status) -> Never {
        if somebodyWaits { HelperProcess.report(UInt8(truncatingIfNeeded: status.rawValue)) }
        exit(status.rawValue)
    }

    private func watchSignals() {
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in self?.leave() }
            source.resume()
            Self.sources.withLock { $0.append(Source(source: source)) }
        }
    }

    /// Unchecked because Dispatch's sources are not marked; it is only kept.
    private struct Source: @unchecked Sendable {
        let source: any DispatchSourceSignal
    }

    private static let sources = Mutex<[Source]>([])

    // MARK: Going

    /// Looks in a while whether there is a reason to stay.
    private func arrangeToGo() {
        let generation = state.withLock { state in
            state.generation += 1
            return state.generation
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int(patience))) { [weak self] in
            self?.considerGoing(generation)
        }
    }

    private func considerGoing(_ generation: Int) {
        let (owner, listener, isLast) = state.withLock { ($0.owner, $0.listener, $0.generation == generation) }
        guard isLast, let owner, let listener, listener.connections == 0 else { return }
        owner.later { [weak self] owner in if owner.isIdle { self?.leave() } }
    }

    /// Goes soon where the helper before has wound the session up, unless the program that has started this
    /// one comes now: it may be dead, and the program that has ended the session waits for the lock to
    /// remove what is left (B10.40).
    private func goUnlessWanted() {
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
            guard let self else { return }
            let (owner, listener) = state.withLock { ($0.owner, $0.listener) }
            guard let owner, let listener, listener.connections == 0 else { return }
            owner.later { [weak self] owner in if owner.isIdle, owner.settings == nil { self?.leave() } }
        }
    }

    /// Stops in good order: no program is let in any more, what is under way is written down.
    private func leave() {
        let (owner, listener, isFirst) = state.withLock { state in
            defer { state.isLeaving = true }
            return (state.owner, state.listener, !state.isLeaving)
        }
        guard isFirst, let owner, let listener else { return }
        // Order: a program that comes from now on finds no socket, starts another helper, and that waits for the lock.
        listener.stop { owner.stop { exit(TransferHelper.Status.done.rawValue) } }
    }

    // MARK: Calling the program

    private func call(_ settings: TransferSettings) {
        // With the program's umask, which this process may not take beside its other threads: a
        // process between sets it.
        let command = ["/proc/self/exe", TransferHelper.hooked, "\(mask)"] + settings.hook
        BlockingPool.shared.run {
            let outcome = HelperProcess.runApart(
                command, variable: "URLLOADING_BACKGROUND_IDENTIFIER", value: settings.identifier)
            switch outcome {
            case .success(HelperProcess.couldNotStart):
                // A command may end with that itself, as `timeout` and `env` do.
                ErrorText.reportMisuse(
                    "the event hook of a background session has ended with status \(HelperProcess.couldNotStart), "
                        + "as where it cannot be run: \(settings.hook.first ?? "")")
            case .success: break
            case .failure(let error):
                ErrorText.reportMisuse("the event hook of a background session cannot be run: \(error)")
            }
        }
    }
}
