// How tests start programs: with no signal blocked, whatever the thread has that starts them. Threads that tasks run
// on block most signals, and so do those that they start; a shell that inherits a blocked SIGCHLD may wait for ever
// for a child that has ended.

import URLLoadingSystem

/// Calls `start` with what a program is to be started with, and answers its error number.
package func withSpawnAttributes(
    ownSession: Bool = false, _ start: (UnsafePointer<posix_spawnattr_t>) -> Int32
) -> Int32 {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    // POSIX_SPAWN_SETSIGMASK and POSIX_SPAWN_SETSID, which Swift does not see.
    posix_spawnattr_setflags(&attributes, 0x08 | (ownSession ? 0x80 : 0))
    return start(&attributes)
}
