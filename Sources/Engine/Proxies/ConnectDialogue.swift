// Asks an HTTP proxy for a tunnel, as often as it takes on one connection: a proxy that answers 407 and keeps the
// connection is asked again on it, as schemes that authenticate the connection need (B2.100). While an answer to its
// challenge is awaited, the rest of the 407 is read, and its end noticed.
//
// Must not know: where credentials come from, how connections are opened.

import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingWire

/// Runs `ConnectExchange`s.
final class ConnectDialogue: ProxyDialogue {
    /// What came of the last CONNECT.
    enum Outcome {
        /// The tunnel stands; with the head that says so.
        case open(any ByteStream, ResponseHead?)
        /// 407: go on with `ask(authorization:)`, or cancel.
        case challenged(ResponseHead)
        /// The proxy has to be asked on a new connection: this one did not live as long as the challenge.
        case connectionGone
        /// There will be no tunnel.
        case failed(ProxyFailure.Reason)
    }

    private enum State {
        /// CONNECT is out, and no final answer is here.
        case waiting
        /// The rest of a 407 is to come; then CONNECT goes out with this authorization.
        case draining(next: String?)
        /// The connection is ready for another CONNECT.
        case ready
        /// The connection is of no use any more.
        case useless
    }

    private let target: String
    private let completion: (Outcome) -> Void
    private var exchange = ConnectExchange()
    private var state = State.ready
    /// Whether the proxy has answered on this connection before.
    private var hasServed = false

    init(target: String, stream: any ByteStream, core: LoopCore, completion: @escaping (Outcome) -> Void) {
        self.target = target
        self.completion = completion
        super.init(stream: stream, core: core)
    }

    /// Sends CONNECT, at once or behind the rest of the last answer.
    func ask(authorization: String?) {
        switch state {
        case .ready: sendConnect(authorization)
        case .draining: state = .draining(next: authorization)
        case .useless: give(up: .connectionGone)
        case .waiting: break
        }
    }

    private func sendConnect(_ authorization: String?) {
        let bytes: [UInt8]
        do {
            bytes = try ConnectExchange.request(
                target: target, userAgent: core.configuration.connectUserAgent, authorization: authorization)
        } catch {
            return give(up: .failed(.unsendable(error)))
        }
        exchange = ConnectExchange()
        state = .waiting
        send(bytes)
        read()
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while !isOver {
            switch state {
            case .ready, .useless:
                // RFC 9112 §9.2: these bytes answer no request.
                state = .useless
                return
            case .waiting, .draining:
                break
            }
            do {
                switch try exchange.next(bytes.bytes, offset: &offset) {
                case .needMore:
                    return
                case .open:
                    let stream = leave(with: UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                    completion(.open(stream, exchange.opening))
                case .refused(let head) where head.status == 407:
                    hasServed = true
                    state = .draining(next: nil)
                    completion(.challenged(head))
                case .refused(let head):
                    give(up: .failed(.refused(head)))
                case .ended(let isReusable):
                    return drained(isReusable: isReusable)
                }
            } catch {
                failed(error)
                return
            }
        }
    }

    override func ended(_ error: SystemError?) {
        switch state {
        case .waiting where hasServed && !exchange.hasBegun:
            // It closed the connection while the challenge was being thought about.
            give(up: .connectionGone)
        case .waiting:
            give(up: .failed(reason(error)))
        case .draining, .ready, .useless:
            drained(isReusable: false)
        }
    }

    /// The rest of a 407 has come, or never will.
    private func drained(isReusable: Bool) {
        var next: String?
        if case .draining(let authorization) = state { next = authorization }
        state = isReusable ? .ready : .useless
        if let next { ask(authorization: next) }
    }

    private func failed(_ error: WireError) {
        if case .draining = state { return drained(isReusable: false) }
        give(up: .failed(.garbage(error)))
    }

    private func give(up outcome: Outcome) {
        cancel()
        completion(outcome)
    }
}
