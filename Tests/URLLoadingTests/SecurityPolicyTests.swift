// AFNetworking's three modes and the image downloaders' fixed answer (B3.53 to B3.60).

import Foundation
import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@testable import URLLoading

@Suite("Security policy in three modes", .timeLimit(.minutes(5)))
struct SecurityPolicyTests {
    typealias Policy = URLSession.ServerSecurityPolicy

    /// A chain of three certificates, and trusts of sessions that accept its root or do not.
    private struct Place {
        let root: IssuedCertificate
        let intermediate: IssuedCertificate
        let leaf: IssuedCertificate
        let stranger: Certificate

        init(_ template: CertificateTemplate = .server("a.test")) throws {
            root = try CertificateFactory.root()
            intermediate = try root.issue(.authority("Intermediate"))
            leaf = try intermediate.issue(template)
            stranger = try CertificateFactory.root("Stranger").certificate
        }

        /// A trust in what a server presents, in a session that knows its root or does not.
        func trust(known: Bool = true, showing others: [Certificate] = []) throws -> SecTrust {
            let chain = try #require(CertificateChain(leaf.chain.certificates + others))
            return SecTrust(
                presented: chain, policy: TrustPolicy(host: HostName("a.test")),
                evaluator: AnchorsEvaluator(anchors: [known ? root.certificate : stranger]))
        }

        func policy(
            _ mode: Policy.PinningMode, _ pins: [Certificate], invalid: Bool = false, domain: Bool = true
        ) -> Policy {
            var policy = Policy(pinningMode: mode, pinnedCertificates: Set(pins.map { Data($0.der) }))
            policy.allowInvalidCertificates = invalid
            policy.validatesDomainName = domain
            return policy
        }

        var certificates: [Certificate] { [leaf.certificate, intermediate.certificate, root.certificate] }
    }

    @Test("B3.53: without pins a valid chain counts, or any if invalid ones are allowed and no name is to be checked")
    func modeNone() throws {
        let place = try Place()
        #expect(Policy().evaluate(try place.trust(), forDomain: "a.test"))
        #expect(!Policy().evaluate(try place.trust(known: false), forDomain: "a.test"))
        #expect(place.policy(.none, [], invalid: true).evaluate(try place.trust(known: false), forDomain: nil))
        let unnamed = place.policy(.none, [], invalid: true, domain: false)
        #expect(unnamed.evaluate(try place.trust(known: false), forDomain: "a.test"))
    }

    @Test("B3.54: pinned certificates are the only anchors, and the chain must hold one of them")
    func modeCertificate() throws {
        let place = try Place()
        for pin in place.certificates {
            #expect(place.policy(.certificate, [place.stranger, pin]).evaluate(try place.trust(), forDomain: "a.test"))
            let own = place.policy(.certificate, [pin], invalid: true)
            #expect(own.evaluate(try place.trust(known: false), forDomain: "a.test"))
            #expect(!own.evaluate(try place.trust(known: false), forDomain: "b.test"))
            #expect(!place.policy(.certificate, [pin]).evaluate(try place.trust(known: false), forDomain: "a.test"))
        }
        #expect(!place.policy(.certificate, [place.stranger]).evaluate(try place.trust(), forDomain: "a.test"))
    }

    @Test("B3.54, B3.68: a pinned certificate that is only sent along proves nothing, in neither mode")
    func sentAlong() throws {
        let place = try Place()
        for mode in [Policy.PinningMode.certificate, .publicKey] {
            for invalid in [false, true] {
                let policy = place.policy(mode, [place.stranger], invalid: invalid)
                #expect(!policy.evaluate(try place.trust(showing: [place.stranger]), forDomain: "a.test"))
                #expect(!policy.evaluate(try place.trust(known: false, showing: [place.stranger]), forDomain: "a.test"))
            }
        }
    }

