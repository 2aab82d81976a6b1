// The settings that many sessions share, in OpenSSL's form. Immutable once made, so any thread may make sessions of it.
// Does not know sessions' state.

import CURLLoadingOpenSSL
import URLLoadingTrust

/// A client's or a server's TLS settings.
package final class TLSContext: Sendable {
    let object: OpenSSLObject
    let offeredProtocols: [String]
    let server: ServerRole?
    private let keyLog: KeyLog?

    /// What only servers need.
    struct ServerRole: Sendable {
        let protocols: [[UInt8]]
        let protocolWithoutOffer: [UInt8]?
        let asksForCertificate: Bool
        let evaluator: any TrustEvaluator
        let stapledResponse: [UInt8]?
    }

    /// Makes a client's context; the only place where a contradiction in the settings is found.
    package init(client options: TLSClientOptions) throws(TLSError) {
        object = try Self.makeContext(TLS_client_method(), minimum: options.minimum, maximum: options.maximum)
        offeredProtocols = options.alpn
        server = nil
        keyLog = try options.keyLogFile.map { path throws(TLSError) in try KeyLog(path: path) }
        let context = object.pointer
        try Self.offer(protocols: options.alpn, on: context)
        try Self.offer(ciphers: options.ciphers, on: context)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_cert_verify_callback(context, TLSCallbacks.verifyPeer, nil)
        SSL_CTX_set_cert_cb(context, TLSCallbacks.chooseIdentity, nil)
        _ = shim_ctx_set_cache_mode(context, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
        SSL_CTX_sess_set_new_cb(context, TLSCallbacks.sessionArrived)
        _ = shim_ctx_ask_for_status(context)
        _ = shim_ctx_set_status_callback(context, TLSCallbacks.flightArrived)
        attach()
    }

    /// Makes a server's context.
    package init(server options: TLSServerOptions) throws(TLSError) {
        object = try Self.makeContext(TLS_server_method(), minimum: options.minimum, maximum: options.maximum)
        offeredProtocols = []
        server = ServerRole(
            protocols: options.alpn.map { Array($0.utf8) },
            protocolWithoutOffer: options.alpnSelectedWithoutOffer.map { Array($0.utf8) },
            asksForCertificate: options.clientAuthentication != .none,
            evaluator: options.clientEvaluator ?? AnchorsEvaluator(anchors: options.clientAuthorities),
            stapledResponse: options.stapledResponse)
        keyLog = nil
        let context = object.pointer
        try Self.show(options.identity, on: context)
        if let ciphers = options.ciphersBefore13, SSL_CTX_set_cipher_list(context, ciphers) != 1 {
            throw .internalFailure(OpenSSLErrors.takeText())
        }
        _ = shim_ctx_set_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        let name = Array("URLLoading".utf8)
        SSL_CTX_set_session_id_context(context, name, UInt32(name.count))
        _ = shim_ctx_set_servername_callback(context, TLSCallbacks.serverNameArrived)
        if !options.alpn.isEmpty || options.alpnSelectedWithoutOffer != nil {
            SSL_CTX_set_alpn_select_cb(context, TLSCallbacks.selectProtocol, nil)
        }
        if options.tickets > 0 {
            SSL_CTX_set_num_tickets(context, min(options.tickets, 16))
        } else {
            SSL_CTX_set_num_tickets(context, 0)
            shim_ctx_set_options(context, shim_op_no_ticket())
        }
        if options.dividesTickets {
            // The least that OpenSSL allows.
            _ = shim_ctx_set_fragment(context, 512)
            SSL_CTX_set_session_ticket_cb(context, TLSCallbacks.ticketIsMade, nil, nil)
        }
        if options.stapledResponse != nil { _ = shim_ctx_set_status_callback(context, TLSCallbacks.statusAsked) }
        Self.ask(options, on: context)
        attach()
    }

    /// Appends a line to the key log.
    func log(secret line: UnsafePointer<CChar>) {
        keyLog?.append(line)
    }

    /// The context that a callback was called for.
    static func of(_ context: OpaquePointer?) -> TLSContext? {
        guard let context, let stored = SSL_CTX_get_ex_data(context, index) else { return nil }
        return Unmanaged<TLSContext>.fromOpaque(stored).takeUnretainedValue()
    }

    /// Lets callbacks find this object; sessions keep it alive for as long as OpenSSL can call them.
    private func attach() {
        SSL_CTX_set_ex_data(object.pointer, Self.index, Unmanaged.passUnretained(self).toOpaque())
        if keyLog != nil { SSL_CTX_set_keylog_callback(object.pointer, TLSCallbacks.secretLogged) }
    }

    private static let index = shim_ctx_index()
}

extension TLSContext {
    private static func makeContext(
        _ method: OpaquePointer?, minimum: TLSVersion, maximum: TLSVersion
    ) throws(TLSError) -> OpenSSLObject {
        if minimum > maximum { throw .versionsContradict }
        OpenSSLErrors.clear()
        guard let context = SSL_CTX_new(method) else { throw .internalFailure(OpenSSLErrors.takeText()) }
        let object = OpenSSLObject.tlsContext(owning: context)
        // TLS 1.0 and 1.1 sign with SHA-1, which OpenSSL permits at level 0 only; keys are judged by Trust in any case.
        if minimum < .v12 { SSL_CTX_set_security_level(context, 0) }
        guard shim_ctx_set_min(context, Int32(minimum.rawValue)) == 1,
            shim_ctx_set_max(context, Int32(maximum.rawValue)) == 1
        else { throw .internalFailure("this OpenSSL does not support the TLS versions asked for") }
        shim_ctx_set_options(context, shim_op_no_renegotiation() | shim_op_no_compression())
        // Measured: reading ahead would cost a tenth of the throughput, as input is in memory already and would only be
        // copied once more; an idle session owns no buffer.
        _ = shim_ctx_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS))
        SSL_CTX_set_info_callback(context, TLSCallbacks.alertPassed)
        SSL_CTX_set_msg_callback(context, TLSCallbacks.messagePassed)
        return object
    }

    private static func offer(protocols: [String], on context: OpaquePointer) throws(TLSError) {
        guard !protocols.isEmpty else { return }
        var list: [UInt8] = []
        for name in protocols {
            guard (1...255).contains(name.utf8.count) else {
                throw .internalFailure("\"\(name)\" cannot be the name of an application protocol")
            }
            list.append(UInt8(name.utf8.count))
            list += Array(name.utf8)
        }
        // This one function answers 0 for success.
        guard SSL_CTX_set_alpn_protos(context, list, UInt32(list.count)) == 0 else {
            throw .internalFailure(OpenSSLErrors.takeText())
        }
    }

    private static func offer(ciphers: TLSClientOptions.Ciphers, on context: OpaquePointer) throws(TLSError) {
        let before13: String
        switch ciphers {
        case .usual: return
        case .forwardSecretAES: before13 = "ECDHE+AES:!aNULL:!eNULL"
        case .anyAES: before13 = "ECDHE+AES:kRSA+AES:!aNULL:!eNULL"
        }
        guard SSL_CTX_set_cipher_list(context, before13) == 1,
            SSL_CTX_set_ciphersuites(context, "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256") == 1
        else { throw .internalFailure(OpenSSLErrors.takeText()) }
    }

    private static func show(_ identity: Identity, on context: OpaquePointer) throws(TLSError) {
        OpenSSLErrors.clear()
        let certificates = identity.chain.certificates
        guard SSL_CTX_use_certificate(context, identity.chain.leaf.pointer) == 1,
            SSL_CTX_use_PrivateKey(context, identity.keyPointer) == 1,
            certificates.dropFirst().allSatisfy({ shim_ctx_add_chain(context, $0.pointer) == 1 })
        else { throw .internalFailure("the server's certificate cannot be used: " + OpenSSLErrors.takeText()) }
    }

    private static func ask(_ options: TLSServerOptions, on context: OpaquePointer) {
        let mode: Int32
        switch options.clientAuthentication {
        case .none: return
        case .optional: mode = SSL_VERIFY_PEER
        case .required: mode = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT
        }
        SSL_CTX_set_verify(context, mode, nil)
        SSL_CTX_set_cert_verify_callback(context, TLSCallbacks.verifyPeer, nil)
        for authority in options.clientAuthorities { SSL_CTX_add_client_CA(context, authority.pointer) }
    }
}
