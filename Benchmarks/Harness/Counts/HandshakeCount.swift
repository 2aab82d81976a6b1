// A whole TLS 1.3 handshake in memory, both sides, with the server judged by our evaluator or by OpenSSL's own
// verification: what the library's own paths cost. Nothing is remembered between handshakes.

import CURLLoadingOpenSSL
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

/// Handshakes, and which evaluator judges the server in them.
struct HandshakeCount {
    private let root: Certificate
    private let clients: TLSContext
    private let servers: TLSContext

    init() throws {
        let authority = try CertificateFactory.root()
        let leaf = try authority.issue(.authority("Intermediate")).issue(.server("example.test"))
        root = authority.certificate
        clients = try TLSContext(client: TLSClientOptions())
        servers = try TLSContext(server: TLSServerOptions(identity: leaf.identity, tickets: 0))
    }

    /// So many handshakes.
    func run(times: Int, byOpenSSL: Bool) throws {
        let store = byOpenSSL ? X509_STORE_new() : nil
        defer { X509_STORE_free(store) }
        if let store { X509_STORE_add_cert(store, root.pointer) }
        for _ in 0..<times {
            let evaluator: any TrustEvaluator =
                store.map { OpenSSLEvaluator(store: $0) } ?? AnchorsEvaluator(anchors: [root])
            try shakeHands(evaluator)
        }
    }

    private func shakeHands(_ evaluator: any TrustEvaluator) throws {
        let client = try TLSSession(client: clients, serverName: "example.test")
        let server = try TLSSession(server: servers)
        var (isClientDone, isServerDone) = (false, false)
        var toServer: [UInt8] = []
        while !isClientDone || !isServerDone {
            isClientDone = try step(client, Self.taken(from: server), evaluator)
            toServer = Self.taken(from: client)
            isServerDone = try step(server, toServer, evaluator)
            if toServer.isEmpty, !isServerDone { throw HarnessError("a handshake stood still") }
        }
    }

    /// Whether the handshake of this side is over.
    private func step(_ session: TLSSession, _ input: [UInt8], _ evaluator: any TrustEvaluator) throws -> Bool {
        var offset = 0
        while true {
            switch input.withUnsafeBytes({ session.handshake($0, offset: &offset) }) {
            case .needInput: return false
            case .finished: return true
            case .needIdentity: session.supply(identity: nil)
            case .failed(let error): throw HarnessError("a handshake failed: \(error)")
            case .needVerdict(let chain):
                switch evaluator.evaluate(chain, policy: TrustPolicy(host: HostName("example.test"))) {
                case .trusted(let peer): session.supply(peer)
                case .refused(let failure): throw HarnessError("a server was refused: \(failure)")
                }
            }
        }
    }

    private static func taken(from session: TLSSession) -> [UInt8] {
        let bytes = session.withOutgoing { Array($0) }
        session.outgoingSent(bytes.count)
        return bytes
    }
}

/// OpenSSL's verification, as its clients have it.
private struct OpenSSLEvaluator: TrustEvaluator {
    // Owner: `HandshakeCount.run`, which outlives every call.
    nonisolated(unsafe) let store: OpaquePointer

    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        let untrusted = shim_certs_new()
        let context = X509_STORE_CTX_new()
        defer {
            X509_STORE_CTX_free(context)
            shim_certs_free(untrusted)
        }
        for certificate in chain.certificates.dropFirst() { shim_certs_push(untrusted, certificate.pointer) }
        guard X509_STORE_CTX_init(context, store, chain.leaf.pointer, untrusted) == 1,
            case .dns(let name)? = policy.host
        else { return .refused(TrustFailure(.other("OpenSSL has no room for a verification"), chain.leaf)) }
        X509_STORE_CTX_set_default(context, "ssl_server")
        X509_VERIFY_PARAM_set1_host(X509_STORE_CTX_get0_param(context), name, 0)
        return X509_verify_cert(context) == 1
            ? .trusted(.vouchedForByApplication(chain))
            : .refused(TrustFailure(.other("OpenSSL refuses it"), chain.leaf))
    }
}
