// An engine on a real loop against a LoopbackServer, for what the in-memory network cannot show: TLS and the kernel.

import Testing
import URLLoadingEngine
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// One engine and the way to await a request's end. However long the machine stands still, no time ends a request or an
/// idle connection: a test that counts connections counts those that its requests have made.
final class LiveEngine: Sendable {
    let engine: Engine

    init(loop: Loop = LoopGroup.shared.next(), configure: (inout EngineConfiguration) -> Void = { _ in }) {
        var configuration = EngineConfiguration()
        configuration.hostOverrides = ["host.test": "127.0.0.1", "other.test": "127.0.0.1"]
        configuration.idleConnectionTimeout = .seconds(86_400)
        configure(&configuration)
        engine = Engine(configuration: configuration, loops: [loop])
    }

    /// Sends a GET, or a POST where there is a body, and waits for its end.
    func get(
        _ server: LoopbackServer, _ target: String = "/", host: String = "host.test", scheme: Scheme = .https,
        route: Route = .direct(), judge: ConnectionJudge = .session, body: [UInt8]? = nil,
        started: (@Sendable (TransactionHandle) -> Void)? = nil,
        asked: (@Sendable (ConnectionQuestion) -> Void)? = nil
    ) async throws -> Answer {
        try await load(
            server.port, target, host: host, scheme: scheme, route: route, judge: judge, body: body, started: started,
            asked: asked)
    }

    /// Sends a request to whatever listens on a port, and waits for its end.
    func load(
        _ port: Int, _ target: String = "/", host: String = "host.test", scheme: Scheme = .https,
        route: Route = .direct(), judge: ConnectionJudge = .session, body: [UInt8]? = nil,
        started: (@Sendable (TransactionHandle) -> Void)? = nil,
        asked: (@Sendable (ConnectionQuestion) -> Void)? = nil
    ) async throws -> Answer {
        let origin = try #require(Origin(scheme: scheme, host: host, port: port))
        var head = RequestHead(method: body == nil ? "GET" : "POST", target: target)
        head.fields.append("Host", origin.hostField)
        return await withHandover { continuation in
            var request = TransactionRequest(
                origin: origin, head: head, body: body.map { .bytes($0) } ?? RequestBody.none,
                framing: body.map { .length(Int64($0.count)) } ?? BodyFraming.none, idleTimeout: nil
            ) { _, _ in
                Collector(onQuestion: asked) { continuation.resume(returning: $0) }
            }
            request.route = route
            request.judge = judge
            let handle = engine.submit(request)
            started?(handle)
        }
    }

    /// What came of a request.
    struct Answer: Sendable {
        var status: Int?
        var body: [UInt8] = []
        var outcome: TransactionOutcome

        var error: EngineError? { outcome.error }
        var text: String { String(decoding: body, as: UTF8.self) }
    }
}

/// Collects a response and passes it on at the end.
private final class Collector: TransactionReceiver {
    private var status: Int?
    private var body: [UInt8] = []
    private let onQuestion: (@Sendable (ConnectionQuestion) -> Void)?
    private let done: (LiveEngine.Answer) -> Void

    init(
        onQuestion: (@Sendable (ConnectionQuestion) -> Void)?, done: @escaping (LiveEngine.Answer) -> Void
    ) {
        self.onQuestion = onQuestion
        self.done = done
    }

    var answersQuestions: Bool { onQuestion != nil }

    func asked(_ question: ConnectionQuestion) { onQuestion?(question) }

    func received(informational head: ResponseHead) {}

    func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand {
        status = head.status
        return .more
    }

    func received(body piece: BodyPiece) -> ReceiverDemand {
        body.append(contentsOf: piece.bytes)
        return .more
    }

    func sent(bodyBytes: Int64) {}

    func finished(_ outcome: TransactionOutcome) {
        done(LiveEngine.Answer(status: status, body: body, outcome: outcome))
    }
}
