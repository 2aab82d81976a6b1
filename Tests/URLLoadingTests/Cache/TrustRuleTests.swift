// Which rules for trusting servers have a name that all sessions and runs share, so that they share
// stored answers (B7.102).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingPolicy
import URLLoadingTrust

@testable import URLLoading

@Suite("Rules for servers and stored answers")
struct TrustRuleTests {
    typealias Evaluation = URLSessionConfiguration.ServerTrustEvaluation

    private func mark(_ change: (inout ConfigurationValues) -> Void) -> SipHash.Words? {
        var values = ConfigurationValues()
        change(&values)
        return TrustRule.mark(of: values)
    }

    private func mark(_ evaluation: Evaluation) -> SipHash.Words? { mark { $0.serverTrustEvaluation = evaluation } }

    private static let pins = (1...3).map { Data(repeating: $0, count: 32).base64EncodedString() }

    @Test(
        "B7.102: rules that ask the default evaluation and more have names; equal rules have one name, others another")
    func narrow() throws {
        let pem = try CertificateFactory.root().certificate.pem
        let (one, two) = (Self.pins[0], Self.pins[1])
        let rules: [Evaluation] = [
            .system, .pinnedKeys([one]), .pinnedKeys([two]), .pinnedKeys([one, two]),
            .pinnedKeys([one], besides: .pinnedKeys([two])), .pinnedCertificates(.pem(pem)),
            .allOf([.system, .pinnedKeys([one])]), .anyOf([.pinnedKeys([one]), .pinnedKeys([two])]),
            .perHost(["a.test": .pinnedKeys([one])], otherwise: nil),
            .perHost(["a.test": .pinnedKeys([one])], otherwise: .system),
            .perHost(["b.test": .pinnedKeys([one])], otherwise: .system),
            Evaluation.system.checkingRevocation(.soft()), Evaluation.system.checkingRevocation(.hard()),
            Evaluation.system.judgingStrictly(),
        ]
        let marks = rules.map { mark($0) }
        #expect(!marks.contains(nil))
        #expect(Set(marks).count == rules.count)
        #expect(rules.map { mark($0) } == marks, "each rule has the mark that it had before")
        #expect(mark(.pinnedKeys([two, one])) == mark(.pinnedKeys([one, two])), "in any order")
    }

    @Test(
        "B7.102: rules that may accept a server that the default evaluation refuses have no name, alone or inside others"
    )
    func wide() throws {
        let certificate = try CertificateFactory.root().certificate
        let anchors = Evaluation.anchors(pem: certificate.pem)
        let rules: [Evaluation] = [
            anchors, .anchorsAndSystem(pem: certificate.pem), .selfSigned(.pem(certificate.pem), host: "a.test"),
            .knownHosts(file: URL(fileURLWithPath: "/tmp/none/known")), .dangerouslyAcceptAnyCertificate,
            Evaluation.system.checkingRevocation(.none), Evaluation.system.judging(asOf: Date()),
            Evaluation.system.dangerouslyIgnoringHostNames(), .pinnedKeys([Self.pins[0]], besides: anchors),
            .pinnedCertificates(.pem("none")), .anyOf([.system, anchors]), .allOf([.system, anchors]),
            .perHost(["a.test": anchors], otherwise: .system), .perHost([:], otherwise: anchors),
            anchors.checkingRevocation(.hard()),
        ]
        for rule in rules { #expect(mark(rule) == nil) }
    }

    @Test("B7.106: the certificates that a session shows are part of the rule")
    func identities() throws {
        typealias Identities = URLSessionConfiguration.ClientIdentities
        let root = try CertificateFactory.root()
        let (one, two) = (
            URLSessionConfiguration.ClientIdentity.identity(SecIdentity(try root.issue(.client("one")).identity)),
            URLSessionConfiguration.ClientIdentity.identity(SecIdentity(try root.issue(.client("two")).identity))
        )
        let choices: [Identities] = [
            .none, .allHosts(one), .allHosts(two), try .perHost(["a.test": one]), try .perHost(["a.test": two]),
            try .perHost(["b.test": one]), try .perHost(["*.a.test": one]),
            try .perHost(["a.test": one], otherwise: two), try .perHost(["a.test": one, "b.test": two]),
        ]
        let marks = choices.map { choice in mark { $0.clientIdentities = choice } }
        #expect(!marks.contains(nil) && Set(marks).count == marks.count)
        let again = try Identities.perHost(["b.test": two, "a.test": one])
        #expect(mark { $0.clientIdentities = again } == marks.last)
    }

    @Test("B7.102: the lowest version of TLS and the demands of App Transport Security are part of the rule")
    func modes() throws {
        func security(_ dictionary: [String: Any]) throws -> URLSessionConfiguration.AppTransportSecurity {
            try URLSessionConfiguration.AppTransportSecurity(dictionary: dictionary)
        }
        let pinned = ["SPKI-SHA256-BASE64": Self.pins[0]]
        let demands: [[String: Any]] = [
            [:], ["NSAllowsLocalNetworking": true], ["NSAllowsArbitraryLoads": true],
            ["NSExceptionDomains": ["a.test": ["NSExceptionAllowsInsecureHTTPLoads": true]]],
            ["NSExceptionDomains": ["a.test": ["NSExceptionMinimumTLSVersion": "TLSv1.3"]]],
            ["NSExceptionDomains": ["b.test": ["NSExceptionMinimumTLSVersion": "TLSv1.3"]]],
            ["NSExceptionDomains": ["10.0.0.0/8": ["NSExceptionMinimumTLSVersion": "TLSv1.3"]]],
            ["NSPinnedDomains": ["a.test": ["NSPinnedLeafIdentities": [pinned]]]],
            ["NSPinnedDomains": ["a.test": ["NSPinnedCAIdentities": [pinned]]]],
        ]
        var marks = [mark(.system), mark { $0.tlsMinimum = .TLSv13 }, mark { $0.tlsMinimum = .TLSv10 }]
        for dictionary in demands {
            let rules = try security(dictionary)
            marks.append(mark { $0.appTransportSecurity = rules })
            #expect(mark { $0.appTransportSecurity = rules } == marks.last)
        }
        #expect(!marks.contains(nil) && Set(marks).count == marks.count)
    }
}
