// The inputs that cost an evaluator most, each made to attack one part of it. Shared by the tests, which look at the
// verdicts, and by the tool, which measures their processor time in a release build.

import URLLoadingLoopbackServer
import URLLoadingTrust

/// A chain that is meant to take long.
package struct WorstCase: Sendable {
    /// What is to happen.
    package enum Verdict: Sendable, Equatable {
        /// It is believed: the work is allowed.
        case trusted
        /// It is refused for a reason of its own.
        case refused
        /// It is refused because of the work it would take.
        case stopped
    }

    /// What is in the chain, in words.
    package let name: String
    /// What is to happen.
    package let expected: Verdict
    private let make: @Sendable () throws -> Input

    /// What an evaluator gets, in encoded form: decoding is part of the work.
    package struct Input: Sendable {
        /// The certificates as a peer would send them.
        package var sent: [[UInt8]]
        /// The trusted ones.
        package var anchors: [Certificate]
        /// A stapled response.
        package var staple: [UInt8]?
        /// What is asked.
        package var policy: TrustPolicy

        init(_ sent: [Certificate], anchors: [Certificate], host: String = WorstCase.host) {
            self.sent = sent.map(\.der)
            self.anchors = anchors
            policy = TrustPolicy(host: HostName(host))
        }

        /// Decodes and judges, with nothing that is remembered from before.
        package func judge() throws -> TrustVerdict {
            var certificates: [Certificate] = []
            for der in sent { certificates.append(try Certificate(der: der)) }
            let stapling = staple.map(CertificateChain.Stapling.response) ?? .unknown
            guard let chain = CertificateChain(certificates, stapling: stapling) else {
                throw CertificateError.noCertificateFound
            }
            return AnchorsEvaluator(anchors: anchors).evaluate(chain, policy: policy)
        }
    }

    init(_ name: String, _ expected: Verdict, _ make: @escaping @Sendable () throws -> Input) {
        self.name = name
        self.expected = expected
        self.make = make
    }

    /// Makes the input, which takes longer than judging it.
    package func input() throws -> Input { try make() }

    /// What was said, in these words.
    package static func kind(of verdict: TrustVerdict) -> Verdict {
        switch verdict {
        case .trusted: .trusted
        case .refused(let failure):
            failure.reason == .tooMuchWork || failure.further.contains(.tooMuchWork) ? .stopped : .refused
        }
    }

    /// All of them.
    package static let all = paths + names + keys + revocation

    static let host = "www.example.test"

    /// A root that everything leads to, and one that nothing does.
    static let root = Result { try CertificateFactory.root("Worst Root") }
    static let stranger = Result { try CertificateFactory.root("Stranger") }

    /// A template of an authority with this name, changed as the case needs it.
    static func authority(_ name: String, _ change: (inout CertificateTemplate) -> Void = { _ in })
        -> CertificateTemplate
    {
        CertificateTemplate.authority(name).with(change)
    }

    /// A leaf for the host with many further names.
    static func end(_ names: [CertificateTemplate.Name] = []) -> CertificateTemplate {
        CertificateTemplate.server("").with {
            $0.commonName = ""
            $0.names = [.dns(host)] + names
        }
    }
}
