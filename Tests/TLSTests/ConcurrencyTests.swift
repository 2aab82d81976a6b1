import Testing
import URLLoadingLoopbackServer
import URLLoadingTLS
import URLLoadingTrust

@Suite struct ConcurrencyTests {
    @Test("Contexts, roots and evaluators are shared by many threads")
    func sharedContexts() async throws {
        let client = try TLSContext(client: .init())
        let server = try TLSContext(server: Made.serverOptions())
        let evaluator = AnchorsEvaluator(anchors: [try Made.root.get().certificate], alsoSystem: true)
        let finished = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let tickets = TLSTickets()
                    var finished = 0
                    for _ in 0..<20 {
                        guard
                            let clientSession = try? TLSSession(
                                client: client, serverName: "example.test", tickets: tickets),
                            let serverSession = try? TLSSession(server: server)
                        else { continue }
                        let pair = TLSPair(clientSession, serverSession)
                        let policy = TrustPolicy(host: HostName("example.test"))
                        pair.client.onVerdict = { evaluator.evaluate($0, policy: policy) }
                        pair.shakeHands()
                        pair.exchange()
                        if pair.client.end?.isFinished == true { finished += 1 }
                    }
                    return finished
                }
            }
            return await group.reduce(0, +)
        }
        #expect(finished == 160)
    }
}
