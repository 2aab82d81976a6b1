// Loaded into the test process by `Scripts/sanitize thread`, and into nothing else.
//
// Swift's Mutex takes a free lock with an atomic instruction, which ThreadSanitizer sees, but hands a contended one over
// in the kernel (FUTEX_LOCK_PI, FUTEX_UNLOCK_PI), which it does not see: it would report a race on whatever a contended
// Mutex guards. Here the two system calls are told to it as the release and the acquire that they are. Nothing is
// suppressed; a race on what no lock guards is found as before.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

// Weak: in a process without the sanitizer (the build's own tools) they are absent.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

static long (*next_syscall)(long, ...);

__attribute__((constructor)) static void find_next(void) {
    next_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
}

long syscall(long number, ...) {
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (next_syscall == NULL) find_next();

    int operation = number == SYS_futex ? (int)a[1] & FUTEX_CMD_MASK : -1;
    if (operation == FUTEX_UNLOCK_PI && __tsan_release) __tsan_release((void *)a[0]);
    long result = next_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if ((operation == FUTEX_LOCK_PI || operation == FUTEX_TRYLOCK_PI) && result == 0 && __tsan_acquire) {
        __tsan_acquire((void *)a[0]);
    }
    return result;
}
