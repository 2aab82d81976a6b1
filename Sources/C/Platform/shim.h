// Linux as Swift sees it: what the Glibc and Musl modules leave out, either because no module map lists the header
// (epoll, eventfd), or because it hides behind _GNU_SOURCE, a macro or variadic arguments.
// Header only: constants become static const ints, macros become static inline functions.
// _GNU_SOURCE must not be defined here: the system headers would then differ from the ones the Glibc module was built
// from, which the importer rejects. The few functions it hides are declared under names of our own.
#ifndef URLLOADING_CPLATFORM_SHIM_H
#define URLLOADING_CPLATFORM_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

int urlloading_libc_accept4(int, struct sockaddr *, socklen_t *, int) __asm__("accept4");
long urlloading_libc_syscall(long, ...) __asm__("syscall");
int urlloading_libc_pipe2(int *, int) __asm__("pipe2");
int urlloading_libc_fallocate(int, int, off_t, off_t) __asm__("fallocate");
int urlloading_libc_sched_getaffinity(pid_t, size_t, unsigned long *) __asm__("sched_getaffinity");

// getaddrinfo's answers for a name that exists but has no address; glibc and musl agree on the numbers.
static const int urlloading_eai_nodata = -5;
static const int urlloading_eai_addrfamily = -9;

// epoll's flags are an enum with a negative-looking member (EPOLLET); as plain numbers they mix with a mask.
static const uint32_t urlloading_epoll_in = EPOLLIN;
static const uint32_t urlloading_epoll_out = EPOLLOUT;
static const uint32_t urlloading_epoll_pri = EPOLLPRI;
static const uint32_t urlloading_epoll_rdhup = EPOLLRDHUP;
static const uint32_t urlloading_epoll_hup = EPOLLHUP;
static const uint32_t urlloading_epoll_err = EPOLLERR;
static const uint32_t urlloading_epoll_et = 1u << 31;

// Moves an open descriptor away from the numbers of the standard ones, and gives its new number; the old one where it
// has none of those, or no other is free.
static inline int urlloading_move_above_standard(int descriptor) {
    if (descriptor < 0 || descriptor > STDERR_FILENO) {
        return descriptor;
    }
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (moved < 0) {
        return descriptor;
    }
    close(descriptor);
    return moved;
}

static inline int urlloading_epoll_create(void) {
    return epoll_create1(EPOLL_CLOEXEC);
}

static inline int urlloading_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = events;
    event.data.u64 = token;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static inline uint64_t urlloading_epoll_token(const struct epoll_event *event) {
    return event->data.u64;
}

static inline uint32_t urlloading_epoll_events(const struct epoll_event *event) {
    return event->events;
}

static inline int urlloading_eventfd(int semaphore) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | (semaphore ? EFD_SEMAPHORE : 0));
}

