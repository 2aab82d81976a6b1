// What an exchange tells and asks its owner: one request's side of the seam between connections and
// transactions. A connection knows nothing else of requests, and may carry one or many.
//
// Must not know: which protocol is spoken, retries, users.

import URLLoadingPolicy
import URLLoadingWire

/// Whose request an exchange carries.
protocol ExchangeOwner: AnyObject {
    var id: RequestID { get }
    /// Holds the request.
    var handle: TransactionHandle { get }
    /// What the request counts for among others now, 0 to 1.
    var priority: Float { get }
    /// How far it has come, for errors.
    var phase: EngineError.Phase { get }

    // MARK: The way out

    /// Whether bytes of the request may go out.
    var mayWrite: Bool { get }
    /// Whether the body waits for the server's permission (RFC 9110 §10.1.1).
    var expectsContinue: Bool { get }
    /// Whether the server has refused that the request waits for its permission.
    var isExpectationDropped: Bool { get }

    /// The content for this attempt, a body of unknown length in chunks if the connection's protocol has them.
    func makeFeed(inChunks: Bool) -> BodyFeed?
    /// The head is on its way.
    func requestStarted(headBytes: Int)
    /// Bytes of the request were taken, so many of them of its body.
    func requestBytesMoved(body: SentBody)
    /// The last byte of the request is out.
    func requestSent()
    /// The server answers an Expect field with 417; nothing of the body is out. The request is sent again without the
    /// field: on a new connection where this one has ended with the exchange.
    func expectationRefused(by head: ResponseHead, needsNewConnection: Bool)

    // MARK: The way in

    /// Whether reading would only fill memory.
    var isReadPaused: Bool { get }

    /// Something came, whatever it was.
    func byteMoved()
    func received(informational head: ResponseHead)
    func received(head: ResponseHead, framing: BodyFraming, from acceptance: ServerAcceptance)
    /// A piece of the body, still coded.
    func received(body piece: BodyPiece)
    /// Fields came behind the body, all of which has been told.
    func received(trailers: Fields)
    /// The body's length on the wire, framing included.
    func noteWireBodyBytes(_ count: Int64)
    /// Whether a 408 is the end of an idle connection rather than the answer (B6.31).
    func mayReplayAfterTimeout(_ head: ResponseHead, reused: Bool) -> Bool

    // MARK: The end

    /// Whether the connection waits for the request that will follow this one.
    var keepsConnection: Bool { get }

    /// The exchange is over; the connection is no longer the owner's.
    func responseEnded()
    /// The exchange cannot go on.
    func exchangeFailed(_ error: EngineError, facts: ExchangeFacts)
}

/// What has moved of a request's body: by itself (B11.13), and with its framing (B12.19).
struct SentBody {
    let content: Int
    let wire: Int

    init(content: Int, wire: Int) {
        self.content = content
        self.wire = wire
    }

    /// Without framing.
    init(_ count: Int) { self.init(content: count, wire: count) }
}

/// What a retry rule must know about an exchange that failed.
struct ExchangeFacts {
    let reusedConnection: Bool
    let bytesWritten: Bool
    let responseBytes: Bool
    /// What the server has said about it without having acted on it, if it has.
    var refusal: Refusal?
    /// Whether other connections to the server may have died just as unnoticed.
    var doubtsOthers = true

    /// Why a server has not looked at a request.
    enum Refusal {
        /// It had no room for it, or was going away: it can be sent again, whatever it is (H7.1, H7.2). The server may
        /// want to be left in peace for a while (H7.8).
        case unprocessed(asksForCalm: Bool)
        /// Its connection has ended in order behind others that it took (H7.3).
        case outlasted
        /// It wants to be asked over HTTP/1.1 (H7.7).
        case needsHTTP1
    }
}
