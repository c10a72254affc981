/* SPDX-License-Identifier: Apache-2.0 */
#include "image/store_do.h"

#include "base/clock.h"
#include "image/store_ask.h"

#include <errno.h>

enum {
    CONTROL_MS = 5000, /* for a process that is about to accept jobs, or to end */
};

static int no_store(const char *dir, struct err *err)
{
    return err_set(err, -ENOENT, "no images are in '%s' yet; 'dormouse image pull' brings one",
                   dir);
}

static int busy(const struct err *why, uint64_t lock_ms, struct err *err)
{
    return err_set(err, -EBUSY, "%s%s", err_text(why),
                   lock_ms ? "" : "; --wait 1m waits for its end");
}

int store_do_open(const struct oci_store_opts *opts, enum image_cache_policy policy,
                  struct oci_store **ret, struct err *err)
{
    struct err why = { 0 };
    int r = layer_cache_open_store(opts, policy, ret, &why);
    if (r == -ENOENT && (opts->is_reader || opts->must_exist))
        return no_store(opts->root, err);
    if (r == -EBUSY)
        return busy(&why, opts->lock_ms, err);
    return r < 0 ? err_set(err, r, "%s", err_text(&why)) : r;
}

static int do_here(const struct store_do *d, struct oci_store *s, struct arena *a,
                   struct json **ret, struct err *err)
{
    const struct store_job_watch watch = { .on_event = d->on_event, .arg = d->arg };
    int r = store_job_run(s, &d->job, &watch, a, ret, err);
    (void)oci_store_sweep(s, SIZE_MAX, NULL);
    oci_store_close(s);
    return r;
}

/* How long a process may take until it begins. */
static uint64_t taken_ms(const struct store_do *d)
{
    return MAX(d->opts.lock_ms, (uint64_t)STORE_ASK_TAKEN_MS);
}

struct store_do_attempt {
    struct store_do *d;
    struct arena *a;
    struct json **ret;
    struct err why; /* of the last opening of the store */
    struct oci_store_holder holder;
    bool had_control; /* a process that accepts jobs has had the lock */
};

/* As store_ask(); STORE_ASKED_DONE also if this process has run the job. */
static int attempt(void *arg, uint64_t lock_ms, struct err *err)
{
    struct store_do_attempt *t = arg;
    struct store_do *d = t->d;
    struct oci_store *s;
    struct oci_store_opts opts = d->opts;
    opts.lock_ms = lock_ms;
    int r = layer_cache_open_store(&opts, d->policy, &s, &t->why);
    if (r >= 0)
        return (r = do_here(d, s, t->a, t->ret, err)) < 0 ? r : STORE_ASKED_DONE;
    if (r == -ENOENT && opts.must_exist)
        return no_store(opts.root, err);
    if (r != -EBUSY)
        return err_set(err, r, "%s", err_text(&t->why));
    if (d->alone)
        return STORE_ASKED_NO_PROCESS;
    r = store_ask(opts.root, &d->job, taken_ms(d), d->on_event, d->arg, t->a, t->ret, err);
    d->job.is_again |= r == STORE_ASKED_LOST;
    return r;
}

static int late(const struct store_do *d, const struct err *why, struct err *err)
{
    return err_set(err, -EBUSY, "%s, and has not begun within %llu s%s", err_text(why),
                   (unsigned long long)taken_ms(d) / 1000,
                   d->opts.lock_ms < taken_ms(d) ? "; --wait 1m waits longer" : "");
}

/* A process that accepts jobs may be about to open its store, or to close it. */
static uint64_t limit_ms(void *arg)
{
    struct store_do_attempt *t = arg;
    const struct store_do *d = t->d;
    oci_store_holder(d->opts.root, &t->holder);
    t->had_control |= t->holder.has_control;
    return t->had_control && !d->alone ? MAX(d->opts.lock_ms, (uint64_t)CONTROL_MS)
                                       : d->opts.lock_ms;
}

int store_do(struct store_do *d, struct arena *a, struct json **ret, struct err *err)
{
    struct store_do_attempt t = { .d = d, .a = a, .ret = ret };
    const struct store_ask_attempts attempts = { attempt, limit_ms, &t };
    int r = store_ask_repeat(&attempts, err);
    if (r < 0 || r == STORE_ASKED_DONE)
        return r < 0 ? r : 0;
    if (r == STORE_ASKED_LATE)
        return late(d, &t.why, err);
    return d->alone && t.holder.has_control
               ? err_set(err, -EBUSY, "%s, and %s", err_text(&t.why), d->alone)
               : busy(&t.why, d->opts.lock_ms, err);
}
