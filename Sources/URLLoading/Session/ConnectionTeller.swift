// Tells a session's hooks what becomes of its connections.
//
// Must not know: tasks.

import Foundation
import URLLoadingEngine
import URLLoadingTLS

/// The engine's steps of connections as the program's hooks are told them.
struct ConnectionTeller: Sendable {
    private let hooks: [URLSession.TraceHooks]

    init(_ shared: SharedHooks) {
        hooks = shared.all
    }

    func tell(_ step: ConnectionStep, ofShard shard: Int) {
        for hooks in hooks { tell(step, shard, to: hooks) }
    }

    private func tell(_ step: ConnectionStep, _ shard: Int, to hooks: URLSession.TraceHooks) {
        func id(_ name: ConnectionName) -> URLSession.TraceHooks.ConnectionID { .init(name, ofShard: shard) }
        switch step {
        case .lookupStarted(let host): hooks.lookupStarted?(host)
        case .lookupFinished(let host, let addresses):
            hooks.lookupFinished?(host, addresses?.map(\.host))
        case .connectStarted(let name, let address): hooks.connectStarted?(id(name), address.description)
        case .connectFinished(let name, let address, let error):
            hooks.connectFinished?(id(name), address.description, error.map { UnderlyingError.system($0) })
        case .tunnelFinished(let name, let proxy, let failure):
            hooks.tunnelFinished?(id(name), "\(proxy)", failure.map { ErrorMapping.urlError(.proxy($0), url: nil) })
        case .handshakeFinished(let name, .success(let negotiated)):
            if let negotiated { hooks.handshakeFinished?(id(name), .success(.init(negotiated))) }
        case .handshakeFinished(let name, .failure(let error)):
            hooks.handshakeFinished?(id(name), .failure(UnderlyingError.tls(error)))
        case .opened(let name, let spoken): hooks.connectionOpened?(id(name), spoken.name)
        case .detached: break
        case .closed(let name): hooks.connectionClosed?(id(name))
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
