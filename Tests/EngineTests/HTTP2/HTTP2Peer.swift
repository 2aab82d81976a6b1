// A server that speaks HTTP/2 at the other end of a stream in memory, by the machines that the client has
// too: the test says what it does with a request. It answers at once, keeps what it was asked, and counts
// what it sees of the connection.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// One end of a connection, in the server's role.
final class HTTP2Peer: ByteStreamObserver {
    /// What was asked.
    struct Request {
        let id: HTTP2StreamID
        let head: RequestHead
        let scheme: String
        var body: [UInt8] = []
        var isWhole = false
        /// Whether the head of its answer is out.
        var isAnswered = false
        /// How it ended, once it has.
        var end: HTTP2StreamEnd?
    }

    let stream: MemoryStream
    private let reactor: Reactor
    private(set) var machine: HTTP2ConnectionMachine
    private var decoder = HPACKDecoder(limits: HPACKLimits())
    private var encoder = HPACKEncoder()
    private var output: [UInt8] = []
    private var expected: HTTP2Block?
    /// Whether the body of a request is taken as it comes.
    var takesBodies = true
    /// Whether requests are looked at at all; otherwise the bytes are left where they are.
    var isReading = true
    /// Called when a request's head has come, when more of its body has, and when it is whole.
    var onHead: (HTTP2Peer, Request) -> Void = { _, _ in }
    var onBody: (HTTP2Peer, Request) -> Void = { _, _ in }
    var onWhole: (HTTP2Peer, Request) -> Void = { $0.answer($1) }

    private(set) var requests: [Request] = []
    private(set) var hasEnded = false
    private(set) var fault: HTTP2Fault?
    /// Bodies that wait for windows, by stream.
    private var bodies: [HTTP2StreamID: [UInt8]] = [:]

    init(_ stream: MemoryStream, on reactor: Reactor, settings: HTTP2Settings = HTTP2Settings()) {
        self.stream = stream
        self.reactor = reactor
        machine = HTTP2ConnectionMachine(role: .server, settings: settings, connectionWindow: 1 << 20)
        stream.observer = self
        machine.start(now: reactor.elapsed)
        carryOut()
    }

    // MARK: What tests ask of it

    /// The requests' targets, in the order of their heads.
    var targets: [String] { requests.map(\.head.target) }

    /// Answers a request with a status and a body.
    func answer(
        _ request: Request, _ status: Int = 200, fields: [(String, String)] = [], body: String = "hello",
        withLength: Bool = true
    ) {
        head(request, status, fields: fields, length: withLength ? body.utf8.count : nil, ends: body.isEmpty)
        if !body.isEmpty { send(request, Array(body.utf8)) }
    }

    /// Sends the head of an answer; `ends` says that nothing follows.
    func head(
        _ request: Request, _ status: Int = 200, fields: [(String, String)] = [], length: Int? = nil, ends: Bool = false
    ) {
        guard machine.isOpen(request.id) else { return }
        var head = ResponseHead(status: status)
        for (name, value) in fields { head.fields.append(name, value) }
        var block: [UInt8] = []
        do {
            try encoder.encode(head, framing: length.map { .length(Int64($0)) } ?? .none, into: &block)
        } catch {
            Issue.record("\(error)")
        }
        let body: HTTP2DeclaredLength = ends ? .none : length.map { .bytes(Int64($0)) } ?? .unknown
        let kind: HTTP2HeadKind = status < 200 ? .informational : .final
        machine.sendBlock(block.span.bytes, on: request.id, kind, body: body, now: reactor.elapsed)
        if kind == .final { change(request.id) { $0.isAnswered = true } }
        carryOut()
    }

    /// Sends a block of fields that were encoded by hand.
    func raw(_ request: Request, _ block: [UInt8]) {
        machine.sendBlock(block.span.bytes, on: request.id, .final, body: .unknown, now: reactor.elapsed)
        carryOut()
    }

    /// Sends trailers, which end the answer.
    func trailers(_ request: Request, _ fields: [(String, String)]) {
        var trailers = Fields()
        for (name, value) in fields { trailers.append(name, value) }
        var block: [UInt8] = []
        do {
            try encoder.encode(trailers: trailers, into: &block)
        } catch {
            Issue.record("\(error)")
        }
        machine.sendBlock(block.span.bytes, on: request.id, .trailers, now: reactor.elapsed)
        carryOut()
    }

    /// Sends bytes of a body as windows allow; `isLast` for a body whose length was not said.
    func send(_ request: Request, _ bytes: [UInt8], isLast: Bool = true) {
        bodies[request.id, default: []] += bytes
        if isLast { lasts.insert(request.id) }
        machine.bodyReady(request.id)
        carryOut()
    }

    private var lasts: Set<HTTP2StreamID> = []

    func reset(_ request: Request, _ code: HTTP2ErrorCode) {
        machine.cancel(request.id, code)
        carryOut()
    }

    func goAway(last: UInt32? = nil, _ code: HTTP2ErrorCode = .noError) {
        machine.goodbye(code, last: last)
        carryOut()
    }

