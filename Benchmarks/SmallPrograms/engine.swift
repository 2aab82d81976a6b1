// One GET by the engine alone, without Foundation: what stands below Apple's API.

import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingWire

/// Gathers an answer and says when it has ended.
final class Collector: TransactionReceiver {
    private var status = 0
    private var count = 0
    private let done: (String) -> Void

    init(done: @escaping (String) -> Void) { self.done = done }

    var answersQuestions: Bool { false }

    func asked(_ question: ConnectionQuestion) {}

    func received(informational head: ResponseHead) {}

    func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand {
        status = head.status
        return .more
    }

    func received(body piece: BodyPiece) -> ReceiverDemand {
        count += piece.bytes.count
        return .more
    }

    func sent(bodyBytes: Int64) {}

    func finished(_ outcome: TransactionOutcome) {
        done(outcome.error.map { "\($0)" } ?? "status \(status), \(count) bytes")
    }
}

// scheme host port target
let words = CommandLine.arguments.dropFirst()
guard words.count == 4, let scheme = Scheme(words[1]), let port = Int(words[3]),
    let origin = Origin(scheme: scheme, host: words[2], port: port)
else { fatalError("usage: engine http|https HOST PORT TARGET") }
var head = RequestHead(method: "GET", target: words[4])
head.fields.append("Host", origin.hostField)
let engine = Engine(configuration: EngineConfiguration())
let answer = await withCheckedContinuation { continuation in
    let request = TransactionRequest(
        origin: origin, head: head, body: .none, framing: .none, idleTimeout: nil
    ) { _, _ in Collector { continuation.resume(returning: $0) } }
    engine.submit(request)
}
print(answer)
