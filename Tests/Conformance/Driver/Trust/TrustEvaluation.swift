// `trust.evaluate`: a chain that no server has sent, judged as a server's would be by default, but for the anchors.
// What cannot be read is treated as the package does it: a handshake ends at the first certificate of a chain that is
// none (OpenSSL's alert is bad_certificate), and a session one of whose anchors is none trusts no server. Driver
// protocol, section 7.

import Foundation
import URLLoading
import URLLoadingTestSupport
import URLLoadingTrust

/// A chain, and what it is judged by.
struct TrustEvaluation: Sendable {
    private let chain: [String]
    private let anchors: [String]
    private let lists: [String]
    private let policy: TrustPolicy

    /// Reads the members of the command.
    init(_ members: consuming Members) throws(Refusal) {
        var members = members
        chain = try members.strings("chain_pem") ?? []
        anchors = try members.strings("anchors_pem") ?? []
        lists = try members.strings("crls_pem") ?? []
        let host = try members.string("host")
        let milliseconds = try members.integer("at_ms")
        let depth = try members.count("max_depth")
        try members.finish()
        if chain.isEmpty { throw .badCommand("trust.evaluate: chain_pem is missing") }
        var policy = TrustPolicy(host: host.map { HostName($0) })
        // Whole seconds, rounded down also before 1970.
        if let milliseconds { policy.time = milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0) }
        // The protocol counts what stands between the leaf and its anchor.
        if let depth { policy.maximumIntermediates = Int(clamping: depth) }
        self.policy = policy
    }

    /// Judges.
    func result() -> JSONValue {
        do throws(CertificateError) {
            guard let chain = CertificateChain(try certificates(in: chain)) else {
                return Self.refusal("secureConnectionFailed", "There is no certificate.")
            }
            var policy = policy
            for text in lists { policy.revocation.lists += try RevocationList.parse(pem: text) }
            guard let anchors = readAnchors() else {
                return Self.refusal("serverCertificateUntrusted", "One of the anchors is not a certificate.")
            }
            let evaluator = AnchorsEvaluator(anchors: anchors)
            switch evaluator.evaluate(chain, policy: policy) {
            case .trusted: return ["trusted": true]
            case .refused(let failure):
                let error = TransferError(URLError(ErrorMapping.trustCode(failure)))
                return Self.refusal(error.name, failure.description)
            }
        } catch {
            return Self.refusal("secureConnectionFailed", error.description)
        }
    }

    /// The anchors, read in one piece as the sessions' are: what is no block is passed over.
    private func readAnchors() -> [Certificate]? {
        if anchors.isEmpty { return [] }
        return try? Certificate.parse(pem: anchors.joined(separator: "\n"))
    }

    private func certificates(in texts: [String]) throws(CertificateError) -> [Certificate] {
        var certificates: [Certificate] = []
        for text in texts { certificates += try Certificate.parse(pem: text) }
        return certificates
    }

    private static func refusal(_ error: String, _ detail: String) -> JSONValue {
        ["trusted": false, "error": .string(error), "detail": .string(detail)]
    }
}
