/* SPDX-License-Identifier: Apache-2.0 */
/* System calls with fault injection, atomic files, randomness; see sys.h. */
#include "base/sys.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct sys_fault {
    unsigned calls, nth;
    int code;
} faults[SYS_CALL_COUNT];

void sys_fail_nth(enum sys_call call, unsigned nth, int code)
{
    faults[call] = (struct sys_fault){ .nth = nth, .code = code };
}

unsigned sys_call_count(enum sys_call call)
{
    return faults[call].calls;
}

/* 0, or the injected failure. */
static int inject(enum sys_call call)
{
    struct sys_fault *f = &faults[call];
    unsigned at = __atomic_add_fetch(&f->calls, 1, __ATOMIC_RELAXED);
    if (!f->nth || at != f->nth)
        return 0;
    if (f->code == SYS_FAIL_KILL)
        (void)raise(SIGKILL);
    return -f->code;
}

#define RETRY(expr)                                                                                \
    ({                                                                                             \
        long retry_r_;                                                                             \
        do                                                                                         \
            retry_r_ = (long)(expr);                                                               \
        while (retry_r_ < 0 && errno == EINTR);                                                    \
        retry_r_ < 0 ? -(long)errno : retry_r_;                                                    \
    })

int sys_openat(int dir_fd, const char *path, int flags, mode_t mode)
{
    int r = inject(SYS_OPENAT);
    return r < 0 ? r : (int)RETRY(openat(dir_fd, path, flags | O_CLOEXEC, mode));
}

int sys_write_all(int fd, const void *p, size_t n)
{
    const char *at = p;
    while (n) {
        int r = inject(SYS_WRITE);
        long w = r < 0 ? r : RETRY(write(fd, at, n));
        if (w < 0)
            return (int)w;
        at += w;
        n -= (size_t)w;
    }
    return 0;
}

int sys_pwrite_all(int fd, const void *p, size_t n, uint64_t offset)
{
    const char *at = p;
    while (n) {
        int r = inject(SYS_PWRITE);
        long w = r < 0 ? r : RETRY(pwrite(fd, at, n, (off_t)offset));
        if (w < 0)
            return (int)w;
        at += w;
        n -= (size_t)w;
        offset += (uint64_t)w;
    }
    return 0;
}

