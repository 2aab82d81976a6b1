// In debug builds: notices calls on a loop's thread that may wait for a disk or a lock, since every connection of the
// loop waits as well. Files are opened, read, locked and synchronised elsewhere.
//
// What was noticed is counted and written to the standard error output. With URLLOADING_LOOP_WATCH=stop in the
// environment the program ends there: so the test fails that has done it, whatever it looks at.

#if DEBUG
    import Synchronization

    /// Looks after the threads of loops.
    package enum LoopWatch {
        private static let threads = Mutex<Set<UInt>>([])
        private static let seen = Mutex<[String]>([])
        /// Whether the program ends at the first such call.
        package static let stops = Platform.environment("URLLOADING_LOOP_WATCH") == "stop"

        /// The calls that were made on loops' threads and may have waited.
        package static var noticed: [String] { seen.withLock { $0 } }

        /// The calling thread is a loop's.
        static func enter() {
            let thread = Platform.currentThread
            threads.withLock { _ = $0.insert(thread) }
        }

        /// The calling thread is no loop's any more.
        static func leave() {
            let thread = Platform.currentThread
            threads.withLock { _ = $0.remove(thread) }
        }

        /// The calling thread is about to make a call that may wait.
        package static func note(_ call: StaticString) {
            let thread = Platform.currentThread
            guard threads.withLock({ $0.contains(thread) }) else { return }
            seen.withLock { $0.append("\(call)") }
            Platform.complain("URLLoading: \(call) on the thread of a loop, which must not wait for a disk or a lock\n")
            precondition(!stops, "A loop's thread must not wait for a disk or a lock (\(call))")
        }
    }
#else
    /// Looks after nothing in release builds.
    package enum LoopWatch {
        static func enter() {}
        static func leave() {}
        package static func note(_ call: StaticString) {}
    }
#endif
