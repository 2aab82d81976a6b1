import Testing
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingTrust

@Suite struct EvaluatorTests {
    private let policy = TrustPolicy(host: HostName("example.test"))
    private func anchors() throws -> AnchorsEvaluator {
        AnchorsEvaluator(anchors: [try Chains.root.get().certificate])
    }
    private let trustsNone = AnchorsEvaluator(anchors: [])
    private let trustsAll = DangerouslyAcceptAnyEvaluator()

    // MARK: Pins

    @Test("B3.50: a pinned certificate may be leaf, intermediate or root of the verified path")
    func certificatePins() throws {
        let chain = try Chains.leaf.get().chain
        for pin in chain.certificates + [try Chains.root.get().certificate] {
            let evaluator = PinnedCertificatesEvaluator([pin], besides: try anchors())
            #expect(evaluator.evaluate(chain, policy: policy).isTrusted)
        }
        let other = try CertificateFactory.root("Other").certificate
        let evaluator = PinnedCertificatesEvaluator([other], besides: try anchors())
        #expect(evaluator.evaluate(chain, policy: policy).reason == .pinMismatch)
    }

    @Test("B3.52: a key is pinned by the SHA-256 of its encoding, in base64 too, with back-ups")
    func keyPins() throws {
        let chain = try Chains.leaf.get().chain
        let backup = try CertificateFactory.root("Backup").certificate.spkiSHA256
        for certificate in chain.certificates {
            let evaluator = try PinnedKeysEvaluator(
                spkiSHA256: [backup, certificate.spkiSHA256], besides: try anchors())
            #expect(evaluator.evaluate(chain, policy: policy).isTrusted)
        }
        let wrong = try PinnedKeysEvaluator(spkiSHA256: [backup], besides: try anchors())
        #expect(wrong.evaluate(chain, policy: policy).reason == .pinMismatch)
        let zeros = String(repeating: "A", count: 43) + "="
        let none = try PinnedKeysEvaluator(base64: [zeros], besides: try anchors())
        #expect(none.evaluate(chain, policy: policy).reason == .pinMismatch)
    }

    @Test("B3.49: a renewed certificate that keeps its key keeps its pin")
    func renewedKey() throws {
        let first = try Chains.leaf.get()
        let renewed = try Chains.intermediate.get().issue(.server("example.test"), forKeyOf: first)
        let evaluator = try PinnedKeysEvaluator(spkiSHA256: [first.certificate.spkiSHA256], besides: try anchors())
        #expect(evaluator.evaluate(renewed.chain, policy: policy).isTrusted)
        let byCertificate = PinnedCertificatesEvaluator([first.certificate], besides: try anchors())
        #expect(byCertificate.evaluate(renewed.chain, policy: policy).reason == .pinMismatch)
    }

    @Test("B3.51: a pin comes on top of the chain and the host")
    func pinsAreNotEnough() throws {
        let leaf = try Chains.leaf.get()
        let pinned = try PinnedKeysEvaluator(spkiSHA256: [leaf.certificate.spkiSHA256], besides: trustsNone)
        #expect(pinned.evaluate(leaf.chain, policy: policy).reason == .unknownRoot)
        let onTop = try PinnedKeysEvaluator(spkiSHA256: [leaf.certificate.spkiSHA256], besides: try anchors())
        let elsewhere = TrustPolicy(host: HostName("other.test"))
        #expect(onTop.evaluate(leaf.chain, policy: elsewhere).isTrusted == false)
    }

    @Test("B3.68: a pinned certificate that is sent along but is not in the verified path does not count")
    func pinOutsideOfPath() throws {
        let pinned = try CertificateFactory.root("Pinned").certificate
        let chain = try #require(CertificateChain(try Chains.leaf.get().chain.certificates + [pinned]))
        let evaluator = try PinnedKeysEvaluator(spkiSHA256: [pinned.spkiSHA256], besides: try anchors())
        #expect(evaluator.evaluate(chain, policy: policy).reason == .pinMismatch)
    }

