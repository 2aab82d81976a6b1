// Drives a TLS session from its first byte to a verified peer over a stream that is just connected.
//
// Not one byte of a request exists here: the connection is handed out only after the verdict. While a question
// waits for its answer, what the server has sent meanwhile is held.
//
// Must not know: HTTP, requests, the pool.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTrust

/// One client handshake.
final class TLSHandshake: ByteStreamObserver {
    private let origin: Origin
    /// What the origin stands for, should it ask for our certificate.
    private let seeker: CertificateSeeker
    private let protocols: ProtocolOffer
    /// Where its tickets come from and are put.
    var tickets: TLSTickets { didSet { tls?.tickets = tickets } }
    private let stream: any ByteStream
    private unowned let core: LoopCore
    private let ask: (Question) -> Bool
    private let completion: (Result<SecureChannel, TLSError>) -> Void
    private var channel: SecureChannel?
    private var tls: TLSSession? { channel?.tls }
    private var held: [UInt8] = []
    private var question: Question?
    /// The number of what another thread judges or chooses, as that may take its time.
    private var judgement: Int?
    private var hasEnded = false
    /// Whether an earlier session goes on.
    var isResumed: Bool { tls?.isResumed ?? false }
    private var isDone = false

    /// What the handshake cannot know by itself.
    enum Question {
        /// Whether the server is believed, which sent this.
        case peer(CertificateChain, TrustPolicy)
        /// Which certificate is shown to a server that accepts these issuers, and which one by default.
        case identity(acceptableIssuers: [[UInt8]], usual: Identity?)
    }

    /// `ask` says whether the question was asked: the answer then comes by `answer(_:)`, not before `ask` has returned.
    init(
        origin: Origin, of seeker: CertificateSeeker, offering protocols: ProtocolOffer, tickets: TLSTickets,
        stream: any ByteStream, core: LoopCore,
        ask: @escaping (Question) -> Bool, completion: @escaping (Result<SecureChannel, TLSError>) -> Void
    ) {
        self.origin = origin
        self.seeker = seeker
        self.protocols = protocols
        self.tickets = tickets
        self.stream = stream
        self.core = core
        self.ask = ask
        self.completion = completion
    }

