// What a load by a carrier knows while it lasts: the line of reports, what holds it up, and whether a thread works
// through it.
//
// A value without lock or thread; `SchemeLoad` keeps it behind its Mutex. Must not know: what the reports mean beyond
// the order in which they may be told.

import Foundation
import URLLoadingEngine
import URLLoadingSystem

/// The changing state of a `SchemeLoad`.
struct SchemeLoadState: Sendable {
    private(set) var carrier: (any SchemeCarrier)?
    /// What was taken is nil: it may hold the program's bytes, whose deallocator may call the task, and so it
    /// may not go under the lock.
    private var reports: [SchemeReport?] = []
    /// Where the line begins; what is before has been told.
    private var first = 0
    private var phase = Phase.new
    private var isWorking = false

    /// A delegate is asked, or a receiver is full.
    private var isPaused = false
    /// Counts how often the load was told to go on, so that a word that comes while it decides to pause is not lost.
    private(set) var continuations = 0
    var isSuspended = false
    var isWaitingForNetwork = false
    /// Whether the carrier was told so, and whether a thread is telling it right now.
    private var isCarrierSuspended = false
    private var isTellingCarrier = false
    /// The carrier was told to pause, and has not been told to go on.
    private var owesRoom = false
    /// The carrier is to be stopped as soon as it has started.
    private var owesStop = false
    /// Nothing more is taken from the carrier.
    private var isClosed = false
    private var isCancelled = false
    private(set) var hasEnded = false
    /// What still comes of the answer is of no interest.
    private(set) var discards = false

    /// The last sign of life.
    var quietSince: Duration
    var watch: Alarm?
    var openQuestions: [SchemeQuestion] = []

    // Touched by the thread that works through the line.
    var response: URLResponse?
    var policy = URLCache.StoragePolicy.notAllowed
    /// The body, where it is wanted whole.
    var body = Data()
    /// Whether the body is too long to be kept for a cache.
    var isTooLong = false
    /// Whether something was told before the response, which then has only a part of the body.
    var isOfSeveral = false
    var bytes: Int64 = 0
    var sink: FileSink?
    var firstResponse: Duration?
    /// Why no way led to where it is loaded from.
    var lackOfWay: EngineError?
    let start: Duration

    private enum Phase { case new, starting, started }

    /// What the worker does next.
    enum Step {
        case report(SchemeReport)
        case end((any Error)?, isCancelled: Bool)
        /// The carrier goes on.
        case room(any SchemeCarrier)
        case rest
    }

    init(carrier: any SchemeCarrier, now: Duration) {
        self.carrier = carrier
        quietSince = now
        start = now
    }

    // MARK: The carrier

    /// The carrier to be started; nil where nothing is wanted of it any more.
    mutating func begin() -> (any SchemeCarrier)? {
        guard !isClosed else { return nil }
        phase = .starting
        return carrier
    }

    /// The carrier, if it must be stopped already.
    mutating func noteStarted() -> (any SchemeCarrier)? {
        phase = .started
        guard owesStop else { return nil }
        owesStop = false
        defer { carrier = nil }
        return carrier
    }

    /// Takes nothing more from the carrier; gives it where it must be stopped at once.
    private mutating func close() -> (any SchemeCarrier)? {
        isClosed = true
        switch phase {
        case .new:
            carrier = nil
            return nil
        case .starting:
            owesStop = true
            return nil
        case .started:
            defer { carrier = nil }
            return carrier
        }
    }

    // MARK: The line

    mutating func take(
        _ report: SchemeReport, now: Duration
    ) -> (stopped: (any SchemeCarrier)?, works: Bool) {
        guard !isClosed else { return (nil, false) }
        quietSince = now
        reports.append(report)
        return (report.isLast ? close() : nil, claimWork())
    }

    /// Whether the carrier may go on reporting.
    mutating func demand() -> ReceiverDemand {
        guard !isClosed, isHeldUp else { return .more }
        owesRoom = true
        return .pause
    }

    /// Leads to the end at the next step. What is not told any more is the caller's, to be let go of without the lock.
    mutating func cancel() -> ((stopped: (any SchemeCarrier)?, works: Bool), untold: [SchemeReport?]) {
        guard !isCancelled, !hasEnded else { return ((nil, false), []) }
        isCancelled = true
        defer { (reports, first) = ([], 0) }
        return ((isClosed ? nil : close(), claimWork()), reports)
    }

    /// Nothing more of the answer is told, and the end is what comes next, whatever the carrier would still have said.
    /// What is not told any more is the caller's, to be let go of without the lock.
    mutating func dropRest() -> (stopped: (any SchemeCarrier)?, untold: [SchemeReport?]) {
        guard !isCancelled, !hasEnded, !discards else { return (nil, []) }
        discards = true
        defer { (reports, first) = ([.end(nil)], 0) }
        return (isClosed ? nil : close(), reports)
    }

    /// Makes the calling thread the one that works through the line, unless there is one.
    mutating func claimWork() -> Bool {
        guard !isWorking, !hasEnded else { return false }
        isWorking = true
        return true
    }

    mutating func next() -> Step {
        if isCancelled, !hasEnded { return ending(nil, isCancelled: true) }
        guard !hasEnded, !isHeldUp, first < reports.count, let report = reports[first], mayTell(report) else {
            isWorking = false
            // Order: a carrier may not know how to go on before it has started. When its start is noted, the line is
            // looked at again.
            guard owesRoom, phase == .started, !isHeldUp, !isClosed, let carrier else { return .rest }
            owesRoom = false
            return .room(carrier)
        }
        reports[first] = nil
        first += 1
        if first == reports.count {
            reports.removeAll(keepingCapacity: first <= 64)
            first = 0
        }
        if case .end(let error) = report { return ending(error, isCancelled: false) }
        return .report(report)
    }

    /// Order: what leads to another hop is told when the carrier of this one is told to stop.
    private func mayTell(_ report: SchemeReport) -> Bool {
        guard phase == .starting else { return true }
        return switch report {
        case .redirect: false
        case .end: !discards
        case .response, .resumed, .data, .stored: true
        }
    }

    private mutating func ending(_ error: (any Error)?, isCancelled: Bool) -> Step {
        hasEnded = true
        isWorking = false
        return .end(error, isCancelled: isCancelled)
    }

    /// Puts something behind what is being told, also after the carrier's last word.
    mutating func append(_ more: [SchemeReport]) { reports += more as [SchemeReport?] }

    // MARK: Suspension

    /// What the carrier is to be told about it, if anything; `toldSuspension` follows.
    mutating func suspensionToTell() -> (any SchemeCarrier, suspends: Bool)? {
        guard case .started = phase, !isClosed, !isTellingCarrier, isSuspended != isCarrierSuspended, let carrier
        else { return nil }
        isTellingCarrier = true
        isCarrierSuspended = isSuspended
        return (carrier, isSuspended)
    }

    /// The carrier has been told.
    mutating func toldSuspension() { isTellingCarrier = false }

    // MARK: What holds the line up

    /// Whether nothing can be told now.
    private var isHeldUp: Bool { isPaused || isSuspended }

    /// Whether the carrier is not to blame for hearing nothing of it.
    var standsStill: Bool { isHeldUp || isWaitingForNetwork || !openQuestions.isEmpty }

    /// Pauses, unless the load was told to go on since.
    mutating func pause(since noted: Int) { if continuations == noted { isPaused = true } }

    mutating func letGoOn() {
        continuations += 1
        isPaused = false
        quietSince = LoopClock.elapsed
    }
}
