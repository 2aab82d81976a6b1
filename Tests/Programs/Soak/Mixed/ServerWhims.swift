// What a server of the load does over HTTP/2 besides answering, at random but by a seed: it refuses streams, says
// goodbye in one step or in two, with requests under way, sends frames that ask for nothing, and has room for few
// streams or few bytes. None of it may cost an answer: a client that is refused asks again (H7.1 to H7.3). Over
// HTTP/1.1 there is nothing of the kind but the end of the connection behind an answer, which SoakServer has for both.

import Synchronization
import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// The whims of one server.
final class ServerWhims: Sendable {
    /// How often they came over it.
    struct Counts: Codable, Sendable {
        /// Streams that were refused.
        var refused = 0
        /// Connections that were to be told goodbye in the midst of their requests.
        var goodbyes = 0
        /// Connections that were to be told things of no importance.
        var asides = 0

        static func + (left: Counts, right: Counts) -> Counts {
            Counts(
                refused: left.refused + right.refused, goodbyes: left.goodbyes + right.goodbyes,
                asides: left.asides + right.asides)
        }
    }

    private let state = Mutex(Counts())
    private let kind: Lane.Kind
    private let seed: UInt64

    init(_ kind: Lane.Kind, seed: UInt64) {
        self.kind = kind
        self.seed = seed
    }

    var counts: Counts { state.withLock { $0 } }

    /// How the server speaks HTTP/2.
    var http2: ServerHTTP2 {
        var http2 = ServerHTTP2.offered
        switch kind {
        case .plain, .dirty: break
        // Requests wait for a place, and uploads for the connection's window.
        case .secure:
            http2.settings.maximumConcurrentStreams = 3
            http2.connectionWindow = 65_535
        // Uploads wait for the windows of their streams.
        case .rough: http2.settings.initialWindowSize = 4_000
        // No request makes the next one shorter.
        case .roughSecure:
            http2.settings.headerTableSize = 0
            http2.settings.maximumFrameSize = 64 << 10
        }
        http2.script = { [self] connection in steps(on: connection).map { .beside($0) } }
        return http2
    }

    /// A refusal, for one request of a hundred, before its body has come.
    func refusal(of request: ServerRequest) -> ServerResponse? {
        guard request.stream != nil else { return nil }
        var random = SeededRandom(seed: seed, of: request.connection << 16 | request.number)
        guard random.chance(1) else { return nil }
        state.withLock { $0.refused += 1 }
        return .reset(.refusedStream)
    }

    private func steps(on connection: Int) -> [HTTP2Step]? {
        var random = SeededRandom(seed: seed, of: connection)
        // By time: a script that waits for requests would keep a connection which the network has half closed.
        let start = HTTP2Step.delay(.milliseconds(Int.random(in: 0...1000, using: &random)))
        switch Int.random(in: 0..<100, using: &random) {
        case ..<15:
            state.withLock { $0.goodbyes += 1 }
            return [start, .goAway()]
        // As RFC 9113 §6.8 recommends it.
        case ..<35:
            state.withLock { $0.goodbyes += 1 }
            let pause = Duration.milliseconds(Int.random(in: 0...20, using: &random))
            return [start, .goAway(last: UInt32(Int32.max)), .delay(pause), .goAway()]
        case ..<37:
            state.withLock { $0.goodbyes += 1 }
            return [start, .goAway(.enhanceYourCalm)]
        case ..<60:
            state.withLock { $0.asides += 1 }
            return [start] + Self.asides.shuffled(using: &random).map { .send($0) }
        default: return nil
        }
    }

    /// Frames that change nothing.
    private static let asides = [
        HTTP2Frames.ping(2397), HTTP2Frames.settings(), HTTP2Frames.frame(.priority, on: 1, [0, 0, 0, 0, 15]),
        HTTP2Frames.frame(type: 0x42, on: 3, Array("nobody knows".utf8)), HTTP2Frames.windowUpdate(1),
    ]
}
