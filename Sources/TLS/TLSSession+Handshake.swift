// A session's way to its end of the handshake: driving OpenSSL, and the questions that stop it. RFC 8446 section 4, RFC
// 5246 section 7.

import CURLLoadingOpenSSL
import URLLoadingTrust

extension TLSSession {
    /// Goes on with the handshake: reads `input` from `offset` in place and moves `offset` past what was used.
    package func handshake(_ input: UnsafeRawBufferPointer, offset: inout Int) -> HandshakeStep {
        switch stage {
        case .failed(let error): return .failed(error)
        case .open: return .finished
        case .shakingHands: break
        }
        if let question = openQuestion { return question }
        if isFlightHeld, case .refused(let failure) = verdict { return turnAway(failure) }
        // A question asked after the last message of a resumed handshake leaves nothing for OpenSSL to do.
        if SSL_is_init_finished(ssl) == 1 { return finishHandshake() }
        if !startsLikeTLS(input, offset) { return fail(.notTLS) }
        OpenSSLErrors.clear()
        transport.pointee.begin(input, from: offset)
        let result = SSL_do_handshake(ssl)
        offset = input.count - transport.pointee.end()
        if transport.pointee.renegotiationAsked { return fail(.renegotiationRefused) }
        if result == 1 { return finishHandshake() }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ:
            if let question = openQuestion { return question }
            releaseBuffers()
            return .needInput
        case SSL_ERROR_WANT_RETRY_VERIFY, SSL_ERROR_WANT_X509_LOOKUP:
            return openQuestion ?? fail(.internalFailure("OpenSSL waits for an answer to no question"))
        default: return fail(handshakeError())
        }
    }

    /// Answers `needVerdict`: the peer is believed.
    package func supply(_ peer: VerifiedPeer) {
        guard case .asked(let chain) = verdict else { return }
        guard peer.presented.leaf == chain.leaf else {
            stage = .failed(.internalFailure("the verdict is about another peer's certificate"))
            return
        }
        self.peer = peer
        verdict = .trusted
        isFlightHeld = false
    }

    /// Answers `needVerdict`: the peer is not believed.
    ///
    /// The next step of the handshake queues an alert and fails with `untrusted`.
    package func refuse(_ failure: TrustFailure) {
        guard case .asked(let chain) = verdict else { return }
        var failure = failure
        failure.presented = chain
        verdict = .refused(failure)
    }

    /// Answers `needIdentity`; nil goes on without a certificate.
    package func supply(identity: Identity?) {
        guard case .asked = answer else { return }
        guard let identity else {
            answer = .nothing
            return
        }
        OpenSSLErrors.clear()
        let certificates = identity.chain.certificates
        let chain = shim_certs_new()
        defer { shim_certs_free(chain) }
        for certificate in certificates.dropFirst() { shim_certs_push(chain, certificate.pointer) }
        if SSL_use_cert_and_key(ssl, identity.chain.leaf.pointer, identity.keyPointer, chain, 1) == 1 {
            answer = .given(identity)
        } else {
            let (name, reason) = (identity.chain.leaf.displayName, OpenSSLErrors.takeText())
            stage = .failed(.clientCertificateUnusable(name: name, reason: reason))
        }
    }

    /// What the server was shown in this handshake; nil also where it did not ask.
    package var identityShown: Identity? {
        if case .given(let identity) = answer { identity } else { nil }
    }

    /// The name that the client has asked for; for servers.
    package var serverName: String? {
        SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
    }

    private var openQuestion: HandshakeStep? {
        if case .asked(let chain) = verdict { return .needVerdict(chain) }
        if case .asked(let issuers) = answer { return .needIdentity(acceptableIssuers: issuers) }
        return nil
    }

    /// RFC 8446 section 5.1: the first record is a handshake message or an alert; text of a plain server is neither.
    private func startsLikeTLS(_ input: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
        guard !sawFirstByte, offset >= 0, offset < input.count else { return true }
        sawFirstByte = true
        return input[offset] == 22 || input[offset] == 21
    }

    /// The last checks: a resumed session's peer is judged anew, and a protocol that was not offered is refused.
    private func finishHandshake() -> HandshakeStep {
        let isServer = context.server != nil
        if isServer {
            acceptResumedClient()
        } else if presentedChain == nil {
            guard let chain = resumedChain() else {
                return fail(.internalFailure("the resumed session holds no certificate"))
            }
            presentedChain = chain
            verdict = .asked(chain)
            return .needVerdict(chain)
        }
        if case .refused(let failure) = verdict {
            tickets?.removeAll()
            sendClose()
            return fail(.untrusted(failure))
        }
        guard isServer || peer != nil else { return fail(.internalFailure("the peer was not verified")) }
        let selected = selectedProtocol()
        if !isServer, let selected, !context.offeredProtocols.contains(selected) {
            sendClose()
            return fail(.alpnMismatch(selected))
        }
        open(selected)
        return .finished
    }

    private func open(_ selected: String?) {
        let cipher = SSL_get_current_cipher(ssl)
        negotiated = Negotiated(
            version: UInt16(clamping: SSL_version(ssl)), cipher: SSL_CIPHER_get_protocol_id(cipher),
            cipherName: SSL_CIPHER_standard_name(cipher).map { String(cString: $0) } ?? "",
            alpn: selected, resumed: isResumed)
        stage = .open
        transport.pointee.messagesInARow = 0
        hasIdentity = answer.isGiven || isResumed && resumedIdentity
        for object in heldTickets { tickets?.put(ticket(object)) }
        heldTickets = []
        releaseBuffers()
    }

    /// Whether an earlier session goes on, as far as the handshake has got.
    package var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    private func selectedProtocol() -> String? {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &start, &count)
        guard let start, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    private func resumedChain() -> CertificateChain? {
        let sent = SSL_get_peer_cert_chain(ssl)
        let certificates = (0..<shim_certs_count(sent)).compactMap { index in
            shim_certs_get(sent, index).map(Certificate.init(retaining:))
        }
        return CertificateChain(certificates, stapling: resumedStapling)
    }

    /// A ticket that this server made proves that the client's certificate was judged when it was made.
    private func acceptResumedClient() {
        guard context.server?.asksForCertificate == true, peer == nil, SSL_session_reused(ssl) == 1,
            let certificate = SSL_get1_peer_certificate(ssl),
            let chain = CertificateChain([Certificate(owning: .certificate(owning: certificate))])
        else { return }
        presentedChain = chain
        peer = .vouchedForByApplication(chain)
    }

    /// Ends a handshake whose verdict was deferred: in place of our flight the server gets an alert, which is not yet
    /// encrypted because the server was never told to expect that (RFC 5246 section 7.1).
    private func turnAway(_ failure: TrustFailure) -> HandshakeStep {
        let alert = TLSRefusals.alert(for: failure.reason)
        let version = UInt16(clamping: SSL_version(ssl))
        transport.pointee.replaceOutgoing(with: [
            21, UInt8(version >> 8), UInt8(version & 0xFF), 0, 2, UInt8(SSL3_AL_FATAL), alert,
        ])
        transport.pointee.alertSent = alert
        isFlightHeld = false
        return fail(.untrusted(failure))
    }

    private func handshakeError() -> TLSError {
        if case .refused(let failure) = verdict {
            OpenSSLErrors.clear()
            return .untrusted(failure)
        }
        return TLSFailures.take(circumstances(isHandshake: true))
    }

    private func fail(_ error: TLSError) -> HandshakeStep {
        stage = .failed(error)
        OpenSSLErrors.clear()
        return .failed(error)
    }

    /// What OpenSSL's errors are read with.
    func circumstances(isHandshake: Bool) -> FailureCircumstances {
        var facts = FailureCircumstances(
            isHandshake: isHandshake, certificateWasRequested: true, certificateWasGiven: false,
            alertSent: transport.pointee.alertSent, alertReceived: transport.pointee.alertReceived,
            isOutOfMemory: transport.pointee.isExhausted)
        switch answer {
        case .notAsked: facts.certificateWasRequested = false
        case .given: facts.certificateWasGiven = true
        case .asked, .nothing: break
        }
        return facts
    }
}
