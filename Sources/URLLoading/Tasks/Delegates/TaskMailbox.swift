// The events of one task on their way to its delegate: an ordered list, the question that holds it up, and the count of
// body bytes from which back-pressure is made.
//
// A value without lock or thread; `TaskCore` keeps it behind a Mutex. Must not know: what the events mean.

import Foundation
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem

/// Something a delegate or handler is told.
///
/// An event is moved and copied often on its way. So what takes more than two words is
/// `indirect`, and an event is small.
enum TaskEvent: Sendable {
    case informational(HTTPURLResponse)
    /// So many bytes of the body have been sent, in all.
    case sent(Int64)
    /// The body is sent once more, from its beginning.
    case sendsAgain
    /// What an answer has brought for a storage that is the program's own.
    case cookies([HTTPCookie])
    /// What an answer in a background session has brought, from this URL, for a storage that is the program's own.
    indirect case ownersCookies([HTTPCookie], from: URL)
    indirect case redirect(HTTPURLResponse, URLRequest)
    case response(URLResponse)
    /// A part of a multipart body begins.
    case part(HTTPURLResponse)
    /// The task's begin date has come.
    indirect case delayed(URLRequest, WaitNumber)
    /// There is no way to the host yet.
    case waiting
    /// The connection cannot be opened without an answer.
    indirect case challenge(ConnectionQuestion)
    /// A server or a proxy has refused to go on without a proof.
    indirect case refusal(Refusal)
    /// Something else than a transaction cannot go on without an answer.
    indirect case question(SchemeQuestion)
    /// A delegate's credential was accepted.
    indirect case accepted(CredentialOffer)
    case data(Data)
    /// What a cache had as the body, unless a question before it has changed that.
    case storedBody(Data)
    /// Something is to be asked or done about the cache.
    indirect case caching(CacheStep)
    /// So many bytes of the body are in the file, in all.
    case written(Int64)
    /// A download goes on behind so many bytes.
    case resumed(at: Int64, total: Int64)
    /// A data task goes on as a download.
    case becameDownload(URLSessionDataTask, URLSessionDownloadTask)
    /// A data task goes on as a stream.
    case becameStream(URLSessionDataTask, URLSessionStreamTask)
    /// A hop needs a body stream that a delegate has to supply.
    case needsBodyStream(WaitNumber)
    indirect case hopEnded(HopEnd)
    /// Something about a stream.
    indirect case stream(StreamEvent)
    /// Something about a web socket.
    indirect case webSocket(WebSocketEvent)
    /// The task ends without the engine having had a part in it.
    indirect case endedUnloaded(URLError)
    /// The task ends, and some of its last messages have been told.
    indirect case ending(TaskEnding)
    /// Something that is kept until no question before it is open any more: what waits for an
    /// answer that can never come.
    case unanswered(any AnyObject & Sendable)
}

/// What is left to tell of a task that ends.
struct TaskEnding: Sendable {
    let failure: (any Error)?
    /// The whole body, where it was collected.
    let body: Data?
    /// The whole body, where it was saved.
    let file: TemporaryFile?
    /// Whether the last message is all that is left.
    var hasMetrics = false
}

/// How one hop ended.
struct HopEnd: Sendable {
    var failure: EngineError?
    /// The URL of the request that was being loaded (B17.2).
    let url: URL?
    /// The whole body, where it was collected.
    let body: Data?
    let records: [TransactionRecord]
    /// The whole body, where it was saved.
    var file: TemporaryFile?
    /// With what the request may be sent again with another stream for its body (B11.8).
    var again: SecondSending?
    /// What something else than a transaction has failed with, of whichever domain (B14.47); `failure` is then why it
    /// found no way, if that was it.
    var foreignError: (any Error)?
    /// Whether the program has seen nothing of the answer.
    var isUnseen = false
}

/// The ordered list of one task.
struct TaskMailbox: Sendable {
    private var arriving: [TaskEvent] = []
    /// The front of the list, last first: what came back undelivered, and what was put before all others.
    private var leaving: [TaskEvent] = []
    /// Whether the task is in the relay's line or being delivered.
    private var isScheduled = false

    private var waits = WaitNumbers()
    private var awaited: WaitNumber?
    private var isAnswering = false
    private var answered: WaitNumber?
    /// Whether the task ends whatever a delegate says: nothing follows a hop whose end breaks the waiting.
    private var isEnding = false
    /// Whether the end has come before the answer to a question.
    private var isUnanswered = false
    /// Whether a hop's end has been put in and not told.
    private var holdsEnd = false

    /// Parts whose beginning has not been told.
    private(set) var untoldParts = 0

    private var undeliveredBytes = 0
    private(set) var isReadingPaused = false

    /// Above this much undelivered body the socket is not read; what was read before still comes, a receive buffer at
    /// most. Measured: at a quarter of this, loop and delegate queue wake each other for every piece, which costs a
    /// large body a fifth more.
    static let highWaterMark = 1024 * 1024
    /// Below this much it is read again; not zero, so that the delegate has work while the loop wakes up.
    static let lowWaterMark = 256 * 1024
    /// Pieces smaller than this are joined with the one before: a delegate call costs more than copying them.
    private static let joinedPieces = 16 * 1024

    // MARK: Putting in

    /// Adds an event; `true` if the task must be put in the relay's line.
    mutating func post(_ event: TaskEvent) -> Bool {
        switch event {
        case .sent: if case .sent = arriving.last { arriving.removeLast() }
        case .written: if case .written = arriving.last { arriving.removeLast() }
        case .part: untoldParts += 1
        case .hopEnded(let end):
            holdsEnd = true
            if end.failure?.endsWaiting ?? false { giveUpWaiting() }
        case .stream(.ended), .webSocket(.ended): giveUpWaiting()
        default: break
        }
        append(event)
        return claimSchedule()
    }

