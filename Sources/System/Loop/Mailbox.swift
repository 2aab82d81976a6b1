// What other threads hand to a loop: an ordered list behind one lock that is held for an append or a swap, never while
// anything runs. Also knows whether the loop sleeps, so that only the first sender of a batch pays for a wake-up.
// Must not know what its items do.

import Synchronization

/// One unit of work for a loop.
package enum MailboxItem: Sendable {
    /// A piece of a Swift task that is isolated to the loop's actor.
    case job(UnownedJob)
    /// A piece of a Swift task that only prefers the loop's thread.
    case taskJob(UnownedJob, UnownedTaskExecutor)
    /// A command object made by its sender.
    case command(any LoopCommand)
    /// A closure.
    case work(@Sendable (Reactor) -> Void)
}

/// The ordered list of work handed to a loop by other threads.
package final class Mailbox: Sendable {
    /// What the sender of an item must do after the append.
    package enum FollowUp: Sendable {
        /// Nothing: the loop is awake.
        case nothing
        /// Wake the loop.
        case signal(WakeSignal)
        /// Start the loop's thread.
        case startThread
        /// The loop has ended; the item was not taken.
        case refused
    }

    private enum Phase: Sendable {
        case unstarted
        case running
        /// Without a signal the loop looks into its mailbox from time to time.
        case sleeping(WakeSignal?)
        case ended
    }

    private struct State: Sendable {
        var items: [MailboxItem] = []
        var phase: Phase
    }

    private let state: Mutex<State>

    /// `startsThread`: the first item asks its sender to start the loop's thread.
    package init(startsThread: Bool) {
        state = Mutex(State(phase: startsThread ? .unstarted : .running))
    }

    /// Adds an item and says what its sender has to do.
    package func append(_ item: MailboxItem) -> FollowUp {
        state.withLock { state in
            let followUp: FollowUp
            switch state.phase {
            case .running:
                followUp = .nothing
            case .sleeping(let signal):
                // Order: leaving `sleeping` here is what makes the rest of a batch free of wake-ups.
                state.phase = .running
                followUp = signal.map { .signal($0) } ?? .nothing
            case .unstarted:
                state.phase = .running
                followUp = .startThread
            case .ended:
                return .refused
            }
            state.items.append(item)
            return followUp
        }
    }

    /// The thread could not be started: the next item tries again.
    ///
    /// Gives back the commands, whose senders wait for an answer; what else was queued stays.
    package func threadDidNotStart() -> [any LoopCommand] {
        state.withLock { state in
            state.phase = .unstarted
            var commands: [any LoopCommand] = []
            state.items.removeAll { item in
                guard case .command(let command) = item else { return false }
                commands.append(command)
                return true
            }
            return commands
        }
    }

    /// Moves everything to `batch`, which must be empty; its capacity serves the senders next.
    package func take(into batch: inout [MailboxItem]) {
        state.withLock { state in
            if case .sleeping = state.phase {
                state.phase = .running
            }
            swap(&state.items, &batch)
        }
    }

    /// Whether something waits in it.
    package var hasItems: Bool { state.withLock { !$0.items.isEmpty } }

    /// True when nothing has arrived: the loop may wait, and the next sender will use `signal`.
    package func prepareToSleep(_ signal: WakeSignal?) -> Bool {
        state.withLock { state in
            guard state.items.isEmpty else { return false }
            state.phase = .sleeping(signal)
            return true
        }
    }

    /// Ends the mailbox if it is empty; later items are refused.
    package func endIfEmpty() -> Bool {
        state.withLock { state in
            guard state.items.isEmpty else { return false }
            state.phase = .ended
            return true
        }
    }
}
