/* SPDX-License-Identifier: Apache-2.0 */
#include "image/scratch.h"

#include "base/str.h"
#include "base/sys.h"
#include "base/tree_remove.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TURNS_MAX = 100 };

static const struct str MARK = { ".dormouse-scratch.", 18 };

struct image_scratch {
    char *path;
    int fd; /* locked while we live */
};

void image_scratch_free(struct image_scratch *s)
{
    if (!s)
        return;
    if (s->fd >= 0) {
        (void)tree_remove_children(s->fd, NULL);
        (void)rmdir(s->path);
    }
    fd_scoped(&s->fd);
    free(s->path);
    free(s);
}

/* Between being made and being locked another process may take it for a leftover. */
static int lock(const struct image_scratch *s, struct err *err)
{
    struct stat st;
    if (flock(s->fd, LOCK_EX | LOCK_NB) < 0)
        return err_sys(err, -errno, "lock '%s'", s->path);
    if (fstat(s->fd, &st) < 0 || st.st_nlink == 0)
        return err_set(err, -ENOENT, "'%s' has been removed", s->path);
    return 0;
}

static int make(const char *parent, struct image_scratch **ret, struct err *err)
{
    scoped(image_scratch_free_scoped) struct image_scratch *s = xnew(struct image_scratch);
    s->fd = -1;
    s->path = xasprintf("%s/%sXXXXXX", parent, MARK.p);
    if (!mkdtemp(s->path))
        return err_sys(err, -errno, "make a directory in '%s'", parent);
    s->fd = sys_openat(AT_FDCWD, s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    int r = s->fd < 0 ? err_sys(err, s->fd, "open '%s'", s->path) : lock(s, err);
    if (r < 0)
        return r;
    *ret = take_ptr(&s);
    return 0;
}

int image_scratch_new(struct image_scratch **ret, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    parent = parent && *parent ? parent : "/var/tmp";
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, parent, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", parent);
    tree_remove_stale(fd, MARK);
    int r = -EAGAIN;
    for (unsigned turn = 0; turn < TURNS_MAX && r < 0; turn++) {
        r = make(parent, ret, err);
        if (r != -EWOULDBLOCK && r != -ENOENT)
            break;
    }
    return r;
}

const char *image_scratch_path(const struct image_scratch *s)
{
    return s->path;
}
