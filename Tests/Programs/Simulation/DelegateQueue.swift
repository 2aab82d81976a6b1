// The queue on which a simulated program hears of its tasks: one call at a time, each some time after it was added.

import Foundation
import URLLoadingSystem

/// A serial queue without a thread.
//
// `@unchecked Sendable`: one thread plays, and there is no other in the process.
final class DelegateQueue: OperationQueue, @unchecked Sendable {
    private let world: World
    private var waiting: [Operation] = []
    private var isBusy = false

    init(_ world: World) {
        self.world = world
        super.init()
        maxConcurrentOperationCount = 1
    }

    override func addOperation(_ operation: Operation) {
        waiting.append(operation)
        if !isBusy { planNext() }
    }

    private func planNext() {
        isBusy = true
        // Now and then the program does something else.
        let delay = world.draw(.zero...(world.chance.chance(95) ? .milliseconds(1) : .milliseconds(900)))
        world.add(after: delay) { [self] in
            waiting.removeFirst().main()
            if waiting.isEmpty { isBusy = false } else { planNext() }
        }
    }
}
