import CURLLoadingOpenSSL
import Testing
import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingTrust

@Suite struct TrustRootsTests {
    private func verdict(_ store: SystemStore, host: String = "example.test") throws -> TrustVerdict {
        try verdict(TrustRoots(store: store), host: host)
    }

    private func verdict(_ roots: TrustRoots, host: String = "example.test") throws -> TrustVerdict {
        let chain = try Chains.leaf.get().chain
        let policy = TrustPolicy(host: HostName(host))
        return SystemRootsEvaluator(roots: roots).evaluate(chain, policy: policy)
    }

    @Test("B3.6: SSL_CERT_FILE names a bundle")
    func bundleFromEnvironment() throws {
        let folder = try TemporaryFolder()
        let other = try CertificateFactory.root("Other Root").certificate
        let text = try "A comment\n" + other.pem + "\n# another\n" + Chains.root.get().certificate.pem
        let file = try folder.write("bundle.pem", text)
        let store = SystemStore.find(certificateFile: file, certificateDirectories: nil)
        #expect(store.searched == [file])
        #expect(try verdict(store).failure == nil)
    }

    @Test("B3.6: SSL_CERT_DIR names directories, in which certificates are found by their hashed names")
    func directoryFromEnvironment() throws {
        let folder = try TemporaryFolder()
        let root = try Chains.root.get().certificate
        let stem = hashedName(root)
        try folder.write(stem + ".0", try CertificateFactory.root("Other Root").certificate.pem)
        try folder.write(stem + ".1", root.pem)
        let store = SystemStore.find(certificateFile: nil, certificateDirectories: "/nowhere:" + folder.path)
        #expect(try verdict(store).failure == nil)
    }

    @Test("B3.6: a directory without hashed names is read file by file when the environment names it")
    func looseFiles() throws {
        let folder = try TemporaryFolder()
        try folder.write("root.crt", try Chains.root.get().certificate.pem)
        let store = SystemStore.find(certificateFile: nil, certificateDirectories: folder.path)
        #expect(try verdict(store).failure == nil)
    }

    @Test("B3.6: the distributions' usual places are used when the environment names none")
    func usualPlaces() throws {
        let folder = try TemporaryFolder()
        let bundle = try folder.write("bundle.crt", try Chains.root.get().certificate.pem)
        let store = SystemStore.find(
            certificateFile: nil, certificateDirectories: nil, usualFiles: ["/nowhere/bundle.crt", bundle],
            usualDirectories: ["/nowhere/certs"])
        #expect(try verdict(store).failure == nil)
        #expect(store.searched == ["/nowhere/bundle.crt", bundle, "/nowhere/certs"])
    }

    @Test("B3.6: a root that the hashed directory lacks is found in the bundle")
    func directoryAndBundle() throws {
        let folder = try TemporaryFolder()
        let other = try CertificateFactory.root("Other Root").certificate
        try folder.write(hashedName(other) + ".0", other.pem)
        let bundle = try folder.write("bundle.crt", try Chains.root.get().certificate.pem)
        let store = SystemStore.find(
            certificateFile: nil, certificateDirectories: nil, usualFiles: [bundle], usualDirectories: [folder.path])
        #expect(try verdict(store).failure == nil)
    }

    @Test(
        "B3.25: the form of a stored root's name constraints is judged by the standard profile, another anchor's by the strict one"
    )
    func storedConstraints() throws {
        let folder = try TemporaryFolder()
        let root = try CertificateFactory.selfSigned(
            .authority("Dotted").with { $0.nameConstraints = .init(permitted: [.dns(".example.test")]) })
        let chain = try root.issue(.server("www.example.test")).chain
        let policy = TrustPolicy(host: HostName("www.example.test"), profile: .strict)
        let file = try folder.write("bundle.pem", root.certificate.pem)
        let store = SystemStore.find(certificateFile: file, certificateDirectories: nil)
        let stored = SystemRootsEvaluator(roots: TrustRoots(store: store)).evaluate(chain, policy: policy)
        #expect(stored.failure == nil)
        let given = AnchorsEvaluator(anchors: [root.certificate]).evaluate(chain, policy: policy)
        #expect(given.failure?.description.contains("name constraints") == true)
    }

