// The functions OpenSSL calls. Formed outside of every actor, they find their object and hand over; nothing is decided
// here, and no Swift error passes through C.

import CURLLoadingOpenSSL

/// OpenSSL's callbacks.
enum TLSCallbacks {
    /// The peer's certificates have come: 1 accepts or, with the retry mark, waits for the verdict; 0 refuses.
    static let verifyPeer: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
        guard let store,
            let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
            let session = TLSSession.of(OpaquePointer(ssl))
        else { return 0 }
        return session.peerCertificatesArrived(store)
    }

    /// The server has asked for a certificate: 1 goes on with what was set, -1 waits for the identity.
    static let chooseIdentity: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, _ in
        TLSSession.of(ssl)?.certificateRequested() ?? 0
    }

    /// The server's first flight is over, with a stapled response or without: 1 goes on.
    static let flightArrived: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, _ in
        TLSSession.of(ssl)?.statusIsKnown()
        return 1
    }

    /// The peer has sent an extension.
    static let extensionArrived:
        @convention(c) (OpaquePointer?, Int32, Int32, UnsafePointer<UInt8>?, Int32, UnsafeMutableRawPointer?) -> Void =
            { ssl, _, number, _, _, _ in TLSSession.of(ssl)?.extensionArrived(number) }

    /// A session that can be resumed has come: 1 when its reference was taken over.
    static let sessionArrived: @convention(c) (OpaquePointer?, OpaquePointer?) -> Int32 = { ssl, session in
        guard let session, let owner = TLSSession.of(ssl) else { return 0 }
        return owner.ticketArrived(session) ? 1 : 0
    }

    /// An alert was read or written, or the handshake has moved on, which is of no interest.
    static let alertPassed: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = { ssl, event, value in
        guard event & SSL_CB_ALERT != 0, let session = TLSSession.of(ssl) else { return }
        session.alertPassed(
            written: event & SSL_CB_WRITE != 0, level: UInt8(value >> 8 & 0xFF), code: UInt8(value & 0xFF))
    }

    /// A message or the header of a record has passed, of which messages are of interest.
    static let messagePassed:
        @convention(c) (
            Int32, Int32, Int32, UnsafeRawPointer?, Int, OpaquePointer?, UnsafeMutableRawPointer?
        ) -> Void = { isWritten, _, kind, _, _, ssl, _ in
            guard kind == SSL3_RT_HANDSHAKE, let session = TLSSession.of(ssl) else { return }
            if isWritten == 0 { session.messageArrived() } else { session.messageWritten() }
        }

    /// The client has sent a server name, which is acknowledged so that it can be asked for later.
    static let serverNameArrived:
        @convention(c) (OpaquePointer?, UnsafeMutablePointer<Int32>?, UnsafeMutableRawPointer?) -> Int32 = { _, _, _ in
            SSL_TLSEXT_ERR_OK
        }

    /// The client offers application protocols, each behind its length.
    static let selectProtocol:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
        ) -> Int32 = { ssl, selected, length, offered, count, _ in
            guard let session = TLSSession.of(ssl), let selected, let length else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            let offer = UnsafeBufferPointer(start: offered, count: Int(count))
            guard let choice = session.protocolSelected(from: offer) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            selected.pointee = choice.baseAddress
            length.pointee = UInt8(clamping: choice.count)
            return SSL_TLSEXT_ERR_OK
        }

    /// The client asks for a stapled OCSP response.
    static let statusAsked: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, _ in
        guard let session = TLSSession.of(ssl), session.stapleResponse() else { return SSL_TLSEXT_ERR_NOACK }
        return SSL_TLSEXT_ERR_OK
    }

    /// A ticket is made that needs more than a record: 1 goes on.
    static let ticketIsMade: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { ssl, _ in
        let filler = [UInt8](repeating: 0, count: 2_000)
        return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), filler, filler.count)
    }

    /// A secret for the key log.
    static let secretLogged: @convention(c) (OpaquePointer?, UnsafePointer<CChar>?) -> Void = { ssl, line in
        guard let ssl, let line else { return }
        TLSContext.of(SSL_get_SSL_CTX(ssl))?.log(secret: line)
    }
}