static inline int urlloading_socket(int family) {
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// A routing socket that hears of links, addresses and routes; the types and numbers are those of linux/netlink.h and
// linux/rtnetlink.h, which not every C library brings along.
static inline int urlloading_routing_socket(void) {
    struct {
        unsigned short family;
        unsigned short padding;
        uint32_t port;
        uint32_t groups;
    } address;
    int descriptor = socket(16 /* AF_NETLINK */, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0 /* NETLINK_ROUTE */);
    if (descriptor < 0) {
        return descriptor;
    }
    memset(&address, 0, sizeof address);
    address.family = 16;
    // RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE
    address.groups = 0x1 | 0x10 | 0x40 | 0x100 | 0x400;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

static inline int urlloading_socket_pair(int *first, int *second) {
    int both[2];
    int result = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both);
    if (result == 0) {
        *first = both[0];
        *second = both[1];
    }
    return result;
}

static inline int urlloading_accept(int listener, struct sockaddr *address, socklen_t *length) {
    return urlloading_libc_accept4(listener, address, length, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// Under names of their own, so that Swift methods may be called bind, connect and listen.
static inline int urlloading_bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    return bind(descriptor, address, length);
}

static inline int urlloading_connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    return connect(descriptor, address, length);
}

static inline int urlloading_listen(int descriptor, int backlog) {
    return listen(descriptor, backlog);
}

static inline int urlloading_set_option(int descriptor, int level, int name, int value) {
    return setsockopt(descriptor, level, name, &value, sizeof value);
}

static inline int urlloading_get_option(int descriptor, int level, int name, int *value) {
    socklen_t length = sizeof *value;
    return getsockopt(descriptor, level, name, value, &length);
}

// How much of what a TCP socket has taken its peer has not acknowledged, and how many milliseconds ago data left, and the peer
// acknowledged something. TIOCOUTQ is SIOCOUTQ. A system that fills only a part of the struct knows neither time.
static inline int urlloading_delivery(
    int descriptor, int *unacknowledged, uint32_t *since_sent, uint32_t *since_acknowledged) {
    struct tcp_info about;
    socklen_t length = sizeof about;
    memset(&about, 0, sizeof about);
    if (ioctl(descriptor, TIOCOUTQ, unacknowledged) != 0) return -1;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &about, &length) != 0) return -1;
    if (about.tcpi_snd_mss == 0) {
        errno = EOPNOTSUPP;
        return -1;
    }
    *since_sent = about.tcpi_last_data_sent;
    *since_acknowledged = about.tcpi_last_ack_recv;
    return 0;
}

// A close that sends RST instead of FIN.
static inline int urlloading_set_abortive_close(int descriptor) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    return setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

static inline int urlloading_bind_to_device(int descriptor, const char *name) {
    return setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name));
}

