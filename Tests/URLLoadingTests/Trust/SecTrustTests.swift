// How a trust is made and judged (behaviour 3.4).

import Foundation
import Testing
import URLLoading
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

@Suite("SecTrust: evaluation")
struct SecTrustTests {
    @Test("B3.33: a trust is made of one certificate or an array, and of one policy, an array or none")
    func creation() throws {
        let leaf = try TrustSamples.leaf.get()
        let certificates = try TrustSamples.faces(leaf.chain.certificates)
        let policy = SecPolicyCreateSSL(true, "example.test" as CFString)
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(certificates as CFArray, policy, &trust) == errSecSuccess)
        #expect(try SecTrustGetCertificateCount(#require(trust)) == 2)
        #expect(SecTrustCreateWithCertificates(certificates[0], [policy] as CFArray, &trust) == errSecSuccess)
        #expect(try SecTrustGetCertificateCount(#require(trust)) == 1)
        #expect(SecTrustCreateWithCertificates(certificates as CFTypeRef, nil, &trust) == errSecSuccess)
        var policies: CFArray?
        #expect(try SecTrustCopyPolicies(#require(trust), &policies) == errSecSuccess)
        #expect(policies as? [SecPolicy] == [SecPolicyCreateBasicX509()])
    }

    @Test("B3.33: objects that are no certificate or no policy make no trust")
    func badParameters() throws {
        let certificate = try TrustSamples.anchor()
        var trust: SecTrust?
        for certificates in [NSArray(), NSString(string: "x"), ["x"] as NSArray, [certificate, "x"] as NSArray] {
            #expect(SecTrustCreateWithCertificates(certificates, nil, &trust) == errSecParam)
            #expect(trust == nil)
        }
        for policies in [
            NSArray(), NSNumber(value: 1), ["x"] as NSArray, [SecPolicyCreateBasicX509(), "x"] as NSArray,
        ] {
            #expect(SecTrustCreateWithCertificates(certificate, policies, &trust) == errSecParam)
            #expect(trust == nil)
        }
    }

    @Test("B3.33: all policies must hold")
    func allPolicies() throws {
        let leaf = try TrustSamples.leaf.get()
        let basic = SecPolicyCreateBasicX509()
        let right = SecPolicyCreateSSL(true, "example.test" as CFString)
        let wrong = SecPolicyCreateSSL(true, "other.test" as CFString)
        for policies in [[basic], [right], [basic, right], [right, basic]] {
            #expect(try failureCode(TrustSamples.trust(leaf, policies: policies)) == 0)
        }
        for policies in [[wrong], [right, wrong], [wrong, right], [basic, wrong]] {
            #expect(try failureCode(TrustSamples.trust(leaf, policies: policies)) == errSecHostNameMismatch)
        }
    }

    @Test(
        "B3.34: an SSL policy checks host and use, or the use alone without a host; a basic one checks chain and dates")
    func policies() throws {
        let other = try TrustSamples.intermediate.get().issue(.server("other.test"))
        let client = try TrustSamples.intermediate.get().issue(.client("somebody"))
        let expired = try TrustSamples.expired.get()
        let host = SecPolicyCreateSSL(true, "example.test" as CFString)
        let noHost: String? = nil
        let any = SecPolicyCreateSSL(true, noHost as CFString?)
        let forClients = SecPolicyCreateSSL(false, nil)
        let basic = SecPolicyCreateBasicX509()
        func code(_ issued: IssuedCertificate, _ policy: SecPolicy) throws -> OSStatus {
            try failureCode(TrustSamples.trust(issued, policies: [policy]))
        }
        #expect(try code(other, host) == errSecHostNameMismatch)
        #expect(try code(other, any) == 0)
        #expect(try code(client, any) == errSecInvalidExtendedKeyUsage)
        #expect(try code(client, forClients) == 0)
        #expect(try code(other, forClients) == errSecInvalidExtendedKeyUsage)
        #expect(try code(client, basic) == 0)
        #expect(try code(expired, basic) == errSecCertificateExpired)
        #expect(try failureCode(TrustSamples.trust(other, policies: [basic], isAnchored: false)) == errSecNotTrusted)
    }

    @Test("B3.34, B3.18: a host in Unicode is compared in its A-labels")
    func unicodeHost() throws {
        let leaf = try TrustSamples.intermediate.get().issue(.server("xn--bcher-kva.test"))
        let policy = SecPolicyCreateSSL(true, "bücher.test" as CFString)
        #expect(try failureCode(TrustSamples.trust(leaf, policies: [policy])) == 0)
    }

    @Test("B3.34: setting policies invalidates the earlier result")
    func settingPolicies() throws {
        let trust = try TrustSamples.trust(TrustSamples.leaf.get())
        #expect(failureCode(trust) == 0)
        #expect(SecTrustSetPolicies(trust, SecPolicyCreateSSL(true, "other.test" as CFString)) == errSecSuccess)
        #expect(lastResult(trust) == .invalid)
        #expect(failureCode(trust) == errSecHostNameMismatch)
        #expect(SecTrustSetPolicies(trust, [SecPolicyCreateBasicX509()] as CFArray) == errSecSuccess)
        #expect(failureCode(trust) == 0)
        for wrong in [NSArray(), ["x"] as NSArray, NSNull()] {
            #expect(SecTrustSetPolicies(trust, wrong) == errSecParam)
            #expect(lastResult(trust) == .unspecified, "nothing has changed")
        }
    }

    @Test("B3.35: the trust of a connection has its host's SSL policy and gives the session's verdict")
    func trustOfConnection() throws {
        let root = try TrustSamples.root.get().certificate
        let leaf = try TrustSamples.leaf.get()
        for (host, wanted) in [("example.test", 0), ("other.test", errSecHostNameMismatch)] {
            let trust = SecTrust(
                presented: leaf.chain, policy: TrustPolicy(host: HostName(host)),
                evaluator: AnchorsEvaluator(anchors: [root]))
            var policies: CFArray?
            #expect(SecTrustCopyPolicies(trust, &policies) == errSecSuccess)
            #expect(policies as? [SecPolicy] == [SecPolicyCreateSSL(true, host as CFString)])
            #expect(failureCode(trust) == wanted)
        }
    }

    @Test(
        "B3.36: the error has the code of the most serious problem, the certificate's name, and details below",
        arguments: ["expired", "early", "host", "self-signed", "unknown", "use"])
    func errors(kind: String) throws {
        let intermediate = try TrustSamples.intermediate.get()
        let server = CertificateTemplate.server("example.test")
        var issued = try TrustSamples.leaf.get()
        var (code, detail) = (errSecNotTrusted, URLLoadingErrorDomain.TrustCode.unknownRoot)
        switch kind {
        case "expired":
            issued = try TrustSamples.expired.get()
            (code, detail) = (errSecCertificateExpired, .expired)
        case "early":
            issued = try intermediate.issue(
                server.with {
                    $0.notBefore = 4_000_000_000; $0.notAfter = 4_100_000_000
                })
            (code, detail) = (errSecCertificateNotValidYet, .notYetValid)
        case "host":
            issued = try intermediate.issue(.server("other.test"))
            (code, detail) = (errSecHostNameMismatch, .hostMismatch)
        case "self-signed":
            issued = try TrustSamples.selfSigned.get()
            (code, detail) = (errSecNotTrusted, .selfSigned)
        case "use":
            issued = try intermediate.issue(server.with { $0.purposes = [.clientAuthentication] })
            (code, detail) = (errSecInvalidExtendedKeyUsage, .wrongPurpose)
        default: break
        }
        let trust = try TrustSamples.trust(issued)
        if kind == "unknown" {
            SecTrustSetAnchorCertificates(
                trust, [try TrustSamples.face(TrustSamples.selfSigned.get().certificate)] as CFArray)
        }
        var error: CFError?
        #expect(!SecTrustEvaluateWithError(trust, &error))
        let found = try #require(error)
        #expect(CFErrorGetDomain(found) as String == NSOSStatusErrorDomain)
        #expect(CFErrorGetCode(found) == Int(code))
        let name = kind == "host" ? "other.test" : kind == "unknown" ? "Sample Intermediate" : "example.test"
        #expect((CFErrorCopyDescription(found) as String).contains(name), "\(found)")
        let below = try #require(CFErrorCopyUserInfo(found)[NSUnderlyingErrorKey] as? NSError)
        #expect(below.domain == URLLoadingErrorDomain.trust)
        #expect(below.code == detail.rawValue)
    }

    @Test("B3.36, B3.72: an unknown root comes before a wrong host, and a wrong host before dates")
    func mostSerious() throws {
        let leaf = try TrustSamples.intermediate.get().issue(TrustSamples.over(.server("other.test")))
        let trust = try TrustSamples.trust(leaf)
        #expect(failureCode(trust) == errSecHostNameMismatch)
        SecTrustSetAnchorCertificates(trust, NSArray())
        #expect(failureCode(trust) == errSecNotTrusted)
        let basic = try TrustSamples.trust(
            leaf, policies: [SecPolicyCreateBasicX509(), SecPolicyCreateSSL(true, "example.test" as CFString)])
        #expect(failureCode(basic) == errSecHostNameMismatch, "of both policies' problems")
    }

    @Test("B3.36: a revoked certificate has the error of a revoked certificate")
    func revoked() throws {
        let intermediate = try TrustSamples.intermediate.get()
        let leaf = try TrustSamples.leaf.get()
        let trust = try TrustSamples.trust(leaf)
        let response = try intermediate.ocspResponse(about: leaf.certificate, .revoked)
        #expect(SecTrustSetOCSPResponse(trust, Data(response) as CFData) == errSecSuccess)
        #expect(failureCode(trust) == errSecCertificateRevoked)
        #expect(lastResult(trust) == .fatalTrustFailure)
    }

    @Test("B3.37: the result is invalid before evaluation, kept after it, and invalid after each change")
    func results() throws {
        let trust = try TrustSamples.trust(TrustSamples.leaf.get())
        #expect(lastResult(trust) == .invalid)
        #expect(SecTrustCopyResult(trust) == nil)
        let anchors = [try TrustSamples.anchor()] as CFArray
        let changes: [(SecTrust) -> Void] = [
            { SecTrustSetPolicies($0, SecPolicyCreateBasicX509()) },
            { SecTrustSetAnchorCertificates($0, anchors) },
            { SecTrustSetAnchorCertificatesOnly($0, true) },
            { SecTrustSetVerifyDate($0, Date() as CFDate) },
            { SecTrustSetNetworkFetchAllowed($0, false) },
            { SecTrustSetOCSPResponse($0, nil) },
            { SecTrustSetExceptions($0, nil) },
        ]
        for change in changes {
            #expect(failureCode(trust) == 0)
            #expect(lastResult(trust) == .unspecified)
            let found = SecTrustCopyResult(trust)
            #expect(found?[kSecTrustResultValue] as? UInt32 == SecTrustResultType.unspecified.rawValue)
            #expect(found?[kSecTrustEvaluationDate] is Date)
            change(trust)
            #expect(lastResult(trust) == .invalid)
            #expect(SecTrustCopyResult(trust) == nil)
        }
    }

    @Test("B3.37: a verdict is remembered until a condition changes")
    func memory() throws {
        let calls = CallCounter()
        let trust = SecTrust(
            presented: try TrustSamples.leaf.get().chain, policy: TrustPolicy(host: HostName("example.test")),
            evaluator: calls)
        #expect(failureCode(trust) == errSecNotTrusted)
        #expect(SecTrustGetCertificateCount(trust) == 2)
        #expect(failureCode(trust) == errSecNotTrusted)
        #expect(calls.count == 1)
        SecTrustSetVerifyDate(trust, Date() as CFDate)
        #expect(failureCode(trust) == errSecNotTrusted)
        #expect(calls.count == 2)
    }

    @Test("B3.37: the older functions give unspecified for trusted and a failure for others")
    @available(*, deprecated)
    func olderFunctions() async throws {
        let good = try TrustSamples.trust(TrustSamples.leaf.get())
        let bad = try TrustSamples.trust(TrustSamples.expired.get())
        var result = SecTrustResultType.invalid
        #expect(SecTrustEvaluate(good, &result) == errSecSuccess)
        #expect(result == .unspecified)
        #expect(SecTrustEvaluate(bad, &result) == errSecSuccess)
        #expect(result == .recoverableTrustFailure)
        for queue in [DispatchQueue(label: "trust"), nil] {
            let found = await withHandover { continuation in
                SecTrustEvaluateAsync(bad, queue) { continuation.resume(returning: ($0, $1)) }
            }
            #expect(found == (bad, .recoverableTrustFailure))
        }
        let rows = SecTrustCopyProperties(bad) as? [[String: String]]
        #expect(rows?.map { $0["title"] } == ["example.test", "Sample Intermediate"])
        #expect(rows?.first?["error"]?.contains("expired") == true)
    }

    @Test("B3.36: the asynchronous form calls back on its queue with the same verdict")
    func asynchronous() async throws {
        let queue = DispatchQueue(label: "trust")
        for (issued, wanted) in [(try TrustSamples.leaf.get(), nil), (try TrustSamples.expired.get(), -67818)] {
            let trust = try TrustSamples.trust(issued)
            let (isTrusted, code): (Bool, Int?) = await withHandover { continuation in
                let status = SecTrustEvaluateAsyncWithError(trust, queue) { same, isTrusted, error in
                    dispatchPrecondition(condition: .onQueue(queue))
                    #expect(same == trust)
                    continuation.resume(returning: (isTrusted, error?.code))
                }
                #expect(status == errSecSuccess)
            }
            #expect(isTrusted == (wanted == nil))
            #expect(code == wanted)
        }
    }

    @Test("B3.42: the chain is evaluated if need be, from the leaf to the anchor, whatever the order sent")
    func chain() throws {
        let (root, intermediate) = (try TrustSamples.root.get(), try TrustSamples.intermediate.get())
        let leaf = try TrustSamples.leaf.get()
        let stranger = try CertificateFactory.root("Stranger").certificate
        let sent = [leaf.certificate, stranger, intermediate.certificate]
        var made: SecTrust?
        SecTrustCreateWithCertificates(try TrustSamples.faces(sent) as CFArray, nil, &made)
        let trust = try #require(made)
        SecTrustSetAnchorCertificates(trust, [try TrustSamples.anchor()] as CFArray)
        #expect(lastResult(trust) == .invalid)
        #expect(chainBytes(trust) == bytes([leaf.certificate, intermediate.certificate, root.certificate]))
        #expect(lastResult(trust) == .unspecified, "evaluated")
        #expect(SecTrustGetCertificateCount(trust) == 3)
    }

    @Test("B3.42, B3.68: a failed trust has the certificates that signatures link, leaf first, without the anchor")
    @available(*, deprecated)
    func chainOfFailure() throws {
        let intermediate = try TrustSamples.intermediate.get().certificate
        let (leaf, stranger) = (try TrustSamples.expired.get().certificate, try CertificateFactory.root("Stranger"))
        // It has the issuer's name, and has not signed the leaf.
        let impostor = try CertificateFactory.root("Sample Intermediate").certificate
        var made: SecTrust?
        let sent = try TrustSamples.faces([leaf, impostor, stranger.certificate, intermediate])
        SecTrustCreateWithCertificates(sent as CFArray, nil, &made)
        let trust = try #require(made)
        SecTrustSetAnchorCertificates(trust, [try TrustSamples.anchor()] as CFArray)
        #expect(chainBytes(trust) == bytes([leaf, intermediate]))
        #expect(SecTrustGetCertificateAtIndex(trust, 0) == sent[0])
        #expect(SecTrustGetCertificateAtIndex(trust, 1) == sent[3])
        for index in [-1, 2, .max, .min] { #expect(SecTrustGetCertificateAtIndex(trust, index) == nil) }
        // A broken signature links nothing.
        let weak = try TrustSamples.intermediate.get().issue(.server("example.test").with { $0.hash = .sha1 })
        #expect(chainBytes(try TrustSamples.trust(weak)) == bytes([weak.certificate]))
    }

    @Test("B3.48: a trust is used from many threads at once, while its conditions change")
    func threads() async throws {
        let trust = try TrustSamples.trust(TrustSamples.leaf.get())
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<64 {
                group.addTask {
                    if index % 4 == 0 {
                        SecTrustSetVerifyDate(trust, Date() as CFDate)
                    } else {
                        #expect(failureCode(trust) == 0)
                        #expect(SecTrustGetCertificateCount(trust) == 3)
                    }
                }
            }
        }
        #expect(failureCode(trust) == 0)
    }

    @Test("Trusts are equal only where they are one object")
    func identity() throws {
        let one = try TrustSamples.trust(TrustSamples.leaf.get())
        let other = try TrustSamples.trust(TrustSamples.leaf.get())
        #expect(Set([one, one, other]).count == 2)
        let types = [
            SecTrustGetTypeID(), SecPolicyGetTypeID(), SecCertificateGetTypeID(), SecKeyGetTypeID(),
            SecIdentityGetTypeID(),
        ]
        #expect(Set(types).count == 5)
        #expect(CFGetTypeID(one) == SecTrustGetTypeID())
        #expect(CFGetTypeID(SecPolicyCreateBasicX509()) == SecPolicyGetTypeID())
        #expect(CFGetTypeID(try TrustSamples.anchor()) == SecCertificateGetTypeID())
        #expect(CFGetTypeID(SecTrustCopyKey(one)) == SecKeyGetTypeID())
        #expect(!types.contains(CFGetTypeID(NSString(string: "x"))))
        #expect(!types.contains(CFGetTypeID(nil)))
    }
}

/// Refuses every server, and counts how often it was asked.
private final class CallCounter: TrustEvaluator {
    private let calls = Guarded(0)
    var count: Int { calls.withLock { $0 } }

    func evaluate(_ chain: CertificateChain, policy: TrustPolicy) -> TrustVerdict {
        calls.withLock { $0 += 1 }
        return .refused(TrustFailure(.unknownRoot, chain.leaf))
    }
}