    /// Sends the first message.
    func start() {
        stream.observer = self
        switch core.clientTLSContext(for: origin, offering: protocols) {
        case .failure(let error):
            finish(.failure(error))
        case .success(let context):
            do throws(TLSError) {
                let tls = try TLSSession(
                    client: context, serverName: origin.isIPLiteral ? nil : origin.matchingHost, tickets: tickets)
                channel = SecureChannel(stream, tls: tls, buffers: core.buffers)
                [UInt8]().withUnsafeBytes { advance($0) }
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
        if let judgement { PendingJudgements.of(core.reactor).forget(judgement) }
        stream.observer = nil
        stream.closeKnowingAddresses()
    }

    // MARK: Readiness

    func streamBecameReadable(_ stream: any ByteStream) { read() }

    func streamBecameWritable(_ stream: any ByteStream) { sendOutgoing() }

    private func read() {
        while !isDone, question == nil, judgement == nil, !hasEnded, stream.hasPendingInput {
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
                held.append(contentsOf: input[offset...])
                return complete(tls)
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

    /// Judges the server; `false` when a question was asked and the answer comes later.
    private func judge(_ chain: CertificateChain, _ tls: TLSSession) -> Bool {
        let policy = TrustPolicy(host: HostName(origin.matchingHost))
        if waits(for: .peer(chain, policy)) { return false }
        return evaluate(chain, policy, tls)
    }

    /// Supplies the verdict of the session's evaluator; `false` when that needs files, and comes later.
    private func evaluate(_ chain: CertificateChain, _ policy: TrustPolicy, _ tls: TLSSession) -> Bool {
        // As in `Connector.start`: else all of the configuration is copied.
        let core = core
        let trust = core.configuration.trust
        do throws(FilesNeeded) {
            supply(try trust.evaluateAtOnce(chain, policy: policy), to: tls)
            return true
        } catch {
            judgeElsewhere(on: core.judges) {
                .verdict(trust.evaluate(chain, policy: policy))
            } then: { [self] judgement in
                if case .verdict(let verdict) = judgement { supply(verdict, to: tls) }
                goOn()
            }
            return false
        }
    }

    private func supply(_ verdict: TrustVerdict, to tls: TLSSession) {
        switch verdict {
        case .trusted(let peer): tls.supply(peer)
        case .refused(let failure): tls.refuse(failure)
        }
    }

    /// Lets a thread judge, or choose, that may wait; nothing is read until it has.
    private func judgeElsewhere(
        on lane: BlockingLane, _ judge: @escaping @Sendable () -> PendingJudgements.Judgement,
        then goOn: @escaping (PendingJudgements.Judgement) -> Void
    ) {
        let id = PendingJudgements.of(core.reactor).add { [self] found in
            judgement = nil
            if !isDone { goOn(found) }
        }
        judgement = id
        lane.run { [loop = core.reactor.loop] in PendingJudgements.deliver(judge(), to: id, on: loop) }
    }

    /// The handshake is over: what is left is what the session demands of connections, whatever a delegate has said of
    /// the server (B3.77).
    private func complete(_ tls: TLSSession) {
        // H1.12
        if let agreed = tls.negotiated, agreed.alpn == "h2", !agreed.mayCarryHTTP2 {
            return finish(
                .failure(
                    .protocolViolation(
                        reason: "HTTP/2 was chosen together with \(agreed.cipherName), which it forbids", alert: nil)))
        }
        let core = core
        guard let security = core.configuration.transportSecurity, let peer = tls.peer else {
            return finish(lacking: nil)
        }
        let (host, trust) = (origin.matchingHost, core.configuration.trust)
        let violation = { @Sendable (mayWait: Bool) throws(FilesNeeded) -> String? in
            try security.violation(host: host, peer: peer, evaluator: trust, mayWait: mayWait)
        }
        do throws(FilesNeeded) {
            finish(lacking: try violation(false))
        } catch {
            judgeElsewhere(on: core.judges) {
                do throws(FilesNeeded) {
                    return .violation(try violation(true))
                } catch {
                    return .violation("the certificate of \(host) was not judged.")
                }
            } then: { [self] judgement in
                if case .violation(let violation) = judgement { finish(lacking: violation) }
            }
        }
    }

    private func finish(lacking violation: String?) {
        if let violation { return finish(.failure(.demandNotMet(violation))) }
        let core = core
        guard core.configuration.trust.learns, let peer = tls?.peer else { return handOut() }
        let (trust, policy) = (core.configuration.trust, TrustPolicy(host: HostName(origin.matchingHost)))
        do throws(FilesNeeded) {
            finish(refusing: try trust.learn(of: peer, policy: policy, mayWait: false))
        } catch {
            judgeElsewhere(on: core.judges) {
                do throws(FilesNeeded) {
                    return .learnt(try trust.learn(of: peer, policy: policy, mayWait: true))
                } catch {
                    return .learnt(TrustFailure(.other("it could not be remembered"), peer.presented.leaf))
                }
            } then: { [self] judgement in
                if case .learnt(let failure) = judgement { finish(refusing: failure) }
            }
        }
    }

    /// The end for a server that meets every demand, and is remembered where the session's evaluator does that (B3.88).
    private func finish(refusing failure: TrustFailure?) {
        if let failure { return finish(.failure(.untrusted(failure))) }
        handOut()
    }

    private func handOut() {
        guard let channel else { return }
        channel.hold(held)
        // The last message waits in the session: the first request leaves together with it.
        finish(.success(channel))
    }

    /// Supplies a client certificate; `false` when it is looked for elsewhere, or a question was asked, and the answer
    /// comes later.
    private func identify(_ issuers: [[UInt8]], _ tls: TLSSession) -> Bool {
        // As in `Connector.start`: else all of the configuration is copied.
        let core = core
        guard let chooser = core.configuration.identity else { return show(nil, to: issuers, tls) }
        let (host, port, seeker) = (HostName(origin.matchingHost), origin.port, seeker)
        let choose = { @Sendable () -> Identity? in
            chooser.identity(for: host, port: port, of: seeker, acceptableIssuers: issuers)
        }
        guard chooser.mayWait else { return show(choose(), to: issuers, tls) }
        judgeElsewhere(on: core.choosers) {
            .identity(choose())
        } then: { [self] judgement in
            guard case .identity(let usual) = judgement, show(usual, to: issuers, tls) else { return }
            goOn()
        }
        return false
    }

    /// Supplies what is shown by default; `false` when a question was asked and the answer comes later.
    private func show(_ usual: Identity?, to issuers: [[UInt8]], _ tls: TLSSession) -> Bool {
        if waits(for: .identity(acceptableIssuers: issuers, usual: usual)) { return false }
        tls.supply(identity: usual)
        return true
    }

    private func waits(for asked: Question) -> Bool {
        question = asked
        if ask(asked) { return true }
        question = nil
        return false
    }

    /// Goes on with what was said to the open question; `nil` stands for what is done without a question.
    ///
    /// An answer to another kind of question counts as a refusal.
    func answer(_ answer: QuestionAnswer?) {
        guard let question, let tls, !isDone else { return }
        self.question = nil
        switch (question, answer) {
        case (.peer(let chain, let policy), nil), (.peer(let chain, let policy), .peer(.evaluate)):
            guard evaluate(chain, policy, tls) else { return }
        case (.peer(let chain, _), .peer(.accept)):
            tls.supply(.vouchedForByApplication(chain))
        case (.peer, .peer(.refuse(let failure))):
            tls.refuse(failure)
        case (.peer(let chain, _), .peer(.cancel)), (.peer(let chain, _), .identity), (.peer(let chain, _), .proxy):
            tls.refuse(TrustFailure(.other("no delegate has accepted it"), chain.leaf))
        case (.identity(_, let usual), nil):
            tls.supply(identity: usual)
        case (.identity, .identity(.show(let identity))):
            tls.supply(identity: identity)
        case (.identity, .identity(.cancel)), (.identity, .peer), (.identity, .proxy):
            tls.supply(identity: nil)
        }
        goOn()
    }

    // MARK: Output and end

    /// A broken socket is noticed by the next read, which may still bring the server's alert.
    private func sendOutgoing() { channel?.sendOutgoing() }

    private func finish(_ result: Result<SecureChannel, TLSError>) {
        guard !isDone else { return }
        isDone = true
        stream.observer = nil
        if case .failure = result { stream.closeKnowingAddresses() }
        completion(result)
    }
}
