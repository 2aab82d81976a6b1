// Requests as they come on streams: their header blocks are decoded, all of them, since the table has to follow;
// their bodies are given to the upload store, or kept for the route; and when a request is whole its route is
// asked. RFC 9113 §8.1, §8.3.

import URLLoadingSystem
import URLLoadingWire

/// The header block that is being received.
struct HTTP2IncomingBlock {
    var expected = HTTP2Block.discarded
    /// Why it could not be decoded.
    var error: HPACKError?
    /// The head of a request that was found lawful so far.
    var head: RequestHead?
    /// The fields behind a request's body, which are lawful.
    var trailers = Fields()
}

extension HTTP2Conversation {
    // MARK: Heads

    func blockBegins(_ expected: HTTP2Block) {
        block = HTTP2IncomingBlock(expected: expected)
        decoder.beginBlock(for: expected == .discarded ? .table : .fields)
    }

    func blockGoesOn(_ bytes: UnsafeRawBufferPointer) {
        do throws(HPACKError) {
            try decoder.decode(bytes.bytes)
        } catch {
            block.error = error
        }
    }

    func blockEnds() {
        machine.blockDecoded(endBlock(), now: now)
    }

    private func endBlock() -> HTTP2BlockContent {
        do throws(HPACKError) {
            try decoder.endBlock()
        } catch {
            block.error = block.error ?? error
        }
        if let error = block.error { return error.isExcess ? .boundless : .undecodable }
        do throws(HeaderFault) {
            switch block.expected {
            case .discarded: return .discarded
            case .trailers:
                block.trailers = try HeaderBlockRules.trailers(decoder.list)
                return .trailers
            case .head:
                let request = try HeaderBlockRules.requestHead(decoder.list)
                let framing = try HeaderBlockRules.bodyFraming(of: request)
                block.head = request.head
                return .final(framing.declaredLength)
            }
        } catch {
            return error == .tooLarge ? .tooLarge : .malformed
        }
    }

    func requestBegins(_ id: HTTP2StreamID) {
        guard let head = block.head else { return }
        requestNumber += 1
        let exchange = HTTP2Exchange(id: id, head: head, number: requestNumber, in: self)
        while exchanges.count <= Int(id.slot) { exchanges.append(nil) }
        exchanges[Int(id.slot)] = exchange
        counts.heads += 1
        let openStreams = machine.openStreams
        connection.core.figures.update { statistics in
            statistics.requestsBegun += 1
            statistics.mostStreamsAtOnce = max(statistics.mostStreamsAtOnce, openStreams)
        }
        stepPlayers()
        guard isAnswering, machine.isOpen(id) else { return }
        beginAnswering(exchange)
    }

    /// What can be answered before the request is whole.
    private func beginAnswering(_ exchange: HTTP2Exchange) {
        let options = connection.core.options
        if let gate = options.bodyGate?(request(of: exchange)) {
            let pause = nextPause()
            exchange.holdPause = pause
            connection.wait(for: gate, pause: pause)
        }
        if let uploads = options.uploads,
            case .taken(let heads) = uploads.begin(exchange.head, on: source(of: exchange))
        {
            exchange.isUpload = true
            for head in heads { tell(head, on: exchange) }
            return
        }
        guard let response = options.earlyRouter?(request(of: exchange)) else { return }
        answer(response, on: exchange)
    }

    // MARK: Bodies

    func bodyArrived(_ bytes: UnsafeRawBufferPointer, on id: HTTP2StreamID) {
        guard let exchange = exchange(id) else { return }
        exchange.bodyByteCount += Int64(bytes.count)
        if exchange.holdPause != nil {
            exchange.heldBytes += bytes.count
        } else {
            machine.taken(bytes.count, of: id, now: now)
        }
        if exchange.isUpload, let uploads = connection.core.options.uploads {
            switch uploads.receive(bytes, on: source(of: exchange)) {
            case .more: break
            case .tell(let head): tell(head, on: exchange)
            case .cut: end(by: .reset)
            }
        } else {
            let room = max(connection.core.options.keptBodyBytes - exchange.body.count, 0)
            exchange.body.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes.prefix(room)))
        }
        stepPlayers()
    }

    /// The gate is open that has held a body up.
    func readBody(of exchange: HTTP2Exchange) {
        exchange.holdPause = nil
        machine.taken(exchange.heldBytes, of: exchange.id, now: now)
        if exchange.isWhole { requestArrived(exchange) }
    }

    func messageEnds(_ id: HTTP2StreamID) {
        guard let exchange = exchange(id) else { return }
        exchange.isWhole = true
        if exchange.holdPause == nil { requestArrived(exchange) }
    }

    private func requestArrived(_ exchange: HTTP2Exchange) {
        counts.requests += 1
        connection.core.figures.update { $0.requests += 1 }
        stepPlayers()
        guard isAnswering, machine.isOpen(exchange.id) else { return }
        if exchange.isUpload {
            guard let response = connection.core.options.uploads?.finish(on: source(of: exchange)) else {
                return end(by: .reset)
            }
            answer(response, on: exchange)
        } else if !exchange.isAnswered {
            answer(connection.core.router(request(of: exchange)), on: exchange)
        }
    }

    // MARK: Ends

    func streamEnded(_ id: HTTP2StreamID, _ end: HTTP2StreamEnd) {
        if let exchange = exchange(id) {
            exchange.pause = nil
            exchanges[Int(id.slot)] = nil
        }
        record?.write { $0.ends.append((connection: connection.number, stream: id.number, end: end)) }
        switch end {
        case .reset: connection.core.figures.update { $0.streamsReset += 1 }
        case .faulted(let fault) where fault.scope == .stream:
            connection.core.figures.update { $0.malformedRequests += 1 }
            record?.write { $0.faults.append(fault) }
        case .finished, .cancelled, .timedOut, .bodyTooShort, .turnedAway, .faulted, .connectionFailed, .connectionLost:
            break
        }
    }

    // MARK: Questions

    /// What is known of a stream; nil where it is over.
    func exchange(_ id: HTTP2StreamID) -> HTTP2Exchange? {
        guard Int(id.slot) < exchanges.count, let exchange = exchanges[Int(id.slot)], exchange.id == id else {
            return nil
        }
        return exchange
    }

    /// The exchange of a stream, found by the stream's number.
    func exchange(ofStream number: UInt32) -> HTTP2Exchange? {
        exchanges.lazy.compactMap { $0 }.first { $0.id.number == number }
    }

    func request(of exchange: HTTP2Exchange) -> ServerRequest {
        ServerRequest(
            head: exchange.head, body: exchange.body, bodyByteCount: exchange.bodyByteCount,
            trailers: exchange.requestTrailers, connection: connection.number, number: exchange.number,
            stream: exchange.id.number,
            remoteAddress: connection.channel.stream.remoteAddress, tls: connection.channel.negotiated)
    }

    private func source(of exchange: HTTP2Exchange) -> RequestSource {
        RequestSource(connection: connection.number, stream: exchange.id.number)
    }
}

extension BodyFraming {
    fileprivate var declaredLength: HTTP2DeclaredLength {
        switch self {
        case .none: .none
        case .length(let count): .bytes(count)
        case .chunked, .untilClose: .unknown
        }
    }
}
