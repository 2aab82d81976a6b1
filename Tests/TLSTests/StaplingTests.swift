import LoopbackServer
import TLS
import Testing
import Trust

@Suite struct StaplingTests {
    @Test("B3.12: a response that is stapled in TLS 1.3 reaches the evaluator, which refuses who is revoked")
    func revoked() throws {
        let root = try CertificateFactory.root()
        let leaf = try root.issue(.server("example.test"))
        for answer in [OCSPAnswer.good, .revoked] {
            var options = TLSServerOptions(identity: leaf.identity)
            options.stapledResponse = try root.ocspResponse(about: leaf.certificate, answer)
            let pair = try TLSPair(server: options)
            let evaluator = AnchorsEvaluator(anchors: [root.certificate])
            pair.client.onVerdict = { evaluator.evaluate($0, policy: TrustPolicy(host: HostName("example.test"))) }
            pair.shakeHands()
            #expect(pair.client.session.presentedChain?.stapling == options.stapledResponse.map { .response($0) })
            if answer == .good {
                #expect(pair.client.end?.isFinished == true)
            } else {
                #expect(pair.client.end?.error == .untrusted(TrustFailure(.revoked, leaf.certificate)))
            }
        }
    }

    @Test("A server that staples nothing has said so")
    func absent() throws {
        let leaf = try CertificateFactory.root().issue(.server("example.test"))
        let pair = try TLSPair(server: TLSServerOptions(identity: leaf.identity))
        pair.shakeHands()
        #expect(pair.client.session.presentedChain?.stapling == .absent)
    }
}
