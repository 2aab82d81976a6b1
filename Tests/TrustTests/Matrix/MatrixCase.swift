// One chain of the matrix: what was sent, what is trusted, and the answers that are right for it.

import CURLLoadingOpenSSL
import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

/// A chain and its answers.
struct MatrixCase: Sendable, CustomTestStringConvertible {
    /// What OpenSSL's own verification says, in comparison.
    enum OpenSSL: Sendable {
        /// The verdict that is right for the chain.
        case agrees
        /// The opposite of it.
        case differs
    }

    let name: String
    /// The name of the reason for a refusal; nil for chains that are to be believed.
    let reason: String?
    /// The name of the reason for a refusal by the strict profile; nil for chains that it believes too.
    let strictReason: String?
    let openSSL: OpenSSL
    let make: @Sendable () throws -> MatrixChain

    init(
        _ name: String, _ reason: String? = nil, strict strictReason: String? = nil, openSSL: OpenSSL = .agrees,
        _ make: @escaping @Sendable () throws -> MatrixChain
    ) {
        self.name = name
        self.reason = reason
        self.strictReason = strictReason ?? reason
        self.openSSL = openSSL
        self.make = make
    }

    var testDescription: String { name }
}

/// What a peer sends and what is asked of it.
struct MatrixChain {
    var sent: [Certificate]
    var anchors: [Certificate]
    var stapling = CertificateChain.Stapling.unknown
    var policy: TrustPolicy

    init(_ sent: [Certificate], anchors: [Certificate], host: String? = "example.test") {
        self.sent = sent
        self.anchors = anchors
        policy = TrustPolicy(host: host.map { HostName($0) })
    }

    func with(_ change: (inout MatrixChain) -> Void) -> MatrixChain {
        var copy = self
        change(&copy)
        return copy
    }

    func verdict() throws -> TrustVerdict {
        let chain = try #require(CertificateChain(sent, stapling: stapling))
        return AnchorsEvaluator(anchors: anchors).evaluate(chain, policy: policy)
    }

    /// What OpenSSL says when it is asked as TLS clients ask it.
    func opensslAccepts() throws -> Bool {
        let leaf = try #require(sent.first)
        let store = try #require(X509_STORE_new())
        let context = try #require(X509_STORE_CTX_new())
        let untrusted = shim_certs_new()
        defer {
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
            shim_certs_free(untrusted)
            ERR_clear_error()
        }
        for anchor in anchors { X509_STORE_add_cert(store, anchor.pointer) }
        for certificate in sent.dropFirst() { shim_certs_push(untrusted, certificate.pointer) }
        guard X509_STORE_CTX_init(context, store, leaf.pointer, untrusted) == 1 else { return false }
        let isServer = policy.purpose == .serverAuthentication
        X509_STORE_CTX_set_default(context, isServer ? "ssl_server" : "ssl_client")
        let parameters = try #require(X509_STORE_CTX_get0_param(context))
        switch policy.host {
        case .dns(let name)?: X509_VERIFY_PARAM_set1_host(parameters, name, 0)
        case .ip(let bytes)?: X509_VERIFY_PARAM_set1_ip(parameters, bytes, bytes.count)
        case nil: break
        }
        if let time = policy.time { X509_VERIFY_PARAM_set_time(parameters, Int(time)) }
        return X509_verify_cert(context) == 1
    }
}

// MARK: - Usual chains

extension MatrixChain {
    /// The shared root and intermediate, and a leaf of this kind.
    static func leaf(
        _ names: String..., host: String? = "example.test", _ change: (inout CertificateTemplate) -> Void = { _ in }
    ) throws -> MatrixChain {
        let template = CertificateTemplate.server(hosts: names.isEmpty ? ["example.test"] : names).with(change)
        let leaf = try Chains.intermediate.get().issue(template)
        return MatrixChain(leaf.chain.certificates, anchors: [try Chains.root.get().certificate], host: host)
    }

    /// The shared root, an intermediate of this kind, and a usual leaf.
    static func intermediate(
        leaf names: [CertificateTemplate.Name] = [.dns("example.test")], host: String? = "example.test",
        _ change: (inout CertificateTemplate) -> Void
    ) throws -> MatrixChain {
        let above = try Chains.root.get().issue(.authority("Matrix Intermediate").with(change))
        let leaf = try above.issue(.named(names))
        return MatrixChain(leaf.chain.certificates, anchors: [try Chains.root.get().certificate], host: host)
    }

    /// A root of this kind, a usual intermediate and a usual leaf.
    static func root(
        leaf names: [CertificateTemplate.Name] = [.dns("example.test")], host: String? = "example.test",
        _ change: (inout CertificateTemplate) -> Void
    ) throws -> MatrixChain {
        let root = try CertificateFactory.selfSigned(.authority("Matrix Root").with(change))
        let leaf = try root.issue(.authority("Matrix Intermediate")).issue(.named(names))
        return MatrixChain(leaf.chain.certificates, anchors: [root.certificate], host: host)
    }
}

extension CertificateTemplate {
    /// A server with these alternative names and no common name.
    static func named(_ names: [Name]) -> CertificateTemplate {
        CertificateTemplate.server("").with {
            $0.names = names
            $0.commonName = ""
        }
    }
}