    @Test("B3.55: the chain must hold a pinned key, and be valid unless invalid ones are allowed")
    func modePublicKey() throws {
        let place = try Place()
        // A renewed certificate with the key of the old one.
        let renewed = try place.root.issue(.authority("Intermediate"), forKeyOf: place.intermediate).certificate
        for pin in place.certificates + [renewed] {
            #expect(place.policy(.publicKey, [pin]).evaluate(try place.trust(), forDomain: "a.test"))
            #expect(!place.policy(.publicKey, [pin]).evaluate(try place.trust(known: false), forDomain: "a.test"))
        }
        for pin in [place.leaf.certificate, renewed] {
            let policy = place.policy(.publicKey, [pin], invalid: true)
            #expect(policy.evaluate(try place.trust(known: false), forDomain: "a.test"))
        }
        #expect(!place.policy(.publicKey, [place.stranger]).evaluate(try place.trust(), forDomain: "a.test"))
        let expired = try Place(
            .server("a.test").with {
                $0.notBefore = 1_000_000_000; $0.notAfter = 1_100_000_000
            })
        let pins = [expired.leaf.certificate]
        #expect(!expired.policy(.publicKey, pins).evaluate(try expired.trust(), forDomain: "a.test"))
        #expect(expired.policy(.publicKey, pins, invalid: true).evaluate(try expired.trust(), forDomain: "a.test"))
    }

    @Test("B3.38, B3.55: pins are looked for in the path to the anchors that were set on the trust")
    func ownAnchors() throws {
        let place = try Place()
        let pins = [place.root.certificate]
        let own = try place.trust(known: false)
        #expect(!place.policy(.publicKey, pins).evaluate(own, forDomain: "a.test"))
        SecTrustSetAnchorCertificates(own, [SecCertificate(place.root.certificate)] as CFArray)
        #expect(place.policy(.publicKey, pins).evaluate(own, forDomain: "a.test"))
        #expect(place.policy(.certificate, pins).evaluate(own, forDomain: "a.test"))
        let other = try place.trust()
        SecTrustSetAnchorCertificates(other, [SecCertificate(place.stranger)] as CFArray)
        for mode in [Policy.PinningMode.none, .publicKey, .certificate] {
            #expect(!place.policy(mode, pins).evaluate(other, forDomain: "a.test"))
        }
    }

    @Test("B3.12, B3.54, B3.55: a server that is known to be revoked is refused where invalid certificates are allowed")
    func revoked() throws {
        let place = try Place()
        let list = try place.intermediate.revocationList(revoking: [place.leaf.certificate])
        let listed = SecTrust(
            presented: place.leaf.chain, policy: TrustPolicy(host: HostName("a.test")),
            evaluator: AnchorsEvaluator(anchors: [place.root.certificate]).adjusting { $0.revocation.lists = [list] })
        let answered = try place.trust()
        let response = try place.intermediate.ocspResponse(about: place.leaf.certificate, .revoked)
        SecTrustSetOCSPResponse(answered, Data(response) as CFData)
        for mode in [Policy.PinningMode.publicKey, .certificate] {
            for pin in [place.intermediate.certificate, place.leaf.certificate] {
                let policy = place.policy(mode, [pin], invalid: true)
                #expect(policy.evaluate(try place.trust(), forDomain: "a.test"))
                #expect(!policy.evaluate(listed, forDomain: "a.test"))
                #expect(!policy.evaluate(answered, forDomain: "a.test"))
            }
        }
    }

    @Test("B3.56: the domain is checked unless validatesDomainName is off")
    func domains() throws {
        let place = try Place()
        #expect(!Policy().evaluate(try place.trust(), forDomain: "b.test"))
        #expect(Policy().evaluate(try place.trust(), forDomain: nil))
        let unnamed = place.policy(.none, [], domain: false)
        #expect(unnamed.evaluate(try place.trust(), forDomain: "b.test"))
        #expect(!unnamed.evaluate(try place.trust(known: false), forDomain: "a.test"))
    }

    @Test("B3.57: allowing invalid certificates while the name is checked refuses every server without pins")
    func contradiction() throws {
        let place = try Place()
        #expect(!place.policy(.none, [], invalid: true).evaluate(try place.trust(), forDomain: "a.test"))
        #expect(!place.policy(.publicKey, [], invalid: true).evaluate(try place.trust(), forDomain: "a.test"))
        let pins = [place.leaf.certificate]
        #expect(!place.policy(.none, pins, invalid: true).evaluate(try place.trust(), forDomain: "a.test"))
    }