    @Test("B3.58: an empty list of pinned certificates refuses everything, and invalid key pins are an error")
    func emptyPins() throws {
        let evaluator = PinnedCertificatesEvaluator([], besides: trustsAll)
        #expect(evaluator.evaluate(try Chains.leaf.get().chain, policy: policy).reason == .pinMismatch)
        #expect(throws: CertificateError.self) { try PinnedKeysEvaluator(spkiSHA256: []) }
        #expect(throws: CertificateError.self) { try PinnedKeysEvaluator(spkiSHA256: [[1, 2, 3]]) }
        #expect(throws: CertificateError.self) { try PinnedKeysEvaluator(base64: ["not base64!"]) }
    }

    // MARK: Combination

    @Test("B3.65: of all evaluators each must believe, of several alternatives one is enough")
    func combination() throws {
        let chain = try Chains.leaf.get().chain
        let good = try anchors()
        #expect(AllOfEvaluator([good, trustsAll]).evaluate(chain, policy: policy).path?.count == 3)
        #expect(AllOfEvaluator([trustsAll, good]).evaluate(chain, policy: policy).path?.count == 3)
        #expect(AllOfEvaluator([good, trustsNone]).evaluate(chain, policy: policy).reason == .unknownRoot)
        #expect(AnyOfEvaluator([trustsNone, good]).evaluate(chain, policy: policy).isTrusted)
        #expect(AnyOfEvaluator([trustsNone, trustsNone]).evaluate(chain, policy: policy).reason == .unknownRoot)
        #expect(AllOfEvaluator([]).evaluate(chain, policy: policy).isTrusted == false)
        #expect(AnyOfEvaluator([]).evaluate(chain, policy: policy).isTrusted == false)
    }

    @Test("B3.45, B3.72: what all of several must believe is refused for all their reasons, the most serious first")
    func joinedRefusals() throws {
        let folder = try TemporaryFolder()
        let chain = try Chains.leaf.get().chain
        let pinned = PinnedCertificatesEvaluator([], besides: try anchors())
        let all: [any TrustEvaluator] = [pinned, try anchors(), trustsNone, pinned]
        let failure = AllOfEvaluator(all).evaluate(chain, policy: policy).failure
        #expect(failure?.reason == .unknownRoot)
        #expect(failure?.further.filter { $0 == .pinMismatch }.count == 1)
        let known = try KnownHostsEvaluator(path: folder.path + "/known-hosts")
        let refused = AllOfEvaluator([trustsNone, known]).evaluate(chain, policy: policy)
        #expect(refused.reason == .unknownRoot)
        #expect(folder.mode("known-hosts") == 0, "a chain that is refused is not written down")
    }

    @Test("Of several refusals the one that got furthest is told")
    func closestRefusal() throws {
        let chain = try Chains.leaf.get().chain
        let elsewhere = TrustPolicy(host: HostName("other.test"))
        let verdict = AnyOfEvaluator([trustsNone, try anchors()]).evaluate(chain, policy: elsewhere)
        #expect(verdict.reason == .hostMismatch(wanted: "other.test", presented: ["example.test"]))
    }

    @Test("B3.36, B3.45: of several refusals one that nothing excuses is told, whichever comes first")
    func fatalRefusal() throws {
        // The issuer is not sent: only where it is an anchor can its answer be checked.
        let root = try Chains.root.get()
        let leaf = try root.issue(.server("example.test"))
        let response = try root.ocspResponse(about: leaf.certificate, .revoked)
        let chain = try #require(CertificateChain([leaf.certificate], stapling: .response(response)))
        #expect(trustsNone.evaluate(chain, policy: policy).reason == .unknownRoot)
        let orders: [[any TrustEvaluator]] = [[try anchors(), trustsNone], [trustsNone, try anchors()]]
        for evaluators in orders {
            #expect(AnyOfEvaluator(evaluators).evaluate(chain, policy: policy).reason == .revoked)
        }
    }

