/* SPDX-License-Identifier: Apache-2.0 */
#include "container/root.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int container_root_open(int root_fd, const char *path, int flags)
{
    const struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC,
                                  .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
    return fd < 0 ? -errno : fd;
}

static void make_one(int dir, const char *name, bool is_file)
{
    if (!is_file) {
        (void)mkdirat(dir, name, 0755);
        return;
    }
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd >= 0)
        (void)close(fd);
}

void container_root_make_point(int root_fd, const char *path, bool is_file, unsigned *left)
{
    unsigned depth = 0;
    scoped(free_scoped) char *whole = xstrdup(path);
    scoped(fd_scoped) int dir = container_root_open(root_fd, "/", O_PATH | O_DIRECTORY);
    for (char *name = whole + strspn(whole, "/"); *name && dir >= 0 && *left > depth;) {
        *left -= ++depth;
        char *end = name + strcspn(name, "/"), *next = end + strspn(end, "/"), was = *end;
        *end = '\0';
        make_one(dir, name, is_file && !*next);
        (void)close(take_fd(&dir));
        if (*next)
            dir = container_root_open(root_fd, whole, O_PATH | O_DIRECTORY);
        *end = was;
        name = next;
    }
}
