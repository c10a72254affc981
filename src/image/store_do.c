/* SPDX-License-Identifier: Apache-2.0 */
#include "image/store_do.h"

#include "base/clock.h"
#include "image/store_ask.h"

#include <errno.h>

enum {
    TURN_MS = 100,     /* for the lock, before a process that takes jobs is looked for again */
    CONTROL_MS = 5000, /* for one that is about to take jobs, or to end */
    ENDS_MAX = 4,      /* processes that end with the job; after each the wait begins again */
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

/* As store_ask(); STORE_ASKED_DONE also here. why: of the process that has the lock. */
static int try_job(struct store_do *d, uint64_t lock_ms, struct arena *a, struct json **ret,
                   struct err *why, struct err *err)
{
    struct oci_store *s;
    struct oci_store_opts opts = d->opts;
    opts.lock_ms = lock_ms;
    int r = layer_cache_open_store(&opts, d->policy, &s, why);
    if (r >= 0)
        return (r = do_here(d, s, a, ret, err)) < 0 ? r : STORE_ASKED_DONE;
    if (r == -ENOENT && opts.must_exist)
        return no_store(opts.root, err);
    if (r != -EBUSY)
        return err_set(err, r, "%s", err_text(why));
    if (d->alone)
        return STORE_ASKED_NO_ONE;
    r = store_ask(opts.root, &d->job, taken_ms(d), d->on_event, d->arg, a, ret, err);
    d->job.is_again |= r == STORE_ASKED_LOST;
    return r;
}

static int late(const struct store_do *d, const struct err *why, struct err *err)
{
    return err_set(err, -EBUSY, "%s, and has not begun within %llu s%s", err_text(why),
                   (unsigned long long)taken_ms(d) / 1000,
                   d->opts.lock_ms < taken_ms(d) ? "; --wait 1m waits longer" : "");
}

/* How long to try: one that takes jobs may be about to open its store, or to close it. */
static uint64_t patience_ms(const struct store_do *d, bool had_control)
{
    return had_control && !d->alone ? MAX(d->opts.lock_ms, (uint64_t)CONTROL_MS) : d->opts.lock_ms;
}

int store_do(struct store_do *d, struct arena *a, struct json **ret, struct err *err)
{
    uint64_t since = clock_mono_ms();
    unsigned n_ends = 0;
    bool had_control = false;
    struct err why = { 0 };
    struct oci_store_holder holder;
    for (uint64_t lock_ms = 0;;) {
        int r = try_job(d, lock_ms, a, ret, &why, err);
        if (r < 0 || r == STORE_ASKED_DONE)
            return r < 0 ? r : 0;
        if (r == STORE_ASKED_LATE)
            return late(d, &why, err);
        if (r != STORE_ASKED_NO_ONE && n_ends++ < ENDS_MAX)
            since = clock_mono_ms(); /* before that it may have worked for long */
        oci_store_holder(d->opts.root, &holder);
        had_control |= holder.has_control;
        uint64_t passed = clock_mono_ms() - since, all = patience_ms(d, had_control);
        if (passed >= all)
            break;
        lock_ms = MIN(all - passed, (uint64_t)TURN_MS);
    }
    return d->alone && holder.has_control
               ? err_set(err, -EBUSY, "%s, and %s", err_text(&why), d->alone)
               : busy(&why, d->opts.lock_ms, err);
}
