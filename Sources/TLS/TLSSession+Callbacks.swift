// What OpenSSL tells a session, always within one of the session's own calls. Nothing here may call back into OpenSSL's
// state machine.

import CURLLoadingOpenSSL
import URLLoadingTrust

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
        case .deferred: return 1
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
        if waitsForStatus {
            verdict = .deferred(chain)
            return 1
        }
        verdict = .asked(chain)
        return shim_ssl_retry_verify(ssl)
    }

    /// An extension of the server's hello, or of its certificate in TLS 1.3, was read.
    func extensionArrived(_ number: Int32) {
        if number == TLSEXT_TYPE_status_request { statusWasAnnounced = true }
    }

    /// Before TLS 1.3 the response is a message behind the certificates, which a server announces in its hello and may
    /// leave away nevertheless (RFC 6066 section 8).
    private var waitsForStatus: Bool {
        statusWasAnnounced && SSL_version(ssl) < Int32(TLSVersion.v13.rawValue)
    }

    /// What the server staples has come, or will not come any more: a deferred verdict is asked for.
    ///
    /// Where the server's first flight is over OpenSSL writes our answer next, and nothing can stop it; the answer
    /// waits with us. Were it sent, a server that is not believed would see a handshake that succeeds.
    func statusIsKnown() {
        guard case .deferred(let chain) = verdict else { return }
        let judged = CertificateChain(chain.certificates, stapling: stapling()) ?? chain
        presentedChain = judged
        verdict = .asked(judged)
        isFlightHeld = true
    }

    /// What the server has said about revocation, as far as it has come.
    private func stapling() -> CertificateChain.Stapling {
        guard context.server == nil, !waitsForStatus || verdict.isDeferred else { return .unknown }
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
        // The server is judged first; whatever it staples stood before its request (RFC 5246 section 7.3).
        statusIsKnown()
        if case .asked = verdict { return -1 }
        let names = SSL_get0_peer_CA_list(ssl)
        let issuers = (0..<shim_names_count(names)).compactMap { index in
            shim_names_get(names, index).map { name in OpenSSLEncoding.bytes { i2d_X509_NAME(name, $0) } }
        }
        answer = .asked(issuers)
        return -1
    }

    /// Whether the reference to the session was taken over.
    func ticketArrived(_ session: OpaquePointer) -> Bool {
        guard let tickets else { return false }
        var length = 0
        SSL_SESSION_get0_ticket(session, nil, &length)
        guard length <= Self.longestTicket else { return false }
        let object = OpenSSLObject.tlsTicket(owning: session)
        if case .open = stage {
            tickets.put(ticket(object))
        } else {
            heldTickets.append(object)
        }
        return true
    }

    /// Picked by feel: what servers send has some hundred bytes. With one of nearly 64 KiB the extensions of a
    /// ClientHello do not fit into their two bytes of length (RFC 8446 §4.1.2), and no handshake can use it.
    private static var longestTicket: Int { 16 << 10 }

    /// What the session hands on to those that resume it.
    func ticket(_ object: OpenSSLObject) -> Ticket {
        Ticket(object, stapling: knownStapling, hasIdentity: hasIdentity, peer: peer)
    }

    /// What is known of revocation now, which tickets carry on.
    var knownStapling: CertificateChain.Stapling { presentedChain?.stapling ?? resumedStapling }

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

    /// A message of TLS itself has come.
    func messageArrived() {
        transport.pointee.messagesMet += 1
        transport.pointee.messagesInARow += 1
    }

    /// A message of TLS itself was written: behind the handshake it answers a change of the peer's keys. A peer that
    /// reads none of them could have us keep any number (B3.87).
    func messageWritten() {
        transport.pointee.messagesUnsent += 1
        guard transport.pointee.messagesUnsent > Self.mostMessagesUnsent, case .open = stage else { return }
        stage = .failed(.protocolViolation(reason: "new keys come without end, and no answer is read", alert: nil))
    }

    /// Picked by feel: some thirty kilobytes.
    private static var mostMessagesUnsent: Int { 1_000 }

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
