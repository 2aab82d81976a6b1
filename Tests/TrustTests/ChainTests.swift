import Testing
import URLLoadingLoopbackServer
import URLLoadingTrust

@Suite struct ChainTests {
    @Test("B3.1: a chain from the leaf over an intermediate to an anchor is trusted")
    func goodChain() throws {
        let verdict = try judge(Chains.leaf.get())
        #expect(verdict.failure == nil)
        #expect(verdict.path?.count == 3)
    }

    @Test("B3.1: a leaf directly below the anchor is trusted")
    func leafBelowRoot() throws {
        let leaf = try Chains.root.get().issue(.server("example.test"))
        #expect(try judge(leaf).failure == nil)
    }

    @Test("B3.1: an unknown root is not trusted")
    func unknownRoot() throws {
        let other = try CertificateFactory.root("Other Root")
        let leaf = try Chains.leaf.get()
        #expect(try judge(leaf, anchors: [other.certificate]).reason == .unknownRoot)
        let withRoot = leaf.chain.certificates + [try Chains.root.get().certificate]
        #expect(try judge(withRoot, anchors: [other.certificate]).reason == .unknownRoot)
    }

    @Test("B3.1: a root of the same name with another key does not vouch")
    func impostorRoot() throws {
        let impostor = try CertificateFactory.root("Test Root")
        let verdict = try judge(Chains.leaf.get(), anchors: [impostor.certificate])
        #expect(verdict.reason == .unknownRoot || verdict.reason == .signatureInvalid)
        // Without key identifiers only the signature tells the two apart.
        let plain = CertificateTemplate.authority("Plain Root").with { $0.hasKeyIdentifiers = false }
        let genuine = try CertificateFactory.selfSigned(plain)
        let forged = try CertificateFactory.selfSigned(plain)
        let leaf = try genuine.issue(.server("example.test").with { $0.hasKeyIdentifiers = false })
        #expect(try judge(leaf, anchors: [genuine.certificate]).isTrusted)
        #expect(try judge(leaf, anchors: [forged.certificate]).reason == .signatureInvalid)
        #expect(try judge(leaf, anchors: [forged.certificate, genuine.certificate]).isTrusted)
    }

    @Test("B3.1: a certificate that was altered after signing is refused")
    func alteredCertificate() throws {
        var bytes = try Chains.leaf(.named([.dns("example.test")])).certificate.der
        let name = Array("example.test".utf8)
        let place = try #require(bytes.indices.last { Array(bytes[$0...].prefix(name.count)) == name })
        bytes[place] = UInt8(ascii: "X")
        let altered = try Certificate(der: bytes)
        let verdict = try judge(
            [altered, Chains.intermediate.get().certificate], host: "Xxample.test")
        #expect(verdict.reason == .signatureInvalid)
    }

    @Test("B3.13: a missing intermediate is an untrusted chain and is not fetched")
    func missingIntermediate() throws {
        let verdict = try judge([Chains.leaf.get().certificate])
        #expect(verdict.reason == .unknownRoot)
        #expect(verdict.failure?.description.contains("Test Intermediate") == true)
    }

    @Test("B3.14: the order of what was sent after the leaf does not matter")
    func reordered() throws {
        let second = try Chains.intermediate.get().issue(.authority("Second Intermediate"))
        let leaf = try second.issue(.server("example.test"))
        let root = try Chains.root.get().certificate
        let upper = try Chains.intermediate.get().certificate
        let orders = [[second.certificate, upper], [upper, second.certificate], [root, upper, second.certificate]]
        for above in orders {
            let verdict = try judge([leaf.certificate] + above)
            #expect(verdict.path?.count == 4)
        }
    }

    @Test("B3.14: unrelated and doubled certificates in what was sent do no harm")
    func extraCertificates() throws {
        let other = try CertificateFactory.root("Unrelated")
        let leaf = try Chains.leaf.get()
        let sent = [leaf.certificate, other.certificate, leaf.certificate] + leaf.chain.certificates
        #expect(try judge(sent).isTrusted)
    }

