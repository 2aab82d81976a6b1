// What a server says before it was asked: nothing that was there before a request's first byte was written is ever taken
// for its answer (B16.9). On an idle connection it is the end of that; on a fresh one it is held, and judged as what came
// early (B16.29).

import URLLoadingSystem
import URLLoadingTLS

extension HTTP1Connection {
    /// Whether anything has come but messages of TLS itself: bytes, which are held, or an end, which the next reading
    /// meets again. Asks the system, and reads where it has something.
    ///
    /// Called between two exchanges only, also from within the reading that has ended the one: nothing of what was read
    /// is left then.
    func hasUnasked() -> Bool {
        if let tls, hasUndecrypted || !heldCiphertext.isEmpty {
            let held = heldCiphertext
            heldCiphertext = []
            if held.withUnsafeBytes({ isUnasked($0, tls) }) { return true }
        }
        if stream.isQuiet() { return false }
        // Not the loop's buffer: another connection may be in the midst of it.
        return withUnsafeTemporaryAllocation(byteCount: Self.unaskedAtOnce, alignment: 16) { buffer in
            for _ in 0..<Self.mostUnaskedReads {
                switch stream.read(into: buffer) {
                case .bytes(let count):
                    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                    guard let tls else {
                        holdUnasked(bytes)
                        return true
                    }
                    if isUnasked(bytes, tls) { return true }
                case .wouldBlock:
                    return false
                case .endOfStream, .failed:
                    mustRead = true
                    return true
                }
            }
            // So many tickets nobody sends.
            return true
        }
    }

    /// Whether there is more in these bytes than messages of TLS itself.
    private func isUnasked(_ bytes: UnsafeRawBufferPointer, _ tls: TLSSession) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: Self.unaskedAtOnce, alignment: 16) { plaintext in
            var offset = 0
            let step = tls.decrypt(bytes, offset: &offset, into: plaintext)
            hasUndecrypted = true
            switch step {
            case .plaintext(let count):
                holdUnasked(UnsafeRawBufferPointer(rebasing: plaintext[..<count]))
                heldCiphertext.append(contentsOf: bytes[min(offset, bytes.count)...])
                return true
            case .needInput:
                hasUndecrypted = false
                return false
            case .closed, .failed:
                return true
            }
        }
    }

    private func holdUnasked(_ bytes: UnsafeRawBufferPointer) {
        heldPlaintext.append(contentsOf: bytes)
        hasUndecoded = true
    }

    /// A full record.
    private static var unaskedAtOnce: Int { 16 << 10 }
    /// Picked by feel: servers send two tickets, of some hundred bytes each.
    private static var mostUnaskedReads: Int { 16 }
}
