// One TLS session over buffers: ciphertext in, plaintext out, and back. It stops the handshake until the peer has been
// judged and until a client certificate was chosen; no application byte passes before. Confined to one loop. Does not know
// sockets, HTTP or names beyond the one it puts into SNI. TLS 1.2 (RFC 5246) and 1.3 (RFC 8446) by OpenSSL.
//
// Life: handshake until it answers `finished` (answering its questions by `supply` and `refuse`), then `decrypt` and
// `encrypt`, then `close`. Whatever was called, look at `hasOutgoing` afterwards: alerts, tickets and key updates are
// answered from within.

import COpenSSL
import Trust

/// A client's or server's side of a TLS connection.
package final class TLSSession {
    /// Where the handshake stands.
    package enum HandshakeStep: Sendable {
        /// All input was used and more is needed.
        case needInput
        /// The peer has shown these certificates: call `supply(_:)` or `refuse(_:)`, then `handshake` again.
        case needVerdict(CertificateChain)
        /// The server asks for a certificate of one of these issuers (encoded names; none means any): call
        /// `supply(identity:)`, then `handshake` again.
        case needIdentity(acceptableIssuers: [[UInt8]])
        /// Application data can flow; input beyond `offset` belongs to `decrypt`.
        case finished
        /// It is over; send what is outgoing, an alert perhaps, and close.
        case failed(TLSError)
    }

    /// What became of ciphertext.
    package enum ReadStep: Sendable {
        /// So many bytes were put into the output; call again.
        case plaintext(Int)
        /// All input was used and more is needed.
        case needInput
        /// The peer has said that nothing more follows (close_notify).
        case closed
        /// It is over; send what is outgoing, an alert perhaps, and close.
        case failed(TLSError)
    }

    /// What was agreed on; nil until the handshake has finished.
    package private(set) var negotiated: Negotiated?
    /// The peer as it was verified; nil until then, and for clients of a server that did not ask.
    package private(set) var peer: VerifiedPeer?
    /// The certificates the peer has shown, verified or not.
    package private(set) var presentedChain: CertificateChain?

    private let context: TLSContext  // Order: released after `ssl`, whose callbacks need it.
    private let ssl: OpaquePointer
    private let transport: UnsafeMutablePointer<Transport>
    private let tickets: TLSTicketStore?
    private let ticketKey: String
    private var heldTickets: [Ticket] = []
    private var forcedProtocol: UnsafeMutableBufferPointer<UInt8>?

    private var stage = Stage.shakingHands
    private var verdict = Verdict.unknown
    private var answer = IdentityAnswer.notAsked
    private var sawFirstByte = false
    private var isDrained = false
    private var receivedClose = false
    private var sentClose = false

    private enum Stage {
        case shakingHands
        case open
        case failed(TLSError)
    }

    private enum Verdict {
        case unknown
        case asked(CertificateChain)
        case trusted
        case refused(TrustFailure)
    }

    private enum IdentityAnswer {
        case notAsked
        case asked([[UInt8]])
        case given
        case nothing
    }

    /// A client's session. `serverName` goes into SNI and is nil for numeric addresses (B3.9); tickets are taken from and
    /// put into `tickets` under `ticketKey`.
    package convenience init(
        client context: TLSContext, serverName: String?, tickets: TLSTicketStore? = nil, ticketKey: String = ""
    ) throws(TLSError) {
        try self.init(context, tickets: tickets, ticketKey: ticketKey)
        if let serverName, shim_ssl_set_server_name(ssl, serverName) != 1 {
            throw .internalFailure("\"\(serverName)\" cannot be sent as the server's name")
        }
        SSL_set_connect_state(ssl)
        if let ticket = tickets?.take(ticketKey), ticket.isResumable {
            SSL_set_session(ssl, ticket.object.pointer)
        }
    }

    /// A server's session.
    package convenience init(server context: TLSContext) throws(TLSError) {
        try self.init(context, tickets: nil, ticketKey: "")
        SSL_set_accept_state(ssl)
    }

    private init(_ context: TLSContext, tickets: TLSTicketStore?, ticketKey: String) throws(TLSError) {
        OpenSSLErrors.clear()
        let transport = UnsafeMutablePointer<Transport>.allocate(capacity: 1)
        transport.initialize(to: Transport())
        guard let ssl = SSL_new(context.object.pointer), let bio = Transport.makeBIO(transport) else {
            transport.deallocate()
            throw .internalFailure(OpenSSLErrors.takeText())
        }
        SSL_set_bio(ssl, bio, bio)
        self.context = context
        self.ssl = ssl
        self.transport = transport
        self.tickets = tickets
        self.ticketKey = ticketKey
        SSL_set_ex_data(ssl, Self.index, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // OpenSSL forbids the resumption of a session whose connection ended without close_notify, a rule that TLS 1.1
        // dropped (RFC 4346 section 7.2.1); one that ended in a failure stays forbidden.
        if case .open = stage { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
        transport.pointee.releaseOutgoing()
        transport.deallocate()
        forcedProtocol?.deallocate()
    }

    private static let index = shim_ssl_index()
}

// MARK: - Handshake

extension TLSSession {
    /// Goes on with the handshake: reads `input` from `offset` in place and moves `offset` past what was used.
    package func handshake(_ input: UnsafeRawBufferPointer, offset: inout Int) -> HandshakeStep {
        switch stage {
        case .failed(let error): return .failed(error)
        case .open: return .finished
        case .shakingHands: break
        }
        if let question = openQuestion { return question }
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
        case SSL_ERROR_WANT_READ: return .needInput
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
    }

    /// Answers `needVerdict`: the peer is not believed. The next step of the handshake queues an alert and fails with
    /// `untrusted`.
    package func refuse(_ failure: TrustFailure) {
        guard case .asked = verdict else { return }
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
            answer = .given
        } else {
            stage = .failed(.internalFailure("the client certificate cannot be used: " + OpenSSLErrors.takeText()))
        }
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
            tickets?.removeAll(ticketKey)
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
            alpn: selected, resumed: SSL_session_reused(ssl) == 1)
        stage = .open
        for ticket in heldTickets { tickets?.put(ticket, key: ticketKey) }
        heldTickets = []
    }

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
        return CertificateChain(certificates)
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

    private func circumstances(isHandshake: Bool) -> FailureCircumstances {
        var facts = FailureCircumstances(
            isHandshake: isHandshake, certificateWasRequested: true, certificateWasGiven: false,
            alertSent: transport.pointee.alertSent, alertReceived: transport.pointee.alertReceived)
        switch answer {
        case .notAsked: facts.certificateWasRequested = false
        case .given: facts.certificateWasGiven = true
        case .asked, .nothing: break
        }
        return facts
    }
}

