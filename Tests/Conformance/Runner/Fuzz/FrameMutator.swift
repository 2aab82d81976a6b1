// Replies over HTTP/2 that no server should give: good ones with frames between that have no place there, spoilt in a
// few places, or nothing that ever was one. The same numbers make the same replies.
//
// Must not know: drivers.

import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// Makes up frames.
struct FrameMutator {
    private var random: SeededRandom

    init(seed: UInt64, of number: Int) {
        random = SeededRandom(seed: seed, of: number)
    }

    /// What is done in answer to the request on this stream, beside a server that keeps to the rules.
    mutating func steps(on stream: UInt32) -> [HTTP2Step] {
        var steps = pieces(of: reply(on: stream))
        switch Int.random(in: 0..<30, using: &random) {
        case 0: steps += [.until(.end), .close]
        case 1: steps += [.reset]
        case 2: steps += [.drop]
        case 3: steps += [.halfClose, .until(.end)]
        case 4, 5: steps += [.goAway(code(), last: random.chance(50) ? nil : number())]
        case 6, 7: steps += [.resetStream(stream, code())]
        case 8: steps += [.close]
        // The connection stays, for the other streams.
        default: break
        }
        return steps
    }

    /// All that is said on a connection, in place of a server.
    mutating func connection() -> [HTTP2Step] {
        var bytes = random.chance(90) ? HTTP2Frames.settings(settings()) : random.noise(60)
        if random.chance(90) { bytes += HTTP2Frames.settingsAcknowledgement }
        var steps = pieces(of: bytes)
        for request in 0..<Int.random(in: 1...6, using: &random) {
            steps += [.until(.requests(request + 1))] + pieces(of: reply(on: UInt32(request) * 2 + 1))
        }
        return steps + [random.chance(50) ? .drop : .until(.end)]
    }

    // MARK: Replies

