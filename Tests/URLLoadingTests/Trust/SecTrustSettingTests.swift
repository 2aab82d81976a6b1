// Anchors, times, exceptions, revocation and fetching (behaviour 3.4).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite("SecTrust: conditions")
struct SecTrustSettingTests {
    @Test("B3.38: own anchors alone are trusted, the others too after AnchorsOnly(false), and nil removes the own ones")
    func anchors() throws {
        let stranger = try CertificateFactory.root("Stranger")
        let leaf = try TrustSamples.leaf.get()
        // What stands for the system's roots: the session's evaluator.
        let trust = SecTrust(
            presented: leaf.chain, policy: TrustPolicy(host: HostName("example.test")),
            evaluator: AnchorsEvaluator(anchors: [try TrustSamples.root.get().certificate]))
        #expect(failureCode(trust) == 0)
        let own = [try TrustSamples.face(stranger.certificate)]
        var kept: CFArray?
        #expect(SecTrustCopyCustomAnchorCertificates(trust, &kept) == errSecSuccess)
        #expect(kept == nil)
        #expect(SecTrustSetAnchorCertificates(trust, own as CFArray) == errSecSuccess)
        #expect(failureCode(trust) == errSecNotTrusted)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, false) == errSecSuccess)
        #expect(failureCode(trust) == 0)
        #expect(SecTrustCopyCustomAnchorCertificates(trust, &kept) == errSecSuccess)
        #expect(kept as? [SecCertificate] == own)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
        #expect(failureCode(trust) == errSecNotTrusted)
        #expect(SecTrustSetAnchorCertificates(trust, nil) == errSecSuccess)
        #expect(failureCode(trust) == 0)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
        #expect(failureCode(trust) == errSecNotTrusted, "there are none")
    }

    @Test("B3.38: after AnchorsOnly(false) own anchors are trusted beside the others")
    func ownBesideOthers() throws {
        let trust = SecTrust(
            presented: try TrustSamples.leaf.get().chain, policy: TrustPolicy(host: HostName("example.test")),
            evaluator: AnchorsEvaluator(anchors: [try CertificateFactory.root("Stranger").certificate]))
        #expect(failureCode(trust) == errSecNotTrusted)
        SecTrustSetAnchorCertificates(trust, [try TrustSamples.anchor()] as CFArray)
        SecTrustSetAnchorCertificatesOnly(trust, false)
        #expect(failureCode(trust) == 0)
    }

    @Test("B3.39: an empty list of anchors trusts nothing, and a list of other objects is refused")
    func emptyAnchors() throws {
        for issued in [try TrustSamples.leaf.get(), try TrustSamples.selfSigned.get()] {
            let trust = try TrustSamples.trust(issued)
            #expect(SecTrustSetAnchorCertificates(trust, NSArray()) == errSecSuccess)
            #expect(failureCode(trust) == errSecNotTrusted)
            #expect(SecTrustSetAnchorCertificates(trust, ["x"] as NSArray) == errSecParam)
            #expect(lastResult(trust) == .recoverableTrustFailure, "nothing has changed")
        }
    }

    @Test("B3.40: a leaf or an intermediate may be an anchor, and the chain ends there")
    func anchorsBelowRoot() throws {
        let leaf = try TrustSamples.leaf.get()
        let intermediate = try TrustSamples.intermediate.get().certificate
        let trust = try TrustSamples.trust(leaf)
        SecTrustSetAnchorCertificates(trust, [try TrustSamples.face(leaf.certificate)] as CFArray)
        #expect(failureCode(trust) == 0)
        #expect(chainBytes(trust) == bytes([leaf.certificate]))
        SecTrustSetAnchorCertificates(trust, [try TrustSamples.face(intermediate)] as CFArray)
        #expect(failureCode(trust) == 0)
        #expect(chainBytes(trust) == bytes([leaf.certificate, intermediate]))
        let own = try TrustSamples.selfSigned.get()
        let selfSigned = try TrustSamples.trust(own)
        SecTrustSetAnchorCertificates(selfSigned, [try TrustSamples.face(own.certificate)] as CFArray)
        #expect(failureCode(selfSigned) == 0)
        SecTrustSetPolicies(selfSigned, SecPolicyCreateSSL(true, "other.test" as CFString))
        #expect(failureCode(selfSigned) == errSecHostNameMismatch)
    }

