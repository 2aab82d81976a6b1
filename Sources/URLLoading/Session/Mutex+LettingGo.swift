// Taking things out from behind a lock, so that they end when it is free. What a lock guards may hold the program's
// objects, and a `deinit` of theirs may use what the lock guards.
//
// `_ = lock.withLock { … }` would not do. Optimised code ends what is not used as early as it can, which
// is behind the lock still.

import Synchronization

extension Mutex where Value: ~Copyable {
    /// Takes something out; it ends when the lock is free.
    borrowing func letGo<Gone>(_ take: (inout sending Value) -> sending Gone) {
        let gone = withLock(take)
        withExtendedLifetime(gone) {}
    }

    /// Does something behind the lock. The second part of what comes of it ends when the lock is free.
    borrowing func withLockLettingGo<Result, Gone>(_ body: (inout sending Value) -> sending (Result, Gone)) -> Result {
        let (result, gone) = withLock(body)
        withExtendedLifetime(gone) {}
        return result
    }
}
