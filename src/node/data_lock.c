/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of a data directory; see data_lock.h. */
#include "node/data_lock.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

enum {
    LOCKS_MAX_BYTES = 1 << 20,
    LOCK_TRIES = 100, /* to lock a data directory whose process has ended, with pauses */
    LOCK_PAUSE_NS = 20000000
};

/* Pid of the process that holds a flock() on the same file, from /proc/locks; 0: unknown. */
static int64_t holder_of(int fd)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(LOCKS_MAX_BYTES);
    struct stat st;
    if (fstat(fd, &st) < 0 || sys_read_file(AT_FDCWD, "/proc/locks", &text, NULL) < 0)
        return 0;
    /* "1: FLOCK  ADVISORY  WRITE 4321 08:01:131073 0 EOF" */
    scoped(free_scoped) char *inode = xasprintf(":%llu 0 EOF", (unsigned long long)st.st_ino);
    for (struct str rest = buf_str(&text), line, word; rest.n;) {
        (void)str_cut(rest, '\n', &line, &rest);
        if (str_find(line, STR("FLOCK")) < 0 || !str_has_suffix(line, str_of(inode)))
            continue;
        for (uint64_t pid; line.n;) {
            (void)str_cut(line, ' ', &word, &line);
            if (parse_u64(word, 1, INT32_MAX, &pid) >= 0)
                return (int64_t)pid;
        }
    }
    return 0;
}

/* A child that it had forked and that has not started its program yet has the lock for a moment. */
static bool is_ended(int64_t holder)
{
    return holder == 0 || (kill((pid_t)holder, 0) < 0 && errno == ESRCH);
}

int data_lock(const char *dir, struct err *err)
{
    int r = sys_mkdir_all(dir, 0700, err);
    if (r < 0)
        return r;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, dir, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open data directory '%s'", dir);
    int64_t holder = 0;
    for (int i = 0; i < LOCK_TRIES && is_ended(holder); i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return take_fd(&fd);
        holder = holder_of(fd);
        (void)nanosleep(&(struct timespec){ .tv_nsec = LOCK_PAUSE_NS }, NULL);
    }
    if (holder > 0)
        return err_set(err, -EWOULDBLOCK,
                       "data directory '%s' is in use by process %lld (--data-dir DIR: another)",
                       dir, (long long)holder);
    return err_set(err, -EWOULDBLOCK,
                   "data directory '%s' is in use by another process (--data-dir DIR: another)",
                   dir);
}
