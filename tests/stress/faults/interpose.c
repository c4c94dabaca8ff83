/*
 * Stands between a program and the C library (LD_PRELOAD, Linux) and makes calls that change files below one folder fail, or kills the
 * process at one of them. Loaded into `recall` by the tests beside this file, never into what it starts.
 *
 *   FAULT_BELOW   the folder; all else passes as if this file were not there
 *   FAULT_LOG     a file for one line a call: number, what, inode, path, other path, separated by tabs
 *   FAULT_BLOBS   a folder for the content of files as they are synced, by the number of the call: what outlives a power failure
 *   FAULT_AT      the number of the call, from 1, at which it happens; 0 for never
 *   FAULT_WHEN    before, half, after: the moment of the kill. Half of the bytes of a write are written then.
 *   FAULT_ERRNO   answer this error in place of a kill, at the first call from that number on that can fail so
 *   FAULT_STAYS   from that call on, as a disk does that is full or has gone bad
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum when { BEFORE, HALF, AFTER };
/* What a call does to the disk, for errors that do not befall all of them. */
enum kind { OPENS, CREATES, GROWS, SYNCS, OTHER };

static char below[PATH_MAX], blobs[PATH_MAX];
static size_t below_length;
static int log_fd = -1, fault_errno, stays, failed;
static long fault_at, calls;
static enum when when_killed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const char *setting(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

__attribute__((constructor)) static void load(void) {
    snprintf(below, sizeof below, "%s", setting("FAULT_BELOW"));
    snprintf(blobs, sizeof blobs, "%s", setting("FAULT_BLOBS"));
    below_length = strlen(below);
    fault_at = atol(setting("FAULT_AT"));
    fault_errno = atoi(setting("FAULT_ERRNO"));
    stays = *setting("FAULT_STAYS") != 0;
    when_killed = !strcmp(setting("FAULT_WHEN"), "half") ? HALF : !strcmp(setting("FAULT_WHEN"), "after") ? AFTER : BEFORE;
    if (*setting("FAULT_LOG")) {
        int fd = syscall(SYS_openat, AT_FDCWD, setting("FAULT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        /* Out of the way of the program's own numbers. */
        log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 500);
        syscall(SYS_close, fd);
    }
    /* What it starts is left alone. */
    const char *own[] = {"LD_PRELOAD", "FAULT_BELOW", "FAULT_LOG", "FAULT_BLOBS", "FAULT_AT", "FAULT_WHEN", "FAULT_ERRNO", "FAULT_STAYS"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) unsetenv(own[i]);
}

static int is_below(const char *path) {
    return below_length && !strncmp(path, below, below_length) && (path[below_length] == '/' || !path[below_length]);
}

static void path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    path[n < 0 ? 0 : n] = 0;
}

static void path_at(int dir, const char *name, char *path) {
    char start[PATH_MAX];
    if (!name) {
        path_of(dir, path);
        return;
    }
    if (name[0] == '/') {
        snprintf(path, PATH_MAX, "%s", name);
        return;
    }
    if (dir == AT_FDCWD) {
        if (!getcwd(start, sizeof start)) start[0] = 0;
    } else {
        path_of(dir, start);
    }
    if (snprintf(path, PATH_MAX, "%s/%s", start, name) >= PATH_MAX) path[0] = 0;
}

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int befalls(enum kind kind) {
    switch (fault_errno) {
    case ENOSPC:
    case EDQUOT:
        return kind == CREATES || kind == GROWS || kind == SYNCS;
    case EMFILE:
        return kind == CREATES || kind == OPENS;
    default:
        return 1;
    }
}

/* What is to happen at a call: nothing, an error, or half of it. */
enum verdict { PASSES, FAILS, HALVES };
static long number;

static enum verdict begin(enum kind kind) {
    pthread_mutex_lock(&lock);
    number = ++calls;
    if (!fault_at || number < fault_at) return PASSES;
    if (fault_errno) {
        if ((!failed || stays) && befalls(kind)) {
            failed = 1;
            errno = fault_errno;
            return FAILS;
        }
        return PASSES;
    }
    if (number == fault_at && when_killed == BEFORE) die();
    return number == fault_at && when_killed == HALF ? HALVES : PASSES;
}

static void keep(int fd) {
    char from[64], to[PATH_MAX + 32], bytes[65536];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    snprintf(to, sizeof to, "%s/%ld", blobs, number);
    int in = syscall(SYS_openat, AT_FDCWD, from, O_RDONLY | O_CLOEXEC);
    int out = syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (ssize_t n; (n = syscall(SYS_read, in, bytes, sizeof bytes)) > 0;) syscall(SYS_write, out, bytes, n);
    syscall(SYS_close, in);
    syscall(SYS_close, out);
}

/* Ends a call: notes it, kills where that is asked for. */
static void end(const char *what, ino_t inode, const char *path, const char *other, int fd_synced) {
    int was = errno;
    if (log_fd >= 0) {
        char line[2 * PATH_MAX + 100];
        int n = snprintf(line, sizeof line, "%ld\t%s\t%lu\t%s\t%s\n", number, what, (unsigned long)inode, path, other);
        syscall(SYS_write, log_fd, line, n);
    }
    if (fd_synced >= 0 && *blobs) keep(fd_synced);
    if (!fault_errno && number == fault_at) die();
    pthread_mutex_unlock(&lock);
    errno = was;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ino_t inode_of(const char *path) {
    struct stat found;
    return fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) ? 0 : found.st_ino;
}

static ino_t inode_at(int fd) {
    struct stat found;
    return fstat(fd, &found) ? 0 : found.st_ino;
}

static int opens(int dir, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    int writes = flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND);
    if (writes) path_at(dir, name, path);
    if (!writes || !is_below(path)) return syscall(SYS_openat, dir, name, flags, mode);
    int creates = (flags & O_CREAT) && !inode_of(path);
    if (begin(creates ? CREATES : OPENS) == FAILS) return end("failed open", 0, path, "", -1), -1;
    int fd = syscall(SYS_openat, dir, name, flags, mode);
    end(fd < 0 ? "open without success" : creates ? "create" : "open", fd < 0 ? 0 : inode_at(fd), path, "", -1);
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, int); va_end(more); \
        return opens(AT_FDCWD, path, flags, mode); \
    }
