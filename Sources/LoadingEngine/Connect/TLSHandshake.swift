// Drives a TLS session from its first byte to a verified peer over a stream that is just connected.
//
// Not one byte of a request exists here: the connection is handed out only after the verdict. While a question
// waits for its answer, what the server has sent meanwhile is held.
//
// Must not know: HTTP, requests, the pool.

import LoadingPolicy
import Sockets
import TLS
import Trust

/// One client handshake.
final class TLSHandshake: ByteStreamObserver {
    /// A finished handshake: the session and encrypted bytes that came after its last message.
    struct Ready {
        let tls: TLSSession
        let held: [UInt8]
    }

    private let origin: Origin
    private let ticketKey: String
    private let stream: any ByteStream
    private unowned let core: LoopCore
    private let completion: (Result<Ready, TLSError>) -> Void
    private var tls: TLSSession?
    private var held: [UInt8] = []
    private var isWaitingForAnswer = false
    private var hasEnded = false
    private var isDone = false

    init(
        origin: Origin, ticketKey: String, stream: any ByteStream, core: LoopCore,
        completion: @escaping (Result<Ready, TLSError>) -> Void
    ) {
        self.origin = origin
        self.ticketKey = ticketKey
        self.stream = stream
        self.core = core
        self.completion = completion
    }

    /// Sends the first message.
    func start() {
        stream.observer = self
        switch core.clientTLSContext() {
        case .failure(let error):
            finish(.failure(error))
        case .success(let context):
            do throws(TLSError) {
                tls = try TLSSession(
                    client: context, serverName: origin.isIPLiteral ? nil : origin.matchingHost, tickets: core.tickets,
                    ticketKey: ticketKey)
                advance([])
                // What came before this object watched the stream is not reported again.
                read()
            } catch {
                finish(.failure(error))
            }
        }
    }

    /// Gives up and closes the stream; the completion is not called any more.
    func cancel() {
        guard !isDone else { return }
        isDone = true
        stream.observer = nil
        stream.close()
    }

    // MARK: Readiness

    func streamBecameReadable(_ stream: any ByteStream) { read() }

    func streamBecameWritable(_ stream: any ByteStream) { sendOutgoing() }

    private func read() {
        while !isDone, !isWaitingForAnswer, !hasEnded, stream.hasPendingInput {
            switch stream.read(into: core.reactor.receiveBuffer) {
            case .bytes(let count):
                if held.isEmpty {
                    advance(UnsafeRawBufferPointer(rebasing: core.reactor.receiveBuffer[..<count]))
                } else {
                    held.append(contentsOf: core.reactor.receiveBuffer[..<count])
                    goOn()
                }
            case .wouldBlock:
                return
            case .endOfStream, .failed:
                hasEnded = true
                finish(.failure(.closedDuringHandshake))
            }
        }
    }

    /// Goes on with what was held while an answer was awaited.
    private func goOn() {
        let bytes = held
        held = []
        bytes.withUnsafeBytes { advance($0) }
        read()
    }

    private func advance(_ input: [UInt8]) {
        input.withUnsafeBytes { advance($0) }
    }

    private func advance(_ input: UnsafeRawBufferPointer) {
        guard let tls else { return }
        var offset = 0
        while !isDone {
            switch tls.handshake(input, offset: &offset) {
            case .needInput:
                sendOutgoing()
                return
            case .needVerdict(let chain):
                if !judge(chain, tls) { return hold(input[offset...]) }
            case .needIdentity(let issuers):
                if !identify(issuers, tls) { return hold(input[offset...]) }
            case .finished:
                // The last message waits in the session: the first request leaves together with it.
                held.append(contentsOf: input[offset...])
                finish(.success(Ready(tls: tls, held: held)))
            case .failed(let error):
                // The alert tells the server why.
                sendOutgoing()
                finish(.failure(error))
            }
        }
    }

    private func hold(_ rest: Slice<UnsafeRawBufferPointer>) {
        held.append(contentsOf: rest)
        sendOutgoing()
    }

    // MARK: Questions

    /// Judges the server; `false` when somebody was asked and the answer comes later.
    private func judge(_ chain: CertificateChain, _ tls: TLSSession) -> Bool {
        let policy = TrustPolicy(host: HostName(origin.matchingHost))
        switch core.configuration.trust {
        case .evaluator(let evaluator):
            apply(evaluator.evaluate(chain, policy: policy), tls)
            return true
        case .ask(let ask):
            isWaitingForAnswer = true
            let reply = answerOnLoop { (handshake, verdict: TrustVerdict) in
                guard let tls = handshake.tls else { return }
                handshake.apply(verdict, tls)
            }
            ask(PeerQuestion(origin: origin, chain: chain, policy: policy, reply: reply))
            return false
        }
    }

    private func apply(_ verdict: TrustVerdict, _ tls: TLSSession) {
        switch verdict {
        case .trusted(let peer): tls.supply(peer)
        case .refused(let failure): tls.refuse(failure)
        }
    }

    /// Supplies a client certificate; `false` when somebody was asked and the answer comes later.
    private func identify(_ issuers: [[UInt8]], _ tls: TLSSession) -> Bool {
        switch core.configuration.identity {
        case .none:
            tls.supply(identity: nil)
            return true
        case .fixed(let identity):
            tls.supply(identity: identity)
            return true
        case .ask(let ask):
            isWaitingForAnswer = true
            let reply = answerOnLoop { (handshake, identity: Identity?) in
                handshake.tls?.supply(identity: identity)
            }
            ask(IdentityQuestion(origin: origin, acceptableIssuers: issuers, reply: reply))
            return false
        }
    }

    /// A reply for any thread that applies the answer on the loop, if the handshake still waits there.
    private func answerOnLoop<Answer: Sendable>(
        _ apply: @escaping @Sendable (TLSHandshake, Answer) -> Void
    ) -> @Sendable (Answer) -> Void {
        let waiting = PendingHandshakes.of(core.reactor)
        let ticket = waiting.add(self)
        return { [loop = core.reactor.loop] answer in
            loop.run { reactor in
                guard let handshake = PendingHandshakes.of(reactor).take(ticket), !handshake.isDone else { return }
                handshake.isWaitingForAnswer = false
                apply(handshake, answer)
                handshake.goOn()
            }
        }
    }

    // MARK: Output and end

    private func sendOutgoing() {
        guard let tls else { return }
        while tls.hasOutgoing {
            switch tls.withOutgoing({ stream.write($0) }) {
            case .bytes(let count): tls.outgoingSent(count)
            // A broken socket is noticed by the next read, which may still bring the server's alert.
            case .wouldBlock, .endOfStream, .failed: return
            }
        }
    }

    private func finish(_ result: Result<Ready, TLSError>) {
        guard !isDone else { return }
        isDone = true
        stream.observer = nil
        if case .failure = result { stream.close() }
        completion(result)
    }
}

/// The handshakes of a loop that wait for an answer from another thread.
private final class PendingHandshakes {
    private var waiting: [Int: TLSHandshake] = [:]
    private var next = 0

    static func of(_ reactor: Reactor) -> PendingHandshakes {
        if let existing = reactor.resident(key) { return existing }
        let made = PendingHandshakes()
        reactor.setResident(key, made)
        return made
    }

    func add(_ handshake: TLSHandshake) -> Int {
        next += 1
        waiting[next] = handshake
        return next
    }

    func take(_ ticket: Int) -> TLSHandshake? {
        waiting.removeValue(forKey: ticket)
    }

    private static let key = ResidentKey<PendingHandshakes>()
}
