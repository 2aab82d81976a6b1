// A closure that is called, in debug builds, before this target opens, reads or locks a file: on some threads no code
// may wait for a disk. Which these are is not known here.

import Synchronization

/// Tells of files that are about to be used.
package enum FileWatch {
    #if DEBUG
        /// The closure that is told; called on the thread that is about to wait, with the name of the call.
        package static let listener = Mutex<(@Sendable (StaticString) -> Void)?>(nil)

        static func note(_ call: StaticString) {
            listener.withLock { $0 }?(call)
        }
    #else
        static func note(_ call: StaticString) {}
    #endif
}
