// What of a request has still to be written: the head's rest, then the body's.
//
// The body is never copied on a plain connection; only positions move.

/// The unsent rest of one request.
struct PendingOutput: ~Copyable {
    /// Bytes that precede the body; `headSent` of them are out.
    private(set) var head: [UInt8] = []
    private(set) var headSent = 0
    /// Is there exactly where `bodyCount` says so. Measured: looking at it copies it each time,
    /// even where there is none.
    private var body: (any BodyBytes)?
    private var bodyCount = 0
    private(set) var bodySent = 0
    /// Bytes at the body's end that are framing and not counted as body (B11.13).
    private var trailingFraming = 0
    /// Whether what precedes the body is framing too, and not the request's head.
    private var isFramed = false

    var isEmpty: Bool { headSent == head.count && bodyLeft == 0 }
    var headLeft: Int { head.count - headSent }
    var bodyLeft: Int { bodyCount - bodySent }

    /// Takes a new request on, without a body or before it; everything before must be out.
    mutating func set(head: [UInt8]) {
        self.head = head
        dropBody()
        trailingFraming = 0
        isFramed = false
        headSent = 0
        bodySent = 0
    }

    /// Takes a body on that is whole, behind what was set.
    mutating func add(body: any BodyBytes) {
        bodyCount = body.count
        self.body = bodyCount > 0 ? body : nil
    }

    /// Takes a piece of a body on that is sent in chunks; everything before must be out.
    mutating func set(framing: [UInt8], content: (any BodyBytes)?, trailingFraming: Int) {
        head = framing
        if let content { add(body: content) } else { dropBody() }
        self.trailingFraming = trailingFraming
        isFramed = true
        headSent = 0
        bodySent = 0
    }

    /// Lends what is left, in order; each part may be empty.
    func withNext<R>(_ use: (_ head: UnsafeRawBufferPointer, _ body: UnsafeRawBufferPointer) -> R) -> R {
        head.withUnsafeBytes { head in
            let headRest = UnsafeRawBufferPointer(rebasing: head[headSent...])
            guard bodyCount > 0, let body else {
                return use(headRest, UnsafeRawBufferPointer(start: nil, count: 0))
            }
            return body.withUnsafeBytes { body in
                use(headRest, UnsafeRawBufferPointer(rebasing: body[min(bodySent, body.count)...]))
            }
        }
    }

    /// Notes that `count` bytes are out; answers how many of them were the body's.
    mutating func advance(_ count: Int) -> SentBody {
        let ofHead = min(count, headLeft)
        headSent += ofHead
        let left = bodyLeft
        let ofBody = min(count - ofHead, left)
        bodySent += ofBody
        return SentBody(
            content: max(0, min(ofBody, left - trailingFraming)), wire: ofBody + (isFramed ? ofHead : 0))
    }

    /// Lets go of everything once it is out, or when it will never be sent.
    mutating func clear() {
        head = []
        headSent = 0
        dropBody()
        bodySent = 0
        trailingFraming = 0
        isFramed = false
    }

    private mutating func dropBody() {
        guard bodyCount > 0 else { return }
        body = nil
        bodyCount = 0
    }
}