    @Test(
        "B3.40: a server's own certificate that was added to the bundle alone is believed beside a hashed directory",
        arguments: [true, false])
    func serverCertificateInBundle(_ isOfThisMonth: Bool) throws {
        let folder = try TemporaryFolder()
        let other = try CertificateFactory.root("Other Root").certificate
        try folder.write(hashedName(other) + ".0", other.pem)
        let own = try CertificateFactory.selfSigned(
            .server("example.test").with {
                $0.isAuthority = nil
                $0.keyUsage = nil
                if !isOfThisMonth { ($0.notBefore, $0.notAfter) = (1_600_000_000, 1_600_000_001) }
            })
        let bundle = try folder.write("bundle.crt", other.pem + own.certificate.pem)
        let store = SystemStore.find(
            certificateFile: nil, certificateDirectories: nil, usualFiles: [bundle], usualDirectories: [folder.path])
        let evaluator = SystemRootsEvaluator(roots: TrustRoots(store: store))
        let policy = TrustPolicy(host: HostName("example.test"))
        let verdict = evaluator.evaluate(own.chain, policy: policy)
        #expect(verdict.path == (isOfThisMonth ? [own.certificate] : nil))
        #expect(verdict.reason == (isOfThisMonth ? nil : .expired(notAfter: 1_600_000_001)))
        let forged = try own.issue(.server("victim.test"))
        #expect(
            evaluator.evaluate(forged.chain, policy: TrustPolicy(host: HostName("victim.test"))).reason
                == .notACertificateAuthority)
    }

    @Test("B3.6: the environment's places replace the usual ones")
    func environmentReplaces() throws {
        let folder = try TemporaryFolder()
        let bundle = try folder.write("bundle.crt", try Chains.root.get().certificate.pem)
        let store = SystemStore.find(
            certificateFile: "/nowhere/bundle.pem", certificateDirectories: nil, usualFiles: [bundle],
            usualDirectories: [])
        #expect(store.isMissing)
    }

    @Test("B3.6: no roots found fails every evaluation and says where they were looked for")
    func nothingFound() throws {
        let store = SystemStore.find(
            certificateFile: nil, certificateDirectories: nil, usualFiles: ["/nowhere/bundle.crt"],
            usualDirectories: ["/nowhere/certs"])
        let verdict = try verdict(store)
        #expect(verdict.reason == .noRootsFound(searched: ["/nowhere/bundle.crt", "/nowhere/certs"]))
        #expect(verdict.failure?.description.contains("/nowhere/certs") == true)
        let selfSigned = try CertificateFactory.selfSigned(.server("example.test")).chain
        let other = SystemRootsEvaluator(roots: TrustRoots(store: store)).evaluate(
            selfSigned, policy: TrustPolicy(host: nil))
        #expect(other.isTrusted == false)
    }

    @Test(
        "B3.6: a root that was not there at the first contact is found once it is, and then without files",
        arguments: ["hashed", "empty directory", "bundle", "missing bundle"])
    func comesLater(_ place: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path
        let root = try Chains.root.get().certificate
        let other = try CertificateFactory.root("Other Root").certificate
        let isBundle = place.hasSuffix("bundle")
        let name = isBundle ? "bundle.pem" : hashedName(root) + ".0"
        if place == "hashed" { try folder.write(hashedName(other) + ".0", other.pem) }
        if place == "bundle" { try folder.write(name, other.pem) }
        let roots = TrustRoots {
            SystemStore.find(
                certificateFile: isBundle ? path + "/" + name : nil, certificateDirectories: isBundle ? nil : path)
        }
        for _ in 0..<2 { #expect(try verdict(roots).isTrusted == false) }
        try folder.write(name, other.pem + root.pem)
        #expect(try verdict(roots).failure == nil)
        let policy = TrustPolicy(host: HostName("example.test"))
        let fresh = SystemRootsEvaluator(roots: roots)
        #expect(try fresh.evaluateAtOnce(try Chains.leaf.get().chain, policy: policy).failure == nil)
    }

    @Test("B3.6: a bundle that is there, and could not be opened for a moment, is read once it can be")
    func opensLater() throws {
        let folder = try TemporaryFolder()
        let bundle = try folder.write("bundle.pem", try Chains.root.get().certificate.pem)
        let isAway = Guarded(true)
        let roots = TrustRoots {
            // The file is there whenever it is looked for, and gone when it is opened: as without descriptors.
            TemporaryFolder.move(bundle + ".away", to: bundle)
            let store = SystemStore.find(certificateFile: bundle, certificateDirectories: nil)
            if isAway.withLock({ $0 }) { TemporaryFolder.move(bundle, to: bundle + ".away") }
            return store
        }
        for _ in 0..<2 { #expect(try verdict(roots).reason == .unknownRoot) }
        isAway.withLock { $0 = false }
        #expect(try verdict(roots).failure == nil)
    }

    @Test("B3.6: a refusal says that roots could not be read for want of descriptors, and the next verdict is right")
    func noDescriptors() async {
        // In a process of its own, which may open nothing for a moment.
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder()
            let bundle = try folder.write("bundle.pem", try Chains.root.get().certificate.pem)
            let chain = try Chains.leaf.get().chain
            let evaluator = SystemRootsEvaluator(
                roots: TrustRoots { SystemStore.find(certificateFile: bundle, certificateDirectories: nil) })
            let policy = TrustPolicy(host: HostName("example.test"))
            let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            var limit = rlimit()
            getrlimit(descriptors, &limit)
            let before = limit
            limit.rlim_cur = 0
            setrlimit(descriptors, &limit)
            let refusal = evaluator.evaluate(chain, policy: policy).failure
            // What is wrong without any root, or for another evaluator, is no want of descriptors.
            let elsewhere = evaluator.evaluate(chain, policy: TrustPolicy(host: HostName("other.test"))).failure
            let both = AllOfEvaluator([evaluator, AnchorsEvaluator(anchors: [])])
                .evaluate(chain, policy: policy).failure
            limit = before
            setrlimit(descriptors, &limit)
            #expect(refusal?.reason == .unknownRoot && refusal?.shortage == EMFILE)
            #expect(elsewhere != nil && elsewhere?.shortage == nil)
            #expect(both?.reason == .unknownRoot && both?.shortage == nil)
            #expect(evaluator.evaluate(chain, policy: policy).failure == nil)
            let stranger = try CertificateFactory.selfSigned(.server("example.test")).chain
            #expect(evaluator.evaluate(stranger, policy: policy).failure?.shortage == nil)
        }
    }

    @Test("B3.6: OpenSSL's form of certificates with settings is read from bundles and directories")
    func trustedForm() throws {
        let root = try Chains.root.get().certificate
        let label = "TRUSTED CERTIFICATE-----"
        let text = root.pem.split(separator: "\n").map { line in
            line.hasPrefix("-----BEGIN")
                ? "-----BEGIN " + label : line.hasPrefix("-----END") ? "-----END " + label : line
        }.joined(separator: "\n")
        let folder = try TemporaryFolder()
        let bundle = try folder.write("bundle.pem", text + "\n")
        #expect(try verdict(SystemStore.find(certificateFile: bundle, certificateDirectories: nil)).failure == nil)
        try folder.write(hashedName(root) + ".0", text + "\n")
        let store = SystemStore.find(certificateFile: nil, certificateDirectories: folder.path)
        #expect(try verdict(store).failure == nil)
    }

    /// The certificate in OpenSSL's form, as good for clients only, or as bad for servers.
    private func marked(_ certificate: Certificate, rejects: Bool) throws -> String {
        let copy = try Certificate(der: certificate.der)
        let purpose = OBJ_nid2obj(rejects ? NID_server_auth : NID_client_auth)
        let isMarked =
            rejects ? X509_add1_reject_object(copy.pointer, purpose) : X509_add1_trust_object(copy.pointer, purpose)
        try #require(isMarked == 1)
        let content = OpenSSLEncoding.bytes { i2d_X509_AUX(copy.pointer, $0) }
        var text = [UInt8](repeating: 0, count: content.count * 2)
        let count = EVP_EncodeBlock(&text, content, Int32(content.count))
        // PEM's lines have 64 characters.
        var lines: [String] = []
        var rest = text[..<Int(count)]
        while !rest.isEmpty {
            lines.append(String(decoding: rest.prefix(64), as: UTF8.self))
            rest = rest.dropFirst(64)
        }
        return "-----BEGIN TRUSTED CERTIFICATE-----\n" + lines.joined(separator: "\n")
            + "\n-----END TRUSTED CERTIFICATE-----\n"
    }

    @Test(
        "B3.40: a certificate that the store rejects for servers is refused, a server's own as a root's, whatever copies are beside it",
        arguments: [true, false], [true, false])
    func rejected(_ rejects: Bool, _ isOwn: Bool) throws {
        let own = try CertificateFactory.selfSigned(.server("example.test"))
        let chain = isOwn ? own.chain : try Chains.leaf.get().chain
        let anchor = isOwn ? own.certificate : try Chains.root.get().certificate
        let (bad, plain) = (try marked(anchor, rejects: rejects), anchor.pem)
        let policy = TrustPolicy(host: HostName("example.test"))
        for (text, isGood) in [(plain, true), (bad, false), (bad + plain, false), (plain + bad, false)] {
            let folder = try TemporaryFolder()
            let bundle = try folder.write("bundle.pem", text)
            let hashed = try TemporaryFolder()
            try hashed.write(hashedName(anchor) + ".0", text)
            for (file, directory) in [(bundle, nil), (nil, hashed.path), (bundle, hashed.path)] {
                let store = SystemStore.find(certificateFile: file, certificateDirectories: directory)
                let stored = SystemRootsEvaluator(roots: TrustRoots(store: store)).evaluate(chain, policy: policy)
                #expect(stored.reason == (isGood ? nil : .wrongPurpose))
            }
            let given = AnchorsEvaluator(anchors: try Certificate.parse(pem: text)).evaluate(chain, policy: policy)
            #expect(given.reason == (isGood ? nil : .wrongPurpose))
        }
        // The directory has the plain copy, the bundle the marked one, and the other way round.
        for (inBundle, inDirectory) in [(bad, plain), (plain, bad)] {
            let folder = try TemporaryFolder()
            let bundle = try folder.write("bundle.pem", inBundle)
            let hashed = try TemporaryFolder()
            try hashed.write(hashedName(anchor) + ".0", inDirectory)
            let store = SystemStore.find(certificateFile: bundle, certificateDirectories: hashed.path)
            let verdict = SystemRootsEvaluator(roots: TrustRoots(store: store)).evaluate(chain, policy: policy)
            #expect(verdict.reason == .wrongPurpose)
        }
    }

    @Test("B3.40: a server's certificate that the store rejects is refused below an issuer that is believed, too")
    func rejectedBelowRoot() throws {
        let issued = try Chains.leaf.get()
        let text = try Chains.root.get().certificate.pem + marked(issued.certificate, rejects: true)
        let folder = try TemporaryFolder()
        let bundle = try folder.write("bundle.pem", text)
        #expect(
            try verdict(SystemStore.find(certificateFile: bundle, certificateDirectories: nil)).reason == .wrongPurpose)
    }

    @Test("B3.6: files and blocks of a store that are not certificates are skipped")
    func garbageInStore() throws {
        let folder = try TemporaryFolder()
        let root = try Chains.root.get().certificate
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let bundle = try folder.write("bundle.pem", broken + root.pem)
        #expect(try verdict(SystemStore.find(certificateFile: bundle, certificateDirectories: nil)).failure == nil)
        let noise = try folder.write("noise.pem", "no certificate at all")
        #expect(
            try verdict(SystemStore.find(certificateFile: noise, certificateDirectories: nil)).reason == .unknownRoot)
    }

    @Test(
        "B3.6: bundles with other line ends, without a last line end, and with cut or mislabelled blocks between are read"
    )
    func unusualBundles() throws {
        let folder = try TemporaryFolder()
        let root = try Chains.root.get().certificate.pem
        let begin = "-----BEGIN CERTIFICATE-----\n"
        let texts = [
            root.replacing("\n", with: "\r\n"), String(root.dropLast()), begin + "AA", begin + root,
            begin + "AAAA\n-----END OTHER-----\n" + root, begin + "A=AA\n-----END CERTIFICATE-----\n" + root,
            begin + "Proc-Type: 4,ENCRYPTED\n\nAAAA\n-----END CERTIFICATE-----\n" + root, "-----BEGIN ",
            "-----BEGIN \n",
        ]
        for (text, isGood) in zip(texts, [true, true, false, true, true, true, true, false, false]) {
            let bundle = try folder.write("bundle.pem", text)
            let verdict = try verdict(SystemStore.find(certificateFile: bundle, certificateDirectories: nil))
            #expect(verdict.isTrusted == isGood, "\(text.prefix(60))")
        }
    }

    @Test("B3.6: an issuer whose name differs from its root's only in case and spaces is found in a bundle")
    func canonicalNames() throws {
        let root = try CertificateFactory.root("Some Root")
        // One key under one name in two spellings: what the twin issues, the root has issued.
        let twin = try CertificateFactory.root("Other").issue(.authority("SOME  root"), forKeyOf: root)
        let leaf = try twin.issue(.server("example.test"))
        let folder = try TemporaryFolder()
        let bundle = try folder.write("bundle.pem", root.certificate.pem)
        let store = SystemStore.find(certificateFile: bundle, certificateDirectories: nil)
        let verdict = SystemRootsEvaluator(roots: TrustRoots(store: store)).evaluate(
            try leaf.identity(showing: []).chain, policy: TrustPolicy(host: HostName("example.test")))
        #expect(verdict.failure == nil)
    }

    @Test("B3.6: this machine's store holds roots", .enabled(if: !TrustRoots.system.isMissing))
    func thisMachine() throws {
        let verdict = SystemRootsEvaluator().evaluate(try Chains.leaf.get().chain, policy: TrustPolicy(host: nil))
        #expect(verdict.reason == .unknownRoot)
        #expect(TrustRoots.system.searched.isEmpty == false)
    }

    @Test("B3.38: own anchors are trusted alone, or beside the machine's")
    func anchorsAndSystem() throws {
        let chain = try Chains.leaf.get().chain
        let evaluator = AnchorsEvaluator(anchors: [try Chains.root.get().certificate], alsoSystem: true)
        #expect(evaluator.evaluate(chain, policy: TrustPolicy(host: HostName("example.test"))).isTrusted)
    }

    private func hashedName(_ certificate: Certificate) -> String {
        let digits = String(certificate.subjectHash, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
