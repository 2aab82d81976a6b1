// What comes on an HTTP/2 connection: bytes go to the machine, header blocks are decoded as they come, whether a
// request waits for them or not, since both ends keep the same table.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

extension HTTP2Connection {
    /// The header block that is being received.
    enum IncomingBlock {
        case none
        /// It is being decoded, for a request or for the table alone.
        case decoding(HTTP2Block)
        /// It cannot be decoded, or has gone beyond all limits.
        case broken(HPACKError)
        /// It was decoded, and waits for the machine to accept it.
        case decoded(Head)
    }

    /// What a block has told.
    enum Head {
        case response(ResponseHead, BodyFraming)
        /// Trailers, which are lawful.
        case trailers(Fields)
    }

    // MARK: The socket

    /// Reads until the socket is empty or its turn is over.
    func pump() {
        guard !isReading, !isClosed else { return }
        // Order: what the machine has said before is done first, and by the call that has begun with it.
        guard !isCarryingOut else {
            reactor.later { [weak self] in self?.pump() }
            return
        }
        isReading = true
        defer { isReading = false }
        var turn = ReadingTurn()
        while !isClosed, channel.hasPendingInput || mustRead {
            guard !turn.isOver else {
                reactor.later { [weak self] in self?.pump() }
                return
            }
            mustRead = false
            let buffer = buffers.received.lend(atLeast: ReadingTurn.leastRead)
            defer { buffers.received.takeBack() }
            switch channel.read(into: buffer) {
            case .bytes(let count):
                turn.noteRead(max(count, channel.readPrice))
                if count > 0 { received(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])) }
            case .wouldBlock: break
            // Nothing more will come: streams that are not whole never will be (H7.9).
            case .end: return finishClosing()
            case .failed(let error):
                lost(by: .system(error))
                return finishClosing()
            case .broken(let error):
                lost(by: .tls(error))
                return finishClosing()
            }
        }
    }

    func pumpIfPending() { if channel.hasPendingInput || mustRead { pump() } }

    private func received(_ bytes: UnsafeMutableRawBufferPointer) {
        input = bytes
        defer { input = UnsafeMutableRawBufferPointer(start: nil, count: 0) }
        var offset = 0
        while machine.received(UnsafeRawBufferPointer(bytes).bytes, offset: &offset, now: now) { carryOut() }
        carryOut()
        giveRun()
        carryOut()
        // A window may have opened for a body.
        if machine.nextPiece(room: 1) != nil { planFlush() }
    }

    // MARK: Header blocks

    func blockBegins(_ expected: HTTP2Block) {
        decoder.beginBlock(for: expected.stream == nil ? .table : .fields)
        block = .decoding(expected)
    }

    func blockContinues(_ range: Range<Int>) {
        guard case .decoding = block else { return }
        do throws(HPACKError) {
            try decoder.decode(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(input)[range]).bytes)
        } catch {
            block = .broken(error)
        }
    }

    /// Says what the block was.
    func blockEnds(byteCount: Int) {
        machine.blockDecoded(content(byteCount), now: now)
    }

    private func content(_ byteCount: Int) -> HTTP2BlockContent {
        let expected: HTTP2Block
        switch block {
        case .decoding(let block): expected = block
        case .broken(let error): return error.isExcess ? .boundless : .undecodable
        case .none, .decoded: return .undecodable
        }
        block = .none
        do throws(HPACKError) {
            try decoder.endBlock()
        } catch {
            return error.isExcess ? .boundless : .undecodable
        }
        do throws(HeaderFault) {
            switch expected {
            case .discarded: return .discarded
            case .trailers:
                block = .decoded(.trailers(try HeaderBlockRules.trailers(decoder.list)))
                return .trailers
            case .head(let id):
                let head = try HeaderBlockRules.responseHead(decoder.list, byteCount: byteCount)
                let framing = try HeaderBlockRules.bodyFraming(of: head, to: stream(id)?.expected ?? .toOther)
                let hasNone = machine.endsWithBlock && framing == .untilClose
                block = .decoded(.response(head, hasNone ? .none : framing))
                return head.isInformational ? .informational : .final(HTTP2DeclaredLength(framing))
            }
        } catch {
            if let id = expected.stream { stream(id)?.fault = error }
            return error == .tooLarge ? .tooLarge : .malformed
        }
    }
}

extension HTTP2DeclaredLength {
    /// What a message's fields say about its body.
    init(_ framing: BodyFraming) {
        switch framing {
        case .none: self = .none
        case .length(let count): self = .bytes(count)
        case .chunked, .untilClose: self = .unknown
        }
    }
}
