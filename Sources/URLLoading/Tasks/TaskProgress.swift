// The progress of a task, and its only writer. Counts come from loops, from the threads of carriers, from the
// delegate queue and from the thread that first asks for it: under one lock they are read and shown, so that no older
// ones are shown after newer ones.

import Foundation
import Synchronization
import URLLoadingPolicy

/// A task's `Progress`.
final class TaskProgress: Sendable {
    /// What the program sees; nothing else sets its numbers.
    let shown: SteeringProgress
    private let units = Mutex(ProgressUnits())
    /// Held while numbers are set, of whichever task: Foundation passes them on to the progress that this one is a part
    /// of, and guards nothing of it. Tasks of other threads may be parts of the same.
    private static let setting = Mutex(())

    init(of task: TaskCore?) { shown = SteeringProgress(of: task) }

    /// Shows how far the task is; `read` is asked under the lock.
    func follow(_ read: () -> (ProgressUnits.Counts, ProgressUnits.Stage)) {
        units.withLock { units in
            let before = units
            let (counts, stage) = read()
            units.follow(counts, stage)
            if units != before { show(units, after: before) }
        }
    }

    private func show(_ units: ProgressUnits, after before: ProgressUnits) {
        Self.setting.withLock { _ in
            if units.total != before.total {
                // Foundation multiplies by the total of before where that is known, which traps for great lengths that
                // become others.
                if before.total > 0 { shown.totalUnitCount = NSURLSessionTransferSizeUnknown }
                shown.totalUnitCount = units.total
            }
            if units.completed != before.completed { shown.completedUnitCount = units.completed }
        }
    }
}
