/* SPDX-License-Identifier: Apache-2.0 */
#include "image/snapshot_usage.h"

#include "base/map.h"
#include "base/mem.h"

#include <errno.h>
#include <fts.h>
#include <sys/stat.h>

enum { BLOCK_BYTES = 512 };

static void keys_free(struct map *m)
{
    map_fini(m);
}

/* Whether the inode was counted before: only those with several names are remembered. */
static bool is_seen(struct map *seen, const struct stat *st)
{
    ino_t ino = st->st_ino;
    struct str key = str_n(&ino, sizeof ino);
    if (st->st_nlink < 2 || S_ISDIR(st->st_mode))
        return false;
    return map_put(seen, key, seen) != NULL;
}

int snapshot_usage(const char *path, uint64_t *ret_bytes, uint64_t *ret_inodes, struct err *err)
{
    scoped(free_scoped) char *copy = xstrdup(path);
    char *const roots[] = { copy, NULL };
    scoped(keys_free) struct map seen = { 0 };
    uint64_t n_bytes = 0, n_inodes = 0;
    int r = 0;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    if (!tree)
        return err_sys(err, -errno, "read '%s'", path);
    for (FTSENT *e; r >= 0 && (errno = 0, e = fts_read(tree));) {
        if (e->fts_level > SNAPSHOT_USAGE_DEPTH_MAX)
            r = err_set(err, E_LIMIT, "'%s' is more than %d directories deep", path,
                        SNAPSHOT_USAGE_DEPTH_MAX);
        else if (e->fts_level == 0 && (e->fts_info == FTS_NS || e->fts_info == FTS_ERR))
            r = err_sys(err, -e->fts_errno, "read '%s'", path);
        if (e->fts_info == FTS_DP || e->fts_info == FTS_NS || e->fts_info == FTS_ERR ||
            e->fts_info == FTS_DNR || is_seen(&seen, e->fts_statp))
            continue;
        n_bytes += (uint64_t)e->fts_statp->st_blocks * BLOCK_BYTES;
        n_inodes++;
    }
    if (r >= 0 && errno)
        r = err_sys(err, -errno, "read '%s'", path);
    (void)fts_close(tree);
    if (r < 0)
        return r;
    *ret_bytes = n_bytes;
    *ret_inodes = n_inodes;
    return 0;
}
