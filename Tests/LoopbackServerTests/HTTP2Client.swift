// A client of HTTP/2 that blocks its thread: the machine of the lower layer with a driver of the simplest kind, so that
// the server is tested by something else than the library's own client. It opens streams, keeps all that comes on them,
// and reads until a test has what it wants.

import URLLoadingWire

/// A blocking connection in bytes.
protocol BlockingBytes: AnyObject {
    func send(_ bytes: [UInt8]) throws
    /// Whatever comes next; empty where the server has ended its side.
    func readSome() throws -> [UInt8]
}

extension RawClient: BlockingBytes {}
extension SecureClient: BlockingBytes {}

/// A blocking client of HTTP/2.
final class HTTP2Client {
    /// The server ended the connection, or said something wrong, before a test had what it wanted.
    struct Ended: Error {
        let fault: HTTP2Fault?
    }

    /// What came on a stream.
    struct Answer {
        var informational: [ResponseHead] = []
        var head: ResponseHead?
        var body: [UInt8] = []
        var trailers: Fields?
        var isWhole = false
        var end: HTTP2StreamEnd?

        var status: Int { head?.status ?? 0 }
        var text: String { String(decoding: body, as: UTF8.self) }

        func field(_ name: FieldName) -> String? { head?.fields.first(name) }
    }

    private let transport: any BlockingBytes
    private var machine: HTTP2ConnectionMachine
    private var encoder = HPACKEncoder()
    private var decoder = HPACKDecoder()
    private var output: [UInt8] = []
    private var block = HTTP2Block.discarded
    private var blockError: HPACKError?
    private var head: ResponseHead?
    private var trailers: Fields?
    private var names: [UInt32: HTTP2StreamID] = [:]
    private var isHEAD: Set<UInt32> = []
    /// What is left of the bodies that are sent, and whether more will come.
    private var bodies: [UInt32: (bytes: ArraySlice<UInt8>, isOpen: Bool)] = [:]

    /// What came, by stream.
    private(set) var answers: [UInt32: Answer] = [:]
    private(set) var capacity = 100
    private(set) var goodbye: HTTP2ErrorCode?
    private(set) var fault: HTTP2Fault?
    private(set) var isOver = false
    /// Bytes of bodies are told as taken.
    var takes = true

    convenience init(port: Int, settings: HTTP2Settings = .client, connectionWindow: UInt32 = 1 << 20) throws {
        try self.init(over: RawClient(port: port), settings: settings, connectionWindow: connectionWindow)
    }

    init(
        over transport: any BlockingBytes, settings: HTTP2Settings = .client, connectionWindow: UInt32 = 1 << 20
    ) throws {
        self.transport = transport
        machine = HTTP2ConnectionMachine(role: .client, settings: settings, connectionWindow: connectionWindow)
        machine.start(now: .zero)
        try flush()
    }

    // MARK: Asking

    /// Sends a request; one without a body is whole.
    ///
    /// `isOpen` means that more of the body follows by `sendMore`; its length is not declared then.
    @discardableResult
    func send(
        _ method: String = "GET", _ path: String = "/", _ fields: [(String, String)] = [], body: [UInt8]? = nil,
        isOpen: Bool = false
    ) throws -> UInt32 {
        guard let id = machine.open(now: .zero) else { throw Ended(fault: fault) }
        var list = Fields()
        for (name, value) in fields { list.append(name, value) }
        var encoded: [UInt8] = []
        let framing: BodyFraming = body == nil ? .none : isOpen ? .chunked : .length(Int64(body?.count ?? 0))
        try encoder.encode(
            RequestHead(method: method, target: path, fields: list), scheme: "http", authority: "server.test",
            framing: framing, into: &encoded)
        names[id.number] = id
        answers[id.number] = Answer()
        if method == "HEAD" { isHEAD.insert(id.number) }
        let declared: HTTP2DeclaredLength = body == nil ? .none : isOpen ? .unknown : .bytes(Int64(body?.count ?? 0))
        encoded.withUnsafeBytes { bytes in _ = machine.sendBlock(bytes.bytes, on: id, body: declared, now: .zero) }
        if let body, isOpen || !body.isEmpty {
            bodies[id.number] = (body[...], isOpen)
            machine.bodyReady(id)
        }
        try flush()
        return id.number
    }

    /// Sends more of a body that was left open, and ends it if that is all.
    func sendMore(_ bytes: [UInt8], on stream: UInt32, ends: Bool) throws {
        guard let id = names[stream] else { return }
        bodies[stream] = ((bodies[stream]?.bytes ?? []) + bytes, !ends)
        machine.bodyReady(id)
        try flush()
    }

