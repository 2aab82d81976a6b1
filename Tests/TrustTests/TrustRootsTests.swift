import LoopbackServer
import Testing
import Trust

@Suite struct TrustRootsTests {
    private func verdict(_ store: SystemStore, host: String = "example.test") throws -> TrustVerdict {
        let chain = try Chains.leaf.get().chain
        let policy = TrustPolicy(host: HostName(host))
        return SystemRootsEvaluator(roots: TrustRoots(store: store)).evaluate(chain, policy: policy)
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

    @Test("B3.6: what is no certificate in a store is passed over")
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
