// The sending half of a stream: the head at once, the body frame by frame when the connection says that it is this
// stream's turn. A body is taken from its source when there is a window for it, not before, unless it may be over.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension HTTP2Stream {
    /// How far the request has come.
    enum Sending {
        /// All of it was given to the connection, or nothing more of it is wanted.
        case nothing
        /// The body comes from here.
        case feed(BodyFeed)
        /// The body waits for the server's permission, no longer than the timer runs (B5.40).
        case permission(BodyFeed?, LoopTimer)
    }

    /// What was taken from the source, and is not given to the connection yet.
    enum Piece {
        case none
        case bytes(any BodyBytes, from: Int)
        case file(OpenFile, at: Int64, count: Int)
    }

    // MARK: The head

    /// Encodes the head and gives it to the connection, and answers its length with the frames' own.
    func sendHead(of owner: any ExchangeOwner) throws(WireError) -> Int {
        // Measured: the request's parts are read through its handle, since a copy would count a dozen references.
        let (handle, connection) = (owner.handle, connection)
        var head =
            owner.isExpectationDropped
            ? handle.request.wireHead(withoutExpectation: true, absoluteTarget: false) : handle.request.head
        if let urgency = RequestUrgency.field(priority: owner.priority, isIncremental: handle.request.isIncremental),
            !head.fields.contains("Priority")
        {
            head.fields.append("Priority", urgency)
        }
        var block = connection.buffers.outgoing
        connection.buffers.outgoing = []
        defer { connection.buffers.outgoing = block }
        block.removeAll(keepingCapacity: true)
        try connection.encoder.encode(
            head, scheme: connection.key.origin.scheme.name, authority: connection.authority,
            framing: handle.request.framing, into: &block)
        let length = bodyLength(handle)
        let count = connection.machine.sendBlock(block.span.bytes, on: id, body: length, now: connection.now)
        if !length.isReached { beginBody(of: owner) }
        return count
    }

    private func bodyLength(_ handle: TransactionHandle) -> HTTP2DeclaredLength {
        if case .none = handle.request.body { return .none }
        return HTTP2DeclaredLength(handle.request.framing)
    }

    // MARK: The body

    private func beginBody(of owner: any ExchangeOwner) {
        if case .length(let length) = owner.handle.request.framing { toSend = length }
        let feed = owner.makeFeed(inChunks: false)
        guard owner.expectsContinue else {
            if let feed { sending = .feed(feed) }
            return bodyReady()
        }
        let timer = connection.reactor.makeTimer { [weak self] in self?.continueSending() }
        timer.set(elapsed: connection.now + BodyFeed.longestWaitForPermission)
        sending = .permission(feed, timer)
    }

    /// The server wants the body, or says nothing for so long that it may not know how to say it (B5.40).
    func continueSending() {
        guard case .permission(let feed, _) = sending else { return }
        sending = feed.map { .feed($0) } ?? .nothing
        writeOn()
    }

    /// Writes on: more of the body is there, or writing is allowed again.
    func writeOn() {
        bodyReady()
        connection.planFlush()
    }

    private func bodyReady() {
        guard case .feed = sending else { return }
        connection.machine.bodyReady(id)
        if toSend == nil { connection.nearEnd.append(id) }
    }

    /// There is no window: the end of the body needs none (H5.1), so it is looked for all the same.
    func writeEndIfReached() {
        guard let owner, owner.mayWrite, case .feed(let feed) = sending, toSend == nil else { return }
        while case .none = piece {
            guard takeNext(feed, of: owner) else { return }
        }
    }

    /// It is this stream's turn: gives the connection a frame of at most so many bytes, or lets others have theirs.
    func write(upTo limit: Int) {
        guard let owner, owner.mayWrite, case .feed(let feed) = sending else { return pause() }
        while true {
            switch piece {
            case .none:
                guard takeNext(feed, of: owner) else { return }
            case .bytes(let bytes, let start):
                return write(bytes, from: start, count: min(limit, bytes.count - start), of: owner)
            case .file(let file, let offset, let count):
                return write(file, at: offset, count: min(limit, count), feed, of: owner)
            }
        }
    }

    /// Takes the next piece of the body; whether there is one.
    private func takeNext(_ feed: BodyFeed, of owner: any ExchangeOwner) -> Bool {
        switch feed.next() {
        case .bytes(_, let content, _): if !content.isEmpty { piece = .bytes(content, from: 0) }
        case .whole(let bytes): if bytes.count > 0 { piece = .bytes(bytes, from: 0) }
        case .file(let file, let offset, let count): piece = .file(file, at: offset, count: count)
        case .wait:
            pause()
            return false
        case .end:
            _ = connection.write(UnsafeRawBufferPointer(start: nil, count: 0), of: id, isLast: true)
            sent(owner)
            return false
        case .trailers(let fields):
            send(trailers: fields, of: owner)
            return false
        case .failed(let failure):
            bodyFailed(.body(failure), owner)
            return false
        }
        return true
    }

    /// Ends the request with fields behind its body, all of which was given to the connection.
    private func send(trailers: Fields, of owner: any ExchangeOwner) {
        var block: [UInt8] = []
        do throws(WireError) {
            try connection.encoder.encode(trailers: trailers, into: &block)
        } catch {
            return bodyFailed(.body(.source(error)), owner)
        }
        connection.machine.sendBlock(block.span.bytes, on: id, .trailers, now: connection.now)
        connection.planFlush()
        sent(owner)
    }

    private func write(_ bytes: any BodyBytes, from start: Int, count: Int, of owner: any ExchangeOwner) {
        let isOut = bytes.withUnsafeBytes {
            connection.write(UnsafeRawBufferPointer(rebasing: $0[start..<(start + count)]), of: id, isLast: false)
        }
        guard isOut else { return pause() }
        piece = start + count < bytes.count ? .bytes(bytes, from: start + count) : .none
        if toSend == nil, case .none = piece { connection.nearEnd.append(id) }
        moved(count, owner)
    }

    private func write(
        _ file: OpenFile, at offset: Int64, count: Int, _ feed: BodyFeed, of owner: any ExchangeOwner
    ) {
        let written: Int? = withUnsafeTemporaryAllocation(byteCount: count, alignment: 16) { buffer in
            guard let read = file.readCached(at: offset, into: buffer) else { return nil }
            let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<read])
            return connection.write(bytes, of: id, isLast: false) ? read : 0
        }
        piece = .none
        guard let written else {
            // Read elsewhere, so that no disk holds up the loop.
            feed.readFile(file, at: offset, count: count)
            return pause()
        }
        guard written > 0 else { return pause() }
        feed.sent(written)
        moved(written, owner)
    }

    private func moved(_ count: Int, _ owner: any ExchangeOwner) {
        if let left = toSend { toSend = left - Int64(count) }
        connection.noteWayOut(of: id)
        owner.requestBytesMoved(body: SentBody(count))
        if toSend == 0, self.owner === owner { sent(owner) }
    }

    /// All of the request was given to the connection.
    private func sent(_ owner: any ExchangeOwner) {
        sending = .nothing
        piece = .none
        owner.requestSent()
    }

    private func pause() { connection.machine.bodyPaused(id) }

    private func bodyFailed(_ error: EngineError, _ owner: any ExchangeOwner) {
        abandon(isTimedOut: false)
        owner.exchangeFailed(
            error, facts: ExchangeFacts(reusedConnection: false, bytesWritten: true, responseBytes: false))
    }

    // MARK: Stopping

    /// The final answer came although the body is not out yet: it goes on only where the server
    /// may still want it (B5.42).
    func stopSendingIfUnwanted(by head: ResponseHead) {
        let isWaiting = if case .permission = sending { true } else { false }
        guard isWaiting || head.status >= 300 else { return }
        pause()
        dropBody()
    }

    /// Lets go of what was still to come of the body.
    func dropBody() {
        switch sending {
        case .feed(let feed), .permission(let feed?, _): feed.close()
        case .permission(nil, _), .nothing: break
        }
        leaveBody()
    }

    /// Sends no more of the body, which stays open.
    func leaveBody() {
        sending = .nothing
        piece = .none
    }
}
