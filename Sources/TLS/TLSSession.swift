// One TLS session over buffers: ciphertext in, plaintext out, and back. It stops the handshake until the peer has been
// judged and until a client certificate was chosen; no application byte passes before. Confined to one loop. Does not
// know sockets, HTTP or names beyond the one it puts into SNI. TLS 1.2 (RFC 5246) and 1.3 (RFC 8446) by OpenSSL.
//
// Life: handshake until it answers `finished` (answering its questions by `supply` and `refuse`), then `decrypt` and
// `encrypt`, then `close`. Whatever was called, look at `hasOutgoing` afterwards: alerts, tickets and key updates are
// answered from within.

import CURLLoadingOpenSSL
import URLLoadingTrust

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
    package internal(set) var negotiated: Negotiated?
    /// The peer as it was verified; nil until then, and for clients of a server that did not ask.
    package internal(set) var peer: VerifiedPeer?
    /// The certificates the peer has shown, verified or not.
    package internal(set) var presentedChain: CertificateChain?

    let context: TLSContext  // Order: released after `ssl`, whose callbacks need it.
    let ssl: OpaquePointer
    let transport: UnsafeMutablePointer<Transport>
    /// Where its tickets come from and are put.
    package var tickets: TLSTickets?
    var heldTickets: [OpenSSLObject] = []
    var resumedStapling = CertificateChain.Stapling.unknown
    /// Whether the server of the session that may go on knows a certificate of ours.
    var resumedIdentity = false
    /// Whether the server knows a certificate of ours, from this handshake or from the one that it
    /// resumes; known once open.
    package internal(set) var hasIdentity = false
    var forcedProtocol: UnsafeMutableBufferPointer<UInt8>?

    var stage = Stage.shakingHands
    var verdict = Verdict.unknown
    /// Whether the server has announced that it may staple a response.
    var statusWasAnnounced = false
    /// Whether what OpenSSL has written must wait for the verdict.
    var isFlightHeld = false
    var answer = IdentityAnswer.notAsked
    var sawFirstByte = false
    var isDrained = false
    var receivedClose = false
    var sentClose = false

    enum Stage {
        case shakingHands
        case open
        case failed(TLSError)
    }

    enum Verdict {
        case unknown
        /// The certificates are here, what the server staples is not yet.
        case deferred(CertificateChain)
        case asked(CertificateChain)
        case trusted
        case refused(TrustFailure)

        var isDeferred: Bool {
            if case .deferred = self { true } else { false }
        }
    }

    enum IdentityAnswer {
        case notAsked
        case asked([[UInt8]])
        case given(Identity)
        case nothing

        var isGiven: Bool { if case .given = self { true } else { false } }
    }

    /// A client's session.
    ///
    /// `serverName` goes into SNI, unless it is a numeric address (B3.9); tickets are taken
    /// from and put into `tickets`.
    package convenience init(
        client context: TLSContext, serverName: String?, tickets: TLSTickets? = nil
    ) throws(TLSError) {
        try self.init(context, tickets: tickets)
        if case .dns(let name)? = serverName.map({ HostName($0) }), shim_ssl_set_server_name(ssl, name) != 1 {
            throw .internalFailure("\"\(name)\" cannot be sent as the server's name")
        }
        SSL_set_connect_state(ssl)
        _ = shim_ssl_set_extension_callback(ssl, TLSCallbacks.extensionArrived)
        if let ticket = tickets?.take(), ticket.isResumable {
            SSL_set_session(ssl, ticket.object.pointer)
            resumedStapling = ticket.stapling
            resumedIdentity = ticket.hasIdentity
        }
    }

    /// A server's session.
    package convenience init(server context: TLSContext) throws(TLSError) {
        try self.init(context, tickets: nil)
        SSL_set_accept_state(ssl)
    }

    private init(_ context: TLSContext, tickets: TLSTickets?) throws(TLSError) {
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
        SSL_set_ex_data(ssl, Self.index, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // OpenSSL forbids the resumption of a session whose connection ended without close_notify, a rule that TLS 1.1
        // dropped (RFC 4346 section 7.2.1); one that ended in a failure stays forbidden.
        SSL_set_ex_data(ssl, Self.index, nil)
        if case .open = stage { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
        transport.pointee.releaseOutgoing()
        transport.deallocate()
        forcedProtocol?.deallocate()
    }

    static let index = shim_ssl_index()
}
