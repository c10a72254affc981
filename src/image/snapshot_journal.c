/* SPDX-License-Identifier: Apache-2.0 */
/* Events of snapshots in a file; see snapshot_journal.h. */
#include "image/snapshot_journal.h"

#include "base/sum.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD_BYTES = 12,
    STEP_BYTES = 256 << 10, /* of the file's room */
};
static const char magic[8] = "dmsnaps1";

struct snapshot_journal {
    int dir_fd, fd;
    char *name;
    uint64_t bytes, n_records, rewrite_at;
    uint64_t n_reserved; /* bytes of the file for which the disk has room, as far as is known */
    bool must_rewrite;   /* the data after `bytes` is unknown */
};

/* ---- reading ---- */

static int repeat(struct snapshot_state *s, struct str bytes, uint64_t number, struct err *err)
{
    struct arena a = { 0 };
    struct snapshot_event e;
    int r = snapshot_event_decode(&a, bytes, &e, err);
    r = r < 0 ? r : snapshot_state_check(s, &e, err);
    if (r >= 0)
        snapshot_state_apply(s, &e);
    arena_fini(&a);
    return r < 0 ? err_ctx(err, E_CORRUPT, "record %llu", (unsigned long long)number) : 0;
}

static bool is_zeros(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i])
            return false;
    return true;
}

/* Whether a record whose length exceeds the rest of the file is complete, or is followed by another
 * one. Each record was synced before the next one was written, so a crash did not cut it: its
 * length is damaged. */
static bool is_damaged(struct str rest, uint64_t number)
{
    struct rd first = rd_init(rest.p, rest.n);
    (void)rd_le32(&first);
    uint64_t sum = rd_le64(&first);
    if (sum == sum64(rd_str(&first, rd_left(&first)), number))
        return true;
    for (size_t at = 1; at + HEAD_BYTES < rest.n; at++) {
        struct rd r = rd_init(rest.p + at, rest.n - at);
        uint32_t n = rd_le32(&r);
        sum = rd_le64(&r);
        if (n && n <= rd_left(&r) && sum == sum64(rd_str(&r, n), number + 1))
            return true;
    }
    return false;
}

/* A record that a crash cut off is shorter than its length, at the end of the file, or zeros.
 * Anything else is damage. */
static int repeat_all(struct snapshot_state *s, struct str text, struct snapshot_journal *j,
                      struct err *err)
{
    if (text.n < sizeof magic || memcmp(text.p, magic, 6) != 0)
        return err_set(err, E_CORRUPT, "no journal of snapshots");
    if (memcmp(text.p, magic, sizeof magic) != 0)
        return err_set(err, E_VERSION, "a newer program wrote it");
    struct str rest = str_slice(text, sizeof magic, text.n);
    for (uint64_t number = 0;; number++) {
        j->bytes = text.n - rest.n;
        j->n_records = number;
        if (rest.n < HEAD_BYTES)
            return 0;
        struct rd r = rd_init(rest.p, rest.n);
        uint32_t n = rd_le32(&r);
        uint64_t sum = rd_le64(&r);
        bool is_cut = n <= SNAPSHOT_EVENT_MAX && n > rest.n - HEAD_BYTES;
        if (is_zeros(rest) || (is_cut && !is_damaged(rest, number)))
            return 0;
        struct str bytes = rd_str(&r, n);
        if (!rd_ok(&r) || sum != sum64(bytes, number) || n > SNAPSHOT_EVENT_MAX) {
            if (rd_ok(&r) && rd_left(&r) == 0)
                return 0;
            return err_set(err, E_CORRUPT, "record %llu is damaged", (unsigned long long)number);
        }
        int done = repeat(s, bytes, number, err);
        if (done < 0)
            return done;
        rest = str_slice(rest, HEAD_BYTES + n, rest.n);
    }
}

/* ---- writing ---- */

static void add_record(struct buf *to, const struct snapshot_event *e, uint64_t number)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(SNAPSHOT_EVENT_MAX);
    snapshot_event_encode(e, &body);
    if (!buf_ok(&body))
        abort(); /* the size was checked */
    (void)buf_add_le32(to, (uint32_t)body.n);
    (void)buf_add_le64(to, sum64(buf_str(&body), number));
    (void)buf_add_str(to, buf_str(&body));
}

struct journal_writer {
    struct buf *to;
    uint64_t n;
};

static int write_one(void *arg, const struct snapshot_event *e)
{
    struct journal_writer *w = arg;
    add_record(w->to, e, w->n++);
    return 0;
}

static bool is_full(int r)
{
    return r == -ENOSPC || r == -EDQUOT;
}

/* Reserve space for n bytes, and after them for removals: these must succeed on a full disk.
 * Without support in the file system it continues without a reserve. */
static int reserve(struct snapshot_journal *j, size_t n)
{
    uint64_t end = j->bytes + n + SNAPSHOT_EVENT_MAX;
    if (end <= j->n_reserved)
        return 0;
    int r = sys_fallocate(j->fd, FALLOC_FL_KEEP_SIZE, 0, end + STEP_BYTES);
    if (r >= 0)
        end += STEP_BYTES;
    else if (is_full(r))
        r = sys_fallocate(j->fd, FALLOC_FL_KEEP_SIZE, 0, end);
    if (r >= 0)
        j->n_reserved = end;
    return is_full(r) ? r : 0;
}