    @Test("B3.66: the most specific host pattern decides, and a host without one is refused")
    func perHost() throws {
        let chain = try Chains.leaf(.server("a.example.test", "b.example.test", "example.test")).chain
        let evaluator = PerHostEvaluator(
            [(.init("*.example.test"), trustsNone), (.init("A.example.test."), try anchors())], otherwise: nil)
        func verdict(_ host: String?) -> TrustVerdict {
            evaluator.evaluate(chain, policy: TrustPolicy(host: host.map { HostName($0) }))
        }
        #expect(verdict("a.example.test").isTrusted)
        #expect(verdict("b.example.test").reason == .unknownRoot)
        #expect(verdict("example.test").reason == .other("no evaluator is named for this host"))
        #expect(verdict(nil).isTrusted == false)
        let open = PerHostEvaluator([(.init("*.example.test"), trustsNone)], otherwise: try anchors())
        #expect(open.evaluate(chain, policy: policy).isTrusted)
    }

    @Test("An evaluator can be wrapped with another policy: a strict profile, a time")
    func adjusted() throws {
        let plain = CertificateTemplate.server("example.test").with { $0.hasKeyIdentifiers = false }
        let chain = try Chains.intermediate.get().issue(plain).chain
        #expect(try anchors().evaluate(chain, policy: policy).isTrusted)
        let strict = try anchors().adjusting { $0.profile = .strict }
        #expect(strict.evaluate(chain, policy: policy).isTrusted == false)
        let early = try anchors().adjusting { $0.time = 1_000_000_000 }
        #expect(early.evaluate(try Chains.leaf.get().chain, policy: policy).isTrusted == false)
    }

    // MARK: Conditions

    @Test("B3.34, B3.47: what is fixed in a policy no condition takes back, and more can be asked all the same")
    func fixedParts() throws {
        let leaf = try Chains.leaf.get()
        let response = try Chains.intermediate.get().ocspResponse(about: leaf.certificate, .revoked)
        let revoked = try #require(CertificateChain(leaf.chain.certificates, stapling: .response(response)))
        let anyHost = try anchors().adjusting { $0.host = nil }
        var elsewhere = TrustPolicy(host: HostName("other.test"))
        #expect(anyHost.evaluate(leaf.chain, policy: elsewhere).isTrusted)
        elsewhere.fixed = .host
        #expect(!anyHost.evaluate(leaf.chain, policy: elsewhere).isTrusted)

        let unchecked = try anchors().adjusting { $0.revocation.mode = .none }
        var asking = policy
        #expect(unchecked.evaluate(revoked, policy: asking).isTrusted)
        asking.fixed = .revocation
        #expect(unchecked.evaluate(revoked, policy: asking).reason == .revoked)
        #expect(unchecked.evaluate(leaf.chain, policy: asking).isTrusted)
        let hard = try anchors().adjusting { $0.revocation.mode = .hard }
        #expect(!hard.evaluate(leaf.chain, policy: asking).isTrusted)

        let plain = CertificateTemplate.server("example.test").with { $0.hasKeyIdentifiers = false }
        let loose = try Chains.intermediate.get().issue(plain).chain
        let strict = try anchors().adjusting { $0.profile = .strict }
        var basic = policy
        #expect(!strict.evaluate(loose, policy: basic).isTrusted)
        basic.fixed = .profile
        #expect(strict.evaluate(loose, policy: basic).isTrusted)
    }

