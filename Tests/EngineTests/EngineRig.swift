// What every engine test stands on: a virtual reactor, an in-memory network, an engine between them, and a receiver
// that writes down everything it is told.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// An engine on a virtual clock and an in-memory network.
final class EngineRig {
    let reactor = Reactor(virtualTime: ())
    let network: MemoryNetwork
    let core: LoopCore
    private(set) var journals: [Journal] = []
    /// The trace that the requests are told to.
    var trace: RequestTrace?
    private(set) var peers: [ScriptedPeer] = []
    private(set) var servers: [MemoryStream] = []

    init(configure: (inout EngineConfiguration) -> Void = { _ in }) {
        network = MemoryNetwork(reactor: reactor)
        var configuration = EngineConfiguration()
        configure(&configuration)
        core = LoopCore(
            reactor: reactor, configuration: configuration, dialer: network.makeDialer(),
            resolver: network.makeResolver())
    }

    /// Every connection to `host` plays the next of these scripts; a further connection plays the last again.
    func serve(_ host: String = "host.test", _ scripts: [ScriptedPeer.Step]...) {
        var left = scripts[...]
        network.serve(host) { [unowned self] stream in
            let script = left.count > 1 ? left.removeFirst() : left.first ?? []
            servers.append(stream)
            peers.append(ScriptedPeer(stream, on: reactor, script))
        }
    }

    /// Submits a request; its journal tells what came of it.
    @discardableResult
    func submit(
        _ method: String = "GET", host: String = "host.test", target: String = "/", body: [UInt8]? = nil,
        content: RequestBody = .none, framing: BodyFraming = .none, fields: [(String, String)] = [],
        idleTimeout: Duration? = .seconds(60),
        resourceTimeout: Duration? = nil, priority: Float = 0.5, decodes: Bool = true,
        waitsForConnectivity: Bool = false, again: SecondSending? = nil, isUpgrade: Bool = false,
        scheme: Scheme = .http,
        answers: Bool = false,
        continues: Journal? = nil,
        route: Route = .direct(),
        warms: Int? = nil,
        beginning: LoadBeginning = .atOnce,
        demand: @escaping @Sendable (Int) -> ReceiverDemand = { _ in .more }
    ) -> Journal {
        guard let origin = Origin(scheme: scheme, host: host) else {
            Issue.record("no origin from \(host)")
            return Journal(handle: nil)
        }
        var head = RequestHead(method: method, target: target)
        head.fields.append("Host", origin.hostField)
        for (name, value) in fields { head.fields.append(name, value) }
        let box = JournalBox()
        var request = TransactionRequest(
            origin: origin, head: head, body: body.map { .bytes($0) } ?? content,
            framing: body.map { .length(Int64($0.count)) } ?? framing, idleTimeout: idleTimeout,
            resourceDeadline: resourceTimeout.map { reactor.elapsed + $0 }, priority: priority, decodesContent: decodes,
            again: again
        ) { handle, _ in
            let journal = Journal(handle: handle)
            journal.demand = demand
            journal.answersQuestions = answers
            journal.beginning = beginning
            box.put(journal)
            return journal
        }
        request.waitsForConnectivity = waitsForConnectivity
        request.continues = continues?.handle?.id
        request.route = route
        request.isUpgrade = isUpgrade
        request.warms = warms
        request.trace = trace
        _ = core.submit(request)
        let journal = box.take() ?? Journal(handle: nil)
        journals.append(journal)
        return journal
    }

    private var observers: [any ByteStreamObserver] = []

    /// Keeps a server's end of a connection alive until the rig goes.
    func keep(_ stream: MemoryStream, _ observer: any ByteStreamObserver) {
        servers.append(stream)
        observers.append(observer)
    }

    /// Runs everything that needs no time to pass.
    func settle() { reactor.runPending() }

    /// Lets time pass.
    func advance(_ duration: Duration) { reactor.advance(by: duration) }

