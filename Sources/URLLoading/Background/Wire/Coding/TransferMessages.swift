// What a program and the owner of its transfers say to each other; `TransferMessageCoding` makes bytes of it.
//
// A conversation, from the program's side:
//
//   1. `hello`, once, first. Answered by `refused`, after which nothing comes, or by `met` for each task of the session that
//      is known, over or not, and then `welcome`. Then come the news that were not confirmed, in order. The program says what
//      it knows otherwise, and then `list`, which is not answered; nothing is begun before that, or for five seconds.
//   2. `delivered` confirms news when the delegate has been told; the owner forgets them only then. When all that was
//      waiting at the welcome is confirmed, `allDelivered` comes once, if anything was waiting (B10.17, B10.19).
//   3. `start` for each task that is resumed for the first time; the owner answers `accepted` when the journal is on the
//      disk. A task that cannot be written down is `completed` at once, with number 0, which needs no confirmation.
//   4. `progress`, `redirected`, `responded` and `resumedAt` are told while they happen, and not again. `challenged` wants
//      an `answer`, and is told again to a program that comes later.
//   5. `invalidate`, last; answered by `invalidated` when everything is gone or has ended and been delivered, after which
//      the owner closes. A connection that ends otherwise ends nothing: the owner goes on.

import URLLoadingPolicy

/// What a program says.
package enum TransferCommand: Sendable, Hashable {
    /// The greeting of a program: what it can do, and how its session loads.
    case hello(TransferHello)
    /// A task begins.
    case start(TransferOrder)
    /// A task ends with −999; if wanted, `resumeData` comes before its last news.
    case cancel(task: UInt64, wantsResumeData: Bool)
    /// A task stands still.
    case suspend(task: UInt64)
    /// A suspended task goes on.
    case resume(task: UInt64)
    /// `taskDescription` has changed.
    case label(task: UInt64, String?)
    /// `priority` has changed.
    case priority(task: UInt64, Float)
    /// What was asked by `challenged`.
    case answer(TransferAnswer)
    /// The delegate has heard a task's news up to this number.
    case delivered(task: UInt64, number: UInt64)
    /// The session ends: now, or with the last task (B10.40).
    case invalidate(cancelling: Bool)
    /// Everything is said that the program knows otherwise. Behind the first one: what is known of the tasks, to be
    /// answered by `tasks`.
    case list
}

/// What the owner says.
package enum TransferEvent: Sendable, Hashable {
    /// The program meets a task again. Each is a message of its own: all together may be longer than a frame.
    case met(TransferSummary)
    /// The program is taken, and has met all tasks.
    case welcome
    /// The program is not taken.
    case refused(TransferRefusal)
    /// The answer to `list`, which a helper of an earlier library gives to the first one, too.
    case tasks([TransferSummary])
    /// A task is written down.
    case accepted(task: UInt64)
    /// A task has come so far.
    case progress(task: UInt64, TransferCounts)
    /// A task asks for this now.
    case redirected(task: UInt64, TransferRequest)
    /// A task has its response.
    case responded(task: UInt64, TransferHead)
    /// A download goes on from an offset; with the length of the whole, −1 if that is not known (B9.27).
    case resumedAt(task: UInt64, offset: Int64, total: Int64)
    /// What a task that was cancelled can be resumed with, or nil.
    case resumeData(task: UInt64, [UInt8]?)
    /// A server's certificate or a proof is in question.
    case challenged(task: UInt64, TransferChallenge)
    /// A question needs no answer any more.
    case withdrawn(task: UInt64, challenge: UInt64)
    /// What has to be confirmed by `delivered`.
    case news(task: UInt64, TransferNews)
    /// Everything that waited for the program has been confirmed.
    case allDelivered
    /// The session is no more.
    case invalidated
}

/// How a program begins.
package struct TransferHello: Sendable, Hashable {
    /// Which of these languages it speaks.
    package var version: UInt32 = TransferLimits.version
    /// How the session loads.
    package var settings: TransferSettings
    /// Whether it wants to judge servers; else they are judged by the settings (B10.37).
    package var judgesServers: Bool
    /// Whether it answers all other questions; else it is as if it had said `performDefaultHandling`.
    package var answersChallenges: Bool

    /// Makes a greeting.
    package init(settings: TransferSettings, judgesServers: Bool, answersChallenges: Bool) {
        self.settings = settings
        self.judgesServers = judgesServers
        self.answersChallenges = answersChallenges
    }
}

/// Why a program is not taken.
package enum TransferRefusal: Sendable, Hashable, Error {
    /// Another program has the session (B10.32): −996.
    case inUse
    /// The owner speaks another language, this one: −997.
    case version(UInt32)
    /// The owner is of another session's: −997.
    case otherSession
    /// The session is being invalidated: −996.
    case ending
    /// The program has said what cannot be understood, or at the wrong time: −997.
    case unintelligible(String)
}

/// A task to be begun.
package struct TransferOrder: Sendable, Hashable {
    /// Its `taskIdentifier`, which no task of the session has had.
    package var task: UInt64
    /// What it does.
    package var kind: TransferKind
    /// What was asked for first.
    package var original: TransferRequest
    /// What is to be asked for.
    package var current: TransferRequest
    /// The absolute path of the file that is sent; of uploads only.
    package var source: String?
    /// `taskDescription`.
    package var label: String?
    /// `earliestBeginDate` in milliseconds since 1970.
    package var earliestBegin: Int64?
    /// `countOfBytesClientExpectsToSend`, −1 where it is not known.
    package var expectedBySender: Int64 = -1
    /// `countOfBytesClientExpectsToReceive`, −1 where it is not known.
    package var expectedByReceiver: Int64 = -1
    /// `priority`.
    package var priority: Float = 0.5
    /// The resume data that the task was made from.
    package var resumption: [UInt8]?
    /// Whether the program's delegate is to be asked when the date has come: the task stands still as long as a program
    /// is there, which then says `start` again, without this. Where none is there at the date it begins.
    package var awaitsDelegate = false
    /// Whether the program has suspended it.
    package var isSuspended = false

    /// Makes an order.
    package init(task: UInt64, kind: TransferKind, request: TransferRequest, source: String? = nil) {
        self.task = task
        self.kind = kind
        original = request
        current = request
        self.source = source
    }
}

/// What bounds messages and journals.
package enum TransferLimits {
    /// The language of this library's messages.
    package static let version: UInt32 = 5
    /// The form of its journals, which outlive a change of the language.
    package static let recordVersion: UInt32 = 3
    /// The form of a journal with what earlier readers do not know: a request that limits what a coded body may become,
    /// which shall not be loaded without limits, or a response with its version, words or trailers.
    package static let extendedRecordVersion: UInt32 = 4
    /// The longest frame; a request with its body is shorter.
    package static let frame = 16 << 20
    /// The longest journal.
    package static let record = 16 << 20
    /// The longest body of a request that is no upload.
    package static let body = 4 << 20
    /// The longest text of the program's that a task gets after it has begun.
    package static let label = 4 << 20
}
