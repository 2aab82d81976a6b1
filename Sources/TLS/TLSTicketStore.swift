// Keeps the tickets with which sessions are resumed, by the caller's key. Confined to the loop that owns it. Does not
// know what a key stands for, nor whether a resumed session is trusted: that is asked anew each time. The server does not
// ask again for a client certificate: it keeps the one of the first session. So a key must not be used for two callers
// that may show different identities.

import CURLLoadingOpenSSL
import URLLoadingTrust

/// A bounded set of session tickets.
package final class TLSTicketStore {
    private var tickets: [AnyHashable: [Ticket]] = [:]
    private var order: [AnyHashable] = []
    private let keys: Int
    private let perKey: Int

    /// A store of at most so many keys, with at most so many tickets each.
    package init(keys: Int = 256, perKey: Int = 4) {
        self.keys = max(1, keys)
        self.perKey = max(1, perKey)
    }

    /// How many tickets are kept.
    package var count: Int { tickets.values.reduce(0) { $0 + $1.count } }

    /// Forgets a key's tickets.
    package func removeAll(_ key: AnyHashable) {
        if tickets.removeValue(forKey: key) != nil { order.removeAll { $0 == key } }
    }

    /// Forgets the tickets of these keys.
    package func removeAll(where isOver: (AnyHashable) -> Bool) {
        tickets = tickets.filter { !isOver($0.key) }
        order.removeAll(where: isOver)
    }

    /// Keeps a ticket; the oldest of the key, or else the oldest key, makes room.
    func put(_ ticket: Ticket, key: AnyHashable) {
        if tickets[key] == nil {
            order.append(key)
            if order.count > keys { tickets.removeValue(forKey: order.removeFirst()) }
        }
        tickets[key, default: []].append(ticket)
        if let count = tickets[key]?.count, count > perKey { tickets[key]?.removeFirst() }
    }

    /// The newest ticket; one for TLS 1.3 is given away, as it must be used once only (RFC 8446 appendix C.4).
    func take(_ key: AnyHashable) -> Ticket? {
        guard let newest = tickets[key]?.last else { return nil }
        if newest.isSingleUse {
            tickets[key]?.removeLast()
            if tickets[key]?.isEmpty == true { removeAll(key) }
        }
        return newest
    }
}

/// One session that can be resumed.
struct Ticket {
    let object: OpenSSLObject
    /// What the server had said about revocation, which OpenSSL's sessions do not keep.
    let stapling: CertificateChain.Stapling

    /// A ticket of an `SSL_SESSION`.
    init(_ object: OpenSSLObject, stapling: CertificateChain.Stapling) {
        self.object = object
        self.stapling = stapling
    }

    var isSingleUse: Bool {
        SSL_SESSION_get_protocol_version(object.pointer) >= Int32(TLSVersion.v13.rawValue)
    }

    var isResumable: Bool {
        SSL_SESSION_is_resumable(object.pointer) == 1
    }
}