    @Test("B3.14: of two intermediates with one key, the one that leads to the anchor is used")
    func crossSigned() throws {
        let oldRoot = try CertificateFactory.root("Old Root")
        let intermediate = try Chains.intermediate.get()
        let crossed = try oldRoot.issue(.authority("Test Intermediate"), forKeyOf: intermediate)
        let leaf = try Chains.leaf.get().certificate
        for sent in [
            [leaf, crossed.certificate, intermediate.certificate],
            [leaf, intermediate.certificate, crossed.certificate],
        ] {
            #expect(try judge(sent, anchors: [oldRoot.certificate]).isTrusted)
            #expect(try judge(sent).isTrusted)
        }
    }

    @Test("B3.14: an expired intermediate does not hide its renewed twin")
    func renewedIntermediate() throws {
        let intermediate = try Chains.intermediate.get()
        let old = try Chains.root.get().issue(
            .authority("Test Intermediate").with {
                $0.notBefore = 1_600_000_000; $0.notAfter = 1_700_000_000
            },
            forKeyOf: intermediate)
        let leaf = try Chains.leaf.get().certificate
        #expect(try judge([leaf, old.certificate, intermediate.certificate]).isTrusted)
        #expect(try judge([leaf, intermediate.certificate, old.certificate]).isTrusted)
        #expect(try judge([leaf, old.certificate]).reason == .expired(notAfter: 1_700_000_000))
    }

    @Test("B3.14: a maze of certificates that name each other is given up in bounded time")
    func maze() throws {
        let plain = CertificateTemplate.authority("Maze").with { $0.hasKeyIdentifiers = false }
        let first = try CertificateFactory.selfSigned(plain)
        let others = try (0..<40).map { _ in try first.issue(plain).certificate }
        let leaf = try first.issue(.server("example.test").with { $0.hasKeyIdentifiers = false })
        #expect(try judge([leaf.certificate] + others).isTrusted == false)
        let anchor = try CertificateFactory.selfSigned(plain)
        #expect(try judge([leaf.certificate] + others, anchors: [anchor.certificate]).isTrusted == false)
    }

    @Test("B3.32: a self-signed leaf that is not an anchor is untrusted")
    func selfSignedLeaf() throws {
        let leaf = try CertificateFactory.selfSigned(.server("example.test"))
        let verdict = try judge(leaf)
        #expect(verdict.reason == .selfSigned)
        #expect(verdict.failure?.certificate == "example.test")
    }

    @Test("B3.36, B3.45: below an unknown root, too, a certificate that was revoked is told as that")
    func fatalBelowUnknownRoot() throws {
        let (root, intermediate) = (try Chains.root.get(), try Chains.intermediate.get())
        let (leaf, stranger) = (try Chains.leaf.get(), try CertificateFactory.root("Stranger"))
        let evaluator = AnchorsEvaluator(anchors: [stranger.certificate])
        var policy = TrustPolicy(host: HostName("example.test"))
        func failure(_ sent: [Certificate], _ response: [UInt8]) throws -> TrustFailure {
            let chain = try #require(CertificateChain(sent, stapling: .response(response)))
            return try #require(evaluator.evaluate(chain, policy: policy).failure)
        }
        let byIntermediate = try intermediate.ocspResponse(about: leaf.certificate, .revoked)
        let known = try failure(leaf.chain.certificates, byIntermediate)
        #expect(known.reason == .revoked && known.certificate == "example.test")
        #expect(known.further == [.unknownRoot])

        // Also where more was sent than is looked at.
        let first = try root.issue(.authority("Twin"))
        let twins = try (0..<98).map { _ in try root.issue(.authority("Twin"), forKeyOf: first).certificate }
        let below = try first.issue(.server("example.test")).certificate
        let stopped = try failure([below] + twins, first.ocspResponse(about: below, .revoked))
        #expect(stopped.reason == .revoked && stopped.further.contains(.tooMuchWork))

        // The intermediate, by the list of a root that was sent and is no anchor.
        policy.revocation.lists = [try root.revocationList(revoking: [intermediate.certificate])]
        let whole = try #require(CertificateChain(leaf.chain.certificates + [root.certificate]))
        let above = try #require(evaluator.evaluate(whole, policy: policy).failure)
        #expect(above.reason == .revoked && above.certificate == "Test Intermediate")
    }

