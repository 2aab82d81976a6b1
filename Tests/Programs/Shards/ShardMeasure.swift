// What an engine carries with one shard and with several: requests to many hosts, one after the other in many rows side
// by side. The servers are in memory, each on the loop of its clients, so that nothing but the loops needs a processor.
// Run it from a release build: `swift run -c release URLLoadingTestPrograms shards 2`.
//
// Must not know: sockets, sessions.

import Synchronization
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

/// Measures one shard and as many as the first argument says, in turn; the second argument is how
/// many seconds each takes.
enum ShardMeasure {
    static func run(_ words: [String]) async {
        let shards = words.first.flatMap { Int($0) } ?? 2
        let seconds = words.dropFirst().first.flatMap { Int($0) } ?? 3
        var results: [Int: [Result]] = [:]
        for _ in 0..<5 {
            for count in [1, shards] {
                guard let result = await measure(count, .seconds(seconds)) else { return print("no hosts") }
                results[count, default: []].append(result)
                print("\(count) shards: \(result)")
            }
        }
        let (one, several) = (median(results[1]), median(results[shards]))
        print("medians: \(Int(one)) and \(Int(several)) requests a second, \(several / max(one, 1)) times as many")
    }

    /// What came of one measurement.
    struct Result: CustomStringConvertible {
        let requests: Int
        let time: Duration
        let processorTime: Duration

        var rate: Double { Double(requests) / (time / .seconds(1)) }

        var description: String {
            let each = Int(processorTime / .nanoseconds(1)) / max(requests, 1)
            return "\(Int(rate)) requests a second, each \(each) ns of processor time"
        }
    }

    private static func median(_ results: [Result]?) -> Double {
        let rates = (results ?? []).map(\.rate).sorted()
        return rates.isEmpty ? 0 : rates[rates.count / 2]
    }

    private static func measure(_ shards: Int, _ length: Duration) async -> Result? {
        var configuration = EngineConfiguration()
        configuration.shards = shards
        configuration.makeNetwork = { reactor in
            let network = MemoryNetwork(reactor: reactor)
            for number in 0..<hosts { network.serve(name(number)) { reactor.hold(AnsweringPeer($0, on: reactor)) } }
            return (network.makeDialer(), network.makeResolver())
        }
        let engine = Engine(configuration: configuration)
        let origins = (0..<hosts).compactMap { Origin(scheme: .http, host: name($0)) }
        guard origins.count == hosts else { return nil }
        let (start, processorStart) = (ContinuousClock.now, processorTime)
        let end = LoopClock.elapsed + length
        let requests = await withTaskGroup(of: Int.self) { group in
            for row in 0..<hosts * rowsOfEach {
                group.addTask {
                    await withHandover { continuation in
                        Row(engine, to: origins[row % hosts], until: end) { continuation.resume(returning: $0) }.send()
                    }
                }
            }
            return await group.reduce(0, +)
        }
        let result = Result(
            requests: requests, time: ContinuousClock.now - start, processorTime: processorTime - processorStart)
        engine.shutDown(immediately: true)
        return result
    }

    private static func name(_ number: Int) -> String { "host\(number).test" }

    /// The time that this process has had.
    private static var processorTime: Duration {
        var now = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now)
        return .seconds(now.tv_sec) + .nanoseconds(now.tv_nsec)
    }

    private static let hosts = 64
    private static let rowsOfEach = 2
}

/// Requests to one host, one after the other, all from the loop of that host.
private final class Row: Sendable {
    private let engine: Engine
    private let origin: Origin
    private let end: Duration
    private let done: @Sendable (Int) -> Void
    private let count = Atomic<Int>(0)

    init(_ engine: Engine, to origin: Origin, until end: Duration, _ done: @escaping @Sendable (Int) -> Void) {
        self.engine = engine
        self.origin = origin
        self.end = end
        self.done = done
    }

    /// Sends the next request.
    func send() {
        var head = RequestHead(method: "GET", target: "/")
        head.fields.append("Host", origin.hostField)
        engine.submit(TransactionRequest(origin: origin, head: head) { _, _ in RowReceiver(self) })
    }

    /// An answer has come whole, or not.
    func answered(_ error: EngineError?) {
        let count = count.wrappingAdd(1, ordering: .relaxed).newValue
        if let error { print("a request failed: \(error)") }
        if error != nil || LoopClock.elapsed >= end { done(count) } else { send() }
    }
}

/// Takes an answer in.
private final class RowReceiver: TransactionReceiver {
    private let row: Row

    init(_ row: Row) { self.row = row }

    var answersQuestions: Bool { false }
    func asked(_ question: ConnectionQuestion) {}
    func received(informational head: ResponseHead) {}
    func received(head: ResponseHead, framing: BodyFraming, decoding: Bool) -> ReceiverDemand { .more }
    func received(body piece: BodyPiece) -> ReceiverDemand { .more }
    func sent(bodyBytes: Int64) {}
    func finished(_ outcome: TransactionOutcome) { row.answered(outcome.error) }
}

/// A server's end of a connection: what comes is a request, and gets a small answer.
private final class AnsweringPeer: ByteStreamObserver {
    private let stream: MemoryStream
    private let reactor: Reactor

    init(_ stream: MemoryStream, on reactor: Reactor) {
        self.stream = stream
        self.reactor = reactor
        stream.observer = self
    }

    func streamBecameReadable(_ stream: any ByteStream) {
        while true {
            switch stream.read(into: reactor.receiveBuffer) {
            case .bytes: _ = answer.withUnsafeBytes { stream.write($0) }
            case .wouldBlock: return
            case .endOfStream, .failed:
                stream.close()
                return reactor.release(self)
            }
        }
    }

    func streamBecameWritable(_ stream: any ByteStream) {}

    // Each its own: what all of them counted references to would be a place where loops meet.
    private let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8)
}
