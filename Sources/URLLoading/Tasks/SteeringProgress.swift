// The `Progress` that a program sees of a task. What is done to it, or to one that it is a part of, is done to the task
// (B1.52).
//
// Must not know: what it shows.

import Foundation

/// A progress that steers its task.
///
/// Foundation calls the handlers of a progress on global queues, where a pause may be overtaken by the resumption
/// behind it. What is overridden here it calls at once and in order, also for the parts of a progress.
///
/// `@unchecked Sendable`: the reference to the task never changes, and the numbers are set under the lock of
/// `TaskProgress`. Foundation guards the rest.
final class SteeringProgress: Progress, @unchecked Sendable {
    private weak let task: TaskCore?

    init(of task: TaskCore?) {
        self.task = task
        // A part of no other, whatever is current where it is asked for: that is the program's to say.
        super.init(parent: nil, userInfo: nil)
        totalUnitCount = NSURLSessionTransferSizeUnknown
        // Foundation on Linux begins with "no", where Apple's begins with "yes"; programs offer only what is said here.
        isCancellable = true
        isPausable = true
    }

    override func cancel() {
        super.cancel()
        task?.driver.cancel()
    }

    override func pause() {
        super.pause()
        task?.driver.progressPaused(self)
    }

    override func resume() {
        super.resume()
        task?.driver.progressResumed(self)
    }
}