    /// Sends a request and reads until it was answered or its stream has ended, as `answer(on:)` does.
    func exchange(
        _ method: String = "GET", _ path: String = "/", _ fields: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> Answer {
        let stream = try send(method, path, fields, body: body)
        return try answer(on: stream)
    }

    /// Reads until a request was answered or its stream has ended; throws where it was the connection that ended.
    func answer(on stream: UInt32) throws -> Answer {
        try read { answers[stream]?.end != nil || answers[stream]?.isWhole ?? false }
        let answer = answers[stream] ?? Answer()
        // What has come of it by then would only look like a wrong body.
        if !answer.isWhole {
            if case .connectionLost = answer.end { throw Ended(fault: fault) }
            if case .connectionFailed(let fault) = answer.end { throw Ended(fault: fault) }
        }
        return answer
    }

    func cancel(_ stream: UInt32) throws {
        guard let id = names[stream] else { return }
        machine.cancel(id)
        try flush()
    }

    /// Tells that what came of a body was taken.
    func take(_ count: Int, of stream: UInt32) throws {
        guard let id = names[stream] else { return }
        machine.taken(count, of: id, now: .zero)
        try flush()
    }

    /// Sends bytes that are no frame of the machine's.
    func sendRaw(_ bytes: [UInt8]) throws { try transport.send(bytes) }

    // MARK: Reading

    /// Reads until a condition holds; throws where the connection has ended before.
    func read(until condition: () -> Bool) throws {
        while !condition() {
            guard !isOver else { throw Ended(fault: fault) }
            let bytes = try transport.readSome()
            guard !bytes.isEmpty else {
                machine.connectionEnded()
                pull([])
                isOver = true
                continue
            }
            var offset = 0
            var hasMore = true
            while hasMore {
                hasMore = bytes.withUnsafeBytes { machine.received($0.bytes, offset: &offset, now: .zero) }
                pull(bytes)
                try flush()
            }
        }
    }

    /// Reads until the server ends the connection.
    func readToEnd() throws { try read { isOver } }

    private func pull(_ bytes: [UInt8]) {
        while let action = machine.nextAction() { perform(action, bytes) }
    }

    private func perform(_ action: HTTP2ConnectionMachine.Action, _ bytes: [UInt8]) {
        switch action {
        case .send, .setTimer: break
        case .blockBegins(let expected):
            block = expected
            blockError = nil
            decoder.beginBlock()
        case .block(let range):
            do throws(HPACKError) {
                try decoder.decode(bytes.span.bytes.extracting(range))
            } catch {
                blockError = error
            }
        case .blockEnds: machine.blockDecoded(content(), now: .zero)
        case .head(let id, .informational): if let head { answers[id.number]?.informational.append(head) }
        case .head(let id, .final): answers[id.number]?.head = head
        case .head(let id, .trailers): answers[id.number]?.trailers = trailers
        case .data(let id, let range):
            answers[id.number]?.body += bytes[range]
            if takes { machine.taken(range.count, of: id, now: .zero) }
        case .messageEnds(let id): answers[id.number]?.isWhole = true
        case .closed(let id, let end): answers[id.number]?.end = end
        case .encoderTableChanged(let smallest, let size):
            encoder.peerTableSizeChanged(to: Int(smallest))
            encoder.peerTableSizeChanged(to: Int(size))
        case .decoderTableChanged(let size): decoder.tableSizeAcknowledged(Int(size))
        case .capacityChanged(let count): capacity = count
        case .draining(let code): goodbye = code
        case .failed(let found):
            fault = found
            isOver = true
        case .finished: isOver = true
        }
    }

    private func content() -> HTTP2BlockContent {
        do throws(HPACKError) {
            try decoder.endBlock()
        } catch {
            blockError = blockError ?? error
        }
        guard blockError == nil else { return .undecodable }
        do throws(HeaderFault) {
            switch block {
            case .discarded: return .discarded
            case .trailers:
                trailers = try HeaderBlockRules.trailers(decoder.list)
                return .trailers
            case .head(let id):
                let head = try HeaderBlockRules.responseHead(decoder.list)
                self.head = head
                if head.isInformational { return .informational }
                let expected: ExpectedResponse = isHEAD.contains(id.number) ? .toHEAD : .toOther
                switch try HeaderBlockRules.bodyFraming(of: head, to: expected) {
                case .none: return .final(.none)
                case .length(let count): return .final(.bytes(count))
                case .chunked, .untilClose: return .final(.unknown)
                }
            }
        } catch {
            return .malformed
        }
    }

    private func flush() throws {
        pull([])
        machine.takeOutput(into: &output)
        while let piece = machine.nextPiece(room: 64 << 10) {
            let stream = piece.stream.number
            let part = bodies[stream]?.bytes.prefix(piece.limit) ?? []
            let isOpen = bodies[stream]?.isOpen ?? false
            if part.isEmpty, isOpen {
                machine.bodyPaused(piece.stream)
                continue
            }
            let isLast = !isOpen && part.count == bodies[stream]?.bytes.count
            guard machine.writePiece(of: piece.stream, count: part.count, isLast: isLast, into: &output) else { break }
            output += part
            bodies[stream]?.bytes.removeFirst(part.count)
            pull([])
        }
        pull([])
        machine.takeOutput(into: &output)
        guard !output.isEmpty else { return }
        // The server may have closed: what it said before that is still to be read.
        do { try transport.send(output) } catch RawClient.ClientError.system {}
        output = []
        machine.outputEmptied()
    }
}
