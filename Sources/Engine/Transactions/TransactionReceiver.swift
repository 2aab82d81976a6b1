// The seam between the engine and the receiver of an answer.
//
// Every call comes on the loop's thread, so a receiver needs no lock for what it alone holds; it must
// return soon, since every other transfer of the loop waits meanwhile.

import URLLoadingPolicy
import URLLoadingWire

/// Takes in what arrives for one request, in order.
package protocol TransactionReceiver: AnyObject {
    /// How the transaction begins, asked once.
    var beginning: LoadBeginning { get }

    /// Whether the timelines are wanted: only then the outcome has them, with addresses, the finding of which costs a
    /// system call for each connection.
    var wantsTimelines: Bool { get }

    /// Whether `asked` gets an answer. If not, the engine's own evaluator and identity are applied at once.
    var answersQuestions: Bool { get }

    /// Whether a proxy's question for a name and a password finds an answer. If not, such a proxy opens nothing.
    var answersProxies: Bool { get }

    /// The judge of the request's connections as it is known now: the one that the request names, or the session where
    /// that one has turned out to have no say since.
    func confirms(_ judge: ConnectionJudge) -> ConnectionJudge

    /// The connection for this request cannot be opened without an answer, which may come at any time from any thread.
    /// Until then no idle time runs (B6.9). Comes for every new connection (B2.9), also repeatedly for one request.
    func asked(_ question: ConnectionQuestion)

    /// There is no way to the host, and the transaction waits for one (B6.16); only for requests that say so. Comes
    /// again when a change of the network did not help.
    func waitsForConnectivity()

    /// What has come of a request that opens a connection and sends nothing; the end follows.
    func warmedUp(_ warmth: PoolMachine.Warmth)

    /// How the server was accepted whose final response is the next thing to be told.
    func answers(acceptedAs acceptance: ServerAcceptance)

    /// A 1xx response other than 100 and 101 came (B11.18, B11.19).
    func received(informational head: ResponseHead)

    /// What the body of the response may come to that is being told of, asked where it is coded (B16.60, B16.75).
    var decodingLimits: DecodingLimits { get }

    /// The final response's head came; `decoding` says whether a content coding is being undone (B5.57).
    func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand

    /// The next bytes of the body, decoded; they are valid during the call, or longer where the piece is kept.
    func received(body piece: BodyPiece) -> ReceiverDemand

    /// What was to be read on briefly has not come to its end in that time; nothing more of it comes, and the end
    /// follows.
    func restIsLate()

    /// Fields came behind the body (B16.46), all of which has been told, or is held.
    func received(trailers: Fields)

    /// So many bytes of the request's body have been taken by the socket, counted from the start of this attempt.
    func sent(bodyBytes: Int64)

    /// The connection is the receiver's from now on, because it asked for it. Comes in the place
    /// of `finished`, and last.
    func detached(_ connection: consuming DetachedConnection, outcome: TransactionOutcome)

    /// The end: exactly once, and last. The connection is already back in the pool.
    func finished(_ outcome: TransactionOutcome)
}

extension TransactionReceiver {
    /// At once.
    package var beginning: LoadBeginning { .atOnce }

    /// Yes.
    package var wantsTimelines: Bool { true }

    /// No.
    package var answersQuestions: Bool { false }

    /// As about servers.
    package var answersProxies: Bool { answersQuestions }

    /// That one.
    package func confirms(_ judge: ConnectionJudge) -> ConnectionJudge { judge }

    /// Anything.
    package var decodingLimits: DecodingLimits { DecodingLimits() }

    /// Does nothing: it is not called.
    package func asked(_ question: ConnectionQuestion) {}

    /// Does nothing.
    package func waitsForConnectivity() {}

    /// Does nothing: it is not called.
    package func warmedUp(_ warmth: PoolMachine.Warmth) {}

    /// Does nothing.
    package func answers(acceptedAs acceptance: ServerAcceptance) {}

    /// Does nothing: it is not called.
    package func restIsLate() {}

    /// Does nothing.
    package func received(trailers: Fields) {}

    /// Closes it: a receiver that asks for connections has a method of its own.
    package func detached(_ connection: consuming DetachedConnection, outcome: TransactionOutcome) { finished(outcome) }
}

/// Whether a receiver can take more.
package enum ReceiverDemand: Sendable {
    /// Go on.
    case more
    /// Read nothing more until `TransactionHandle.resumeReading()`.
    case pause
    /// Hand nothing over until `TransactionHandle.resumeReading()`, and read on as far as what comes can be kept: where
    /// that is all, the connection is free before. Said to a head only.
    case hold
    /// Go on, but not for long: the rest is of use only if it comes soon. The same as
    /// `TransactionHandle.resumeReadingBriefly()`, and said to a head only.
    case briefly
    /// Nothing more of this response is wanted; the same as `TransactionHandle.discardRest()`.
    case discard
    /// Nothing but the connection itself is wanted; the same as `TransactionHandle.detach()`, and said to a head only.
    case detach
}

/// How a transaction ended.
package struct TransactionOutcome: Sendable {
    /// What went wrong, or `nil`.
    package let error: EngineError?
    /// With what the request may be sent again if its body is supplied anew (B6.26, H7.3); only
    /// after a loss or a refusal.
    package let again: SecondSending?
    /// The records of the exchanges before the last one, in order, replays included (B6.30).
    package let earlier: [Timeline]
    /// The record of the last exchange; none where the receiver does not want records. It is apart because most
    /// outcomes have no other, and then need no array.
    package let last: Timeline?

    init(error: EngineError?, again: SecondSending? = nil, earlier: [Timeline] = [], last: Timeline?) {
        self.error = error
        self.again = again
        self.earlier = earlier
        self.last = last
    }
}
