// What a task is that opens a connection and sends nothing: how many are wanted, and what has come of it.
//
// Must not know: how a connection is opened.

import Foundation
import Synchronization
import URLLoadingPolicy

/// One connection that is to be ready before there is a request for it.
final class WarmUp: Sendable {
    /// How many are wanted, this one included.
    let wanted: Int
    private let warmth = Mutex<PoolMachine.Warmth?>(nil)

    init(wanted: Int) {
        self.wanted = wanted
    }

    /// Something has come of it; the end follows.
    func note(_ warmth: PoolMachine.Warmth) { self.warmth.withLock { $0 = warmth } }

    /// Brings the end to the call that waits for it, which is for the caller to resume.
    func finish(_ task: TaskCore, _ end: borrowing TaskResult) -> EndedCall? {
        guard let call = end.call else { return nil }
        if let error = end.error { return EndedCall(call, .failure(error)) }
        return EndedCall(call, .warmth(warmth.withLock { $0 } ?? .full))
    }
}
