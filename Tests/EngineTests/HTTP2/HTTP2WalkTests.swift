// Requests over HTTP/2 in random company: servers that answer now or later, in pieces or not at all, reset, refuse, say
// goodbye or vanish; callers that cancel, suspend and do not take what comes. Whatever happens, each request ends once,
// and what is whole is what was asked for.

import Testing
import URLLoadingEngine
import URLLoadingPolicy
import URLLoadingSystem
import URLLoadingTestSupport
import URLLoadingWire

@Suite("Random walks over HTTP/2")
struct HTTP2WalkTests {
    /// One request as the test sees it.
    private struct Asked {
        let journal: Journal
        let size: Int
        let body: [UInt8]
        var suspensions = 0
    }

    @Test(
        "H6, H7, H8: each request ends once, and every answer is the one that was asked for",
        arguments: 0..<Sanitizer.share(of: 30))
    func walk(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let rig = EngineRig.http2(perHost: Int.random(in: 1...4, using: &random))
        var settings = HTTP2Settings()
        if random.chance(50) { settings.maximumConcurrentStreams = UInt32(Int.random(in: 1...5, using: &random)) }
        if random.chance(50) { settings.initialWindowSize = UInt32(Int.random(in: 1...40_000, using: &random)) }
        let peers = rig.serveHTTP2(settings: settings) { peer, _ in peer.onWhole = { _, _ in } }
        var asked: [Asked] = []
        for _ in 0..<200 { step(rig, peers, &asked, &random) }
        finish(rig, peers, &asked)
        for one in asked {
            #expect(one.journal.ends == 1)
            if one.journal.error == nil, one.journal.head?.status == 200 {
                #expect(firstDifference(one.journal.body, Self.content(one.size)) == nil, "seed \(seed)")
            }
        }
        #expect(asked.contains { $0.journal.error == nil && $0.journal.head?.status == 200 } || asked.count < 10)
        for peer in peers.peers { #expect(peer.fault == nil, "seed \(seed)") }
        rig.expectClean()
    }

    /// The body of so many bytes that is asked for by its length.
    private static func content(_ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size) }
    }

    private func step(_ rig: EngineRig, _ peers: PeerList, _ asked: inout [Asked], _ random: inout SeededRandom) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25:
            let size =
                random.chance(70)
                ? Int.random(in: 0...200, using: &random) : Int.random(in: 0...100_000, using: &random)
            let sent = random.chance(30) ? Self.content(Int.random(in: 0...70_000, using: &random)) : nil
            // Some take a while to take what comes.
            let pauses = random.chance(15)
            let journal = rig.submit(
                sent == nil ? "GET" : "POST", target: "/\(size)", body: sent, idleTimeout: .seconds(60),
                demand: { pauses && $0 % 3 == 1 ? .pause : .more })
            asked.append(Asked(journal: journal, size: size, body: sent ?? []))
        case 25..<65:
            guard let peer = peers.peers.randomElement(using: &random), peer.stream.isOpen,
                let request = peer.requests.filter({ $0.end == nil && $0.isWhole && !$0.isAnswered }).randomElement(
                    using: &random)
            else { return }
            answer(request, on: peer, asked, &random)
        case 65..<70:
            asked.randomElement(using: &random)?.journal.handle?.cancel()
        case 70..<76:
            guard let index = asked.indices.randomElement(using: &random) else { return }
            if asked[index].suspensions > 0 {
                asked[index].suspensions -= 1
                asked[index].journal.handle?.resume()
            } else {
                asked[index].suspensions += 1
                asked[index].journal.handle?.suspend()
            }
        case 76..<82: asked.randomElement(using: &random)?.journal.handle?.resumeReading()
        case 82..<84:
            guard let peer = peers.peers.randomElement(using: &random), peer.stream.isOpen else { return }
            peer.goAway(last: peer.requests.randomElement(using: &random)?.id.number)
        case 84: if random.chance(30) { peers.peers.randomElement(using: &random)?.close() }
        case 85..<90: rig.advance(.milliseconds(Int.random(in: 1...3_000, using: &random)))
        default: rig.settle()
        }
    }

    private func answer(
        _ request: HTTP2Peer.Request, on peer: HTTP2Peer, _ asked: [Asked], _ random: inout SeededRandom
    ) {
        guard let size = Int(request.head.target.dropFirst()) else { return }
        let content = Self.content(size)
        switch Int.random(in: 0..<20, using: &random) {
        case 0: peer.reset(request, .refusedStream)
        case 1: peer.reset(request, .internalError)
        case 2:
            peer.head(request, length: size, ends: size == 0)
            if size > 0 { peer.send(request, Array(content.prefix(size / 2)), isLast: false) }
            peer.reset(request, .cancel)
        case 3: peer.head(request, 103)
        default:
            if request.head.method == "POST" {
                #expect(asked.contains { $0.size == size && $0.body == request.body }, "another's body")
            }
            let saysLength = random.chance(60)
            peer.head(request, length: saysLength ? size : nil, ends: size == 0)
            if size > 0 { peer.send(request, content) }
        }
    }

    /// Lets everything come to its end.
    private func finish(_ rig: EngineRig, _ peers: PeerList, _ asked: inout [Asked]) {
        for index in asked.indices {
            while asked[index].suspensions > 0 {
                asked[index].suspensions -= 1
                asked[index].journal.handle?.resume()
            }
            asked[index].journal.demand = { _ in .more }
        }
        for _ in 0..<100 where asked.contains(where: { !$0.journal.hasEnded }) {
            for one in asked { one.journal.handle?.resumeReading() }
            for peer in peers.peers where peer.stream.isOpen {
                for request in peer.requests where request.end == nil && request.isWhole && !request.isAnswered {
                    guard let size = Int(request.head.target.dropFirst()) else { continue }
                    peer.head(request, length: size, ends: size == 0)
                    if size > 0 { peer.send(request, Self.content(size)) }
                }
            }
            rig.settle()
            rig.advance(.seconds(2))
        }
    }
}
