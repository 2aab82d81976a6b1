// Terminates TLS on a memory stream and shows what is inside as another one: so scripts and further TLS servers can
// play behind a proxy that is spoken to by TLS.

import URLLoadingSystem
import URLLoadingTLS
import URLLoadingTestSupport

/// The outer TLS of one connection.
final class TLSFront: ByteStreamObserver {
    /// What is inside.
    let inside: MemoryStream
    private let outer: MemoryStream
    private let plain: MemoryStream
    private let tls: TLSSession
    private var ciphertext: [UInt8] = []
    private var toPlain: ArraySlice<UInt8> = []
    private var hasShakenHands = false
    private var insideHasEnded = false

    init(_ outer: MemoryStream, context: TLSContext, rig: EngineRig) throws {
        self.outer = outer
        (plain, inside) = MemoryStream.pair(
            on: rig.reactor, capacity: rig.network.capacity, counter: rig.network.streams)
        tls = try TLSSession(server: context)
        outer.observer = self
        plain.observer = self
        rig.keep(outer, self)
        rig.keep(plain, self)
        rig.keep(inside, self)
    }

    func streamBecameReadable(_ stream: any ByteStream) { pump() }

    func streamBecameWritable(_ stream: any ByteStream) { pump() }

    private func pump() {
        while moveOnce() {}
    }

    /// Moves what can be moved in each direction; whether anything was.
    private func moveOnce() -> Bool {
        var hasMoved = false
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        if ciphertext.count < buffer.count, toPlain.isEmpty, outer.hasPendingInput {
            switch buffer.withUnsafeMutableBytes({ outer.read(into: $0) }) {
            case .bytes(let count):
                ciphertext += buffer[..<count]
                hasMoved = true
            case .wouldBlock: break
            case .endOfStream, .failed: plain.close()
            }
        }
        var offset = 0
        if !hasShakenHands {
            let step = ciphertext.withUnsafeBytes { tls.handshake($0, offset: &offset) }
            if case .finished = step { hasShakenHands = true }
        }
        if hasShakenHands, toPlain.isEmpty {
            let step = ciphertext.withUnsafeBytes { input in
                buffer.withUnsafeMutableBytes { tls.decrypt(input, offset: &offset, into: $0) }
            }
            if case .plaintext(let count) = step { toPlain = buffer[..<count] }
        }
        if offset > 0 {
            ciphertext.removeFirst(offset)
            hasMoved = true
        }
        if !toPlain.isEmpty, case .bytes(let count) = toPlain.withUnsafeBytes({ plain.write($0) }) {
            toPlain = toPlain.dropFirst(count)
            hasMoved = true
        }
        if hasShakenHands, !tls.hasOutgoing, plain.hasPendingInput { hasMoved = encryptNext(&buffer) || hasMoved }
        while tls.hasOutgoing, case .bytes(let count) = tls.withOutgoing({ outer.write($0) }) {
            tls.outgoingSent(count)
            hasMoved = true
        }
        if insideHasEnded, !tls.hasOutgoing { outer.close() }
        return hasMoved
    }

    private func encryptNext(_ buffer: inout [UInt8]) -> Bool {
        switch buffer.withUnsafeMutableBytes({ plain.read(into: $0) }) {
        case .bytes(let count):
            _ = try? buffer.withUnsafeBytes { try tls.encrypt(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            return true
        case .wouldBlock:
            return false
        case .endOfStream, .failed:
            insideHasEnded = true
            tls.close()
            return true
        }
    }
}

extension MemoryStream {
    /// Sends a record that no key of the connection has made.
    func breakTLS() {
        let record: [UInt8] = [23, 3, 3, 0, 20] + [UInt8](repeating: 7, count: 20)
        _ = record.withUnsafeBytes { write($0) }
    }
}
