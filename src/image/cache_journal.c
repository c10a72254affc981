/* SPDX-License-Identifier: Apache-2.0 */
/* What a layer cache remembers across restarts; see cache_journal.h. */
#include "image/cache_journal.h"

#include "base/buf.h"
#include "base/sum.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { RECORD_BYTES = 72, SUMMED_BYTES = 64 };
static const char magic[8] = "dmcache1";

struct image_cache_journal {
    int dir_fd, fd; /* fd: -1 until it is written first */
    char *name;
    uint64_t bytes, n_records; /* of the file */
    uint64_t rewrite_at;
    struct buf pending;
    uint64_t n_pending;
    bool must_rewrite;
};

/* ---- records ---- */

static void add_record(struct buf *to, const struct image_cache_event *e, int64_t wall_ms,
                       uint64_t number)
{
    uint64_t target;
    size_t from = to->n;
    memcpy(&target, &e->target, sizeof target);
    (void)buf_add_le64(to, (uint64_t)wall_ms);
    (void)buf_add_u8(to, (uint8_t)e->op);
    (void)buf_add_u8(to, (uint8_t)e->list);
    (void)buf_add_le16(to, 0);
    (void)buf_add_le32(to, e->uses);
    (void)buf_add_le64(to, e->size);
    (void)buf_add_le64(to, target);
    (void)buf_add(to, e->key, SHA256_BYTES);
    if (buf_ok(to))
        (void)buf_add_le64(to, sum64(str_n(to->p + from, SUMMED_BYTES), number));
}

static bool read_record(struct str bytes, uint64_t number, struct image_cache_event *ret)
{
    struct rd r = rd_init(bytes.p, bytes.n);
    (void)rd_le64(&r);
    ret->op = (enum image_cache_op)rd_u8(&r);
    ret->list = (enum image_cache_list)rd_u8(&r);
    (void)rd_le16(&r);
    ret->uses = rd_le32(&r);
    ret->size = rd_le64(&r);
    uint64_t target = rd_le64(&r);
    memcpy(&ret->target, &target, sizeof target);
    struct str key = rd_str(&r, SHA256_BYTES);
    uint64_t sum = rd_le64(&r);
    if (!rd_ok(&r) || sum != sum64(str_n(bytes.p, SUMMED_BYTES), number))
        return false;
    memcpy(ret->key, key.p, SHA256_BYTES);
    return true;
}

/* ---- reading ---- */

static enum image_cache_journal_state repeat_all(struct image_cache_journal *j, struct str text,
                                                 struct image_cache *c)
{
    if (text.n < sizeof magic || memcmp(text.p, magic, sizeof magic) != 0)
        return IMAGE_CACHE_JOURNAL_DAMAGED;
    j->bytes = sizeof magic;
    for (;;) {
        struct image_cache_event e;
        struct str rest = str_slice(text, j->bytes, text.n);
        if (rest.n == 0)
            return IMAGE_CACHE_JOURNAL_WHOLE;
        if (rest.n < RECORD_BYTES)
            return IMAGE_CACHE_JOURNAL_CUT;
        if (!read_record(str_slice(rest, 0, RECORD_BYTES), j->n_records, &e))
            return rest.n == RECORD_BYTES ? IMAGE_CACHE_JOURNAL_CUT : IMAGE_CACHE_JOURNAL_DAMAGED;
        image_cache_repeat(c, &e);
        j->bytes += RECORD_BYTES;
        j->n_records++;
    }
}

int image_cache_journal_open(int dir_fd, const char *name, struct image_cache *c,
                             struct image_cache_journal **ret,
                             enum image_cache_journal_state *state, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_CACHE_JOURNAL_MAX_BYTES);
    struct err why;
    int r = sys_read_file(dir_fd, name, &text, &why);
    if (r < 0 && r != -ENOENT && r != -EMSGSIZE)
        return err_set(err, r, "%s", err_text(&why));
    struct image_cache_journal *j = xnew(struct image_cache_journal);
    j->dir_fd = dir_fd;
    j->fd = -1;
    j->name = xstrdup(name);
    buf_init(&j->pending, IMAGE_CACHE_JOURNAL_PENDING_BYTES);
    if (r < 0)
        *state = r == -ENOENT ? IMAGE_CACHE_JOURNAL_ABSENT : IMAGE_CACHE_JOURNAL_DAMAGED;
    else
        *state = repeat_all(j, buf_str(&text), c);
    if (*state >= IMAGE_CACHE_JOURNAL_ABSENT)
        image_cache_reset(c);
    j->must_rewrite = true; /* once at a start: it is short then, and its end is sound */
    *ret = j;
    return 0;
}

void image_cache_journal_free(struct image_cache_journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        (void)close(j->fd);
    buf_fini(&j->pending);
    free(j->name);
    free(j);
}

/* ---- writing ---- */

void image_cache_journal_note(struct image_cache_journal *j, const struct image_cache_event *e,
                              int64_t wall_ms)
{
    if (j->must_rewrite)
        return;
    add_record(&j->pending, e, wall_ms, j->n_records + j->n_pending++);
    if (!buf_ok(&j->pending))
        j->must_rewrite = true;
}

struct image_journal_writer {
    struct buf *to;
    int64_t wall_ms;
    uint64_t n;
};

static void write_one(void *arg, const struct image_cache_event *e)
{
    struct image_journal_writer *w = arg;
    add_record(w->to, e, w->wall_ms, w->n++);
}

static void forget_pending(struct image_cache_journal *j)
{
    buf_reset(&j->pending);
    j->n_pending = 0;
}

static int rewrite(struct image_cache_journal *j, const struct image_cache *c, int64_t wall_ms,
                   struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(IMAGE_CACHE_JOURNAL_MAX_BYTES);
    struct image_journal_writer w = { &text, wall_ms, 0 };
    forget_pending(j);
    j->must_rewrite = true;
    (void)buf_add(&text, magic, sizeof magic);
    image_cache_snapshot(c, write_one, &w);
    if (!buf_ok(&text))
        return err_set(err, E_LIMIT, "%s: more layers than a journal may name", j->name);
    int r = sys_write_file_atomic(j->dir_fd, j->name, buf_str(&text), 0600, err);
    if (r < 0)
        return r;
    int fd = sys_openat(j->dir_fd, j->name, O_WRONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return err_sys(err, fd, "%s", j->name);
    if (j->fd >= 0)
        (void)close(j->fd);
    j->fd = fd;
    j->bytes = text.n;
    j->n_records = w.n;
    j->rewrite_at = MAX((uint64_t)IMAGE_CACHE_JOURNAL_BYTES, 2 * (uint64_t)text.n);
    j->must_rewrite = false;
    return 0;
}

int image_cache_journal_flush(struct image_cache_journal *j, const struct image_cache *c,
                              int64_t wall_ms, struct err *err)
{
    if (j->must_rewrite || j->bytes + j->pending.n > j->rewrite_at)
        return rewrite(j, c, wall_ms, err);
    if (j->pending.n == 0)
        return 0;
    int r = sys_pwrite_all(j->fd, j->pending.p, j->pending.n, j->bytes);
    if (r < 0) {
        j->must_rewrite = true;
        forget_pending(j);
        return err_sys(err, r, "%s", j->name);
    }
    j->bytes += j->pending.n;
    j->n_records += j->n_pending;
    forget_pending(j);
    return 0;
}