    @Test("An evaluator's conditions are those of all that it asks about the host, as far as they ask for more")
    func conditions() throws {
        let above = try Chains.root.get().revocationList(revoking: [])
        let below = try Chains.intermediate.get().revocationList(revoking: [])
        let hard = try anchors().adjusting { $0.revocation = RevocationPolicy(mode: .hard, lists: [above]) }
        let strict = try anchors().adjusting {
            $0.profile = .strict
            $0.revocation.lists += [above, below]
            $0.time = 1_000_000_000
        }
        let loose = try anchors().adjusting {
            $0.host = nil
            $0.revocation.mode = .none
        }
        #expect(try anchors().conditions(on: policy) == policy)
        #expect(loose.conditions(on: policy).revocation.mode == .none)
        let several: [any TrustEvaluator] = [
            AnyOfEvaluator([loose, hard, strict]), AllOfEvaluator([strict, hard, loose]),
        ]
        for evaluator in several {
            let found = evaluator.conditions(on: policy)
            #expect(found.host == policy.host)
            #expect(found.profile == .strict)
            #expect(found.time == nil, "one of three has a date")
            #expect(found.revocation.mode == .hard)
            #expect(found.revocation.lists.count == 2 && Set(found.revocation.lists) == [above, below])
        }
        #expect(AnyOfEvaluator([strict, strict]).conditions(on: policy).time == 1_000_000_000)

        let elsewhere = TrustPolicy(host: HostName("other.test"))
        let perHost = PerHostEvaluator([(.init("example.test"), hard)], otherwise: strict)
        #expect(perHost.conditions(on: policy) == hard.conditions(on: policy))
        #expect(perHost.conditions(on: elsewhere) == strict.conditions(on: elsewhere))
        let leaf = try Chains.leaf.get().certificate
        let pinned: [any TrustEvaluator] = [
            PinnedCertificatesEvaluator([leaf], besides: hard),
            try PinnedKeysEvaluator(spkiSHA256: [leaf.spkiSHA256], besides: hard),
        ]
        for evaluator in pinned { #expect(evaluator.conditions(on: policy) == hard.conditions(on: policy)) }
        let odd = SelfSignedHostEvaluator(leaf, host: HostName("other.test"), otherwise: hard)
        #expect(odd.conditions(on: policy) == hard.conditions(on: policy))
        #expect(odd.conditions(on: elsewhere) == elsewhere)
        let lateHard = hard.adjusting { $0.time = 1_000_000_000 }
        #expect(lateHard.conditions(on: policy).time == 1_000_000_000)
        #expect(lateHard.conditions(on: policy).revocation.mode == .hard)
    }

    // MARK: One odd host

    @Test("B3.40: one self-signed certificate is believed for one host, and for no other")
    func selfSignedHost() throws {
        let odd = try CertificateFactory.selfSigned(.server("whatever").with { $0.names = [] })
        let twin = try CertificateFactory.selfSigned(.server("whatever").with { $0.names = [] })
        let evaluator = SelfSignedHostEvaluator(
            odd.certificate, host: HostName("printer.test"), otherwise: try anchors())
        let there = TrustPolicy(host: HostName("printer.test"))
        #expect(evaluator.evaluate(odd.chain, policy: there).path == [odd.certificate])
        #expect(evaluator.evaluate(twin.chain, policy: there).reason == .pinMismatch)
        #expect(evaluator.evaluate(odd.chain, policy: policy).isTrusted == false)
        #expect(evaluator.evaluate(try Chains.leaf.get().chain, policy: policy).isTrusted)
        #expect(evaluator.evaluate(odd.chain, policy: TrustPolicy(host: nil)).isTrusted == false)
        var late = there
        late.time = 4_102_444_800
        #expect(evaluator.evaluate(odd.chain, policy: late).isTrusted == false)
    }

    @Test("B3.34, B3.35: whatever name a policy compares, the connection's host says who is trusted")
    func place() throws {
        let folder = try TemporaryFolder()
        let chain = try Chains.leaf.get().chain
        let own = try CertificateFactory.selfSigned(.server("example.test")).chain
        let path = try folder.write("known-hosts", "")
        _ = try folder.write("known-hosts.lock", "")
        try folder.restrict("known-hosts")
        let known = try KnownHostsEvaluator(path: path)
        #expect(try known.meet(own, policy: policy).isTrusted)
        let evaluators: [(any TrustEvaluator, good: CertificateChain, bad: CertificateChain)] = [
            (PerHostEvaluator([(.init("example.test"), try anchors())], otherwise: trustsAll), chain, own),
            (SelfSignedHostEvaluator(own.leaf, host: HostName("example.test"), otherwise: trustsAll), own, chain),
            (known, own, chain),
        ]
        for (evaluator, good, bad) in evaluators {
            var changed = policy
            changed.host = nil
            #expect(evaluator.evaluate(good, policy: changed).isTrusted)
            #expect(!evaluator.evaluate(bad, policy: changed).isTrusted)
            #expect(evaluator.adjusting { $0.host = nil }.evaluate(good, policy: policy).isTrusted)
            #expect(!evaluator.adjusting { $0.host = nil }.evaluate(bad, policy: policy).isTrusted)
            changed.host = HostName("other.test")
            let reason = TrustFailure.Reason.hostMismatch(wanted: "other.test", presented: ["example.test"])
            #expect(evaluator.evaluate(good, policy: changed).reason == reason)
            #expect(!evaluator.evaluate(bad, policy: changed).isTrusted)
        }
        let elsewhere = TrustPolicy(host: HostName("other.test"))
        #expect(known.evaluate(chain, policy: elsewhere).isTrusted, "nothing was written down for it")
    }

    // MARK: Trust on first use

    @Test("A host's first key is written down, and another one is refused from then on, in other processes too")
    func firstUse() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("known-hosts", "# a comment\n")
        _ = try folder.write("known-hosts.lock", "")
        try folder.restrict("known-hosts")
        let own = try CertificateFactory.selfSigned(.server("example.test"))
        let renewed = try CertificateFactory.root("Any").issue(.server("example.test"), forKeyOf: own)
        let other = try CertificateFactory.selfSigned(.server("example.test"))
        let evaluator = try KnownHostsEvaluator(path: path)
        let second = try KnownHostsEvaluator(path: path)
        #expect(try evaluator.meet(own.chain, policy: policy).isTrusted)
        #expect(evaluator.evaluate(renewed.chain, policy: policy).isTrusted)
        #expect(evaluator.evaluate(other.chain, policy: policy).reason == .knownHostChanged)
        #expect(second.evaluate(other.chain, policy: policy).reason == .knownHostChanged)
        #expect(folder.mode("known-hosts") == 0o600)
        try evaluator.forget(HostName("example.test"))
        #expect(try evaluator.meet(other.chain, policy: policy).isTrusted)
        #expect(try KnownHostsEvaluator(path: path).evaluate(own.chain, policy: policy).reason == .knownHostChanged)
    }

