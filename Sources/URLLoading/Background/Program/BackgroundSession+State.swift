// What a background session knows: of its tasks, of the owner of their transfers, and where the conversation with it
// stands.
//
// Must not know: what follows from any of it.

import URLLoadingPolicy
import URLLoadingSystem

extension BackgroundSession {
    /// A task and how far the owner and the delegate know of it.
    struct Entry: Sendable {
        let core: TaskCore
        let load: BackgroundLoad
        /// What the owner is told where it does not know the task; nil for one that was over when it was met again.
        var order: TransferOrder?
        /// Whether the owner has it.
        var isKnown = false
        /// Whether an owner that should have it does not, and has nothing to answer to its end.
        var isMissed = false
        /// Whether its delegate has given another order than the owner may have, or the program a later date, and the
        /// owner has accepted none since.
        var hasNewOrder = false
        /// Of each order that this owner was told and has not accepted yet, whether its delegate was still to be asked,
        /// or it has been given a later date since.
        var unaccepted: [Bool] = []
        /// Whether an earlier run began it, so that an owner may have it that this run has not spoken to.
        var isEarlier = false
        /// Whether the owner may have it: not before its journal is written.
        var isDue = true
        /// The highest number of the news that were taken for the delegate.
        var taken: UInt64 = 0
        /// The number of the file that was told before the end.
        var fileNumber: UInt64?
        /// What is to be told with the end.
        var path: String?
        /// What was measured, to be told with the end.
        var measures = TransferMeasures()
        /// The number of the end.
        var endNumber: UInt64?
        /// Whether its end is on its way to the delegate.
        var isEnding = false
        /// The question for which the program's storage has still to say what it knows.
        var inquiry: UInt64?
        /// Questions that are not answered yet.
        var questions: [UInt64: SchemeQuestion] = [:]
        /// What its delegate has answered, until it is known whether the server takes it.
        var offer: Offer?
    }

    /// A password that a delegate has given to the owner behind a channel.
    struct Offer: Sendable {
        let credential: URLCredential
        let space: URLProtectionSpace
        let channel: OwnerChannel
    }

    /// Where the conversation stands.
    enum Phase: Sendable {
        /// There is no owner to speak to.
        case silent
        /// An owner is being looked for.
        case connecting
        /// The greeting has been sent.
        case greeting
        case connected
        /// The session is being wound up.
        case ending
        case ended

        /// Whether there is an owner that goes on listening.
        var isConnected: Bool { if case .connected = self { true } else { false } }

        /// Whether the owner listens to more than a greeting.
        var isTalking: Bool {
            switch self {
            case .connected, .ending: true
            case .silent, .connecting, .greeting, .ended: false
            }
        }
    }

    struct State: Sendable {
        /// Held as long as this program has the session.
        var lock: FileLock?
        var entries: [UInt64: Entry] = [:]
        /// What was in the directory when the session was made, until its tasks are made of that.
        var found: BackgroundDirectory.Contents?
        /// Tasks of which nothing is known but that an owner may have them.
        var unopened: Set<UInt64> = []
        /// News of tasks that have ended, up to which the delegate has heard them.
        var heard: [UInt64: UInt64] = [:]
        /// Tasks that have ended here, and may be an owner's that has not answered to that.
        var unanswered: Set<UInt64> = []
        /// Whether this program ends, and an owner is asked whether it has heard everything.
        var isLeaving = false
        /// Whether this owner was told all that it had to be told after its greeting.
        var hasSaidAll = false
        /// Whether an owner that is there has not shown yet that it has heard everything.
        var awaitsEcho = false
        var phase = Phase.silent
        var service: (any TransferService)?
        var channel: OwnerChannel?
        /// The tasks that the owner has told of so far, until it has told of all.
        var met: [TransferSummary] = []
        /// How often an owner was lost or not found since one was of use.
        var losses = 0
        /// How often one has refused since one has not.
        var refusals = 0
        /// How often altogether.
        var allLosses = 0
        var hasWrittenSettings = false
        /// Tasks of an earlier run were met, and the end of what waited is still to be told. An owner may have ended a
        /// task of this run before it was greeted: that wakes no program up (B10.19).
        var awaitsEndOfEvents = false
        var onEnd: (@Sendable () -> Void)?
        weak var session: URLSession?
        weak var core: SessionCore?
    }
}
