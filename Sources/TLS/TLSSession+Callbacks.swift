// What OpenSSL tells a session, always within one of the session's own calls. Nothing here may call back into OpenSSL's
// state machine.

import COpenSSL
import Trust

extension TLSSession {
    /// The session that a callback was called for.
    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
        guard let ssl, let stored = SSL_get_ex_data(ssl, index) else { return nil }
        return Unmanaged<TLSSession>.fromOpaque(stored).takeUnretainedValue()
    }

    /// 1 accepts, or waits for the verdict when the retry mark was set; 0 refuses.
    func peerCertificatesArrived(_ store: OpaquePointer) -> Int32 {
        switch verdict {
        case .unknown: break
        case .asked: return shim_ssl_retry_verify(ssl)
        case .trusted: return 1
        case .refused(let failure):
            X509_STORE_CTX_set_error(store, TLSRefusals.code(for: failure.reason))
            return 0
        }
        let sent = X509_STORE_CTX_get0_untrusted(store)
        let certificates = (0..<shim_certs_count(sent)).compactMap { index in
            shim_certs_get(sent, index).map(Certificate.init(retaining:))
        }
        guard let chain = CertificateChain(certificates, stapling: stapling()) else { return 0 }
        presentedChain = chain
        if let server = context.server { return judge(chain, by: server.evaluator, store) }
        verdict = .asked(chain)
        return shim_ssl_retry_verify(ssl)
    }

    /// What the server has said about revocation. TLS 1.2 lets it speak only after its certificate was judged, so there
    /// the answer is not known.
    private func stapling() -> CertificateChain.Stapling {
        guard context.server == nil, SSL_version(ssl) >= Int32(TLSVersion.v13.rawValue) else { return .unknown }
        var start: UnsafePointer<UInt8>?
        let count = shim_ssl_stapled(ssl, &start)
        guard let start, count > 0 else { return .absent }
        return .response(Array(UnsafeBufferPointer(start: start, count: count)))
    }

    /// Whether a response was stapled for the client.
    func stapleResponse() -> Bool {
        guard let response = context.server?.stapledResponse else { return false }
        return shim_ssl_staple(ssl, response, response.count) == 1
    }

    /// Servers cannot wait for a verdict, so theirs is found at once.
    private func judge(_ chain: CertificateChain, by evaluator: any TrustEvaluator, _ store: OpaquePointer) -> Int32 {
        switch evaluator.evaluate(chain, policy: TrustPolicy(host: nil, purpose: .clientAuthentication)) {
        case .trusted(let verified):
            peer = verified
            verdict = .trusted
            return 1
        case .refused(let failure):
            verdict = .refused(failure)
            X509_STORE_CTX_set_error(store, TLSRefusals.code(for: failure.reason))
            return 0
        }
    }

    /// 1 goes on, -1 waits for the identity.
    func certificateRequested() -> Int32 {
        switch answer {
        case .given, .nothing: return 1
        case .asked: return -1
        case .notAsked: break
        }
        let names = SSL_get0_peer_CA_list(ssl)
        let issuers = (0..<shim_names_count(names)).compactMap { index in
            shim_names_get(names, index).map(Self.encoded)
        }
        answer = .asked(issuers)
        return -1
    }

    private static func encoded(_ name: OpaquePointer) -> [UInt8] {
        let length = i2d_X509_NAME(name, nil)
        guard length > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
            var cursor = buffer.baseAddress
            count = Int(max(0, i2d_X509_NAME(name, &cursor)))
        }
    }

    /// Whether the reference to the session was taken over.
    func ticketArrived(_ session: OpaquePointer) -> Bool {
        guard let tickets else { return false }
        let ticket = Ticket(owning: session, stapling: presentedChain?.stapling ?? resumedStapling)
        if case .open = stage {
            tickets.put(ticket, key: ticketKey)
        } else {
            heldTickets.append(ticket)
        }
        return true
    }

    /// Notes fatal alerts, and the warning with which OpenSSL itself turns renegotiation down.
    func alertPassed(written: Bool, level: UInt8, code: UInt8) {
        let isFatal = level == UInt8(SSL3_AL_FATAL)
        switch (written, isFatal) {
        case (true, true): transport.pointee.alertSent = code
        case (false, true): transport.pointee.alertReceived = code
        case (true, false):
            if code == UInt8(SSL_AD_NO_RENEGOTIATION) { transport.pointee.renegotiationAsked = true }
        case (false, false): break
        }
    }

    /// The server's choice among what the client offers; nil refuses the handshake.
    func protocolSelected(from offer: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        guard let server = context.server else { return nil }
        if let name = server.protocolWithoutOffer {
            forcedProtocol?.deallocate()
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: name.count)
            _ = copy.initialize(from: name)
            forcedProtocol = copy
            return UnsafeBufferPointer(copy)
        }
        var offered: [UnsafeBufferPointer<UInt8>] = []
        var rest = offer[...]
        while let length = rest.popFirst(), length > 0, rest.count >= Int(length) {
            offered.append(UnsafeBufferPointer(rebasing: rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        for name in server.protocols {
            if let match = offered.first(where: { $0.elementsEqual(name) }) { return match }
        }
        return nil
    }
}