// MARK: - Application data

extension TLSSession {
    /// Decrypts: reads `input` from `offset` in place, moves `offset` past what was used, and fills `output`. Call until
    /// it needs input.
    package func decrypt(
        _ input: UnsafeRawBufferPointer, offset: inout Int, into output: UnsafeMutableRawBufferPointer
    ) -> ReadStep {
        switch stage {
        case .open: break
        case .failed(let error): return .failed(error)
        case .shakingHands: return .failed(.internalFailure("the handshake is not over"))
        }
        if receivedClose { return .closed }
        if isDrained, offset >= input.count { return .needInput }
        guard let start = output.baseAddress, !output.isEmpty else {
            return .failed(.internalFailure("there is no room for plaintext"))
        }
        transport.pointee.begin(input, from: offset)
        let filled = read(into: start, output.count)
        offset = input.count - transport.pointee.end()
        if filled > 0 { return .plaintext(filled) }
        if case .failed(let error) = stage { return .failed(error) }
        return receivedClose ? .closed : .needInput
    }

    /// Encrypts all of `plaintext` into records that wait to be sent.
    package func encrypt(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
        switch stage {
        case .open: break
        case .failed(let error): throw error
        case .shakingHands: throw .internalFailure("the handshake is not over")
        }
        if sentClose { throw .internalFailure("nothing can be sent after the closing message") }
        guard let start = plaintext.baseAddress, !plaintext.isEmpty else { return }
        OpenSSLErrors.clear()
        transport.pointee.reserve(forPlaintext: plaintext.count)
        var written = 0
        let result = SSL_write_ex(ssl, start, plaintext.count, &written)
        guard result == 1, written == plaintext.count else {
            let error = TLSFailures.take(circumstances(isHandshake: false))
            stage = .failed(error)
            throw error
        }
    }

    /// Queues close_notify; what the peer still sends can be read.
    package func close() {
        guard case .open = stage else { return }
        sendClose()
    }

    /// The connection has ended: nil when that is in order because the peer had said so before, otherwise what it means.
    package func endOfInput() -> TLSError? {
        if receivedClose { return nil }
        switch stage {
        case .failed(let error): return error
        case .open: return .truncated
        case .shakingHands:
            stage = .failed(.closedDuringHandshake)
            return .closedDuringHandshake
        }
    }

    /// Whether ciphertext that was taken over, or plaintext of it, has not been asked for yet.
    package var hasBufferedInput: Bool { !isDrained && SSL_has_pending(ssl) == 1 }

    /// Whether ciphertext waits to be sent.
    package var hasOutgoing: Bool { transport.pointee.hasWaiting }

    /// Calls `body` with the ciphertext that waits to be sent.
    package func withOutgoing<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(transport.pointee.waiting)
    }

    /// Drops the first `count` outgoing bytes.
    package func outgoingSent(_ count: Int) {
        transport.pointee.sent(count)
    }

    private func read(into start: UnsafeMutableRawPointer, _ room: Int) -> Int {
        OpenSSLErrors.clear()
        isDrained = false
        var filled = 0
        while filled < room {
            var count = 0
            let result = SSL_read_ex(ssl, start + filled, room - filled, &count)
            if transport.pointee.renegotiationAsked {
                stage = .failed(.renegotiationRefused)
                return filled
            }
            if result == 1 {
                filled += count
                // Nothing is left anywhere: asking again would only cost OpenSSL a new buffer.
                if transport.pointee.isInputEmpty, SSL_has_pending(ssl) == 0 {
                    isDrained = true
                    return filled
                }
                continue
            }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ: isDrained = true
            case SSL_ERROR_ZERO_RETURN: receivedClose = true
            default: stage = .failed(TLSFailures.take(circumstances(isHandshake: false)))
            }
            break
        }
        return filled
    }

    private func sendClose() {
        guard !sentClose else { return }
        sentClose = true
        OpenSSLErrors.clear()
        _ = SSL_shutdown(ssl)
        OpenSSLErrors.clear()
    }
}

// MARK: - Called by OpenSSL, within one of the calls above

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
        guard let chain = CertificateChain(certificates) else { return 0 }
        presentedChain = chain
        if let server = context.server { return judge(chain, by: server.evaluator, store) }
        verdict = .asked(chain)
        return shim_ssl_retry_verify(ssl)
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
        let ticket = Ticket(owning: session)
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
