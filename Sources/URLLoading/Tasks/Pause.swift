// A wait of asynchronous code on the loops' clock, which a simulation turns. Not by Task.sleep, for the
// reason that `Alarm` has.

import Synchronization
import URLLoadingSystem

/// Waits once.
final class Pause: Sendable {
    private struct State {
        var waiter: UnsafeContinuation<Void, Never>?
        var alarm: Alarm?
        var isOver = false
    }

    private let state = Mutex(State())

    /// Returns when the time is over, or at once when the surrounding task is cancelled.
    static func wait(_ time: Duration, isolation: isolated (any Actor)?) async {
        guard time > .zero else { return }
        let pause = Pause()
        await withTaskCancellationHandler {
            await withUnsafeContinuation(isolation: isolation) { pause.begin(time, $0) }
        } onCancel: {
            pause.end()
        }
    }

    private func begin(_ time: Duration, _ waiter: UnsafeContinuation<Void, Never>) {
        let isOver = state.withLock { state in
            if !state.isOver { state.waiter = waiter }
            return state.isOver
        }
        if isOver { return waiter.resume() }
        // Order: the alarm may ring before it is kept.
        let alarm = Alarm(at: LoopClock.elapsed + time) { [self] in end() }
        state.withLock { if !$0.isOver { $0.alarm = alarm } }
    }

    private func end() {
        let (waiter, alarm) = state.withLock { state in
            defer { state = State(isOver: true) }
            return (state.waiter, state.alarm)
        }
        alarm?.cancel()
        waiter?.resume()
    }
}