    /// Bytes as they leave, in one piece or several.
    private mutating func pieces(of bytes: [UInt8]) -> [HTTP2Step] {
        var steps: [HTTP2Step] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = random.chance(60) ? rest.count : Int.random(in: 1...rest.count, using: &random)
            steps.append(.send(Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
            if random.chance(10) { steps.append(.delay(.milliseconds(Int.random(in: 0...20, using: &random)))) }
        }
        return steps
    }

    private mutating func reply(on stream: UInt32) -> [UInt8] {
        if random.chance(3) { return random.noise(Int.random(in: 0...300, using: &random)) }
        var frames: [[UInt8]] = []
        if random.chance(20) {
            frames.append(HTTP2Frames.headers([":status": "103", "link": "</a>"], on: stream, frames: frameCount()))
        }
        let fields = Self.heads.randomElement(using: &random) ?? [:]
        let bodyCount = Int.random(in: 0...4, using: &random)
        frames.append(HTTP2Frames.headers(fields, on: stream, ends: bodyCount == 0, frames: frameCount()))
        let endsByTrailers = random.chance(20)
        for piece in 0..<bodyCount {
            let bytes = [UInt8](
                repeating: 97, count: Int.random(in: 0...(random.chance(10) ? 16_384 : 40), using: &random))
            frames.append(
                HTTP2Frames.data(
                    bytes, on: stream, ends: piece == bodyCount - 1 && !endsByTrailers,
                    padding: random.chance(20) ? UInt8.random(in: 0...255, using: &random) : nil))
        }
        if endsByTrailers { frames.append(HTTP2Frames.headers(["x": "y"], on: stream, ends: true)) }
        for _ in 0..<(random.chance(30) ? 0 : Int.random(in: 1...4, using: &random)) {
            frames.insert(oddFrame(stream), at: Int.random(in: 0...frames.count, using: &random))
        }
        var bytes = Array(frames.joined())
        for _ in 0..<(random.chance(60) ? 0 : Int.random(in: 1...3, using: &random)) { random.spoil(&bytes) }
        return bytes
    }

    /// A frame that is lawful by itself, and seldom where it comes.
    private mutating func oddFrame(_ stream: UInt32) -> [UInt8] {
        let place = oneOf([stream, stream, 0, stream &+ 2, 2, number()])
        switch Int.random(in: 0..<14, using: &random) {
        case 0: return HTTP2Frames.settings(settings())
        case 1: return HTTP2Frames.settingsAcknowledgement
        case 2: return HTTP2Frames.ping(UInt64(number()), isAnswer: random.chance(50))
        case 3:
            return HTTP2Frames.windowUpdate(
                oneOf([0, 1, 65_535, 0x7FFF_FFFF, number()]), on: place)
        case 4: return HTTP2Frames.reset(place, code())
        case 5:
            return HTTP2Frames.goAway(last: number(), code(), text: String(repeating: "x", count: Int(number() % 200)))
        case 6: return HTTP2Frames.pushPromise([":path": "/"], promising: number(), on: place)
        case 7:
            return HTTP2Frames.data(
                random.noise(Int.random(in: 0...70, using: &random)), on: place, ends: random.chance(50))
        case 8:
            return HTTP2Frames.headers(
                Self.oddHeads.randomElement(using: &random) ?? [:], on: place, ends: random.chance(50))
        case 9:
            // What HPACK makes of it is another matter: indices, table sizes, Huffman's padding.
            return HTTP2Frames.headers(
                block: random.noise(Int.random(in: 0...60, using: &random)), on: place, frames: frameCount())
        case 10:
            let large = [
                (
                    name: Array("x".utf8),
                    value: [UInt8](repeating: 97, count: Int.random(in: 1...60_000, using: &random))
                )
            ]
            return HTTP2Frames.headers(block: HTTP2Frames.block(large), on: place, frames: 5)
        case 11: return HTTP2Frames.frame(.continuation, flags: UInt8.random(in: 0...255, using: &random), on: place)
        case 12:
            let ping = HTTP2Frames.ping(1)
            return Array(repeatElement(ping, count: random.chance(20) ? 12_000 : 50).joined())
        default:
            return HTTP2Frames.frame(
                type: UInt8.random(in: 0...255, using: &random), flags: UInt8.random(in: 0...255, using: &random),
                on: place,
                random.noise(Int.random(in: 0...40, using: &random)))
        }
    }

    // MARK: Parts

    private mutating func settings() -> [(identifier: UInt16, value: UInt32)] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in
            (
                UInt16.random(in: 0...9, using: &random),
                oneOf([0, 1, 100, 65_535, 16_384, 0x7FFF_FFFF, number()])
            )
        }
    }

    private mutating func number() -> UInt32 {
        random.chance(50)
            ? UInt32.random(in: 0...9, using: &random) : UInt32.random(in: 0...0x7FFF_FFFF, using: &random)
    }

    private mutating func oneOf(_ numbers: [UInt32]) -> UInt32 { numbers.randomElement(using: &random) ?? 0 }

    private mutating func code() -> HTTP2ErrorCode {
        HTTP2ErrorCode(rawValue: UInt32.random(in: 0...15, using: &random))
    }

    private mutating func frameCount() -> Int { random.chance(80) ? 1 : Int.random(in: 2...5, using: &random) }

    private static let heads: [HTTP2Frames.FieldList] = [
        [":status": "200"], [":status": "200", "content-length": "5", "content-type": "text/plain; charset=utf-8"],
        [":status": "200", "content-length": "40"], [":status": "204"], [":status": "304", "etag": "\"a\""],
        [":status": "302", "location": "/again"], [":status": "307", "location": "https://127.0.0.1/"],
        [":status": "401", "www-authenticate": "Basic realm=\"r\""],
        [":status": "401", "www-authenticate": "Digest realm=\"r\", qop=\"auth\", nonce=\"abc\", stale=true"],
        [":status": "401", "www-authenticate": "NTLM", "www-authenticate": "Negotiate"],
        [":status": "200", "set-cookie": "a=b; Path=/", "set-cookie": "c=d"],
        [":status": "200", "cache-control": "max-age=60", "etag": "\"a\"", "vary": "accept"],
        [":status": "206", "content-range": "bytes 2-4/5", "etag": "\"a\""], [":status": "503", "retry-after": "1"],
        [":status": "200", "content-encoding": "gzip"], [":status": "425"], [":status": "421"],
        [":status": "200", "content-type": "multipart/x-mixed-replace; boundary=b"],
    ]
    private static let oddHeads: [HTTP2Frames.FieldList] = [
        [:], [":status": "99"], [":status": "2000"], [":status": "200", ":status": "200"],
        ["a": "b", ":status": "200"],
        [":status": "200", "Upper": "a"], [":status": "200", "connection": "close"], [":status": "101"],
        [":status": "200", "transfer-encoding": "chunked"], [":status": "200", "content-length": "-1"],
        [":status": "200", "content-length": "1", "content-length": "2"], [":status": "200", "a": "b\r\nc: d"],
        [":path": "/", ":method": "GET"], [":status": "100"], ["trailer": "x"],
    ]
}
