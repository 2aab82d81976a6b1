// Keeps the tickets with which the sessions of one place are resumed. Confined to the loop that owns it. Does not know
// what place that is, nor whether a resumed session is trusted: that is asked anew each time. The server does not ask
// again for a client certificate: it keeps the one of the first session. So two callers that may show different
// identities must not share one.

import CURLLoadingOpenSSL
import URLLoadingTrust

/// A bounded list of session tickets.
package final class TLSTickets {
    private var tickets: [Ticket] = []
    private let most: Int

    /// A list of at most so many tickets.
    package init(most: Int = 4) {
        self.most = max(1, most)
    }

    /// How many tickets are kept.
    package var count: Int { tickets.count }

    /// Forgets all of them.
    package func removeAll() {
        tickets = []
    }

    /// Keeps a ticket; the oldest makes room.
    func put(_ ticket: Ticket) {
        if tickets.count == most { tickets.removeFirst() }
        tickets.append(ticket)
    }

    /// The newest ticket; one for TLS 1.3 is given away, as it must be used once only (RFC 8446 appendix C.4).
    ///
    /// Those whose server would be refused by now, as what it has shown is out of date, are dropped (B3.86).
    func take() -> Ticket? {
        while let newest = tickets.last {
            let isOutOfDate = newest.isOutOfDate
            if isOutOfDate || newest.isSingleUse { tickets.removeLast() }
            if !isOutOfDate { return newest }
        }
        return nil
    }
}

/// One session that can be resumed.
struct Ticket {
    let object: OpenSSLObject
    /// What the server had said about revocation, which OpenSSL's sessions do not keep.
    let stapling: CertificateChain.Stapling
    /// Whether the server knows a certificate of ours by it.
    let hasIdentity: Bool
    /// The server as it was verified when the ticket came.
    private let peer: VerifiedPeer?

    /// A ticket of an `SSL_SESSION`.
    init(_ object: OpenSSLObject, stapling: CertificateChain.Stapling, hasIdentity: Bool, peer: VerifiedPeer?) {
        self.object = object
        self.stapling = stapling
        self.hasIdentity = hasIdentity
        self.peer = peer
    }

    var isOutOfDate: Bool { peer?.isOutOfDate ?? false }

    var isSingleUse: Bool {
        SSL_SESSION_get_protocol_version(object.pointer) >= Int32(TLSVersion.v13.rawValue)
    }

    var isResumable: Bool {
        SSL_SESSION_is_resumable(object.pointer) == 1
    }
}