    /// Most lists are short, and have room at once for all that they get.
    private mutating func append(_ event: TaskEvent) {
        if arriving.isEmpty { arriving.reserveCapacity(4) }
        arriving.append(event)
    }

    /// The beginning of a part is being told.
    mutating func tellingPart() { untoldParts -= 1 }

    /// Adds a piece of the body.
    mutating func post(body piece: Data) -> (mustSchedule: Bool, demand: ReceiverDemand) {
        undeliveredBytes += piece.count
        if case .data(var last) = arriving.last, last.count + piece.count <= Self.joinedPieces {
            // Order: taken out first, so that the append finds the only reference and copies nothing.
            arriving.removeLast()
            last.append(piece)
            arriving.append(.data(last))
        } else {
            append(.data(piece))
        }
        if undeliveredBytes >= Self.highWaterMark { isReadingPaused = true }
        return (claimSchedule(), isReadingPaused ? .pause : .more)
    }

    /// Puts an event before all others, for the delegate that is being waited for.
    mutating func putFirst(_ event: TaskEvent) { leaving.append(event) }

    // MARK: Taking out

    /// The front of the list or, where there is none, everything, last first; empty when there is nothing, or nothing
    /// may be delivered now.
    mutating func take() -> [TaskEvent] {
        guard awaited == nil, !isEmpty else {
            isScheduled = false
            return []
        }
        if leaving.isEmpty {
            swap(&arriving, &leaving)
            leaving.reverse()
        }
        defer { leaving = [] }
        return leaving
    }

    /// What follows the delivery of an event.
    enum Continuation {
        /// The next of those that were taken.
        case next
        /// Taking them anew: something has been put before them.
        case takeAgain
        /// Nothing, until a question has been answered.
        case wait
    }

    /// What follows now; where it is not the next event, those that were not delivered come back.
    mutating func goOn(returning rest: inout [TaskEvent]) -> Continuation {
        guard awaited != nil || !leaving.isEmpty else { return .next }
        putBack(&rest)
        if awaited == nil { return .takeAgain }
        isScheduled = false
        return .wait
    }

    /// Takes back what was taken out and not delivered, because others have their turn first; the task stays in the
    /// relay's line.
    ///
    /// The caller gives them away, so that they are moved and none is copied: a program's own queue has one of them
    /// told, and all others put back, at a time.
    mutating func putBack(_ rest: inout [TaskEvent]) {
        // Behind what has been put first meanwhile.
        rest += leaving
        leaving = rest
        rest = []
    }

    /// Whether pieces of the body are told: what a delegate was to decide about is not brought to it undecided.
    var tellsBody: Bool { !isUnanswered }

    /// Notes that a piece of the body was delivered, told or not; `true` if the socket should be read again.
    mutating func delivered(bytes: Int) -> Bool {
        undeliveredBytes -= bytes
        guard isReadingPaused, undeliveredBytes <= Self.lowWaterMark else { return false }
        isReadingPaused = false
        return true
    }

    // MARK: Questions

    /// What is to be made of an answer.
    enum AnswerVerdict {
        case accepted
        /// The task went on without it.
        case late
        /// It was given before (B1.31).
        case repeated
    }

    /// Holds the list up until the answer to this question has come (B1.31); `nil` if nothing is to be asked any more,
    /// because the end stands in the list already, and would wait behind a question that may never be answered (B6.8).
    mutating func beginWaiting() -> WaitNumber? {
        guard !isEnding else {
            isUnanswered = true
            return nil
        }
        awaited = waits.next()
        isAnswering = false
        return awaited
    }

    /// Whether a question is open behind which a hop's end stands: nothing is loading any more that would notice the
    /// task's time-out. One whose answer is just being carried out is open no more.
    var isWaitingBeforeEnd: Bool { holdsEnd && awaited != nil && !isAnswering }

    /// A hop's end has been taken out.
    mutating func tellingEnd() { holdsEnd = false }

    /// Whether the question is still open: a delegate that was told the end must not be asked any more (B1.71).
    func isWaiting(for token: WaitNumber) -> Bool { awaited == token }

    mutating func accept(answerTo token: WaitNumber) -> AnswerVerdict {
        if awaited == token, !isAnswering {
            isAnswering = true
            answered = token
            return .accepted
        }
        return answered == token ? .repeated : .late
    }

    /// Lets the list go on; `true` if the task must be put in the relay's line.
    mutating func endWaiting(for token: WaitNumber) -> Bool {
        guard awaited == token else { return false }
        stopWaiting()
        return claimSchedule()
    }

    /// Lets the list go on without an answer, and no question hold it up any more, because the task ends; `true` if it
    /// must be put in the relay's line.
    mutating func abandonWaiting() -> Bool {
        giveUpWaiting()
        return claimSchedule()
    }

    private mutating func giveUpWaiting() {
        isEnding = true
        guard awaited != nil else { return }
        // An answer that is just being carried out is one.
        if !isAnswering { isUnanswered = true }
        stopWaiting()
    }

    private mutating func stopWaiting() {
        awaited = nil
        isAnswering = false
    }

    private mutating func claimSchedule() -> Bool {
        guard !isScheduled, awaited == nil, !isEmpty else { return false }
        isScheduled = true
        return true
    }

    private var isEmpty: Bool { arriving.isEmpty && leaving.isEmpty }
}
