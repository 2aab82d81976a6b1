// Asks a SOCKS proxy for a tunnel, on one connection.
//
// Must not know: how names are looked up, where the credentials are from, what is done after a failure.

import URLLoadingPolicy
import URLLoadingSystem

/// Runs a `SOCKSExchange`.
final class SOCKSDialogue: ProxyDialogue {
    private var exchange: SOCKSExchange
    private let completion: (Result<any ByteStream, ProxyFailure.Reason>) -> Void

    init(
        _ exchange: SOCKSExchange, stream: any ByteStream, core: LoopCore,
        completion: @escaping (Result<any ByteStream, ProxyFailure.Reason>) -> Void
    ) {
        self.exchange = exchange
        self.completion = completion
        super.init(stream: stream, core: core)
    }

    /// Whether the proxy has looked at the password, and found it right.
    var hasCheckedPassword: Bool { exchange.hasCheckedPassword }

    /// Sends the first message.
    func start() {
        switch exchange.start() {
        case .send(let bytes):
            send(bytes)
            read()
        case .failed(let failure): fail(.socks(failure))
        case .needMore, .open: break
        }
    }

    override func received(_ bytes: UnsafeRawBufferPointer) {
        var offset = 0
        while !isOver {
            switch exchange.next(bytes, offset: &offset) {
            case .needMore: return
            case .send(let answer): send(answer)
            case .open: completion(.success(leave(with: UnsafeRawBufferPointer(rebasing: bytes[offset...]))))
            case .failed(let failure): fail(.socks(failure))
            }
        }
    }

    override func ended(_ error: SystemError?) {
        fail(reason(error))
    }

    private func fail(_ reason: ProxyFailure.Reason) {
        cancel()
        completion(.failure(reason))
    }
}
