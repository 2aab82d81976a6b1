// The course of the two messages on one stream, whichever end we are: which part may come next in each direction, and
// what is wrong if another does. It knows neither windows nor numbers, and reads no fields. RFC 9113 §5.1, §8.1.

/// What a header block is, once it was decoded.
package enum HTTP2HeadKind: UInt8, Sendable, Equatable {
    /// A 1xx answer; another head follows.
    case informational
    /// The head of a request, or the final one of an answer.
    case final
    /// The fields behind a body.
    case trailers
}

/// How far the messages of one stream have come.
package struct HTTP2StreamMachine: Sendable, Equatable {
    /// How far a message has come.
    package enum Progress: UInt8, Sendable, Equatable {
        /// Its head is still to come.
        case head
        /// Its head is there, its end is not.
        case body
        /// It is complete.
        case ended
    }

    /// The message that we send.
    package private(set) var sending = Progress.head
    /// The message that the peer sends.
    package private(set) var receiving = Progress.head
    private var informationalCount: UInt8 = 0

    /// A stream on which nothing has been said.
    package init() {}

    /// Whether both messages are complete.
    package var isOver: Bool { sending == .ended && receiving == .ended }

    // MARK: Sending

    /// A head or trailers are about to be sent; false if they have no place here.
    package mutating func send(_ kind: HTTP2HeadKind, endsMessage: Bool) -> Bool {
        guard sending == (kind == .trailers ? .body : .head) else { return false }
        switch kind {
        case .informational: break
        case .final: sending = endsMessage ? .ended : .body
        case .trailers: sending = .ended
        }
        return true
    }

    /// The last of the body is about to be sent, or nothing more of it ever will be.
    package mutating func endSending() { sending = .ended }

    // MARK: Receiving

    /// A header block begins; answers whether it can only be trailers, whose block ends the message (H4.7).
    package func expectsTrailers(endsMessage: Bool) throws(HTTP2Fault.Reason) -> Bool {
        switch receiving {
        case .head: return false
        case .body:
            guard endsMessage else { throw .malformed }
            return true
        case .ended: throw .afterEnd
        }
    }

    /// A header block was decoded and is what `kind` says; `limit` is how many 1xx answers there may be.
    package mutating func receive(
        _ kind: HTTP2HeadKind, endsMessage: Bool, by sender: HTTP2Role, limit: UInt8
    ) throws(HTTP2Fault.Reason) {
        guard receiving == (kind == .trailers ? .body : .head) else { throw .malformed }
        switch kind {
        case .informational:
            // H4.2: another head has to follow, and requests have no such thing.
            guard sender == .server, !endsMessage else { throw .malformed }
            guard informationalCount < limit else { throw .informationalAnswers }
            informationalCount += 1
        case .final: receiving = .body
        case .trailers: break
        }
    }

    /// A part of the body begins (H4.7, H8.9).
    package func receiveBody() throws(HTTP2Fault.Reason) {
        switch receiving {
        case .head: throw .dataBeforeHead
        case .body: break
        case .ended: throw .afterEnd
        }
    }

    /// The peer has said that its message is complete.
    package mutating func endReceiving() { receiving = .ended }
}
