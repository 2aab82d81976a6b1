// One run of OpenSSL's verification over given certificates, which collects every problem it meets. Does not choose the
// certificates and does not weigh the problems.

import COpenSSL

/// The problems of one path by OpenSSL's account.
struct OpenSSLPathCheck {
    /// OpenSSL's code, the certificate's depth (the leaf's is 0), and the certificate.
    private(set) var found: [(code: Int32, depth: Int, certificate: Certificate)] = []

    /// Checks a leaf with the certificates between it and the anchor; without an anchor that is a problem of its own.
    init(leaf: Certificate, untrusted: [Certificate], anchor: Certificate?, policy: TrustPolicy) {
        guard let context = X509_STORE_CTX_new(), let sent = shim_certs_new(), let anchors = shim_certs_new() else {
            found.append((X509_V_ERR_OUT_OF_MEM, 0, leaf))
            return
        }
        defer {
            X509_STORE_CTX_free(context)
            shim_certs_free(sent)
            shim_certs_free(anchors)
        }
        for certificate in untrusted { shim_certs_push(sent, certificate.pointer) }
        if let anchor { shim_certs_push(anchors, anchor.pointer) }
        guard X509_STORE_CTX_init(context, nil, leaf.pointer, sent) == 1 else {
            found.append((X509_V_ERR_OUT_OF_MEM, 0, leaf))
            return
        }
        X509_STORE_CTX_set0_trusted_stack(context, anchors)
        Self.configure(context, policy: policy)
        run(context, leaf: leaf)
    }

    private mutating func run(_ context: OpaquePointer, leaf: Certificate) {
        var problems: [ProblemEntry] = []
        let accepted = withUnsafeMutablePointer(to: &problems) { list in
            X509_STORE_CTX_set_ex_data(context, 0, list)
            X509_STORE_CTX_set_verify_cb(context, problemFound)
            return X509_verify_cert(context)
        }
        let path = X509_STORE_CTX_get0_chain(context)
        for problem in problems {
            let certificate = shim_certs_get(path, problem.depth).map(Certificate.init(retaining:)) ?? leaf
            found.append((problem.code, Int(problem.depth), certificate))
        }
        // Never trust by omission: what OpenSSL refused without a word is refused here too.
        if accepted != 1, found.isEmpty {
            let code = X509_STORE_CTX_get_error(context)
            found.append((code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code, 0, leaf))
        }
    }

    private static func configure(_ context: OpaquePointer, policy: TrustPolicy) {
        guard let parameters = X509_STORE_CTX_get0_param(context) else { return }
        switch policy.purpose {
        case .serverAuthentication:
            X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_SERVER)
            X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_SERVER)
        case .clientAuthentication:
            X509_VERIFY_PARAM_set_purpose(parameters, X509_PURPOSE_SSL_CLIENT)
            X509_VERIFY_PARAM_set_trust(parameters, X509_TRUST_SSL_CLIENT)
        }
        // An anchor need not be a root (B3.40).
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        if let time = policy.time { X509_VERIFY_PARAM_set_time(parameters, Int(clamping: time)) }
    }
}

private struct ProblemEntry {
    let code: Int32
    let depth: Int32
}

/// Notes a problem and lets OpenSSL go on, so that all of them are known.
private func problemFound(_ isGood: Int32, _ context: OpaquePointer?) -> Int32 {
    if isGood == 1 { return 1 }
    guard let context, let list = X509_STORE_CTX_get_ex_data(context, 0) else { return 0 }
    let entry = ProblemEntry(
        code: X509_STORE_CTX_get_error(context), depth: X509_STORE_CTX_get_error_depth(context))
    list.assumingMemoryBound(to: [ProblemEntry].self).pointee.append(entry)
    return 1
}
