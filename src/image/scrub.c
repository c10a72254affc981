/* SPDX-License-Identifier: Apache-2.0 */
#include "image/scrub.h"

#include "base/log.h"
#include "base/sys.h"
#include "image/layer_cache.h"
#include "io/thread_job.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    DAY_MS = 24 * 3600 * 1000,
    NICE = 19,
    /* linux/ioprio.h: this thread, when no other thread uses the disk. */
    IOPRIO_THREAD = 1,
    IOPRIO_IDLE = 3 << 13,
    CURSOR_MAX = 256,
};

struct scrub {
    struct scrub_opts opts;
    struct timer timer;
    struct scrub_stats stats;
    struct oci_digest cursor; /* the layer that was looked at last */
    atomic_bool stop;         /* read by the thread */
    bool is_running, is_closing;
    struct defer closed;
    void (*done)(void *arg);
    void *done_arg;
    struct thread_job look;
    /* Of the thread, until it has ended. */
    int r; /* 1: a layer was looked at; 0: there is none */
    struct err err;
    struct oci_store_check_result found;
};

uint64_t scrub_gap_ms(uint64_t n_bytes, uint64_t bytes_per_day)
{
    double ms = (double)n_bytes * DAY_MS / (double)bytes_per_day;
    return ms >= DAY_MS ? DAY_MS : MAX((uint64_t)ms, (uint64_t)SCRUB_GAP_MS);
}

/* ---- the thread ---- */

static void be_modest(void)
{
    (void)setpriority(PRIO_PROCESS, 0, NICE); /* of the thread, and of the reader that it starts */
    (void)syscall(SYS_ioprio_set, IOPRIO_THREAD, 0, IOPRIO_IDLE);
}

static void on_damage(void *arg, enum oci_store_damage_kind kind, const char *what, const char *why)
{
    char which[LOG_QUOTE_MAX], reason[LOG_QUOTE_MAX];
    (void)arg;
    log_warn("the image store is damaged", "kind=%s what=\"%s\" reason=\"%s\"",
             oci_store_damage_name(kind), log_quote(which, str_of(what)),
             log_quote(reason, str_of(why)));
}

/* Known once the look has ended: what is held stays, and removing may fail. */
static void log_summary(const struct scrub *s)
{
    char text[OCI_DIGEST_TEXT_SIZE];
    const struct oci_store_check_result *f = &s->found;
    if (f->n_damaged == 0)
        return;
    oci_digest_format(&s->cursor, text);
    log_warn("a layer of the image store was damaged",
             "layer=%s damaged=%zu removed=%zu made_again=%zu", text, f->n_damaged, f->n_removed,
             f->n_repaired);
}

/* The first after the cursor, else the first of all. false: there is none. */
static bool next_layer(struct scrub *s, struct oci_digest *ret, struct err *err)
{
    scoped(free_scoped) struct oci_store_layer *all = NULL;
    const struct oci_digest *first = NULL, *next = NULL;
    size_t n = 0;
    if (oci_store_layers_alone(s->opts.store, &all, &n, err) < 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct oci_digest *d = &all[i].diff_id;
        if (!first || memcmp(d, first, sizeof *d) < 0)
            first = d;
        if (memcmp(d, &s->cursor, sizeof *d) > 0 && (!next || memcmp(d, next, sizeof *d) < 0))
            next = d;
    }
    next = next ? next : first;
    if (next)
        *ret = *next;
    return next != NULL;
}

static void on_unread(void *arg, enum oci_store_damage_kind kind, const char *what, const char *why)
{
    char which[LOG_QUOTE_MAX], reason[LOG_QUOTE_MAX];
    (void)arg;
    log_warn("a part of the image store cannot be read, and stays",
             "kind=%s what=\"%s\" reason=\"%s\"", oci_store_damage_name(kind),
             log_quote(which, str_of(what)), log_quote(reason, str_of(why)));
}

/*
 * Before the layer is read: one that ends the process is not the first of the next one. It is not
 * synced, since after a stop of the machine any beginning will do, and small layers follow each
 * other many times in a second.
 */
static void keep_cursor(const struct scrub *s)
{
    char text[OCI_DIGEST_TEXT_SIZE + 1] = { 0 };
    scoped(free_scoped) char *path = xasprintf("%s/scrub", oci_store_root(s->opts.store));
    oci_digest_format(&s->cursor, text);
    text[OCI_DIGEST_TEXT_SIZE - 1] = '\n';
    if (!s->opts.may_remove)
        return;
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
    if (fd >= 0)
        (void)sys_pwrite_all(fd, text, OCI_DIGEST_TEXT_SIZE, 0); /* always as long */
}

