/* SPDX-License-Identifier: Apache-2.0 */
/* Used bytes of volumes and other directories, counted on a thread. */
#include "agent/volume/volume_impl.h"
#include "base/sys.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

struct usage {
    struct job job;
    struct volume_host *host;
    struct arena arena;
    struct volume_usage *list;
    const char **paths;
    size_t n;
    volume_usage_cb cb;
    void *arg;
};

static void measure(const char *path, struct volume_usage *u)
{
    struct volume_tree_size size = { 0 };
    struct statvfs fs;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return;
    volume_tree_measure(fd, VOLUME_USAGE_ENTRIES_MAX, &size);
    u->used_bytes = size.bytes;
    u->inodes = size.inodes;
    u->is_cut = size.is_cut;
    if (fstatvfs(fd, &fs) < 0)
        return;
    u->capacity_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
    u->available_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    u->total_inodes = fs.f_files;
    u->free_inodes = fs.f_ffree;
}

static void on_work(struct job *j)
{
    struct usage *u = container_of(j, struct usage, job);
    for (size_t i = 0; i < u->n; i++)
        measure(u->paths[i], &u->list[i]);
}

static void on_done(struct job *j, int r)
{
    struct usage *u = container_of(j, struct usage, job);
    u->host->n_operations--;
    u->cb(u->arg, u->list, u->n);
    arena_fini(&u->arena);
    free(u);
}

static void add(struct usage *u, struct str name, const char *path, bool is_ephemeral)
{
    u->paths[u->n] = str_dup_arena(&u->arena, str_of(path));
    u->list[u->n++] = (struct volume_usage){ .name = str_copy_arena(&u->arena, name),
                                             .is_ephemeral = is_ephemeral };
}

/* What lies in memory counts as memory. */
static bool is_on_disk(const struct volume_pod *p, const struct volume_slot *s)
{
    if (p->host->without_mounts)
        return true;
    return s->v && (s->v->kind == POD_VOLUME_CONFIG_MAP ||
                    (s->v->kind == POD_VOLUME_EMPTY_DIR && !s->v->in_memory));
}

int volume_usage_start(struct volume_pod *p, const char *const *dirs, size_t n, volume_usage_cb cb,
                       void *arg, struct err *err)
{
    struct usage *u = xnew(struct usage);
    u->host = p->host;
    u->cb = cb;
    u->arg = arg;
    u->list = arena_new_n(&u->arena, struct volume_usage, p->n_slots + n);
    u->paths = arena_new_n(&u->arena, const char *, p->n_slots + n);
    for (size_t i = 0; i < p->n_slots; i++) {
        const struct volume_slot *s = &p->slots[i];
        if (s->is_made && s->is_ready)
            add(u, str_of(s->name), s->source, is_on_disk(p, s));
    }
    for (size_t i = 0; i < n; i++)
        add(u, str_of(dirs[i]), dirs[i], true);
    u->job = (struct job){ .work = on_work, .done = on_done };
    p->host->n_operations++;
    int r = job_start(p->host->loop, &u->job);
    assert(r == 0); /* libuv refuses only a job without a function */
    return 0;
}