    @Test("B3.41: the verify date is the time of evaluation; without one it is now")
    func verifyDate() throws {
        let root = try CertificateFactory.selfSigned(TrustSamples.over(.authority("Old Root")))
        let leaf = try root.issue(TrustSamples.over(.server("example.test")))
        let trust = try TrustSamples.trust(leaf)
        SecTrustSetAnchorCertificates(trust, [try TrustSamples.face(root.certificate)] as CFArray)
        let before = Date().timeIntervalSinceReferenceDate
        #expect(SecTrustGetVerifyTime(trust) >= before)
        #expect(failureCode(trust) == errSecCertificateExpired)
        let then = Date(timeIntervalSince1970: 1_050_000_000)
        #expect(SecTrustSetVerifyDate(trust, then as CFDate) == errSecSuccess)
        #expect(SecTrustGetVerifyTime(trust) == then.timeIntervalSinceReferenceDate)
        #expect(failureCode(trust) == 0)
        SecTrustSetVerifyDate(trust, Date(timeIntervalSince1970: 900_000_000) as CFDate)
        #expect(failureCode(trust) == errSecCertificateNotValidYet)
        for seconds in [Double.infinity, -.infinity, .nan, 1e300] {
            #expect(SecTrustSetVerifyDate(trust, NSDate(timeIntervalSince1970: seconds)) == errSecParam)
        }
        for date in [Date.distantFuture, .distantPast] {
            #expect(SecTrustSetVerifyDate(trust, date as CFDate) == errSecSuccess)
            #expect(failureCode(trust) != 0)
        }
    }