static void read_cursor(struct scrub *s)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(CURSOR_MAX);
    scoped(free_scoped) char *path = xasprintf("%s/scrub", oci_store_root(s->opts.store));
    if (sys_read_file(AT_FDCWD, path, &b, NULL) < 0 ||
        oci_digest_parse(str_trim(buf_str(&b)), &s->cursor, NULL) < 0)
        memset(&s->cursor, 0, sizeof s->cursor);
}

static int look_at_next(struct scrub *s, struct err *err)
{
    const uint64_t needed = s->opts.bytes_per_day / (DAY_MS / 1000) * 2;
    const struct oci_store_check_opts how = {
        .remove = s->opts.may_remove,
        .bytes_per_s = MAX(needed, (uint64_t)SCRUB_BYTES_PER_S),
        .stop = &s->stop,
        .on_damage = on_damage,
        .on_unread = on_unread,
        .arg = s,
        .reading = s->opts.reading,
    };
    struct oci_digest d;
    if (!next_layer(s, &d, err))
        return err && err->code ? err->code : 0;
    s->cursor = d;
    keep_cursor(s);
    int r = oci_store_check_layer(s->opts.store, &how, &d, &s->found, err);
    log_summary(s);
    if (s->found.n_removed) {
        struct err why = { 0 };
        (void)layer_cache_settle(s->opts.store, &why);
        (void)oci_store_sweep(s->opts.store, SIZE_MAX, &why);
    }
    return r < 0 ? r : 1;
}

static void look(struct thread_job *j)
{
    struct scrub *s = container_of(j, struct scrub, look);
    be_modest();
    s->r = look_at_next(s, &s->err);
}

/* ---- on the loop ---- */

static void on_due(struct timer *t)
{
    struct scrub *s = container_of(t, struct scrub, timer);
    s->err = (struct err){ 0 };
    s->found = (struct oci_store_check_result){ 0 };
    s->is_running = thread_job_start(s->opts.loop, &s->look, &s->err) >= 0;
    if (!s->is_running)
        timer_start(s->opts.loop, &s->timer, SCRUB_NOTHING_MS, on_due);
}

static void finish(struct scrub *s)
{
    void (*done)(void *) = s->done;
    void *arg = s->done_arg;
    free(s);
    done(arg);
}

static void count(struct scrub *s)
{
    s->stats.n_layers += s->r == 1;
    s->stats.n_bytes += s->found.n_bytes;
    s->stats.n_damaged += s->found.n_damaged;
    s->stats.n_removed += s->found.n_removed;
    s->stats.n_failed += s->r < 0 && s->r != -ECANCELED;
}

static void on_looked(struct thread_job *j)
{
    struct scrub *s = container_of(j, struct scrub, look);
    char text[LOG_QUOTE_MAX];
    s->is_running = false;
    count(s);
    if (s->is_closing) {
        finish(s);
        return;
    }
    if (s->r < 0)
        log_warn("a layer of the image store could not be checked, going on", "reason=\"%s\"",
                 log_quote(text, str_of(err_text(&s->err))));
    uint64_t gap = s->r == 0
                       ? SCRUB_NOTHING_MS
                       : scrub_gap_ms(MAX(s->found.n_bytes, (uint64_t)1), s->opts.bytes_per_day);
    timer_start(s->opts.loop, &s->timer, gap, on_due);
    if (s->found.n_removed && s->opts.on_removed)
        s->opts.on_removed(s->opts.arg);
}

struct scrub *scrub_start(const struct scrub_opts *opts)
{
    struct scrub *s = xnew(struct scrub);
    s->opts = *opts;
    s->look = (struct thread_job){ .work = look, .done = on_looked };
    read_cursor(s);
    uint64_t first = scrub_gap_ms(SCRUB_FIRST_BYTES, opts->bytes_per_day);
    timer_start(opts->loop, &s->timer, MIN(first, (uint64_t)SCRUB_FIRST_MS), on_due);
    return s;
}

const struct scrub_stats *scrub_stats(const struct scrub *s)
{
    return &s->stats;
}

static void on_closed(struct defer *d)
{
    finish(container_of(d, struct scrub, closed));
}

void scrub_close(struct scrub *s, void (*done)(void *arg), void *arg)
{
    s->is_closing = true;
    s->done = done;
    s->done_arg = arg;
    timer_stop(s->opts.loop, &s->timer);
    atomic_store(&s->stop, true);
    if (!s->is_running)
        defer_start(s->opts.loop, &s->closed, on_closed);
}
