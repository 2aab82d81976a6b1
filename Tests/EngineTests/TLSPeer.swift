// A TLS server on a memory stream: shakes hands and answers each request head with one text, on a virtual clock.

import URLLoadingLoopbackServer
import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport
import URLLoadingTrust

/// Serves one connection.
final class TLSPeer: ByteStreamObserver {
    /// Requests that have arrived.
    private(set) var requests = 0
    /// Whether what follows a request, tickets and the answer, waits for `sendRecord`.
    var holdsBack = false
    private let stream: MemoryStream
    private let tls: TLSSession
    private let answer: String
    /// What is said behind the handshake, unasked.
    private let greeting: String
    private var inbox: [UInt8] = []
    private var plaintext: [UInt8] = []
    private var hasShakenHands = false

    init(_ stream: MemoryStream, context: TLSContext, answer: String, greeting: String = "") throws {
        self.stream = stream
        self.answer = answer
        self.greeting = greeting
        tls = try TLSSession(server: context)
        stream.observer = self
    }

    func streamBecameReadable(_ stream: any ByteStream) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while stream.hasPendingInput {
            guard case .bytes(let count) = buffer.withUnsafeMutableBytes({ stream.read(into: $0) }) else {
                return stream.close()
            }
            inbox += buffer[..<count]
        }
        goOn()
    }

    func streamBecameWritable(_ stream: any ByteStream) { goOn() }

    private func goOn() {
        if !hasShakenHands { shakeHands() }
        if hasShakenHands { serve() }
        if holdsBack, requests > 0 { return }
        while tls.hasOutgoing, case .bytes(let count) = tls.withOutgoing({ stream.write($0) }) {
            tls.outgoingSent(count)
        }
    }

    /// Sends the next record, but so many of its last bytes.
    func sendRecord(without missing: Int = 0) {
        let result = tls.withOutgoing { bytes in
            let length = 5 + Int(bytes[3]) << 8 + Int(bytes[4]) - missing
            return stream.write(UnsafeRawBufferPointer(rebasing: bytes[..<length]))
        }
        if case .bytes(let count) = result { tls.outgoingSent(count) }
    }

    private func shakeHands() {
        var offset = 0
        let step = inbox.withUnsafeBytes { tls.handshake($0, offset: &offset) }
        inbox.removeFirst(offset)
        guard case .finished = step else { return }
        hasShakenHands = true
        say(greeting)
    }

    private func say(_ text: String) {
        Array(text.utf8).withUnsafeBytes { bytes in
            do { try tls.encrypt(bytes) } catch { stream.close() }
        }
    }

    private func serve() {
        var output = [UInt8](repeating: 0, count: 16 << 10)
        var offset = 0
        while case .plaintext(let count) = inbox.withUnsafeBytes({ input in
            output.withUnsafeMutableBytes { tls.decrypt(input, offset: &offset, into: $0) }
        }) {
            plaintext += output[..<count]
        }
        inbox.removeFirst(offset)
        guard plaintext.suffix(4) == Array("\r\n\r\n".utf8)[...] else { return }
        plaintext = []
        requests += 1
        say(answer)
    }
}

extension EngineRig {
    /// Serves `https` on host.test to as many connections as there are; gives the peers as they come.
    func serveTLS(
        _ identity: Identity, maximum: TLSVersion = .v13, greeting: String = "",
        accepted: @escaping (TLSPeer) -> Void = { _ in }
    ) throws {
        var options = TLSServerOptions(identity: identity)
        options.maximum = maximum
        let context = try TLSContext(server: options)
        network.serve("host.test", port: 443) { [unowned self] stream in
            guard
                let peer = try? TLSPeer(
                    stream, context: context, answer: "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret",
                    greeting: greeting)
            else { return stream.close() }
            keep(stream, peer)
            accepted(peer)
        }
    }
}