    @Test("B3.45: exceptions excuse the problems that the leaf had, and no new ones")
    func exceptions() throws {
        let expired = try TrustSamples.expired.get()
        let trust = try TrustSamples.trust(expired)
        #expect(failureCode(trust) == errSecCertificateExpired)
        let cookie = try #require(SecTrustCopyExceptions(trust))
        #expect(SecTrustSetExceptions(trust, cookie))
        #expect(lastResult(trust) == .invalid, "to be evaluated again")
        #expect(failureCode(trust) == 0)
        #expect(lastResult(trust) == .proceed)
        SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, "other.test" as CFString))
        #expect(failureCode(trust) == errSecHostNameMismatch, "a new kind of problem")
        #expect(!SecTrustSetExceptions(trust, nil))
        SecTrustSetPolicies(trust, SecPolicyCreateBasicX509())
        #expect(failureCode(trust) == errSecCertificateExpired, "taken back")

        let later = try TrustSamples.trust(expired)
        #expect(SecTrustSetExceptions(later, cookie), "the same leaf in another trust")
        #expect(failureCode(later) == 0)
        let other = try TrustSamples.trust(
            TrustSamples.intermediate.get().issue(TrustSamples.over(.server("example.test"))))
        #expect(!SecTrustSetExceptions(other, cookie), "another leaf")
        #expect(failureCode(other) == errSecCertificateExpired)
    }

    @Test("B3.45: an exception for one host is none for another, and none for a revoked certificate")
    func narrowExceptions() throws {
        let leaf = try TrustSamples.leaf.get()
        let trust = try TrustSamples.trust(leaf, policies: [SecPolicyCreateSSL(true, "one.test" as CFString)])
        let cookie = try #require(SecTrustCopyExceptions(trust))
        #expect(SecTrustSetExceptions(trust, cookie))
        #expect(failureCode(trust) == 0)
        SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, "two.test" as CFString))
        #expect(failureCode(trust) == errSecHostNameMismatch)

        let revoked = try TrustSamples.trust(leaf)
        let response = try TrustSamples.intermediate.get().ocspResponse(about: leaf.certificate, .revoked)
        SecTrustSetOCSPResponse(revoked, Data(response) as CFData)
        let all = try #require(SecTrustCopyExceptions(revoked))
        #expect(SecTrustSetExceptions(revoked, all))
        #expect(failureCode(revoked) == errSecCertificateRevoked)
    }

    @Test(
        "B3.45: nothing excuses a revoked certificate whose root is unknown, or of which one of several choices knows")
    func exceptionsForRevoked() throws {
        func refuses(_ trust: SecTrust) -> Bool {
            failureCode(trust) == errSecCertificateRevoked && lastResult(trust) == .fatalTrustFailure
        }
        let leaf = try TrustSamples.leaf.get()
        let unknown = try TrustSamples.trust(leaf, isAnchored: false)
        let stranger = try TrustSamples.face(CertificateFactory.root("Stranger").certificate)
        SecTrustSetAnchorCertificates(unknown, [stranger] as CFArray)
        let kept = try #require(SecTrustCopyExceptions(unknown))
        #expect(SecTrustSetExceptions(unknown, kept))
        #expect(failureCode(unknown) == 0, "its root alone is unknown")
        let response = try TrustSamples.intermediate.get().ocspResponse(about: leaf.certificate, .revoked)
        SecTrustSetOCSPResponse(unknown, Data(response) as CFData)
        #expect(refuses(unknown), "exceptions from before the revocation")
        #expect(SecTrustSetExceptions(unknown, SecTrustCopyExceptions(unknown)))
        #expect(refuses(unknown))

        // The issuer is not sent: only the own anchor can tell, and the others know no root of it.
        let direct = try TrustSamples.root.get().issue(.server("example.test"))
        let beside = try TrustSamples.trust(direct)
        SecTrustSetAnchorCertificatesOnly(beside, false)
        #expect(failureCode(beside) == 0)
        let said = try TrustSamples.root.get().ocspResponse(about: direct.certificate, .revoked)
        SecTrustSetOCSPResponse(beside, Data(said) as CFData)
        #expect(refuses(beside))
        #expect(SecTrustSetExceptions(beside, SecTrustCopyExceptions(beside)))
        #expect(refuses(beside))
    }

    @Test("B3.45: what excuses one of several evaluations that must all believe excuses no other")
    func exceptionsForOneOfAll() throws {
        let chain = try TrustSamples.expired.get().chain
        let policy = TrustPolicy(host: HostName("example.test"))
        let anchors = AnchorsEvaluator(anchors: [try TrustSamples.root.get().certificate])
        let trust = SecTrust(presented: chain, policy: policy, evaluator: anchors)
        let excused = try #require(SecTrustCopyExceptions(trust))
        let both = SecTrust(
            presented: chain, policy: policy,
            evaluator: AllOfEvaluator([anchors, AnchorsEvaluator(anchors: [])]))
        #expect(SecTrustSetExceptions(both, excused))
        #expect(failureCode(both) == errSecNotTrusted)
        #expect(SecTrustSetExceptions(both, nil) == false)
        #expect(SecTrustSetExceptions(both, SecTrustCopyExceptions(both)))
        #expect(failureCode(both) == 0)
    }

    @Test("B3.45: data that are no exceptions are refused, and leave the trust without exceptions")
    func brokenExceptions() throws {
        let trust = try TrustSamples.trust(TrustSamples.expired.get())
        let cookie = try #require(SecTrustCopyExceptions(trust)) as Data
        for count in 0..<cookie.count {
            #expect(!SecTrustSetExceptions(trust, cookie.prefix(count) as CFData))
        }
        for data in [Data("{}".utf8), Data(repeating: 0x5B, count: 100_000), Data([0xFF])] {
            #expect(!SecTrustSetExceptions(trust, data as CFData))
        }
        #expect(failureCode(trust) == errSecCertificateExpired)
    }

    @Test("B3.46: fetching is allowed by default for SSL policies only, and nothing is ever fetched")
    func fetching() throws {
        func allowed(_ trust: SecTrust) -> Bool? {
            var allowed: DarwinBoolean = false
            return SecTrustGetNetworkFetchAllowed(trust, &allowed) == errSecSuccess ? allowed.boolValue : nil
        }
        let leaf = try TrustSamples.leaf.get()
        let ssl = try TrustSamples.trust(leaf)
        let basic = try TrustSamples.trust(leaf, policies: [SecPolicyCreateBasicX509()])
        #expect(allowed(ssl) == true)
        #expect(allowed(basic) == false)
        for flag in [true, false] {
            #expect(SecTrustSetNetworkFetchAllowed(basic, flag) == errSecSuccess)
            #expect(allowed(basic) == flag)
        }
        // B3.13: a missing intermediate is an untrusted chain.
        var made: SecTrust?
        SecTrustCreateWithCertificates(try TrustSamples.face(leaf.certificate), nil, &made)
        let trust = try #require(made)
        SecTrustSetAnchorCertificates(trust, [try TrustSamples.anchor()] as CFArray)
        SecTrustSetNetworkFetchAllowed(trust, true)
        #expect(failureCode(trust) == errSecNotTrusted)
    }

    @Test("B3.47: a revocation policy that requires an answer fails without one")
    func revocation() throws {
        let (root, intermediate) = (try TrustSamples.root.get(), try TrustSamples.intermediate.get())
        let leaf = try TrustSamples.leaf.get()
        let ssl = SecPolicyCreateSSL(true, "example.test" as CFString)
        let soft = try #require(SecPolicyCreateRevocation(kSecRevocationUseAnyAvailableMethod))
        let hard = try #require(
            SecPolicyCreateRevocation(kSecRevocationOCSPMethod | kSecRevocationRequirePositiveResponse))
        #expect(try failureCode(TrustSamples.trust(leaf, policies: [ssl, soft])) == 0)
        for policies in [[ssl, hard], [hard, soft, ssl], [hard]] {
            let trust = try TrustSamples.trust(leaf, policies: policies)
            #expect(failureCode(trust) == errSecIncompleteCertRevocationCheck)
        }
        let aboutLeaf = Data(try intermediate.ocspResponse(about: leaf.certificate, .good))
        let aboutIntermediate = Data(try root.ocspResponse(about: intermediate.certificate, .good))
        let trust = try TrustSamples.trust(leaf, policies: [ssl, hard])
        SecTrustSetOCSPResponse(trust, aboutLeaf as CFData)
        #expect(
            failureCode(trust) == errSecIncompleteCertRevocationCheck, "no response is about the intermediate")
        #expect(SecTrustSetOCSPResponse(trust, [aboutLeaf, aboutIntermediate] as CFArray) == errSecSuccess)
        #expect(failureCode(trust) == 0)
        let found = SecTrustCopyResult(trust)
        #expect(found?[kSecTrustRevocationChecked] as? Bool == true)
        let until = try #require(found?[kSecTrustRevocationValidUntilDate] as? Date)
        #expect(until > Date())
        let revoked = Data(try root.ocspResponse(about: intermediate.certificate, .revoked))
        SecTrustSetOCSPResponse(trust, [aboutLeaf, aboutIntermediate, revoked] as CFArray)
        #expect(failureCode(trust) == errSecCertificateRevoked, "an intermediate, said by one of two")
    }

    @Test("B3.47: a revocation policy forces a check that the session does not ask for")
    func forcedCheck() throws {
        let leaf = try TrustSamples.leaf.get()
        let revoked = try TrustSamples.intermediate.get().ocspResponse(about: leaf.certificate, .revoked)
        let chain = try #require(CertificateChain(leaf.chain.certificates, stapling: .response(revoked)))
        let policy = TrustPolicy(host: HostName("example.test"), revocation: RevocationPolicy(mode: .none))
        let trust = SecTrust(
            presented: chain, policy: policy,
            evaluator: AnchorsEvaluator(anchors: [try TrustSamples.root.get().certificate]))
        #expect(failureCode(trust) == 0)
        let check = try #require(SecPolicyCreateRevocation(kSecRevocationOCSPMethod))
        SecTrustSetPolicies(trust, [SecPolicyCreateSSL(true, "example.test" as CFString), check] as CFArray)
        #expect(failureCode(trust) == errSecCertificateRevoked)
    }

    @Test("Data that are no OCSP response have no effect, and other objects are refused")
    func brokenResponses() throws {
        let trust = try TrustSamples.trust(TrustSamples.leaf.get())
        #expect(SecTrustSetOCSPResponse(trust, Data([1, 2, 3]) as CFData) == errSecSuccess)
        #expect(failureCode(trust) == 0)
        #expect(SecTrustSetOCSPResponse(trust, NSNumber(value: 1)) == errSecParam)
        #expect(SecTrustSetOCSPResponse(trust, ["x"] as NSArray) == errSecParam)
        #expect(lastResult(trust) == .unspecified, "nothing has changed")
    }

    @Test("Certificate transparency is not judged: setting timestamps gives errSecUnimplemented")
    func transparency() throws {
        let trust = try TrustSamples.trust(TrustSamples.leaf.get())
        #expect(SecTrustSetSignedCertificateTimestamps(trust, [Data()] as NSArray) == errSecUnimplemented)
        #expect(SecTrustSetSignedCertificateTimestamps(trust, nil) == errSecSuccess)
        #expect(failureCode(trust) == 0)
        #expect(SecTrustCopyResult(trust)?[kSecTrustCertificateTransparency] == nil)
    }
}
