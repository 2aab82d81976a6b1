// Preloaded into ThreadSanitizer runs, and into nothing else. Swift's own libraries are not instrumented: where one thread
// hands something to another inside them, the sanitizer misses that the second came after the first, and reports their
// accesses as races. This tells it, in two places.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// Mutex: its uncontended path is compiled into our own code, where the sanitizer sees it. The contended path is three
// functions of the Synchronization library, which are replaced by equal ones.

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

// Continuations: the runtime tells the sanitizer only of those whose task was already waiting. Where the resumption comes
// first, the task goes on without a word. So the function with which a task goes on is put behind one that tells it; what
// it was is kept in a table meanwhile. (Only calls from our own code come by here: those inside the concurrency library,
// which a build without optimisation makes for checked continuations, cannot be replaced; see Tests/Support/Handover.)

#define ASYNC __attribute__((swiftasynccall))
#define CONTEXT __attribute__((swift_async_context))

struct context {
    void *parent;
    ASYNC void (*go_on)(CONTEXT struct context *);
};

struct waiting {
    struct context *context;
    ASYNC void (*go_on)(CONTEXT struct context *);
    struct waiting *next;
};

static struct waiting *waiting[1024];
// Not a mutex: that would tell the sanitizer of an order which the program does not have.
static char locked;

static struct waiting **chain_of(struct context *context) {
    while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    return &waiting[((uintptr_t)context >> 4) % 1024];
}

static void unlock(void) {
    __atomic_clear(&locked, __ATOMIC_RELEASE);
}

static ASYNC void (*await)(struct context *, CONTEXT void *);
static SWIFT void (*resume)(void *);
static SWIFT void (*throwing_resume)(void *);
static SWIFT void (*throwing_resume_with_error)(void *, void *);

extern SWIFT void *swift_task_getCurrent(void) __attribute__((weak));

// In a process without Swift (a shell on the way to the suite) nothing is found and nothing is called.
__attribute__((constructor)) static void look_up(void) {
    await = dlsym(RTLD_NEXT, "swift_continuation_await");
    resume = dlsym(RTLD_NEXT, "swift_continuation_resume");
    throwing_resume = dlsym(RTLD_NEXT, "swift_continuation_throwingResume");
    throwing_resume_with_error = dlsym(RTLD_NEXT, "swift_continuation_throwingResumeWithError");
}

static ASYNC void resumed(CONTEXT struct context *context) {
    struct waiting **link = chain_of(context);
    while (*link != NULL && (*link)->context != context) {
        link = &(*link)->next;
    }
    struct waiting *found = *link;
    if (found == NULL) {
        abort();
    }
    *link = found->next;
    unlock();
    ASYNC void (*go_on)(CONTEXT struct context *) = found->go_on;
    free(found);
    if (__tsan_acquire) {
        __tsan_acquire(swift_task_getCurrent());
    }
    __attribute__((musttail)) return go_on(context);
}

ASYNC void swift_continuation_await(struct context *context, CONTEXT void *caller) {
    struct waiting *entry = malloc(sizeof *entry);
    if (entry == NULL) {
        abort();
    }
    entry->context = context;
    entry->go_on = context->go_on;
    context->go_on = resumed;
    struct waiting **link = chain_of(context);
    entry->next = *link;
    *link = entry;
    unlock();
    __attribute__((musttail)) return await(context, caller);
}

static void handing_over(void *task) {
    if (__tsan_release) {
        __tsan_release(task);
    }
}

SWIFT void swift_continuation_resume(void *task) {
    handing_over(task);
    resume(task);
}

SWIFT void swift_continuation_throwingResume(void *task) {
    handing_over(task);
    throwing_resume(task);
}

SWIFT void swift_continuation_throwingResumeWithError(void *task, void *error) {
    handing_over(task);
    throwing_resume_with_error(task, error);
}