    private func emptyKnownHosts() throws -> (folder: TemporaryFolder, path: String) {
        let folder = try TemporaryFolder()
        let path = try folder.write("known-hosts", "")
        _ = try folder.write("known-hosts.lock", "")
        try folder.restrict("known-hosts")
        return (folder, path)
    }

    @Test(
        "B3.88: a verdict writes no host down, whatever is asked, and what is joined or wrapped passes on what is learnt"
    )
    func verdictsLearnNothing() throws {
        let leaf = try Chains.leaf.get()
        let chain = leaf.chain
        let other = try CertificateFactory.selfSigned(.server("other.test"))
        let pin = leaf.certificate.spkiSHA256
        let wrappings: [(any TrustEvaluator) throws -> any TrustEvaluator] = [
            { $0 }, { AllOfEvaluator([$0, try anchors()]) }, { AllOfEvaluator([try anchors(), $0]) },
            { AnyOfEvaluator([trustsNone, $0]) }, { PerHostEvaluator([(.init("example.test"), $0)], otherwise: nil) },
            { PerHostEvaluator([], otherwise: $0) }, { try PinnedKeysEvaluator(spkiSHA256: [pin], besides: $0) },
            { PinnedCertificatesEvaluator([leaf.certificate], besides: $0) },
            { SelfSignedHostEvaluator(other.certificate, host: HostName("other.test"), otherwise: $0) },
            { $0.adjusting { $0.revocation.mode = .soft } },
        ]
        for (number, wrap) in wrappings.enumerated() {
            let (folder, path) = try emptyKnownHosts()
            defer { withExtendedLifetime(folder) {} }
            let evaluator = try wrap(try KnownHostsEvaluator(path: path))
            let late = try wrap(try KnownHostsEvaluator(path: path))
            #expect(evaluator.learns, "\(number)")
            #expect(evaluator.evaluate(chain, policy: policy).isTrusted, "\(number)")
            #expect(throws: FilesNeeded.self, "\(number)") {
                try evaluator.learn(chain, policy: policy, mayWait: false)
            }
            #expect(try readFile(path).isEmpty, "\(number)")
            #expect(try evaluator.meet(chain, policy: policy).isTrusted, "\(number)")
            #expect(try !readFile(path).isEmpty, "\(number)")
            // Another process has met another server of this name between the verdict and the end.
            let elsewhere = try KnownHostsEvaluator(path: path)
            try elsewhere.forget(HostName("example.test"))
            #expect(try elsewhere.meet(other.chain, policy: policy).isTrusted)
            let refusal = try late.learn(chain, policy: policy, mayWait: true)
            #expect(refusal.map { [$0.reason] + $0.further }?.contains(.knownHostChanged) == true, "\(number)")
        }
        let (folder, path) = try emptyKnownHosts()
        defer { withExtendedLifetime(folder) {} }
        let vouched = VerifiedPeer.vouchedForByApplication(chain)
        let refusing: [any TrustEvaluator] = [
            AllOfEvaluator([try KnownHostsEvaluator(path: path), trustsNone]),
            PinnedCertificatesEvaluator([other.certificate], besides: try KnownHostsEvaluator(path: path)),
        ]
        for evaluator in refusing {
            #expect(try !evaluator.meet(chain, policy: policy).isTrusted)
            // The application's word is no belief of the evaluator's.
            #expect(try evaluator.learn(of: vouched, policy: policy, mayWait: true) == nil)
            #expect(try readFile(path).isEmpty)
        }
        let known = try KnownHostsEvaluator(path: path)
        #expect(try known.learn(of: vouched, policy: policy, mayWait: true) == nil)
        #expect(known.evaluate(other.chain, policy: policy).reason == .knownHostChanged)
        #expect(!trustsAll.learns && !AllOfEvaluator([trustsAll, trustsNone]).learns)
    }

    @Test("B3.47: where an answer about revocation is demanded, a certificate that is believed by itself is refused")
    func demandedAnswer() throws {
        let folder = try TemporaryFolder()
        let own = try CertificateFactory.selfSigned(.server("example.test"))
        let known = try KnownHostsEvaluator(path: folder.path + "/known-hosts")
        let odd = SelfSignedHostEvaluator(own.certificate, host: HostName("example.test"), otherwise: trustsAll)
        var hard = policy
        hard.revocation.mode = .hard
        let evaluators: [any TrustEvaluator] = [known, odd]
        for evaluator in evaluators {
            guard case .revocationUnknown? = evaluator.evaluate(own.chain, policy: hard).reason else {
                Issue.record("\(evaluator.evaluate(own.chain, policy: hard))")
                continue
            }
        }
        #expect(folder.mode("known-hosts") == 0, "the host was not written down")
        _ = try folder.write("known-hosts", "")
        _ = try folder.write("known-hosts.lock", "")
        try folder.restrict("known-hosts")
        for evaluator in evaluators { #expect(try evaluator.meet(own.chain, policy: policy).isTrusted) }
        #expect(!known.evaluate(own.chain, policy: hard).isTrusted, "a known host")
        var elsewhere = TrustPolicy(host: HostName("other.test"))
        elsewhere.revocation.mode = .hard
        #expect(odd.evaluate(own.chain, policy: elsewhere).isTrusted, "another host is the fallback's affair")
    }

    @Test("A host whose line was removed from the file is met anew, by an evaluator that knew it, too")
    func removedLine() throws {
        let (folder, path) = try emptyKnownHosts()
        let own = try CertificateFactory.selfSigned(.server("example.test"))
        let other = try CertificateFactory.selfSigned(.server("example.test"))
        let evaluator = try KnownHostsEvaluator(path: path)
        #expect(try evaluator.meet(own.chain, policy: policy).isTrusted)
        #expect(evaluator.evaluate(other.chain, policy: policy).reason == .knownHostChanged)
        try folder.write("known-hosts", "")
        #expect(try evaluator.meet(other.chain, policy: policy).isTrusted)
        #expect(try evaluator.meet(own.chain, policy: policy).reason == .knownHostChanged)
        #expect(try KnownHostsEvaluator(path: path).evaluateAtOnce(other.chain, policy: policy).isTrusted)
    }

    @Test("Known hosts behind a symbolic link are written where it leads, and the link stays")
    func linkedFile() throws {
        let (folder, path) = try emptyKnownHosts()
        let link = try folder.link("link", to: "known-hosts")
        let chain = try CertificateFactory.selfSigned(.server("example.test")).chain
        #expect(try KnownHostsEvaluator(path: link).meet(chain, policy: policy).isTrusted)
        #expect(try KnownHostsEvaluator(path: path).evaluateAtOnce(chain, policy: policy).isTrusted)
        #expect(try KnownHostsEvaluator(path: link).evaluateAtOnce(chain, policy: policy).isTrusted)
    }

    @Test("Known hosts with the line ends of other systems are read")
    func otherLineEnds() throws {
        let (folder, path) = try emptyKnownHosts()
        let chain = try CertificateFactory.selfSigned(.server("example.test")).chain
        #expect(try KnownHostsEvaluator(path: path).meet(chain, policy: policy).isTrusted)
        let line = String(decoding: try readFile(path), as: UTF8.self)
        try folder.write("known-hosts", "# a comment\r\n\r\n" + line.replacing("\n", with: "\r\n"))
        #expect(try KnownHostsEvaluator(path: path).evaluateAtOnce(chain, policy: policy).isTrusted)
    }

    @Test("What a killed process has left half written goes when the known hosts are written, and nothing else")
    func leftOvers() throws {
        let folder = try TemporaryFolder()
        let leftOver = "known-hosts.new-0123456789abc"
        let others = ["known-hosts.old", "known-hosts.new-", "known-hosts.new-1a", "known-hosts.new-2026.11.30.ab"]
        for name in ["known-hosts", "known-hosts.lock", leftOver] + others { _ = try folder.write(name, "") }
        try folder.restrict("known-hosts")
        let own = try CertificateFactory.selfSigned(.server("example.test"))
        let evaluator = try KnownHostsEvaluator(path: folder.path + "/known-hosts")
        #expect(folder.mode(leftOver) != 0)
        #expect(try evaluator.meet(own.chain, policy: policy).isTrusted)
        #expect(folder.mode(leftOver) == 0 && others.allSatisfy { folder.mode($0) != 0 })
    }

    @Test("A lock that another process keeps is waited for a while, and the refusal names it; known hosts need no lock")
    func keptLock() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("known-hosts", "")
        _ = try folder.write("known-hosts.lock", "")
        try folder.restrict("known-hosts")
        let own = try CertificateFactory.selfSigned(.server("example.test"))
        let other = TrustPolicy(host: HostName("other.test"))
        let evaluator = try KnownHostsEvaluator(path: path, patience: .milliseconds(20))
        #expect(try evaluator.meet(own.chain, policy: policy).isTrusted)
        try folder.locked("known-hosts.lock") {
            #expect(try evaluator.meet(own.chain, policy: policy).isTrusted)
            let words = try evaluator.meet(own.chain, policy: other).failure?.description
            #expect(words?.contains("kept \(path).lock locked for 0.02 seconds") == true, "\(words ?? "")")
        }
        #expect(try evaluator.meet(own.chain, policy: other).isTrusted)
    }

    @Test("Where files may not be read, unknown hosts and unread roots get no verdict, and no file is touched")
    func atOnce() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/known-hosts"
        let chain = try Chains.leaf.get().chain
        let known = try KnownHostsEvaluator(path: path)
        #expect(throws: FilesNeeded.self) { try known.evaluateAtOnce(chain, policy: policy) }
        #expect(folder.mode("known-hosts") == 0 && folder.mode("known-hosts.lock") == 0)
        _ = try folder.write("known-hosts", "")
        _ = try folder.write("known-hosts.lock", "")
        try folder.restrict("known-hosts")
        #expect(try known.meet(chain, policy: policy).isTrusted)
        #expect(try known.evaluateAtOnce(chain, policy: policy).isTrusted)

        let bundle = try folder.write("bundle.crt", try Chains.root.get().certificate.pem)
        let looks = Guarded(0)
        let roots = TrustRoots {
            looks.withLock { $0 += 1 }
            return SystemStore.find(certificateFile: bundle, certificateDirectories: nil)
        }
        let system = SystemRootsEvaluator(roots: roots)
        let composed: [any TrustEvaluator] = [
            system, AnyOfEvaluator([AnchorsEvaluator(anchors: []), system]), AllOfEvaluator([system]),
            PerHostEvaluator([], otherwise: system), system.adjusting { $0.revocation.mode = .soft },
            PinnedCertificatesEvaluator([try Chains.leaf.get().certificate], besides: system),
            SelfSignedHostEvaluator(
                try Chains.leaf.get().certificate, host: HostName("printer.test"), otherwise: system),
        ]
        for evaluator in composed {
            #expect(throws: FilesNeeded.self) { try evaluator.evaluateAtOnce(chain, policy: policy) }
        }
        #expect(looks.withLock { $0 } == 0)
        #expect(system.evaluate(chain, policy: policy).isTrusted)
        for evaluator in composed { #expect(try evaluator.evaluateAtOnce(chain, policy: policy).isTrusted) }
        #expect(looks.withLock { $0 } == 1)
        // Own anchors need no files.
        #expect(try anchors().evaluateAtOnce(chain, policy: policy).isTrusted)
    }

    @Test("Without a host, with a broken file, or with one that other users may write, no server is trusted")
    func unusableFiles() throws {
        let folder = try TemporaryFolder()
        let broken = try folder.write("broken", "example.test sha256/zz\n")
        try folder.restrict("broken")
        #expect(throws: CertificateError.self) { try KnownHostsEvaluator(path: broken) }
        let open = try folder.write("open", "")
        folder.open("open")
        #expect(throws: CertificateError.self) { try KnownHostsEvaluator(path: open) }
        let nowhere = try KnownHostsEvaluator(path: "/nowhere/at/all")
        let chain = try Chains.leaf.get().chain
        #expect(try nowhere.meet(chain, policy: policy).isTrusted == false)
        #expect(nowhere.evaluate(chain, policy: TrustPolicy(host: nil)).isTrusted == false)
    }
}

extension TrustEvaluator {
    /// What becomes of a connection: the verdict, and what is said of a believed server once it stands.
    fileprivate func meet(_ chain: CertificateChain, policy: TrustPolicy) throws -> TrustVerdict {
        let verdict = evaluate(chain, policy: policy)
        guard case .trusted(let peer) = verdict else { return verdict }
        return try learn(of: peer, policy: policy, mayWait: true).map { .refused($0) } ?? verdict
    }
}
