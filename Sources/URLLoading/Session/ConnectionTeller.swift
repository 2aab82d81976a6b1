// Tells a session's hooks what becomes of its connections.
//
// Must not know: tasks.

import Foundation
import URLLoadingEngine
import URLLoadingTLS

/// The engine's steps of connections as the program's hooks are told them.
struct ConnectionTeller: Sendable {
    private let each: [HeldHooks]

    init(_ shared: SharedHooks) {
        each = shared.each
    }

    func tell(_ step: ConnectionStep, ofShard shard: Int) {
        for held in each { tell(step, shard, to: held) }
    }

    private func tell(_ step: ConnectionStep, _ shard: Int, to held: HeldHooks) {
        func id(_ name: ConnectionName) -> URLSession.TraceHooks.ConnectionID { .init(name, ofShard: shard) }
        switch step {
        case .lookupStarted(let host): held.hooks.lookupStarted?(host)
        case .lookupFinished(let host, let addresses):
            held.hooks.lookupFinished?(host, addresses?.map(\.host))
        case .connectStarted(let name, let address): held.hooks.connectStarted?(id(name), address.description)
        case .connectFinished(let name, let address, let error):
            held.hooks.connectFinished?(id(name), address.description, error.map { UnderlyingError.system($0) })
        case .tunnelFinished(let name, let proxy, let failure):
            held.hooks.tunnelFinished?(
                id(name), "\(proxy)", failure.map { ErrorMapping.urlError(.proxy($0), url: nil) })
        case .handshakeFinished(let name, .success(let negotiated)):
            if let negotiated { held.hooks.handshakeFinished?(id(name), .success(.init(negotiated))) }
        case .handshakeFinished(let name, .failure(let error)):
            held.hooks.handshakeFinished?(id(name), .failure(UnderlyingError.tls(error)))
        case .opened(let name, let spoken): held.hooks.connectionOpened?(id(name), spoken.name)
        case .detached: break
        case .closed(let name): held.hooks.connectionClosed?(id(name))
        }
    }
}

extension URLSession.TraceHooks.Handshake {
    fileprivate init(_ negotiated: Negotiated) {
        self.init(
            version: tls_protocol_version_t(rawValue: negotiated.version), cipherSuite: negotiated.cipherName,
            applicationProtocol: negotiated.alpn, isResumed: negotiated.resumed)
    }
}
