// The counters that are held against `HTTP2Limits`, for a connection and for one header block. What counts as which is
// decided by `HTTP2ConnectionMachine`. RFC 9113 §10.5.

/// What of its limits a peer has used up.
struct HTTP2FloodBudget {
    private let limits: HTTP2Limits
    /// How many frames that bring nothing may still come.
    private var uselessLeft: Int
    /// Since when nothing was forgiven.
    private var forgivenUntil: Duration = .zero
    /// Bytes of bodies that have not yet made up for a frame.
    private var bodyBytes = 0
    /// Answers that wait to be written, as far as is known: those from before the driver's last mark, and those since.
    private var answersBeforeMark = 0
    private var answersSinceMark = 0
    private var resets = 0
    private var resetsSince: Duration = .zero

    init(_ limits: HTTP2Limits) {
        self.limits = limits
        uselessLeft = limits.uselessFrames
    }

    /// The connection begins; nothing is forgiven yet.
    mutating func begin(now: Duration) { forgivenUntil = now }

    /// Frames came that bring nothing (H9.1).
    mutating func spend(_ count: Int, now: Duration) throws(HTTP2Fault) {
        if count > uselessLeft { forgive(now) }
        guard count <= uselessLeft else { throw .connection(.uselessFrames) }
        uselessLeft -= count
    }

    /// Bytes of a body have moved, either way, in a frame: that makes up for what its windows cost.
    mutating func bodyMoved(_ count: Int) {
        bodyBytes += count
        let forgiven = Self.forgivenForFrame + bodyBytes / Self.bytesForOne
        bodyBytes %= Self.bytesForOne
        uselessLeft = min(limits.uselessFrames, uselessLeft + forgiven)
    }

    /// We answer the peer, and do not know whether it reads (H9.2).
    mutating func answer() throws(HTTP2Fault) {
        guard answersBeforeMark + answersSinceMark < limits.unreadAnswers else { throw .connection(.unreadAnswers) }
        answersSinceMark += 1
    }

    /// The peer has read everything.
    mutating func outputEmptied() { (answersBeforeMark, answersSinceMark) = (0, 0) }

    /// The peer has read what there was at the last mark, and this is the next one.
    mutating func outputMarkPassed() { (answersBeforeMark, answersSinceMark) = (answersSinceMark, 0) }

    /// We reset a stream because of what came (H9.7).
    mutating func reset(now: Duration) throws(HTTP2Fault) {
        if now - resetsSince >= .seconds(1) {
            resetsSince = now
            resets = 0
        }
        guard resets < limits.resetsPerSecond else { throw .connection(.resets) }
        resets += 1
    }

    private mutating func forgive(_ now: Duration) {
        let seconds = (now - forgivenUntil).components.seconds
        guard seconds > 0 else { return }
        forgivenUntil += .seconds(seconds)
        let forgiven = Int(min(seconds, Self.longestForgiving)) * limits.uselessFramesPerSecond
        uselessLeft = min(limits.uselessFrames, uselessLeft + forgiven)
    }

    /// Seconds; everything is forgiven long before.
    private static var longestForgiving: Int64 { 3600 }
    /// A frame of a body that we send brings two updates back, one for each window.
    private static var forgivenForFrame: Int { 2 }
    /// Picked by feel: a body of full frames pays for sixteen others with each.
    private static var bytesForOne: Int { 1024 }
}

/// What of its limits one header block has used up (H9.3, H9.5).
struct HTTP2BlockBudget {
    private(set) var byteCount: Int
    private var continuations = 0
    private var emptyInARow = 0

    init(frameBytes: Int, _ limits: HTTP2Limits) throws(HTTP2Fault) {
        byteCount = frameBytes
        guard byteCount <= limits.blockBytes else { throw .connection(.blockTooLarge) }
    }

    /// The block goes on in another frame.
    mutating func goOn(frameBytes: Int, _ limits: HTTP2Limits) throws(HTTP2Fault) {
        continuations += 1
        byteCount += frameBytes
        emptyInARow = frameBytes > HTTP2FrameHeader.byteCount ? 0 : emptyInARow + 1
        guard continuations <= limits.continuations, emptyInARow <= limits.emptyContinuations else {
            throw .connection(.continuations)
        }
        guard byteCount <= limits.blockBytes else { throw .connection(.blockTooLarge) }
    }
}
