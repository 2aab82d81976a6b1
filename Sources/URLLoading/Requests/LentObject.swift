// What a request holds of the program's. The last to hold a request is often the loop that has carried its load; there
// nothing of the program's may end, since its `deinit` may wait, and all connections of the loop would wait with it.
//
// Must not know: what it holds.

import Dispatch
import URLLoadingSystem

/// An object of the program's that does not end on the thread of a loop.
///
/// Unchecked because the object need not be Sendable. The property is written by `init` and `deinit` only, which have
/// this alone; the object is as safe to share as the program has made it.
final class LentObject<Object>: @unchecked Sendable {
    /// There until the end.
    private(set) var object: Object?

    init(_ object: Object) { self.object = object }

    deinit {
        guard LoopGroup.shared.isCurrent else { return }
        let leaving = Leaving(object.take())
        DispatchQueue.global().async { leaving.object = nil }
    }

    /// Has the object alone, so that it ends where this lets go of it. Unchecked because the object need not be
    /// Sendable: the thread that makes this hands it over with the work, and does not look at it again.
    private final class Leaving: @unchecked Sendable {
        var object: Object?

        init(_ object: consuming Object?) { self.object = object }
    }
}
