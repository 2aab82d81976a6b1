// How a background session finds the owner of its transfers, and what becomes of tasks when there is none (B10.31,
// B10.36).
//
// The order: an owner that listens on the directory's socket; a helper that is started; this process. An owner that is
// lost is replaced, and the next one has what was written down.
//
// Must not know: what is said to an owner and heard of it (`BackgroundSession+Conversation`).

import Dispatch
import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

extension BackgroundSession {
    // MARK: Finding an owner

    /// Looks for an owner, unless that is being done or was.
    func connect() {
        let isFirst = state.withLock { state in
            guard case .silent = state.phase, problem == nil else { return false }
            state.phase = .connecting
            return true
        }
        guard isFirst else { return }
        BackgroundDeparture.add(self)
        line.run { [self] in look(mayStart: true) }
    }

    func look(mayStart: Bool) {
        guard let directory else { return }
        if let ownsHere, !onlySaysGoodbye {
            // It was chosen, or cannot be otherwise: that is told where it was not chosen.
            if values.background.usesHelper { BackgroundHelper.reportMissing(ownsHere) }
            return own(patience: .zero, mayReplace: true)
        }
        let channel = OwnerChannel(self)
        RemoteOwner.connect(
            directory: directory.path, loop: loop, channel: channel,
            onEnd: { [weak self] reason in self?.lost(reason, on: channel) },
            completion: { [weak self] result in
                guard let self else { return }
                switch result {
                case .success(let owner):
                    greet(owner, channel)
                    awaitWelcome(on: channel)
                    watch(channel)
                case .failure(let error): line.run { self.notFound(error, mayStart: mayStart) }
                }
            })
    }

    /// No owner listens.
    private func notFound(_ error: SystemError, mayStart: Bool) {
        guard let directory else { return }
        if onlySaysGoodbye { return cleanUp() }
        guard mayStart else { return own(because: "its helper cannot be reached: \(error).") }
        guard let path = BackgroundHelper.path(chosen: values.background.helper) else {
            let place = values.background.helper.map { " at \($0.path)" } ?? ""
            return own(because: "there is no program \(BackgroundHelper.name)\(place).")
        }
        let patience = values.background.helperPatience
        switch BackgroundHelper.start(path, directory: directory.path, patience: patience) {
        case .ready, .unknown: look(mayStart: false)
        // One that was started a moment ago, by this program's last run for instance, and listens by now.
        case .ended(TransferHelper.Status.inUse.rawValue): look(mayStart: false)
        case .ended(let status):
            own(because: "\(path) has ended with status \(status).")
        case .late: own(because: "\(path) is not ready after \(patience).")
        case .failed(let error): own(because: "\(path) cannot be started: \(error).")
        }
    }

    /// This process becomes the owner. Where a helper is that already, it is replaced if that may be.
    private func own(because reason: String? = nil, patience: Duration = .seconds(5), mayReplace: Bool = false) {
        guard let directory else { return }
        do throws(BackgroundDirectoryFailure) {
            var arrangement = TransferOwner.Arrangement()
            arrangement.configuration = values
            // One that has just been left may be about to end.
            arrangement.lockPatience = patience
            arrangement.greetingPatience = .seconds(5)
            let owner = try TransferOwner(directory: directory, arrangement: arrangement)
            if let reason { BackgroundHelper.reportMissing(reason) }
            greet(owner, OwnerChannel(self))
        } catch {
            if case .inUse = error {
                if mayReplace { return replaceHelper() }
                return lost("another process has the transfers, and cannot be reached", on: nil)
            }
            fail(everythingWith: { LoadFailure.make(error.code, $0, error.description) })
        }
    }

    /// An earlier run's helper has the transfers, which this process has to carry out: it is asked to go.
    private func replaceHelper() {
        guard let directory else { return }
        RemoteOwner.connect(
            directory: directory.path, loop: loop, channel: OwnerChannel(self), onEnd: { _ in },
            completion: { [weak self] result in
                guard let self else { return }
                line.run { [self] in
                    // One that does not listen is about to end, or has only begun.
                    let hasGone = if case .success(let helper) = result { end(helper: helper) } else { false }
                    own(patience: hasGone ? .seconds(15) : .seconds(5))
                }
            })
    }

    /// Ends a helper: it stops its transfers where they can go on, and writes that down. Whether it has gone; on the
    /// line.
    func end(helper: RemoteOwner) -> Bool {
        // Security: no process is ended that is not this session's own helper.
        guard let directory, let process = helper.process, TransferHelper.isHelper(process.words, of: directory.path)
        else { return false }
        // What helpers of every version understand.
        process.send(signal: SIGTERM)
        if process.ends(within: values.background.helperPatience) { return true }
        // Journals are always whole.
        process.send(signal: SIGKILL)
        return process.ends(within: .seconds(1))
    }