static int rewrite(struct snapshot_journal *j, const struct snapshot_state *s, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SNAPSHOT_JOURNAL_MAX_BYTES);
    struct journal_writer w = { &text, 0 };
    (void)buf_add(&text, magic, sizeof magic);
    (void)snapshot_state_each(s, write_one, &w);
    if (!buf_ok(&text))
        return err_set(err, E_LIMIT, "%s: too many snapshots", j->name);
    int r = sys_write_file_atomic(j->dir_fd, j->name, buf_str(&text), 0600, err);
    if (r < 0)
        return r;
    int fd = sys_openat(j->dir_fd, j->name, O_WRONLY | O_NOFOLLOW, 0);
    if (fd < 0)
        return err_sys(err, fd, "open '%s'", j->name);
    if (j->fd >= 0)
        (void)close(j->fd);
    j->fd = fd;
    j->bytes = text.n;
    j->n_records = w.n;
    j->rewrite_at = MAX(SNAPSHOT_JOURNAL_BYTES, 2 * (uint64_t)text.n);
    j->must_rewrite = false;
    j->n_reserved = 0;
    (void)reserve(j, 0);
    return 0;
}

/* Whether the file is the one of that name still: a rewrite that failed has not replaced it. */
static bool is_named(const struct snapshot_journal *j)
{
    struct stat st;
    return j->fd >= 0 && fstat(j->fd, &st) == 0 && st.st_nlink == 1;
}

/* The file as it was read, without the record that a crash truncated. Truncating gives up the
 * reserved space: only if necessary. */
static int reuse(struct snapshot_journal *j, uint64_t size, struct err *err)
{
    int r = 0;
    if (size > j->bytes) {
        r = sys_ftruncate(j->fd, j->bytes);
        r = r < 0 ? r : sys_fsync(j->fd);
    }
    j->rewrite_at = MAX(SNAPSHOT_JOURNAL_BYTES, 2 * j->bytes);
    (void)reserve(j, 0);
    return r < 0 ? err_sys(err, r, "cut '%s'", j->name) : 0;
}

int snapshot_journal_open(int dir_fd, const char *name, struct snapshot_state *s,
                          struct snapshot_journal **ret, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(SNAPSHOT_JOURNAL_MAX_BYTES);
    int r = sys_read_file(dir_fd, name, &text, err);
    if (r < 0 && r != -ENOENT)
        return r;
    scoped(snapshot_journal_free_scoped) struct snapshot_journal *j = xnew(struct snapshot_journal);
    *j = (struct snapshot_journal){ .dir_fd = dir_fd, .fd = -1, .name = xstrdup(name) };
    if (r >= 0) {
        r = repeat_all(s, buf_str(&text), j, err);
        if (r < 0)
            return err_ctx(err, r, "'%s'", name);
        j->fd = sys_openat(dir_fd, name, O_WRONLY | O_NOFOLLOW, 0);
    }
    r = rewrite(j, s, err);
    if (is_full(r) && is_named(j))
        r = reuse(j, text.n, err);
    if (r >= 0)
        *ret = take_ptr(&j);
    return r;
}

void snapshot_journal_free(struct snapshot_journal *j)
{
    if (!j)
        return;
    if (j->fd >= 0)
        (void)close(j->fd);
    free(j->name);
    free(j);
}

/* A write that failed may have left bytes, never all of them: they are cut. After a sync that
 * failed nothing is known: the next append rewrites the file first. */
static int append(struct snapshot_journal *j, struct str bytes, struct err *err)
{
    int written = sys_pwrite_all(j->fd, bytes.p, bytes.n, j->bytes);
    int r = written < 0 ? written : sys_fsync(j->fd);
    if (r >= 0) {
        j->bytes += bytes.n;
        j->n_records++;
        return 0;
    }
    j->must_rewrite = sys_ftruncate(j->fd, j->bytes) < 0 || written >= 0;
    j->n_reserved = 0;
    return err_sys(err, r, "write '%s'", j->name);
}

/* Most of it is past. Where the disk has no room for both files it grows on. */
static int shorten(struct snapshot_journal *j, const struct snapshot_state *s, struct err *err)
{
    int r = rewrite(j, s, err);
    bool may_grow =
        is_full(r) && !j->must_rewrite && is_named(j) && j->bytes < SNAPSHOT_JOURNAL_MAX_BYTES / 2;
    return may_grow ? 0 : r;
}

int snapshot_journal_do(struct snapshot_journal *j, struct snapshot_state *s,
                        const struct snapshot_event *e, struct err *err)
{
    scoped(buf_fini_scoped) struct buf record = BUF_INIT(SNAPSHOT_EVENT_MAX + HEAD_BYTES);
    bool frees = e->op == SNAPSHOT_REMOVE || e->op == SNAPSHOT_UNLAYER;
    int r = snapshot_state_check(s, e, err);
    if (r >= 0 && (j->must_rewrite || j->bytes > j->rewrite_at))
        r = shorten(j, s, err);
    if (r < 0)
        return r;
    add_record(&record, e, j->n_records);
    if (!frees && (r = reserve(j, record.n)) < 0)
        return err_sys(err, r, "write '%s'", j->name);
    r = append(j, buf_str(&record), err);
    if (r >= 0)
        snapshot_state_apply(s, e);
    return r;
}
