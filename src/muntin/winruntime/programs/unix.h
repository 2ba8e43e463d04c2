/* The few Linux system calls that our PE programs make themselves.
 *
 * A PE program under Wine is an ordinary Linux process, so the `syscall` instruction reaches the
 * kernel. It is used where the Windows API has no word for it: files outside of C:, and starting
 * Linux programs. Numbers: x86-64, arch/x86/entry/syscalls/syscall_64.tbl.
 */
#ifndef MUNTIN_UNIX_H
#define MUNTIN_UNIX_H

enum {
    UNIX_READ = 0,
    UNIX_WRITE = 1,
    UNIX_OPEN = 2,
    UNIX_CLOSE = 3,
    UNIX_RT_SIGACTION = 13,
    UNIX_RT_SIGPROCMASK = 14,
    UNIX_DUP2 = 33,
    UNIX_FORK = 57,
    UNIX_EXECVE = 59,
    UNIX_EXIT = 60,
    UNIX_WAIT4 = 61,
    UNIX_KILL = 62,
    UNIX_FCNTL = 72,
    UNIX_UNLINK = 87,
    UNIX_PIPE2 = 293,
    UNIX_CLOSE_RANGE = 436,
};

enum { UNIX_O_WRONLY = 1, UNIX_O_CREAT = 0100, UNIX_O_TRUNC = 01000, UNIX_O_CLOEXEC = 02000000 };
enum { UNIX_F_SETFD = 2, UNIX_FD_CLOEXEC = 1 };
enum { UNIX_EINTR = 4, UNIX_SIGINT = 2, UNIX_SIGTERM = 15, UNIX_SIG_SETMASK = 2 };

static inline long long unix_call(long long number, long long a, long long b, long long c,
                                  long long d) {
    long long result;
    register long long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return result;
}

/* The inherited descriptor that `text` is the number of, or -1 if it is a path. */
static inline long long unix_descriptor(const char *text) {
    long long fd = 0;
    if (!*text) return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || fd > 9999) return -1;
        fd = fd * 10 + (*text - '0');
    }
    return fd;
}

/* Our own programs keep an inherited descriptor to themselves. */
static inline void unix_keep_private(const char *where) {
    long long fd = unix_descriptor(where);
    if (fd >= 0) unix_call(UNIX_FCNTL, fd, UNIX_F_SETFD, UNIX_FD_CLOEXEC, 0);
}

/* Write all of `text` to the file `where`, made if it is absent, or to an inherited descriptor. */
static inline void unix_write_to(const char *where, const char *text, int length) {
    long long inherited = unix_descriptor(where), fd = inherited;
    if (fd < 0)
        fd = unix_call(UNIX_OPEN, (long long)where,
                       UNIX_O_WRONLY | UNIX_O_CREAT | UNIX_O_TRUNC | UNIX_O_CLOEXEC, 0644, 0);
    if (fd < 0) return;
    while (length > 0) {
        long long done = unix_call(UNIX_WRITE, fd, (long long)text, length, 0);
        if (done == -UNIX_EINTR) continue;
        if (done <= 0) break;
        text += done;
        length -= (int)done;
    }
    if (inherited < 0) unix_call(UNIX_CLOSE, fd, 0, 0, 0);
}

#endif
