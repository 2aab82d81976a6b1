// The value of `trust`, as the package's way to judge the certificates of servers. Driver protocol, section 3.

import Foundation
import URLLoading

/// How the servers of a session are judged.
struct TrustPlan {
    typealias Evaluation = URLSessionConfiguration.ServerTrustEvaluation

    /// What the configuration says.
    let evaluation: Evaluation
    /// What the delegates of tasks say in its place.
    let answer: TrustAnswer?

    private enum Mode {
        case system
        case anchors
        case pinnedCertificates
        case pinnedKeys
        case acceptAny
        case ask
    }

    /// Reads the value.
    init(_ members: consuming Members) throws(Refusal) {
        var members = members
        guard let mode = try members.word("mode", Self.modes) else { throw .badCommand("trust: mode is missing") }
        var answer: TrustAnswer?
        switch mode {
        case .system:
            evaluation = .system
        case .acceptAny:
            evaluation = .dangerouslyAcceptAnyCertificate
        case .anchors:
            guard let anchors = try Self.anchors(&members) else { throw Self.missing("anchors_pem") }
            evaluation = anchors
        case .pinnedCertificates:
            guard let pins = try members.strings("pins_pem") else { throw Self.missing("pins_pem") }
            evaluation = .pinnedCertificates(
                .pem(pins.joined(separator: "\n")), besides: try Self.anchors(&members) ?? .system)
        case .pinnedKeys:
            guard let pins = try members.strings("pins_sha256") else { throw Self.missing("pins_sha256") }
            evaluation = .pinnedKeys(pins, besides: try Self.anchors(&members) ?? .system)
        case .ask:
            evaluation = .system
            answer = try members.word("answer", TrustAnswer.words)
            if answer == nil { throw Self.missing("answer") }
        }
        try members.finish()
        self.answer = answer
    }

    /// Own anchors with their conditions, where they are given.
    private static func anchors(_ members: inout Members) throws(Refusal) -> Evaluation? {
        guard let anchors = try members.strings("anchors_pem") else { return nil }
        var evaluation = Evaluation.anchors(pem: anchors.joined(separator: "\n"))
        if try members.bool("check_host") == false { evaluation = evaluation.dangerouslyIgnoringHostNames() }
        if let milliseconds = try members.integer("at_ms") {
            evaluation = evaluation.judging(asOf: Date(timeIntervalSince1970: Double(milliseconds) / 1000))
        }
        let texts = try members.strings("crls_pem") ?? []
        let lists = texts.isEmpty ? .none : URLSessionConfiguration.RevocationLists.pem(texts.joined(separator: "\n"))
        switch try members.word("check_revocation", revocationModes) ?? .soft {
        case .none: return evaluation.checkingRevocation(.none)
        case .soft: return evaluation.checkingRevocation(.soft(lists))
        case .hard: return evaluation.checkingRevocation(.hard(lists))
        }
    }

    private enum RevocationMode {
        case none
        case soft
        case hard
    }

    private static func missing(_ name: String) -> Refusal { .badCommand("trust: \(name) is missing") }

    private static let modes: [String: Mode] = [
        "system": .system, "anchors": .anchors, "pin_certificates": .pinnedCertificates, "pin_keys": .pinnedKeys,
        "accept_any": .acceptAny, "ask": .ask,
    ]
    private static let revocationModes: [String: RevocationMode] = ["none": .none, "soft": .soft, "hard": .hard]
}

/// What a delegate answers whenever it is asked about a server.
enum TrustAnswer: Sendable {
    case use
    case cancel
    case byDefault
    case reject

    static let words: [String: TrustAnswer] = [
        "use": .use, "cancel": .cancel, "default": .byDefault, "reject": .reject,
    ]

    /// The answer as the package takes it; challenges of other kinds are left to default handling.
    func disposition(
        for challenge: URLAuthenticationChallenge
    ) -> (disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?) {
        guard let trust = challenge.protectionSpace.serverTrust else { return (.performDefaultHandling, nil) }
        return switch self {
        case .use: (.useCredential, URLCredential(trust: trust))
        case .cancel: (.cancelAuthenticationChallenge, nil)
        case .byDefault: (.performDefaultHandling, nil)
        case .reject: (.rejectProtectionSpace, nil)
        }
    }
}