    @Test("B3.58: a pinning mode without pins, or with a pin that is no certificate, refuses every server")
    func noPins() throws {
        let place = try Place()
        for mode in [Policy.PinningMode.certificate, .publicKey] {
            for invalid in [false, true] {
                let policy = place.policy(mode, [], invalid: invalid, domain: false)
                #expect(!policy.evaluate(try place.trust(), forDomain: nil))
            }
            var broken = place.policy(mode, [place.leaf.certificate])
            #expect(broken.evaluate(try place.trust(), forDomain: "a.test"))
            broken.pinnedCertificates.insert(Data([1, 2, 3]))
            #expect(!broken.evaluate(try place.trust(), forDomain: "a.test"))
        }
    }

    private func challenge(_ space: URLProtectionSpace, failures: Int = 0) -> URLAuthenticationChallenge {
        URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: nil, previousFailureCount: failures, failureResponse: nil,
            error: nil, sender: Sender())
    }

    private final class Sender: NSObject, URLAuthenticationChallengeSender {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    }

    private let basic = URLProtectionSpace(
        host: "a.test", port: 80, protocol: "http", realm: nil, authenticationMethod: NSURLAuthenticationMethodHTTPBasic
    )

    @Test("B3.59: a server that passes is accepted, another one cancelled; other challenges go to default handling")
    func policyAnswers() throws {
        let place = try Place()
        let trust = try place.trust()
        let passed = Policy().answer(to: challenge(URLProtectionSpace(serverTrust: trust, host: "a.test", port: 443)))
        #expect(passed.0 == .useCredential && passed.1?.trust === trust)
        let refused = Policy().answer(to: challenge(URLProtectionSpace(serverTrust: trust, host: "b.test", port: 443)))
        #expect(refused.0 == .cancelAuthenticationChallenge && refused.1 == nil)
        for space in [basic, URLProtectionSpace(distinguishedNames: [], host: "a.test", port: 443)] {
            #expect(Policy().answer(to: challenge(space)).0 == .performDefaultHandling)
        }
    }

    @Test(
        "B3.60: FixedChallengeAnswer leaves servers to default handling or accepts all; it gives its credential once, then cancels"
    )
    func fixedAnswers() throws {
        let trust = try Place().trust(known: false)
        let server = challenge(URLProtectionSpace(serverTrust: trust, host: "a.test", port: 443))
        let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
        var answer = URLSession.FixedChallengeAnswer(credential: credential)
        #expect(answer.answer(to: server).0 == .performDefaultHandling)
        answer.dangerouslyAllowsInvalidCertificates = true
        #expect(answer.answer(to: server).0 == .useCredential)
        #expect(answer.answer(to: server).1?.trust === trust)
        #expect(answer.answer(to: challenge(basic)).0 == .useCredential)
        #expect(answer.answer(to: challenge(basic)).1 === credential)
        #expect(answer.answer(to: challenge(basic, failures: 1)).0 == .cancelAuthenticationChallenge)
        answer.credential = nil
        #expect(answer.answer(to: challenge(basic)).0 == .cancelAuthenticationChallenge)
    }

    /// A delegate as programs write it.
    private final class Asking: NSObject, URLSessionDelegate {
        let policy: Policy
        init(_ policy: Policy) { self.policy = policy }

        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge
        ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            policy.answer(to: challenge)
        }
    }

    @Test("B3.59, B3.5: in a session a pinned server is loaded from, and another one ends with −999 before a request")
    func inSession() async throws {
        let place = try Place(.server("localhost"))
        let tls = ServerTLS(identity: place.leaf.identity)
        try await withServer(.init(tls: tls), router: { _ in .text("secret") }) { server in
            let url = try server.at("/", host: "localhost")
            let pinned = place.policy(.certificate, [place.root.certificate], invalid: true)
            #expect(await LoadEnd(url, delegate: Asking(pinned)).isWhole)
            let other = place.policy(.certificate, [place.stranger], invalid: true)
            #expect(await LoadEnd(url, delegate: Asking(other)).error?.code == .cancelled)
            #expect(server.stats.requests == 1)
        }
    }
}