    /// Has taken what was left of a body.
    func take(_ request: Request, _ count: Int) {
        machine.taken(count, of: request.id, now: reactor.elapsed)
        carryOut()
    }

    /// Sends bytes as they are.
    func send(raw bytes: [UInt8]) {
        output += bytes
        flush()
    }

    func close() { stream.close() }

    // MARK: The connection

    func streamBecameReadable(_ stream: any ByteStream) { read() }

    func streamBecameWritable(_ stream: any ByteStream) { carryOut() }

    /// Reads what is there.
    func read() {
        guard isReading else { return }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while stream.isOpen {
            guard case .bytes(let count) = buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) else { break }
            var offset = 0
            let input = Array(buffer[..<count])
            while machine.received(input.span.bytes, offset: &offset, now: reactor.elapsed) { carryOut(input) }
            carryOut(input)
        }
    }

    private func carryOut(_ input: [UInt8] = []) {
        while let action = machine.nextAction() {
            switch action {
            case .send: break
            case .blockBegins(let block):
                expected = block
                decoder.beginBlock(for: block.stream == nil ? .table : .fields)
            case .block(let range):
                do { try decoder.decode(input.span.bytes.extracting(range)) } catch { Issue.record("\(error)") }
            case .blockEnds: machine.blockDecoded(content(), now: reactor.elapsed)
            case .head(let id, .final):
                if let request = requests.last, request.id == id { onHead(self, request) }
            case .head: break
            case .data(let id, let range):
                change(id) { $0.body += input[range] }
                if takesBodies { machine.taken(range.count, of: id, now: reactor.elapsed) }
                if let request = requests.last(where: { $0.id == id }) { onBody(self, request) }
            case .messageEnds(let id):
                change(id) { $0.isWhole = true }
                if let request = requests.last(where: { $0.id == id }) { onWhole(self, request) }
            case .closed(let id, let end): change(id) { $0.end = end }
            case .encoderTableChanged(let smallest, let size):
                encoder.peerTableSizeChanged(to: Int(smallest))
                encoder.peerTableSizeChanged(to: Int(size))
            case .failed(let reason): fault = reason
            case .finished: hasEnded = true
            case .decoderTableChanged, .capacityChanged, .draining, .setTimer: break
            }
        }
        flush()
    }

    private func content() -> HTTP2BlockContent {
        do {
            try decoder.endBlock()
            guard case .head(let id)? = expected else { return expected?.stream == nil ? .discarded : .trailers }
            let request = try HeaderBlockRules.requestHead(decoder.list)
            requests.append(Request(id: id, head: request.head, scheme: request.scheme))
            switch try HeaderBlockRules.bodyFraming(of: request) {
            case .length(let count): return .final(.bytes(count))
            case .none, .chunked, .untilClose: return .final(.unknown)
            }
        } catch {
            Issue.record("a request is malformed: \(error)")
            return .malformed
        }
    }

    private func change(_ id: HTTP2StreamID, _ body: (inout Request) -> Void) {
        if let index = requests.lastIndex(where: { $0.id == id }) { body(&requests[index]) }
    }

    private func flush() {
        machine.takeOutput(into: &output)
        while let piece = machine.nextPiece(room: 1 << 20) {
            let waiting = bodies[piece.stream] ?? []
            let count = min(piece.limit, waiting.count)
            let isLast = lasts.contains(piece.stream) && count == waiting.count
            guard count > 0 || isLast else {
                machine.bodyPaused(piece.stream)
                continue
            }
            guard machine.writePiece(of: piece.stream, count: count, isLast: isLast, into: &output) else { break }
            output += waiting[..<count]
            bodies[piece.stream] = Array(waiting[count...])
        }
        machine.takeOutput(into: &output)
        while !output.isEmpty, case .bytes(let count) = output.withUnsafeBytes({ stream.write($0) }) {
            output.removeFirst(count)
        }
        if output.isEmpty { machine.outputEmptied() }
    }
}

extension EngineRig {
    /// A rig whose `http` requests speak HTTP/2 by prior knowledge.
    static func http2(perHost: Int = 6, _ configure: (inout EngineConfiguration) -> Void = { _ in }) -> EngineRig {
        EngineRig {
            $0.protocols = .http2
            $0.maximumConnectionsPerHost = perHost
            configure(&$0)
        }
    }

    /// Serves a host over HTTP/2; `setUp` may change what a connection's server does.
    func serveHTTP2(
        _ host: String = "host.test", settings: HTTP2Settings = HTTP2Settings(),
        _ setUp: @escaping (HTTP2Peer, Int) -> Void = { _, _ in }
    ) -> PeerList {
        let list = PeerList()
        network.serve(host) { [unowned self] stream in
            let peer = HTTP2Peer(stream, on: reactor, settings: settings)
            setUp(peer, list.peers.count)
            list.peers.append(peer)
            keep(stream, peer)
        }
        return list
    }
}

/// The servers of a host, a connection each.
final class PeerList {
    var peers: [HTTP2Peer] = []

    subscript(index: Int) -> HTTP2Peer { peers[index] }
    var count: Int { peers.count }
}
