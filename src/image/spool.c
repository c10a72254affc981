/* SPDX-License-Identifier: Apache-2.0 */
#include "image/spool.h"

#include "base/map.h"
#include "base/sys.h"
#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

enum { READ_BYTES = 256 << 10 };

struct spool_place {
    int fd;
    uint64_t at;
};

struct image_spool_lane {
    struct image_spool *spool;
    bool is_taken;
    int fd;
    uint64_t at;     /* where the open file begins */
    uint64_t n;      /* bytes of it so far */
    uint64_t filled; /* nothing was ever written from here on: it reads as zeros */
};

struct image_spool {
    char *directory;
    pthread_mutex_t lock; /* of all below */
    VEC(struct image_spool_lane *) lanes;
    struct map places; /* digest -> struct spool_place */
    struct arena memory;
};

int image_spool_new(const char *directory, struct image_spool **ret, struct err *err)
{
    struct image_spool *s = xnew(struct image_spool);
    struct image_spool_lane *lane;
    s->directory = xstrdup(directory);
    (void)pthread_mutex_init(&s->lock, NULL);
    int r = image_spool_acquire(s, &lane, err); /* to fail early */
    if (r < 0) {
        image_spool_free(s);
        return r;
    }
    image_spool_release(lane);
    *ret = s;
    return 0;
}

void image_spool_free(struct image_spool *s)
{
    if (!s)
        return;
    vec_each (lane, &s->lanes) {
        fd_scoped(&(*lane)->fd);
        free(*lane);
    }
    vec_fini(&s->lanes);
    map_fini(&s->places);
    arena_fini(&s->memory);
    (void)pthread_mutex_destroy(&s->lock);
    free(s->directory);
    free(s);
}

static struct image_spool_lane *idle_lane(struct image_spool *s)
{
    struct image_spool_lane *found = NULL;
    (void)pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->lanes.n && !found; i++)
        if (!s->lanes.p[i]->is_taken)
            found = s->lanes.p[i];
    if (found)
        found->is_taken = true;
    (void)pthread_mutex_unlock(&s->lock);
    return found;
}

int image_spool_acquire(struct image_spool *s, struct image_spool_lane **ret, struct err *err)
{
    struct image_spool_lane *lane = idle_lane(s);
    if (!lane) {
        int fd = sys_openat(AT_FDCWD, s->directory, O_TMPFILE | O_RDWR, 0600);
        if (fd < 0)
            return err_sys(err, fd, "temporary file in '%s'", s->directory);
        lane = xnew(struct image_spool_lane);
        *lane = (struct image_spool_lane){ .spool = s, .fd = fd, .is_taken = true };
        (void)pthread_mutex_lock(&s->lock);
        vec_push(&s->lanes, lane);
        (void)pthread_mutex_unlock(&s->lock);
    }
    *ret = lane;
    return 0;
}

void image_spool_release(struct image_spool_lane *lane)
{
    (void)pthread_mutex_lock(&lane->spool->lock);
    lane->n = 0;
    lane->is_taken = false;
    (void)pthread_mutex_unlock(&lane->spool->lock);
}

static bool is_zero(struct str s)
{
    return s.p[0] == 0 && memcmp(s.p, s.p + 1, s.n - 1) == 0;
}

/* The content is complete: keep it, or write the next one over it if it is here already. */
static int finish(struct image_spool_lane *lane, const struct oci_entry *e, struct err *err)
{
    struct image_spool *s = lane->spool;
    struct str digest = str_n(e->digest, sizeof e->digest);
    int r = 0;
    (void)pthread_mutex_lock(&s->lock);
    if (!map_has(&s->places, digest)) {
        struct spool_place *p = arena_new(&s->memory, struct spool_place);
        *p = (struct spool_place){ lane->fd, lane->at };
        (void)map_put(&s->places, digest, p);
        lane->at += lane->n;
        if (lane->filled < lane->at) { /* it ends in a hole */
            r = sys_ftruncate(lane->fd, lane->at);
            lane->filled = lane->at;
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
    lane->n = 0;
    return r < 0 ? err_sys(err, r, "temporary file in '%s'", s->directory) : 0;
}

int image_spool_content(void *arg, const struct oci_entry *e, struct str bytes, struct err *err)
{
    struct image_spool_lane *lane = arg;
    uint64_t at = lane->at + lane->n;
    if (bytes.n == 0)
        return finish(lane, e, err);
    lane->n += bytes.n;
    if (at >= lane->filled && is_zero(bytes))
        return 0;
    int r = sys_pwrite_all(lane->fd, bytes.p, bytes.n, at);
    lane->filled = MAX(lane->filled, at + bytes.n);
    return r < 0 ? err_sys(err, r, "temporary file in '%s'", lane->spool->directory) : 0;
}

int image_spool_read(const struct image_spool *s, const struct oci_entry *e, image_spool_sink sink,
                     void *arg, struct err *err)
{
    const struct spool_place *p = map_get(&s->places, str_n(e->digest, sizeof e->digest));
    scoped(free_scoped) char *piece = mem_try((size_t)MIN(e->size, (uint64_t)READ_BYTES));
    if (!p)
        return err_set(err, -ENOENT, "the content of '" STR_FMT "' was not kept", STR_ARG(e->path));
    if (!piece)
        return err_set(err, -ENOMEM, "read");
    for (uint64_t at = 0; at < e->size;) {
        size_t want = (size_t)MIN((uint64_t)READ_BYTES, e->size - at);
        ssize_t n = sys_pread_full(p->fd, piece, want, p->at + at);
        if (n < 0 || (size_t)n < want)
            return err_sys(err, n < 0 ? (int)n : -EIO, "temporary file in '%s'", s->directory);
        int r = sink(arg, str_n(piece, want), err);
        if (r < 0)
            return r;
        at += want;
    }
    return 0;
}
