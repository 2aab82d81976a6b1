// Something that happens at a moment, unless it is called off before.
//
// Measured: not by Task.sleep. The runtime keeps the timer of a sleep that was cancelled until its moment, 340 bytes
// each; with the resource time-out of a week that is for good.

import Dispatch
import URLLoadingSystem

/// Rings once, on a thread of Dispatch's. Until it has rung or was cancelled it holds what `ring`
/// holds; gone, it never rings.
//
// `@unchecked Sendable`: a source of Dispatch's may be used on any thread, which its type does not say;
// nothing else is in here.
final class Alarm: @unchecked Sendable {
    private enum Clockwork {
        case timer(any DispatchSourceTimer)
        case simulated(Int, any SimulatedMachine)
    }

    private let clockwork: Clockwork

    /// An alarm for a moment of the loops' clock.
    init(at moment: Duration, _ ring: @escaping @Sendable () -> Void) {
        if let machine = Machine.simulated {
            clockwork = .simulated(machine.run(at: moment, ring), machine)
            return
        }
        let timer = DispatchSource.makeTimerSource(queue: .global())
        clockwork = .timer(timer)
        timer.schedule(deadline: .now() + max(.zero, moment - LoopClock.elapsed).dispatchInterval)
        timer.setEventHandler { [weak self] in
            // Lets go of this handler.
            self?.cancel()
            ring()
        }
        timer.activate()
    }

    deinit { cancel() }

    /// Calls it off; one that is just ringing rings.
    func cancel() {
        switch clockwork {
        case .timer(let timer): timer.cancel()
        case .simulated(let number, let machine): machine.callOff(number)
        }
    }
}

extension Duration {
    /// In whole nanoseconds; more than can be counted, 292 years, is never.
    var dispatchInterval: DispatchTimeInterval {
        let nanoseconds = attoseconds / 1_000_000_000
        return nanoseconds > Int64.max ? .never : .nanoseconds(Int(clamping: nanoseconds))
    }
}