    /// A helper that has been stopped, or hangs, is as good as lost: the system takes connections for it. It is ended,
    /// since it has the lock.
    private func awaitWelcome(on channel: OwnerChannel) {
        let patience = values.background.helperPatience.wholeMilliseconds64
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(patience))) {
            [weak self, weak channel] in
            guard let self, let channel else { return }
            let isSilent = state.withLock { state in
                if case .greeting = state.phase { state.channel === channel } else { false }
            }
            guard isSilent else { return }
            channel.cut()
            line.run { [self] in
                let service = state.withLock { $0.channel === channel ? $0.service : nil }
                if !endStopped(on: channel), let helper = service as? RemoteOwner { _ = end(helper: helper) }
                lost("it does not answer", on: channel)
            }
        }
    }

    /// Looks now and then whether the helper has been stopped, as by SIGSTOP: it would be waited for without end. One
    /// that was stopped the last time may go on by itself.
    private func watch(_ channel: OwnerChannel, wasStopped: Bool = false) {
        let patience = values.background.helperPatience.wholeMilliseconds64
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int(patience))) {
            [weak self, weak channel] in
            guard let self, let channel, state.withLock({ $0.channel === channel }) else { return }
            line.run { [self] in
                guard wasStopped, endStopped(on: channel) else {
                    return watch(channel, wasStopped: stopped(on: channel) != nil)
                }
                channel.cut()
                lost("it has been stopped", on: channel)
            }
        }
    }

    /// Ends the helper behind a channel if it has been stopped, since it has the lock; whether it was. On the line.
    private func endStopped(on channel: OwnerChannel) -> Bool {
        // Security: no process is ended that is not this session's own helper.
        guard let directory, let process = stopped(on: channel),
            TransferHelper.isHelper(process.words, of: directory.path)
        else { return false }
        process.send(signal: SIGKILL)
        return process.ends(within: .seconds(1))
    }

    /// The process behind a channel, if it has been stopped.
    private func stopped(on channel: OwnerChannel) -> PeerProcess? {
        let service = state.withLock { $0.channel === channel ? $0.service : nil }
        guard let process = (service as? RemoteOwner)?.process, process.isStopped else { return nil }
        return process
    }

    // MARK: Losing one

    /// The owner is gone: its transfers go on with another one, unless none is of any use.
    func lost(_ reason: String, on channel: OwnerChannel?, hasRefused: Bool = false) {
        enum Step: Sendable { case none, again(after: Int, ofAll: Int), giveUp, over }
        let (step, dropped) = state.withLock { state -> (Step, (any TransferService)?) in
            guard channel === state.channel || channel == nil else { return (.none, nil) }
            let dropped = state.service
            (state.service, state.channel) = (nil, nil)
            switch state.phase {
            case .ended, .silent: return (.none, dropped)
            case .ending: return (.over, dropped)
            case .connecting, .greeting, .connected:
                state.allLosses += 1
                state.phase = .silent
                if hasRefused { state.refusals += 1 } else { state.losses += 1 }
                let (count, most) =
                    hasRefused ? (state.refusals, Self.mostRefusals) : (state.losses, Self.mostLosses)
                return (count <= most ? .again(after: count, ofAll: state.allLosses) : .giveUp, dropped)
            }
        }
        // Order: it goes outside of the lock, since it has a lock of its own.
        withExtendedLifetime(dropped) {}
        switch step {
        case .none: break
        case .again(let count, let allLosses):
            guard state.withLock({ !$0.entries.isEmpty || $0.onEnd != nil }) else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(count * Self.pause)) { [weak self] in
                // Unless a task that was resumed meanwhile has had that tried.
                guard let self, state.withLock({ $0.allLosses == allLosses }) else { return }
                connect()
            }
        case .giveUp:
            fail(everythingWith: {
                LoadFailure.make(
                    .backgroundSessionWasDisconnected, $0,
                    "The connection to the process that carries out the session's transfers was lost: \(reason)")
            })
        case .over: line.run { [self] in cleanUp() }
        }
    }

    /// Ends all tasks (B10.36: −997 once).
    func fail(everythingWith error: (URL?) -> URLError) {
        let (entries, onEnd) = state.withLock { state -> ([Entry], Bool) in
            state.phase = .silent
            (state.losses, state.refusals) = (0, 0)
            let entries = state.entries.values.filter { !$0.isEnding }
            for entry in entries { state.entries[UInt64(entry.core.identifier)]?.isEnding = true }
            return (entries, state.onEnd != nil)
        }
        for entry in entries {
            let task = UInt64(entry.core.identifier)
            inquiries.run { [self] in withdrawQuestions(of: task) }
            entry.core.transfer.fail(with: error(entry.core.originalRequest?.url))
        }
        if onEnd { line.run { [self] in cleanUp() } }
    }

    /// In milliseconds, and longer each time: an owner that is about to end shall have ended. Picked by feel.
    private static let pause = 50

    /// How often in a row an owner may be lost before anything was heard of it.
    private static let mostLosses = 3

    /// How often in a row it may refuse: with the pauses some ten seconds, in which even a busy machine tells it that
    /// the program before this one is no more. Picked by feel.
    private static let mostRefusals = 20
}