    /// Ends the engine and checks that nothing is left: no open stream, no unfinished transaction, no second end.
    func expectClean(sourceLocation: SourceLocation = #_sourceLocation) {
        core.shutDown(immediately: true)
        settle()
        for peer in servers { peer.close() }
        settle()
        #expect(network.streams.open == 0, "open streams", sourceLocation: sourceLocation)
        #expect(core.counts.connections == 0, "connections in the pool", sourceLocation: sourceLocation)
        for journal in journals {
            #expect(journal.ends == 1, "each transaction ends exactly once", sourceLocation: sourceLocation)
        }
        reactor.tearDown()
    }
}

/// Hands a journal from the place where the engine makes it to the test; both are on one thread.
private final class JournalBox: Sendable {
    private nonisolated(unsafe) var journal: Journal?  // Both sides run on the test's thread, one after the other.

    func put(_ journal: Journal) { self.journal = journal }

    /// Lets go of it too: the journal holds its request, and the request this box.
    func take() -> Journal? {
        defer { journal = nil }
        return journal
    }
}

/// A receiver that remembers everything.
final class Journal: TransactionReceiver {
    let handle: TransactionHandle?
    var demand: (Int) -> ReceiverDemand = { _ in .more }
    private(set) var informational: [Int] = []
    private(set) var waits = 0
    /// Whether this receiver answers questions.
    fileprivate(set) var answersQuestions = false
    fileprivate(set) var beginning = LoadBeginning.atOnce
    private(set) var questions: [ConnectionQuestion] = []
    private(set) var head: ResponseHead?
    private(set) var framing: BodyFraming?
    private(set) var isDecoding: Bool?
    private(set) var body: [UInt8] = []
    private(set) var pieces = 0
    private(set) var trailers: Fields?
    private(set) var lateRests = 0
    private(set) var sentBodyBytes: [Int64] = []
    private(set) var outcome: TransactionOutcome?
    private(set) var ends = 0
    private(set) var warmth: PoolMachine.Warmth?
    private var connection: DetachedConnection?
    var onHead: (() -> Void)?
    var onBody: (() -> Void)?
    var onEnd: (() -> Void)?

    init(handle: TransactionHandle?) {
        self.handle = handle
    }

    var text: String { String(decoding: body, as: UTF8.self) }
    var error: EngineError? { outcome?.error }
    var hasEnded: Bool { ends > 0 }

    func asked(_ question: ConnectionQuestion) { questions.append(question) }

    func waitsForConnectivity() { waits += 1 }

    func warmedUp(_ warmth: PoolMachine.Warmth) { self.warmth = warmth }

    func received(informational head: ResponseHead) { informational.append(head.status) }

    func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand {
        self.head = head
        self.framing = framing
        isDecoding = decoding
        onHead?()
        return demand(0)
    }

    func received(body piece: BodyPiece) -> ReceiverDemand {
        body.append(contentsOf: piece.bytes)
        pieces += 1
        onBody?()
        return demand(body.count)
    }

    func restIsLate() { lateRests += 1 }

    func received(trailers: Fields) { self.trailers = trailers }

    func sent(bodyBytes: Int64) { sentBodyBytes.append(bodyBytes) }

    func detached(_ connection: consuming DetachedConnection, outcome: TransactionOutcome) {
        self.connection = consume connection
        finished(outcome)
    }

    /// The connection that was given to it, once.
    func takeConnection() -> DetachedConnection? { connection.take() }

    func finished(_ outcome: TransactionOutcome) {
        ends += 1
        self.outcome = outcome
        onEnd?()
        // What a test does in a callback usually holds the rig, which holds this journal.
        (onHead, onBody, onEnd) = (nil, nil, nil)
    }
}

extension ScriptedPeer.Step {
    /// A whole response with a body of known length.
    static func respond(_ body: String, status: String = "200 OK", fields: String = "") -> ScriptedPeer.Step {
        .send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }
}

extension TransactionOutcome {
    /// One record per exchange, in order.
    var timelines: [Timeline] { earlier + (last.map { [$0] } ?? []) }
}