    @Test(
        "B3.1, B3.45: below an unknown root a signature that does not fit is told, but not an impostor's beside the issuer's"
    )
    func forgedBelowUnknownRoot() throws {
        let stranger = try CertificateFactory.root("Stranger").certificate
        let plain = CertificateTemplate.authority("Plain").with { $0.hasKeyIdentifiers = false }
        let (genuine, impostor) = (try Chains.root.get().issue(plain), try Chains.root.get().issue(plain).certificate)
        let leaf = try genuine.issue(.server("example.test").with { $0.hasKeyIdentifiers = false }).certificate
        #expect(try judge([leaf, impostor], anchors: [stranger]).reason == .signatureInvalid)
        for sent in [[leaf, impostor, genuine.certificate], [leaf, genuine.certificate, impostor]] {
            #expect(try judge(sent, anchors: [stranger]).reason == .unknownRoot)
        }
    }

    @Test("B3.39: an empty list of anchors trusts nothing")
    func noAnchors() throws {
        #expect(try judge(Chains.leaf.get(), anchors: []).reason == .unknownRoot)
    }

    @Test("B3.40: a leaf may be an anchor, which is how a self-signed certificate is accepted")
    func leafAsAnchor() throws {
        let own = try CertificateFactory.selfSigned(.server("example.test"))
        #expect(try judge(own, anchors: [own.certificate]).path?.count == 1)
        let leaf = try Chains.leaf.get()
        #expect(try judge([leaf.certificate], anchors: [leaf.certificate]).path?.count == 1)
        #expect(try judge(own, anchors: [own.certificate], host: "other.test").isTrusted == false)
    }

    @Test(
        "B3.27: a self-signed server certificate that is an anchor is the leaf it is, and issues nothing",
        arguments: [TrustPolicy.Profile.standard, .strict])
    func serverCertificateAsAnchor(_ profile: TrustPolicy.Profile) throws {
        let own = try CertificateFactory.selfSigned(
            .server("example.test").with {
                $0.isAuthority = nil; $0.keyUsage = nil
            })
        let forged = try own.issue(.server("victim.test"))
        #expect(try judge(own, anchors: [own.certificate], profile: profile).path == [own.certificate])
        let verdict = try judge(forged, anchors: [own.certificate], host: "victim.test", profile: profile)
        #expect(verdict.reason == .notACertificateAuthority)
    }

    @Test("B3.27: an anchor of version 1, which has no place to say that it is an authority, may issue")
    func oldAnchor() throws {
        let old = try CertificateFactory.selfSigned(.authority("Old Authority").with { $0.version = 1 })
        let leaf = try old.issue(.server("example.test"))
        #expect(try judge(leaf, anchors: [old.certificate]).isTrusted)
    }

    @Test("B3.40: an intermediate may be an anchor; the path ends there")
    func intermediateAsAnchor() throws {
        let anchor = try Chains.intermediate.get().certificate
        let verdict = try judge(Chains.leaf.get(), anchors: [anchor])
        #expect(verdict.path?.last == anchor)
        #expect(verdict.path?.count == 2)
        #expect(try judge([Chains.leaf.get().certificate], anchors: [anchor]).isTrusted)
    }

    @Test("B3.42: the path is the one that was built, leaf first and anchor last")
    func builtPath() throws {
        let leaf = try Chains.leaf.get()
        let path = try #require(try judge(leaf).path)
        #expect(path.first == leaf.certificate)
        #expect(path.last == (try Chains.root.get().certificate))
    }

    @Test("B3.3: the application's own verdict needs no path")
    func vouched() throws {
        let chain = try Chains.leaf.get().chain
        #expect(VerifiedPeer.vouchedForByApplication(chain).presented == chain)
        #expect(DangerouslyAcceptAnyEvaluator().evaluate(chain, policy: TrustPolicy(host: nil)).isTrusted)
    }
}