ssize_t sys_pread_full(int fd, void *p, size_t n, uint64_t offset)
{
    char *at = p;
    size_t done = 0;
    while (done < n) {
        int r = inject(SYS_PREAD);
        long got = r < 0 ? r : RETRY(pread(fd, at + done, n - done, (off_t)(offset + done)));
        if (got < 0)
            return got;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int sys_fsync(int fd)
{
    int r = inject(SYS_FSYNC);
    return r < 0 ? r : (int)RETRY(fsync(fd));
}

int sys_renameat(int dir_fd, const char *from, int to_dir_fd, const char *to)
{
    int r = inject(SYS_RENAMEAT);
    return r < 0 ? r : (int)RETRY(renameat(dir_fd, from, to_dir_fd, to));
}

int sys_ftruncate(int fd, uint64_t size)
{
    int r = inject(SYS_FTRUNCATE);
    return r < 0 ? r : (int)RETRY(ftruncate(fd, (off_t)size));
}

int sys_fallocate(int fd, int mode, uint64_t offset, uint64_t len)
{
    int r = inject(SYS_FALLOCATE);
    return r < 0 ? r : (int)RETRY(fallocate(fd, mode, (off_t)offset, (off_t)len));
}

int sys_unlinkat(int dir_fd, const char *path, int flags)
{
    int r = inject(SYS_UNLINKAT);
    return r < 0 ? r : (int)RETRY(unlinkat(dir_fd, path, flags));
}

int sys_mkdirat(int dir_fd, const char *path, mode_t mode)
{
    int r = inject(SYS_MKDIRAT);
    return r < 0 ? r : (int)RETRY(mkdirat(dir_fd, path, mode));
}

int sys_memfd(const char *name)
{
    int r = inject(SYS_MEMFD);
    return r < 0 ? r : (int)RETRY(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

int sys_mmap(void *at, size_t n, int prot, int flags, int fd, uint64_t offset, void **ret)
{
    int r = inject(SYS_MMAP);
    if (r < 0)
        return r;
    void *p = mmap(at, n, prot, flags, fd, (off_t)offset);
    if (p == MAP_FAILED)
        return -errno;
    *ret = p;
    return 0;
}

void sys_random(void *p, size_t n)
{
    char *at = p;
    while (n) {
        long r = RETRY(getrandom(at, n, 0));
        if (r <= 0)
            abort();
        at += r;
        n -= (size_t)r;
    }
}

uint64_t sys_random_u64(void)
{
    uint64_t v;
    sys_random(&v, sizeof v);
    return v;
}

void sys_uuid(char out[37])
{
    static const char hex[] = "0123456789abcdef";
    uint8_t b[16];
    sys_random(b, sizeof b);
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    char *p = out;
    for (size_t i = 0; i < sizeof b; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *p++ = '-';
        *p++ = hex[b[i] >> 4];
        *p++ = hex[b[i] & 15];
    }
    *p = '\0';
}

int sys_write_file_atomic(int dir_fd, const char *name, struct str content, mode_t mode,
                          struct err *err)
{
    const char *slash = strrchr(name, '/');
    if (slash) {
        scoped(free_scoped) char *parent = xstrndup(name, (size_t)(slash - name) + 1);
        scoped(fd_scoped) int fd = sys_openat(dir_fd, parent, O_RDONLY | O_DIRECTORY, 0);
        if (fd < 0)
            return err_sys(err, fd, "open '%s'", parent);
        return sys_write_file_atomic(fd, slash + 1, content, mode, err);
    }
    scoped(free_scoped) char *tmp =
        xasprintf(".%s.%016llx.tmp", name, (unsigned long long)sys_random_u64());
    int r = sys_openat(dir_fd, tmp, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (r < 0)
        return err_sys(err, r, "create '%s'", tmp);
    scoped(fd_scoped) int fd = r;
    r = sys_write_all(fd, content.p, content.n);
    if (r >= 0)
        r = sys_fsync(fd);
    if (r >= 0)
        r = sys_renameat(dir_fd, tmp, dir_fd, name);
    if (r < 0) {
        (void)unlinkat(dir_fd, tmp, 0);
        return err_sys(err, r, "write '%s'", name);
    }
    scoped(fd_scoped) int d = sys_openat(dir_fd, ".", O_RDONLY | O_DIRECTORY, 0);
    r = d < 0 ? d : sys_fsync(d);
    if (r < 0)
        return err_sys(err, r, "sync the directory of '%s'", name);
    return 0;
}

int sys_sync_parent(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    scoped(free_scoped) char *dir =
        slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    int r = fd < 0 ? fd : sys_fsync(fd);
    return r < 0 ? err_sys(err, r, "sync directory '%s'", dir) : 0;
}

int sys_read_file(int dir_fd, const char *path, struct buf *to, struct err *err)
{
    int r = sys_openat(dir_fd, path, O_RDONLY, 0);
    if (r < 0)
        return err_sys(err, r, "open '%s'", path);
    scoped(fd_scoped) int fd = r;
    for (;;) {
        char chunk[16384];
        long got = RETRY(read(fd, chunk, sizeof chunk));
        if (got < 0)
            return err_sys(err, (int)got, "read '%s'", path);
        if (got == 0)
            return 0;
        r = buf_add(to, chunk, (size_t)got);
        if (r < 0)
            return err_sys(err, r, "read '%s' (at most %zu bytes)", path, to->max);
    }
}

int sys_mkdir_all(const char *path, mode_t mode, struct err *err)
{
    scoped(free_scoped) char *copy = xstrdup(path);
    for (char *p = copy + 1;; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char saved = *p;
        *p = '\0';
        if (mkdir(copy, mode) < 0 && errno != EEXIST)
            return err_sys(err, -errno, "make directory '%s'", copy);
        *p = saved;
        if (saved == '\0')
            break;
    }
    struct stat st;
    if (stat(path, &st) < 0)
        return err_sys(err, -errno, "make directory '%s'", path);
    if (!S_ISDIR(st.st_mode))
        return err_sys(err, -ENOTDIR, "make directory '%s'", path);
    return 0;
}

void sys_raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}
