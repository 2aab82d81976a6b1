// A client of HTTP/2 that knows nothing of it but its first words, for tests of what a server writes byte by byte.

import URLLoadingLoopbackServer
import URLLoadingTestSupport
import URLLoadingWire

/// A client that sends frames as a test says, and looks for bytes.
final class RawHTTP2 {
    private let raw: RawClient

    init(port: Int) throws {
        raw = try RawClient(port: port)
        var bytes: [UInt8] = []
        HTTP2FrameEncoder.encodePreface(into: &bytes)
        try raw.send(bytes + HTTP2Frames.settings())
    }

    func request(on stream: UInt32) throws {
        try raw.send(
            HTTP2Frames.headers(
                [":method": "GET", ":scheme": "http", ":path": "/", ":authority": "a"], on: stream, ends: true))
    }

    func send(_ bytes: [UInt8]) throws { try raw.send(bytes) }

    /// Reads until these bytes have come; throws where they never will.
    func read(through bytes: [UInt8]) throws {
        guard try raw.read(throughBytes: bytes).suffix(bytes.count).elementsEqual(bytes) else {
            throw HTTP2Client.Ended(fault: nil)
        }
    }

    @discardableResult
    func readToEnd() throws -> (text: String, end: RawClient.End) { try raw.readToEnd() }
}
