// How other threads reach what an engine keeps on its loop.

import Synchronization
import URLLoadingSystem

/// The way to one engine.
package final class EnginePort: Sendable {
    let loop: Loop
    let key = ResidentKey<LoopCore>()
    private let nextID = Atomic<LoadID>(1)

    init(loop: Loop) {
        self.loop = loop
    }

    /// Names a new load.
    func makeID() -> LoadID { nextID.wrappingAdd(1, ordering: .relaxed).oldValue }

    /// Runs `work` on the loop, if the engine still lives there.
    func tell(_ work: @escaping @Sendable (LoopCore) -> Void) {
        loop.run { [key] reactor in
            if let core = reactor.resident(key) { work(core) }
        }
    }
}
