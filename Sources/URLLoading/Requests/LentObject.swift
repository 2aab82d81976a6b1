// What a request holds of the program's. The last to hold a request is often the loop that has carried its load; there
// nothing of the program's may end, since its `deinit` may wait, and all connections of the loop would wait with it.
//
// Must not know: what it holds.

import Dispatch
import URLLoadingSystem

/// An object of the program's that does not end on the thread of a loop. Not changed before its own end, and so as safe
/// to share as what it holds.
final class LentObject<Object>: @unchecked Sendable {
    /// There until the end.
    private(set) var object: Object?

    init(_ object: Object) { self.object = object }

    deinit {
        guard LoopGroup.shared.isCurrent else { return }
        let leaving = Leaving(object.take())
        DispatchQueue.global().async { leaving.object = nil }
    }

    /// Has the object alone, so that it ends where this lets go of it. Used by one thread after another.
    private final class Leaving: @unchecked Sendable {
        var object: Object?

        init(_ object: consuming Object?) { self.object = object }
    }
}
