// Preloaded into ThreadSanitizer runs, and into nothing else. The uncontended path of Swift's Mutex is compiled into our
// own code, where the sanitizer sees it. The contended path is inside the Synchronization library, which is not
// instrumented: the sanitizer then misses that one holder came after the other, and reports their accesses as races.
// This replaces the three slow functions by equal ones that tell it.
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

SWIFT void lock_slow(uint32_t, SELF void *) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT _Bool try_lock_slow(SELF void *) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT void unlock_slow(SELF void *) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

static int futex(void *word, int operation) {
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0) == 0 ? 0 : errno;
}

SWIFT void lock_slow(uint32_t thread, SELF void *word) {
    (void)thread;
    int error;
    while ((error = futex(word, FUTEX_LOCK_PI)) == EINTR || error == EAGAIN) {
    }
    if (error != 0) {
        abort();
    }
    if (__tsan_acquire) {
        __tsan_acquire(word);
    }
}

SWIFT _Bool try_lock_slow(SELF void *word) {
    if (futex(word, FUTEX_TRYLOCK_PI) != 0) {
        return 0;
    }
    if (__tsan_acquire) {
        __tsan_acquire(word);
    }
    return 1;
}

SWIFT void unlock_slow(SELF void *word) {
    if (__tsan_release) {
        __tsan_release(word);
    }
    int error;
    while ((error = futex(word, FUTEX_UNLOCK_PI)) == EINTR) {
    }
    if (error != 0) {
        abort();
    }
}
