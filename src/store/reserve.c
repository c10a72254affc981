/* SPDX-License-Identifier: Apache-2.0 */
/* Disk space in reserve; see reserve.h. */
#include "store/reserve.h"

#include "base/mem.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

void reserve_init(struct reserve *r, const char *store_path)
{
    *r = (struct reserve){ .path = xasprintf("%s.reserve", store_path) };
}

void reserve_fini(struct reserve *r)
{
    free(r->path);
    *r = (struct reserve){ 0 };
}

static uint64_t size_for(int fd)
{
    struct statvfs fs;
    if (fstatvfs(fd, &fs) < 0)
        return RESERVE_BYTES;
    uint64_t share = (uint64_t)fs.f_blocks * fs.f_frsize / RESERVE_SHARE;
    return MIN(MAX(share, (uint64_t)RESERVE_MIN_BYTES), (uint64_t)RESERVE_BYTES);
}

static bool is_full(int status)
{
    return status == -ENOSPC || status == -EDQUOT;
}

static int open_file(const struct reserve *r)
{
    return sys_openat(AT_FDCWD, r->path, O_WRONLY | O_CREAT, 0600);
}

int reserve_take(struct reserve *r)
{
    if (r->is_held)
        return 0;
    scoped(fd_scoped) int fd = open_file(r);
    if (fd < 0)
        return fd;
    r->bytes = size_for(fd);
    assert(r->bytes >= RESERVE_MIN_BYTES && r->bytes <= RESERVE_BYTES);
    int status = sys_fallocate(fd, 0, 0, r->bytes);
    if (status < 0)
        (void)unlink(r->path);
    r->is_held = status >= 0;
    return status < 0 ? status : 0;
}

void reserve_keep_some(struct reserve *r)
{
    if (r->is_held)
        return;
    scoped(fd_scoped) int fd = open_file(r);
    int status = -ENOSPC;
    for (uint64_t n = fd < 0 ? 0 : size_for(fd); is_full(status) && n >= RESERVE_START_BYTES;
         n /= 2)
        status = sys_fallocate(fd, 0, 0, n);
    if (status < 0)
        (void)unlink(r->path);
}

bool reserve_release(struct reserve *r)
{
    assert(r->path);
    r->is_held = false;
    return unlink(r->path) == 0;
}
