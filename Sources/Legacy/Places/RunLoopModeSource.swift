// The way into a run loop: a source in one of its modes, which is rung from any thread and answered on the loop's own.
//
// A source, and not a block or a timer: it keeps the mode from being empty, so that `RunLoop.run` waits for it, and
// `run(mode:before:)` returns after each time it was answered, as programs expect that wait in a loop of their own.
//
// Must not know: what is delivered.

internal import CoreFoundation
import Foundation
import Synchronization

/// A source in one mode of one run loop.
final class RunLoopModeSource: @unchecked Sendable {
    // Safe to share: of the run loop and the source only what CoreFoundation guards by its own locks is called; the
    // rest is immutable or atomic.
    let mode: RunLoop.Mode
    private let runLoop: RunLoop
    /// The loop by which it is woken; nil for one that is neither this thread's nor the main thread's.
    private let core: CFRunLoop?
    private let source = Source()
    private let answer: @Sendable (RunLoopModeSource) -> Void
    private let stage = Atomic<UInt8>(Stage.inside)

    private enum Stage {
        static let inside: UInt8 = 0
        static let leaving: UInt8 = 1
        static let outside: UInt8 = 2
    }

    /// Puts a source into a mode of a run loop; `answer` is called there after each `ring()`.
    init(_ runLoop: RunLoop, _ mode: RunLoop.Mode, answer: @escaping @Sendable (RunLoopModeSource) -> Void) {
        self.runLoop = runLoop
        self.mode = mode
        self.answer = answer
        core =
            if runLoop === RunLoop.current {
                CFRunLoopGetCurrent()
            } else if runLoop === RunLoop.main {
                CFRunLoopGetMain()
            } else {
                nil
            }
        source.owner = self
        // Foundation's source does not keep itself alive while the loop may call it.
        _ = Unmanaged.passRetained(self)
        runLoop._add(source, forMode: mode)
    }

    /// Whether this is the source in that mode of that loop.
    func leads(into runLoop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        self.runLoop === runLoop && self.mode == mode
    }

    /// Has the loop answer, soon; from any thread.
    func ring() {
        // Order: signalled first, so that the loop finds it when it wakes.
        source.signal()
        if let core {
            CFRunLoopWakeUp(core)
        } else {
            // Wakes as well, by ending one turn of `run(mode:before:)`; the next finds the source.
            runLoop._stop()
        }
    }

    /// Takes the source out of the mode, for good: at once on the loop's own thread, else when the loop comes by. A
    /// source that was taken out from elsewhere could be gone while the loop is calling it.
    func leave() {
        guard stage.compareExchange(expected: Stage.inside, desired: Stage.leaving, ordering: .relaxed).exchanged
        else { return }
        if runLoop === RunLoop.current { remove() } else { ring() }
    }

    private func rung() {
        if stage.load(ordering: .relaxed) == Stage.inside { answer(self) } else { remove() }
    }

    /// On the loop's own thread.
    private func remove() {
        guard stage.exchange(Stage.outside, ordering: .relaxed) == Stage.leaving else { return }
        runLoop._remove(source, for: mode)
        Unmanaged.passUnretained(self).release()
    }

    private final class Source: RunLoop._Source {
        weak var owner: RunLoopModeSource?

        override func perform() { owner?.rung() }
    }
}
