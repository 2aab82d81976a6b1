// How servers are judged, said in one line. The evaluators themselves are Trust's; docs/trust.md has recipes.

import Foundation
import URLLoadingPolicy
import URLLoadingTrust

extension URLSessionConfiguration {
    /// Ours: how the certificates of servers are judged. Choices are made of choices: pins on top of own anchors, each
    /// host its own.
    ///
    /// A choice that cannot be carried out (a pin that is no hash, text without a certificate, a pattern that is no
    /// host) trusts no server at all: every https load of the session fails with an error that names the mistake.
    public struct ServerTrustEvaluation: Sendable, Equatable {
        private let choice: Choice

        /// By the roots that the system's distribution trusts.
        public static let system = ServerTrustEvaluation(choice: .system)

        /// By these certificates alone.
        public static func anchors(_ certificates: CertificateList) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .anchors(certificates, alsoSystem: false))
        }

        /// By these certificates alone, given as PEM text.
        public static func anchors(pem: String) -> ServerTrustEvaluation { anchors(.pem(pem)) }

        /// By these certificates and by the system's roots.
        public static func anchorsAndSystem(_ certificates: CertificateList) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .anchors(certificates, alsoSystem: true))
        }

        /// By these certificates, given as PEM text, and by the system's roots.
        public static func anchorsAndSystem(pem: String) -> ServerTrustEvaluation { anchorsAndSystem(.pem(pem)) }

        /// By `base`, and one of these certificates must be in the path that `base` has found (B3.50, B3.51).
        public static func pinnedCertificates(
            _ certificates: CertificateList, besides base: ServerTrustEvaluation = .system
        ) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .pinnedCertificates(certificates, base))
        }

        /// By `base`, and one of these keys must be in the path that `base` has found: each pin is the base64 of the
        /// SHA-256 of a SubjectPublicKeyInfo, with or without `sha256//` before it (B3.52). Name the key in use and at
        /// least one that is kept in reserve.
        public static func pinnedKeys(
            _ pins: [String], besides base: ServerTrustEvaluation = .system
        ) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .pinnedKeys(pins, base))
        }

        /// Exactly this one certificate for this one host, whatever it says of itself but its dates; other hosts by
        /// `others`.
        public static func selfSigned(
            _ certificate: CertificateList, host: String, otherwise others: ServerTrustEvaluation = .system
        ) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .selfSigned(certificate, host: host, others))
        }

        /// By any of these choices: a server that one of them trusts is trusted. They are asked in order.
        public static func anyOf(_ choices: [ServerTrustEvaluation]) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .anyOf(choices))
        }

        /// By all of these, which must all believe.
        public static func allOf(_ choices: [ServerTrustEvaluation]) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .allOf(choices))
        }

        /// By the key that a host showed first, which is written to this file (trust on first use). Protects
        /// against an attacker who comes in between later, not against one who was there from the beginning.
        /// A key is written down when its connection stands and nothing else has refused the host (B3.88).
        /// The directory must exist.
        public static func knownHosts(file: URL) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .knownHosts(file))
        }

        /// Each host by its own choice. A pattern is a host, or `*.example.com` for every host below that domain but
        /// not the domain itself; the most specific one counts. Hosts without one are judged by `others`, or refused
        /// where that is nil (B3.66).
        public static func perHost(
            _ choices: [String: ServerTrustEvaluation], otherwise others: ServerTrustEvaluation?
        ) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .perHost(choices, others))
        }

        /// Not at all: an attacker between here and the server can read and change everything.
        public static let dangerouslyAcceptAnyCertificate = ServerTrustEvaluation(choice: .anyCertificate)

        /// Puts a condition on this choice.
        func under(_ condition: ServerTrustCondition) -> ServerTrustEvaluation {
            ServerTrustEvaluation(choice: .conditional(self, condition))
        }

        /// What is wrong with this choice, in a sentence; nil where it can be carried out. Reads files of known hosts.
        public var problem: String? {
            do throws(CertificateError) {
                _ = try made()
                return nil
            } catch {
                return error.description
            }
        }

        /// The choice in the form in which it goes to another process; nil for what cannot: conditions, and mistakes.
        var carried: TransferSettings.Trust? { try? choice.carried() }

        /// The choice as it came from another process.
        static func choice(_ carried: TransferSettings.Trust) -> ServerTrustEvaluation {
            func list(_ certificates: [[UInt8]]) -> CertificateList { .der(certificates.map { Data($0) }) }
            return switch carried {
            case .system: .system
            case .anchors(let certificates, let alsoSystem):
                alsoSystem ? .anchorsAndSystem(list(certificates)) : .anchors(list(certificates))
            case .pinnedCertificates(let certificates, let base):
                .pinnedCertificates(list(certificates), besides: choice(base))
            case .pinnedKeys(let pins, let base): .pinnedKeys(pins, besides: choice(base))
            case .selfSigned(let certificate, let host, let others):
                .selfSigned(list([certificate]), host: host, otherwise: choice(others))
            case .anyOf(let choices): .anyOf(choices.map { choice($0) })
            case .allOf(let choices): .allOf(choices.map { choice($0) })
            case .knownHosts(let path): .knownHosts(file: URL(fileURLWithPath: path))
            case .perHost(let hosts, let others):
                .perHost(
                    Dictionary(hosts.map { ($0.pattern, choice($0.choice)) }) { $1 },
                    otherwise: others.map { choice($0) })
            case .anyCertificate: .dangerouslyAcceptAnyCertificate
            }
        }

        /// What the choice asks, in words that no other choice has, where it trusts no server that `system` refuses;
        /// nil where it may, and where it cannot be carried out (B7.102).
        var narrowness: String? { choice.narrowness }

        /// The evaluator that carries the choice out; throws where it cannot be.
        fileprivate func made() throws(CertificateError) -> any TrustEvaluator { try choice.evaluator() }

        /// The tree in the form in which it goes to another process.
        fileprivate func carriedChoice() throws(CertificateError) -> TransferSettings.Trust { try choice.carried() }

        /// The evaluator that carries the choice out.
        var evaluator: any TrustEvaluator {
            do throws(CertificateError) {
                return try made()
            } catch {
                return MistakenEvaluator(mistake: error.description)
            }
        }
    }
}