// Leaves the choice of a local port to connect(), where the whole four-tuple is known.
static inline int urlloading_bind_without_port(int descriptor) {
#ifdef IP_BIND_ADDRESS_NO_PORT
    int on = 1;
    return setsockopt(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
#else
    (void)descriptor;
    return 0;
#endif
}

static inline ssize_t urlloading_send2(
    int descriptor, const void *first, size_t first_length, const void *second, size_t second_length) {
    struct iovec parts[2] = {{(void *)first, first_length}, {(void *)second, second_length}};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    return sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

static inline ssize_t urlloading_send(int descriptor, const void *bytes, size_t length) {
    return send(descriptor, bytes, length, MSG_NOSIGNAL);
}

// A file that was not there before, for its owner only; a link that another process has laid is not followed.
static inline int urlloading_create_exclusively(const char *path) {
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

// A file that is there already, to go on with; a link that another process has laid is not followed, a pipe not waited for.
static inline int urlloading_open_existing(const char *path) {
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

// Whether this is a regular file of this process's user, for no one else's eyes, with one name.
static inline int urlloading_is_private(const struct stat *about) {
    return S_ISREG(about->st_mode) && about->st_uid == geteuid() && (about->st_mode & (S_IRWXG | S_IRWXO)) == 0
        && about->st_nlink == 1;
}

// Whether a file that is open is the one that has this name.
static inline int urlloading_is_named(int file, const char *path) {
    struct stat opened, named;
    return fstat(file, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev
        && opened.st_ino == named.st_ino;
}

// Whether an open file is a private one, and `path` its only name.
static inline int urlloading_is_private_file(int file, const char *path) {
    struct stat opened;
    return fstat(file, &opened) == 0 && urlloading_is_private(&opened) && urlloading_is_named(file, path);
}

// Looks for a private file without opening it; EPERM for what is none.
static inline int urlloading_find_private_file(const char *path) {
    struct stat named;
    if (lstat(path, &named) != 0) return -1;
    if (urlloading_is_private(&named)) return 0;
    errno = EPERM;
    return -1;
}

// Takes room on the disk behind a file's bytes without making the file longer; 1 is FALLOC_FL_KEEP_SIZE.
static inline int urlloading_reserve(int file, int64_t offset, int64_t length) {
    return urlloading_libc_fallocate(file, 1, (off_t)offset, (off_t)length);
}

// How many bytes this user can still write where a file lies; -1 where the file system does not say, as some of the network
// and of programs do by having no blocks at all.
static inline int64_t urlloading_free_room(int file) {
    struct statvfs found;
    if (fstatvfs(file, &found) != 0 || found.f_blocks == 0 || found.f_frsize == 0) return -1;
    uint64_t blocks = geteuid() == 0 ? found.f_bfree : found.f_bavail;
    return blocks > INT64_MAX / found.f_frsize ? INT64_MAX : (int64_t)(blocks * found.f_frsize);
}

static inline int64_t urlloading_seek(int file, int64_t offset) {
    return (int64_t)lseek(file, (off_t)offset, SEEK_SET);
}

// Where a file's next hole begins, which may be its end; 4 is SEEK_HOLE.
static inline int64_t urlloading_next_hole(int file, int64_t offset) {
    return (int64_t)lseek(file, (off_t)offset, 4);
}

// The kernel moves bytes from a file to a socket. SIGPIPE cannot be switched off for this call: its caller blocks the
// signal.
static inline ssize_t urlloading_send_file(int socket, int file, int64_t offset, size_t length) {
    off_t position = (off_t)offset;
    return sendfile(socket, file, &position, length);
}

// Writes to the standard error output, and drops what cannot be written. Where that is a pipe without a reader, the SIGPIPE which
// the write raises for this thread is taken back; one that was pending before stays.
static inline void urlloading_complain(const void *bytes, size_t length) {
    sigset_t pipe, pending, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    if (pthread_sigmask(SIG_BLOCK, &pipe, &before) != 0) return;
    if (write(STDERR_FILENO, bytes, length) < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
        const struct timespec none = {0, 0};
        while (sigtimedwait(&pipe, NULL, &none) < 0 && errno == EINTR) {}
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static inline int urlloading_open_for_reading(const char *path) {
    // Without O_NONBLOCK opening a named pipe would wait for its writer.
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

// A file's length, or -1; what it is if it is no regular file: EISDIR for a directory, EINVAL for anything else.
static inline int64_t urlloading_file_length(int file) {
    struct stat about;
    if (fstat(file, &about) != 0) return -1;
    if (S_ISREG(about.st_mode)) return (int64_t)about.st_size;
    errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    return -1;
}

// Whether a file is of procfs or sysfs: these are made when they are read, and the length that they say is not theirs.
static inline int urlloading_is_made_when_read(int file) {
    struct statfs about;
    if (fstatfs(file, &about) != 0) return 0;
    return about.f_type == 0x9fa0 || about.f_type == 0x62656572;
}

static inline ssize_t urlloading_read_at(int file, void *bytes, size_t length, int64_t offset) {
    return pread(file, bytes, length, (off_t)offset);
}

// Reads only what is in memory already, and fails with EAGAIN where the disk would have to be waited for. By number,
// since not every C library has preadv2; RWF_NOWAIT is 8.
static inline ssize_t urlloading_read_cached(int file, void *bytes, size_t length, int64_t offset) {
    struct iovec part = {bytes, length};
    return urlloading_libc_syscall(SYS_preadv2, (long)file, &part, 1L, (long)offset, 0L, 8L);
}

// Whether a file belongs to the user this process acts for.
static inline int urlloading_is_own_file(int file) {
    struct stat about;
    return fstat(file, &about) == 0 && about.st_uid == geteuid();
}

// A file to lock by, made where there is none; a link that another process has laid is not followed.
static inline int urlloading_open_lock(const char *path) {
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

// Takes the lock unless another holder has it (EWOULDBLOCK); it goes with the last descriptor.
static inline int urlloading_try_lock(int file) {
    return flock(file, LOCK_EX | LOCK_NB);
}

// Takes a share of the lock, which many holders can have at a time.
static inline int urlloading_try_shared_lock(int file) {
    return flock(file, LOCK_SH | LOCK_NB);
}

// Gives the lock back, whichever processes have the descriptor: a child has all of them until it has become another program.
static inline int urlloading_unlock(int file) {
    return flock(file, LOCK_UN);
}

// A file that grows at its end only, made where there is none; a link that another process has laid is not followed.
static inline int urlloading_open_log(const char *path) {
    return open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
}

// Which file it is, how long, when it last changed in any way, and by how many names it can be found.
static inline int urlloading_file_identity(int file, uint64_t *inode, int64_t *length, int64_t *changed, uint64_t *names) {
    struct stat about;
    if (fstat(file, &about) != 0) return -1;
    if (!S_ISREG(about.st_mode)) {
        errno = EINVAL;
        return -1;
    }
    *inode = (uint64_t)about.st_ino;
    *length = (int64_t)about.st_size;
    *changed = (int64_t)about.st_ctim.tv_sec * 1000000000 + about.st_ctim.tv_nsec;
    *names = (uint64_t)about.st_nlink;
    return 0;
}

// Whether a path is a directory of this process's user into which no other user may write. A link is none: its maker could
// lead it elsewhere at any time.
static inline int urlloading_is_private_directory(const char *path) {
    struct stat about;
    return lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid()
        && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static inline int urlloading_shorten(int file, int64_t length) {
    return ftruncate(file, (off_t)length);
}

static inline int urlloading_make_directory(const char *path) {
    return mkdir(path, 0700);
}

static inline int urlloading_rename(const char *from, const char *to) {
    return rename(from, to);
}

// A hint that the file will be read from its beginning to its end.
static inline void urlloading_will_read_in_order(int file) {
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
}

static inline ssize_t urlloading_peek(int descriptor) {
    char byte;
    return recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
}

// pthread_self() as a number; pthread_t is an integer in glibc and a pointer in musl.
static inline uintptr_t urlloading_current_thread(void) {
    return (uintptr_t)pthread_self();
}

static inline void urlloading_name_current_thread(const char *name) {
    prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
}

// Starts a thread that no signal is delivered to; those the processor raises (SIGSEGV and its like) stay unblocked,
// so that a crash still reaches the code that reports crashes. Returns 0 or an error number; `thread` is for joining.
static inline int urlloading_start_thread(
    uintptr_t *thread, int detached, size_t stack_size, void *(*body)(void *), void *argument) {
    sigset_t blocked, before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGTRAP);
    sigdelset(&blocked, SIGABRT);
    pthread_attr_t attributes;
    pthread_t started;
    int error = pthread_attr_init(&attributes);
    if (error != 0) {
        return error;
    }
    pthread_attr_setstacksize(&attributes, stack_size);
    pthread_attr_setdetachstate(&attributes, detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(&started, &attributes, body, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error == 0) {
        *thread = (uintptr_t)started;
    }
    return error;
}

static inline int urlloading_join_thread(uintptr_t thread) {
    return pthread_join((pthread_t)thread, NULL);
}

// Processors this process may run on (an affinity mask or a container's cpuset counts).
static inline int urlloading_processor_count(void) {
    unsigned long mask[8192 / (8 * sizeof(unsigned long))];
    memset(mask, 0, sizeof mask);
    if (urlloading_libc_sched_getaffinity(0, sizeof mask, mask) >= 0) {
        int count = 0;
        for (size_t i = 0; i < sizeof mask / sizeof mask[0]; i++) {
            count += __builtin_popcountl(mask[i]);
        }
        if (count > 0) {
            return count;
        }
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

// Process and user at the other end of a UNIX-domain socket, as of when the connection was made. The layout is that of struct
// ucred, which the headers hide.
static inline int urlloading_peer(int descriptor, int32_t *process, uint32_t *user) {
    struct {
        int32_t process;
        uint32_t user;
        uint32_t group;
    } peer;
    socklen_t length = sizeof peer;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
    *process = peer.process;
    *user = peer.user;
    return 0;
}

static inline int urlloading_peer_user(int descriptor, uint32_t *user) {
    int32_t process;
    return urlloading_peer(descriptor, &process, user);
}

// A descriptor of the process that listens where a UNIX-domain socket has been connected, and its number. SO_PEERPIDFD is 77; systems
// before 6.5 have it not, and open the process by its number (pidfd_open, 434), which has to be no other's by then.
static inline int urlloading_open_peer_process(int descriptor, int32_t *process) {
    uint32_t user;
    if (urlloading_peer(descriptor, process, &user) != 0) return -1;
    if (*process <= 0) {
        errno = ESRCH;
        return -1;
    }
    int opened = -1;
    socklen_t length = sizeof opened;
    if (getsockopt(descriptor, SOL_SOCKET, 77, &opened, &length) == 0 && opened >= 0) return opened;
    return (int)urlloading_libc_syscall(434L, (long)*process, 0L);
}

// pidfd_send_signal is 424 everywhere.
static inline int urlloading_signal_process(int process, int signal) {
    return (int)urlloading_libc_syscall(424L, (long)process, (long)signal, 0L, 0L);
}

// The path a UNIX-domain socket will be bound to gets this mode, whatever the process's umask lets through.
static inline int urlloading_restrict_socket(int descriptor) {
    return fchmod(descriptor, 0600);
}

// Closes every descriptor from `first` on: close_range(2), or one by one where the kernel is older than 5.9.
static inline void urlloading_close_from(int first) {
#ifdef SYS_close_range
    if (urlloading_libc_syscall(SYS_close_range, (long)first, (long)~0u, 0L) == 0) return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    for (int descriptor = first; descriptor < (limit > 0 && limit < 65536 ? limit : 65536); descriptor++) {
        // Most of them are not open, for which close() would be a mistake that the tests look for.
        urlloading_libc_syscall(SYS_close, (long)descriptor);
    }
}

static inline int urlloading_pipe(int *reading, int *writing) {
    int both[2];
    if (urlloading_libc_pipe2(both, O_CLOEXEC) != 0) return -1;
    *reading = both[0];
    *writing = both[1];
    return 0;
}

// Starts a program with no signal blocked or ignored and with /dev/null for its three standard descriptors; where
// `kept` is not negative it becomes the program's descriptor 3. A session of its own is POSIX_SPAWN_SETSID, 0x80.
// Returns 0 or an error number.
static inline int urlloading_spawn(
    int *process, const char *path, char *const arguments[], char *const environment[], int kept, int own_session) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(
        &attributes, (short)(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (own_session ? 0x80 : 0)));
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, 0, 1);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, 0, 2);
    if (error == 0 && kept >= 0) error = posix_spawn_file_actions_adddup2(&actions, kept, 3);
    pid_t started = 0;
    if (error == 0) error = posix_spawn(&started, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    *process = (int)started;
    return error;
}

// Waits for a child; its exit status, 128 and the signal where one has ended it, or -1.
static inline int urlloading_wait_for_child(int process) {
    int status = 0;
    if (waitpid((pid_t)process, &status, 0) < 0) return -1;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 128;
}

// Looks whether a child has ended, and takes its status then as `urlloading_wait_for_child` does; -2 while it runs.
static inline int urlloading_look_for_child(int process) {
    int status = 0;
    pid_t found = waitpid((pid_t)process, &status, WNOHANG);
    if (found < 0) return -1;
    if (found == 0) return -2;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : 128;
}

// The buffer always ends in NUL. Without _GNU_SOURCE this is the strerror_r that fills the buffer.
static inline void urlloading_describe_error(int error, char *buffer, size_t length) {
    if (length == 0) {
        return;
    }
    buffer[0] = 0;
    (void)strerror_r(error, buffer, length);
    buffer[length - 1] = 0;
}

#endif
