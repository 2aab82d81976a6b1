// What a server says before it was asked: nothing that was there before a request's first byte was written is ever
// taken for its answer (B16.9). On an idle connection it is the end of that; on a fresh one it is held, and judged as
// what came early (B16.29).

import URLLoadingSystem

extension HTTP1Connection {
    /// Whether anything has come but messages of TLS itself: bytes, which are held, or an end, which the next reading
    /// meets again. Asks the system, and reads where it has something.
    ///
    /// Called between two exchanges only, also from within the reading that has ended the one: nothing of what was read
    /// is left then.
    func hasUnasked() -> Bool {
        if channel.isQuiet() { return false }
        // Not the loop's memory: another connection may be in the midst of a read, and a second
        // buffer is much for so little.
        return withUnsafeTemporaryAllocation(byteCount: Self.unaskedAtOnce, alignment: 16) { buffer in
            for _ in 0..<Self.mostUnaskedReads {
                switch channel.read(into: buffer) {
                case .bytes(0):
                    continue
                case .bytes(let count):
                    exchange.hold(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    return true
                case .wouldBlock:
                    return false
                case .end, .failed, .broken:
                    mustRead = true
                    return true
                }
            }
            // No honest server sends so many tickets.
            return true
        }
    }

    /// A full record.
    private static var unaskedAtOnce: Int { 16 << 10 }
    /// Picked by feel: servers send two tickets, of some hundred bytes each.
    private static var mostUnaskedReads: Int { 16 }
}