/// The choices, as a tree.
private indirect enum Choice: Sendable, Equatable {
    typealias List = URLSessionConfiguration.CertificateList
    typealias Evaluation = URLSessionConfiguration.ServerTrustEvaluation

    case system
    case anchors(List, alsoSystem: Bool)
    case pinnedCertificates(List, Evaluation)
    case pinnedKeys([String], Evaluation)
    case selfSigned(List, host: String, Evaluation)
    case anyOf([Evaluation])
    case allOf([Evaluation])
    case knownHosts(URL)
    case perHost([String: Evaluation], Evaluation?)
    case anyCertificate
    case conditional(Evaluation, ServerTrustCondition)

    func evaluator() throws(CertificateError) -> any TrustEvaluator {
        switch self {
        case .system:
            return SystemRootsEvaluator()
        case .anchors(let list, let alsoSystem):
            let own = AnchorsEvaluator(anchors: try list.read())
            return alsoSystem ? AnyOfEvaluator([own, SystemRootsEvaluator()]) : own
        case .pinnedCertificates(let list, let base):
            return PinnedCertificatesEvaluator(try list.read(), besides: try base.made())
        case .pinnedKeys(let pins, let base):
            return try PinnedKeysEvaluator(base64: pins, besides: try base.made())
        case .selfSigned(let list, let host, let others):
            let certificates = try list.read()
            guard certificates.count == 1, let certificate = certificates.first else {
                throw .notACertificate("\(certificates.count) are given for \"\(host)\" in place of one")
            }
            guard case .host(let name) = try HostPattern(checking: host.withHostsInASCII) else { throw .notAHost(host) }
            return SelfSignedHostEvaluator(certificate, host: name, otherwise: try others.made())
        case .anyOf(let choices):
            return AnyOfEvaluator(try Self.made(choices))
        case .allOf(let choices):
            return AllOfEvaluator(try Self.made(choices))
        case .knownHosts(let file):
            return try KnownHostsEvaluator(path: file.path(percentEncoded: false))
        case .perHost(let choices, let others):
            var entries: [(pattern: HostPattern, evaluator: any TrustEvaluator)] = []
            for (host, choice) in choices {
                entries.append((try HostPattern(checking: host.withHostsInASCII), try choice.made()))
            }
            return PerHostEvaluator(entries, otherwise: try others?.made())
        case .anyCertificate:
            return DangerouslyAcceptAnyEvaluator()
        case .conditional(let base, let condition):
            return try condition.imposed(on: try base.made())
        }
    }

    /// The evaluation in a form that another process can read; throws where it cannot have one.
    func carried() throws(CertificateError) -> TransferSettings.Trust {
        func bytes(_ list: List) throws(CertificateError) -> [[UInt8]] { try list.read().map(\.der) }
        switch self {
        case .system: return .system
        case .anchors(let list, let alsoSystem): return .anchors(try bytes(list), alsoSystem: alsoSystem)
        case .pinnedCertificates(let list, let base):
            return .pinnedCertificates(try bytes(list), try base.carriedChoice())
        case .pinnedKeys(let pins, let base): return .pinnedKeys(pins, try base.carriedChoice())
        case .selfSigned(let list, let host, let others):
            let certificates = try bytes(list)
            guard certificates.count == 1 else { throw .noCertificateFound }
            return .selfSigned(certificates[0], host: host, try others.carriedChoice())
        case .anyOf(let choices): return .anyOf(try Self.carried(choices))
        case .allOf(let choices): return .allOf(try Self.carried(choices))
        case .knownHosts(let file): return .knownHosts(file.path(percentEncoded: false))
        case .perHost(let choices, let others):
            var hosts: [TransferSettings.Trust.Host] = []
            for (pattern, choice) in choices.sorted(by: { $0.key < $1.key }) {
                hosts.append(TransferSettings.Trust.Host(pattern: pattern, choice: try choice.carriedChoice()))
            }
            return .perHost(hosts, try others?.carriedChoice())
        case .anyCertificate: return .anyCertificate
        case .conditional: throw .noCertificateFound
        }
    }

    /// What the choice asks, in words that no other choice has; nil where it may trust a server that `system` refuses,
    /// and where it cannot be carried out (B7.102).
    var narrowness: String? {
        func word(_ name: String, _ parts: [String?]) -> String? {
            let told = parts.compactMap(\.self)
            return told.count == parts.count ? "\(name)(\(TrustRule.list(told)))" : nil
        }
        switch self {
        case .system: return "system"
        case .pinnedCertificates(let list, let base):
            guard let pins = try? list.read().map(\.fingerprintHex) else { return nil }
            return word("certificates", [base.narrowness] + pins.sorted())
        case .pinnedKeys(let pins, let base): return word("keys", [base.narrowness] + pins.sorted())
        case .anyOf(let choices): return word("any", choices.map(\.narrowness))
        case .allOf(let choices): return word("all", choices.map(\.narrowness))
        case .perHost(let choices, let others):
            let hosts = choices.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value.narrowness] }
            return word("hosts", hosts + [others == nil ? "" : others?.narrowness])
        case .conditional(let base, let condition): return word("under", [base.narrowness, condition.narrowness])
        // These believe the servers that they know, whatever the system's roots say.
        case .anchors, .selfSigned, .knownHosts, .anyCertificate: return nil
        }
    }

    private static func carried(_ choices: [Evaluation]) throws(CertificateError) -> [TransferSettings.Trust] {
        var carried: [TransferSettings.Trust] = []
        for choice in choices { carried.append(try choice.carriedChoice()) }
        return carried
    }

    private static func made(_ choices: [Evaluation]) throws(CertificateError) -> [any TrustEvaluator] {
        var evaluators: [any TrustEvaluator] = []
        for choice in choices { evaluators.append(try choice.made()) }
        return evaluators
    }
}

/// Trusts no server, because what the program has chosen cannot be carried out.
private struct MistakenEvaluator: TrustEvaluator {
    let mistake: String

    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        var failure = TrustFailure(
            .other("the session's serverTrustEvaluation is mistaken, so it trusts no server: \(mistake)"), chain.leaf)
        failure.mistake = mistake
        return .refused(failure)
    }
}
