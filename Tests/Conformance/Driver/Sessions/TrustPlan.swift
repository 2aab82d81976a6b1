// The value of `trust`, as the package's way to judge the certificates of servers. Driver protocol, section 3.

import URLLoading

/// Reads the value of `trust`.
enum TrustPlan {
    private enum Mode {
        case system
        case anchors
        case acceptAny
    }

    static func evaluation(_ members: Members) throws(Refusal) -> URLSessionConfiguration.ServerTrustEvaluation {
        var members = members
        guard let mode = try members.word("mode", modes, unsupported: missing) else {
            throw .badCommand("trust: mode is missing")
        }
        switch mode {
        case .system:
            try members.finish()
            return .system
        case .acceptAny:
            try members.finish()
            return .dangerouslyAcceptAnyCertificate
        case .anchors:
            guard let anchors = try members.strings("anchors_pem") else {
                throw .badCommand("trust: anchors_pem is missing")
            }
            try members.accept("check_host", only: { $0 == true })
            try members.accept("check_revocation", only: { $0 == "none" })
            try members.accept("crls_pem", only: { $0 == [] })
            try members.finish()
            return .anchors(pem: anchors.joined(separator: "\n"))
        }
    }

    private static let modes: [String: Mode] = ["system": .system, "anchors": .anchors, "accept_any": .acceptAny]
    /// Pins, and the delegate's answer in place of an evaluation, have no public API yet.
    private static let missing: Set<String> = ["pin_certificates", "pin_keys", "ask"]
}
