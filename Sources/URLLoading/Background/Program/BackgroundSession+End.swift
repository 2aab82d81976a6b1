// How a background session is wound up: the owner of its transfers is told, and when it has gone
// nothing is left (B10.40).
//
// Must not know: how an owner is found.

import Foundation
import Synchronization
import URLLoadingPolicy
import URLLoadingSystem

extension BackgroundSession {
    /// Winds the session up after its last task: nothing is left of it when `completion` is called (B10.40).
    func end(_ completion: @escaping @Sendable () -> Void) {
        guard problem == nil else { return completion() }
        enum Step: Sendable { case clean, look, goodbye, wait }
        let step = state.withLock { state -> Step in
            state.onEnd = completion
            switch state.phase {
            case .silent:
                // A task that begins now does not look for an owner, too.
                state.phase = .connecting
                return .look
            case .ended: return .clean
            case .connected: return .goodbye
            // The step that is under way looks for `onEnd`.
            case .connecting, .greeting, .ending: return .wait
            }
        }
        switch step {
        case .clean: line.run { [self] in cleanUp() }
        case .look: line.run { [self] in lookForLast() }
        case .goodbye: sayGoodbye()
        case .wait: break
        }
    }

    /// No owner is known of; an earlier run's helper may be there still, and goes when it is told so.
    private func lookForLast() {
        if let lock = try? directory?.takeLock() {
            lock.hold()
            return cleanUp()
        }
        look(mayStart: false)
    }

    /// Whether an owner is of use only to be told that the session ends.
    var onlySaysGoodbye: Bool { state.withLock { $0.onEnd != nil && $0.entries.isEmpty } }

    func sayGoodbye() {
        // Order: first, since an owner that answers goes at once.
        state.withLock { $0.phase = .ending }
        tell(.invalidate(cancelling: true))
    }

    func invalidated() {
        line.run { [self] in cleanUp() }
    }

    /// Removes what is left when the transfers have no owner any more.
    func cleanUp() {
        let (service, channel, onEnd) = state.withLock { state in
            defer {
                (state.service, state.channel, state.onEnd) = (nil, nil, nil)
                state.phase = .ended
                state.unanswered = []
            }
            return (state.service, state.channel, state.onEnd)
        }
        channel?.cut()
        if let service, let channel { service.disconnected(channel) }
        guard let onEnd else { return }
        let finish = { @Sendable [self] in
            line.run { [self] in
                // The owner's process has gone when its lock has. Picked by feel: long enough for a busy machine, since
                // what is left now is left for good, and not for ever, should the process hang.
                if let directory, let lock = try? directory.takeLock(patience: .seconds(15)) {
                    directory.removeEverything()
                    lock.hold()
                }
                release()
                onEnd()
            }
        }
        if let owner = service as? TransferOwner { owner.stop(finish) } else { finish() }
    }
}