#define OPENAT(name) \
    int name(int dir, const char *path, int flags, ...) { \
        va_list more; va_start(more, flags); mode_t mode = va_arg(more, int); va_end(more); \
        return opens(dir, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
int creat(const char *path, mode_t mode) { return opens(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return opens(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* A call on an open file: `half` and `whole` are the expressions that do it. */
#define ON_FD(what, kind, fd, failure, half, whole, synced) \
    char path[PATH_MAX]; \
    path_of(fd, path); \
    if (!is_below(path)) return whole; \
    enum verdict verdict = begin(kind); \
    if (verdict == FAILS) return end("failed " what, inode_at(fd), path, "", -1), (failure); \
    __typeof__(whole) done = verdict == HALVES ? half : whole; \
    end(what, inode_at(fd), path, "", (synced) && !done ? (fd) : -1); \
    return done

ssize_t write(int fd, const void *bytes, size_t n) {
    REAL(write);
    ON_FD("write", GROWS, fd, -1, real(fd, bytes, n / 2), real(fd, bytes, n), 0);
}
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    REAL(pwrite);
    ON_FD("write", GROWS, fd, -1, real(fd, bytes, n / 2, at), real(fd, bytes, n, at), 0);
}
ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
    REAL(pwrite64);
    ON_FD("write", GROWS, fd, -1, real(fd, bytes, n / 2, at), real(fd, bytes, n, at), 0);
}
ssize_t writev(int fd, const struct iovec *parts, int n) {
    REAL(writev);
    ON_FD("write", GROWS, fd, -1, real(fd, parts, (n + 1) / 2), real(fd, parts, n), 0);
}
int ftruncate(int fd, off_t length) {
    REAL(ftruncate);
    ON_FD("truncate", OTHER, fd, -1, real(fd, length), real(fd, length), 0);
}
int ftruncate64(int fd, off64_t length) {
    REAL(ftruncate64);
    ON_FD("truncate", OTHER, fd, -1, real(fd, length), real(fd, length), 0);
}
int posix_fallocate(int fd, off_t from, off_t length) {
    REAL(posix_fallocate);
    ON_FD("allocate", GROWS, fd, fault_errno, real(fd, from, length), real(fd, from, length), 0);
}
int posix_fallocate64(int fd, off64_t from, off64_t length) {
    REAL(posix_fallocate64);
    ON_FD("allocate", GROWS, fd, fault_errno, real(fd, from, length), real(fd, from, length), 0);
}
int fallocate(int fd, int mode, off_t from, off_t length) {
    REAL(fallocate);
    ON_FD("allocate", GROWS, fd, -1, real(fd, mode, from, length), real(fd, mode, from, length), 0);
}
int fallocate64(int fd, int mode, off64_t from, off64_t length) {
    REAL(fallocate64);
    ON_FD("allocate", GROWS, fd, -1, real(fd, mode, from, length), real(fd, mode, from, length), 0);
}
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags) {
    REAL(copy_file_range);
    ON_FD("write", GROWS, out, -1, real(in, from, out, to, n / 2, flags), real(in, from, out, to, n, flags), 0);
}
ssize_t sendfile(int out, int in, off_t *from, size_t n) {
    REAL(sendfile);
    ON_FD("write", GROWS, out, -1, real(out, in, from, n / 2), real(out, in, from, n), 0);
}
ssize_t sendfile64(int out, int in, off64_t *from, size_t n) {
    REAL(sendfile64);
    ON_FD("write", GROWS, out, -1, real(out, in, from, n / 2), real(out, in, from, n), 0);
}
int fsync(int fd) {
    REAL(fsync);
    ON_FD("sync", SYNCS, fd, -1, real(fd), real(fd), 1);
}
int fdatasync(int fd) {
    REAL(fdatasync);
    ON_FD("sync", SYNCS, fd, -1, real(fd), real(fd), 1);
}
int fchmod(int fd, mode_t mode) {
    REAL(fchmod);
    ON_FD("chmod", OTHER, fd, -1, real(fd, mode), real(fd, mode), 0);
}
int fchown(int fd, uid_t owner, gid_t group) {
    REAL(fchown);
    ON_FD("chmod", OTHER, fd, -1, real(fd, owner, group), real(fd, owner, group), 0);
}
int futimens(int fd, const struct timespec times[2]) {
    REAL(futimens);
    ON_FD("touch", OTHER, fd, -1, real(fd, times), real(fd, times), 0);
}

/* A call on a name. */
#define ON_PATH(what, kind, dir, name, whole) \
    char path[PATH_MAX]; \
    path_at(dir, name, path); \
    if (!is_below(path)) return whole; \
    if (begin(kind) == FAILS) return end("failed " what, 0, path, "", -1), -1; \
    ino_t inode = inode_of(path); \
    int done = whole; \
    end(done ? what " without success" : what, inode, path, "", -1); \
    return done

/* A call on two names. */
#define ON_PATHS(what, dir, name, new_dir, new_name, whole) \
    char path[PATH_MAX], other[PATH_MAX]; \
    path_at(dir, name, path); \
    path_at(new_dir, new_name, other); \
    if (!is_below(path) && !is_below(other)) return whole; \
    if (begin(CREATES) == FAILS) return end("failed " what, 0, path, other, -1), -1; \
    ino_t inode = inode_of(path); \
    int done = whole; \
    end(done ? what " without success" : what, inode, path, other, -1); \
    return done

int rename(const char *from, const char *to) {
    REAL(rename);
    ON_PATHS("rename", AT_FDCWD, from, AT_FDCWD, to, real(from, to));
}
int renameat(int dir, const char *from, int new_dir, const char *to) {
    REAL(renameat);
    ON_PATHS("rename", dir, from, new_dir, to, real(dir, from, new_dir, to));
}
int renameat2(int dir, const char *from, int new_dir, const char *to, unsigned flags) {
    REAL(renameat2);
    ON_PATHS("rename", dir, from, new_dir, to, real(dir, from, new_dir, to, flags));
}
int link(const char *from, const char *to) {
    REAL(link);
    ON_PATHS("link", AT_FDCWD, from, AT_FDCWD, to, real(from, to));
}
int linkat(int dir, const char *from, int new_dir, const char *to, int flags) {
    REAL(linkat);
    ON_PATHS("link", dir, from, new_dir, to, real(dir, from, new_dir, to, flags));
}
int symlink(const char *to, const char *name) {
    REAL(symlink);
    ON_PATH("symlink", CREATES, AT_FDCWD, name, real(to, name));
}
int symlinkat(const char *to, int dir, const char *name) {
    REAL(symlinkat);
    ON_PATH("symlink", CREATES, dir, name, real(to, dir, name));
}
int unlink(const char *name) {
    REAL(unlink);
    ON_PATH("unlink", OTHER, AT_FDCWD, name, real(name));
}
int unlinkat(int dir, const char *name, int flags) {
    REAL(unlinkat);
    ON_PATH("unlink", OTHER, dir, name, real(dir, name, flags));
}
int rmdir(const char *name) {
    REAL(rmdir);
    ON_PATH("rmdir", OTHER, AT_FDCWD, name, real(name));
}
int mkdir(const char *name, mode_t mode) {
    REAL(mkdir);
    ON_PATH("mkdir", CREATES, AT_FDCWD, name, real(name, mode));
}
int mkdirat(int dir, const char *name, mode_t mode) {
    REAL(mkdirat);
    ON_PATH("mkdir", CREATES, dir, name, real(dir, name, mode));
}
int chmod(const char *name, mode_t mode) {
    REAL(chmod);
    ON_PATH("chmod", OTHER, AT_FDCWD, name, real(name, mode));
}
int fchmodat(int dir, const char *name, mode_t mode, int flags) {
    REAL(fchmodat);
    ON_PATH("chmod", OTHER, dir, name, real(dir, name, mode, flags));
}
int chown(const char *name, uid_t owner, gid_t group) {
    REAL(chown);
    ON_PATH("chmod", OTHER, AT_FDCWD, name, real(name, owner, group));
}
int lchown(const char *name, uid_t owner, gid_t group) {
    REAL(lchown);
    ON_PATH("chmod", OTHER, AT_FDCWD, name, real(name, owner, group));
}
int truncate(const char *name, off_t length) {
    REAL(truncate);
    ON_PATH("truncate", OTHER, AT_FDCWD, name, real(name, length));
}
int truncate64(const char *name, off64_t length) {
    REAL(truncate64);
    ON_PATH("truncate", OTHER, AT_FDCWD, name, real(name, length));
}
int utimensat(int dir, const char *name, const struct timespec times[2], int flags) {
    REAL(utimensat);
    ON_PATH("touch", OTHER, dir, name, real(dir, name, times, flags));
}
