/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that fails when a test requests it, in front of the real one: its reads or writes below a
 * prefix answer with an error, its reads of a range do not start, or its watches end as if their
 * history were gone. One at a time.
 */
#pragma once

#include "test.h"

#include "base/mem.h"
#include "base/vec.h"
#include "store/store_backend.h"

enum store_faults {
    FAULT_READS = 1,
    FAULT_WRITES = 2,
    FAULT_RANGE_STARTS = 4 /* store_range() itself fails, without a callback */
};

struct faulty_watch {
    struct store_watch *w;
    const struct store_watch_ops *ops;
    void *arg;
    struct str prefix;
};

static struct {
    struct loop *loop;
    const struct store_backend *real;
    struct store_backend backend;
    unsigned kinds;  /* what fails now */
    size_t n_spared; /* so many calls do not */
    unsigned n_late; /* turns after which they fail */
    bool holds;      /* while set, calls that are to fail do not answer */
    const char *prefix;
    size_t n_struck;
    VEC(struct faulty_watch) watches;
} faulty;

/* An answer that the real store does not give. */
struct failing {
    struct defer turn;
    unsigned n_late;
    store_get_cb get;
    store_range_cb range;
    store_txn_cb txn;
    void *arg;
};

static inline void on_failing(struct defer *d)
{
    struct failing *x = container_of(d, struct failing, turn);
    struct err err = { 0 };
    if (faulty.holds || x->n_late > 0) {
        x->n_late -= x->n_late > 0;
        defer_start(faulty.loop, &x->turn, on_failing);
        return;
    }
    int r = err_set(&err, -ENOSPC, "the test's store fails");
    if (x->get)
        x->get(x->arg, r, NULL, 0, &err);
    else if (x->range)
        x->range(x->arg, r, NULL, &err);
    else
        x->txn(x->arg, &(struct store_txn_result){ .r = r }, &err);
    free(x);
}

static inline int fail_later(struct failing how)
{
    struct failing *x = xnew(struct failing);
    *x = how;
    x->n_late = faulty.n_late;
    faulty.n_struck++;
    defer_start(faulty.loop, &x->turn, on_failing);
    return 0;
}

static inline bool faulty_strikes(unsigned kind, struct str key)
{
    if (!(faulty.kinds & kind) || !str_has_prefix(key, str_of(faulty.prefix)))
        return false;
    if (faulty.n_spared == 0)
        return true;
    faulty.n_spared--;
    return false;
}

static inline int faulty_get(struct store *s, struct str key, uint64_t at_rev, store_get_cb cb,
                             void *arg, struct err *err)
{
    if (faulty_strikes(FAULT_READS, key))
        return fail_later((struct failing){ .get = cb, .arg = arg });
    return faulty.real->get(s, key, at_rev, cb, arg, err);
}

static inline int faulty_range(struct store *s, const struct store_range *range, store_range_cb cb,
                               void *arg, struct err *err)
{
    if (faulty_strikes(FAULT_RANGE_STARTS, range->prefix)) {
        faulty.n_struck++;
        return err_set(err, -ENOSPC, "the test's store starts no read");
    }
    if (faulty_strikes(FAULT_READS, range->prefix))
        return fail_later((struct failing){ .range = cb, .arg = arg });
    return faulty.real->range(s, range, cb, arg, err);
}

static inline int faulty_txn(struct store *s, const struct store_op *ops, size_t n, size_t n_bytes,
                             store_txn_cb cb, void *arg, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (ops[i].kind != STORE_CHECK && faulty_strikes(FAULT_WRITES, ops[i].key))
            return fail_later((struct failing){ .txn = cb, .arg = arg });
    return faulty.real->txn(s, ops, n, n_bytes, cb, arg, err);
}

static inline int faulty_watch_start(struct store *s, struct str prefix, uint64_t from_rev,
                                     const struct store_watch_ops *ops, void *arg,
                                     struct store_watch **ret, struct err *err)
{
    int r = faulty.real->watch_start(s, prefix, from_rev, ops, arg, ret, err);
    if (r >= 0) {
        struct faulty_watch w = { *ret, ops, arg, { xstrndup(prefix.p, prefix.n), prefix.n } };
        vec_push(&faulty.watches, w);
    }
    return r;
}

static inline void faulty_watch_cancel(struct store_watch *w)
{
    vec_each (x, &faulty.watches)
        if (x->w == w)
            x->w = NULL;
    faulty.real->watch_cancel(w);
}

/* From now on, until the next call: these kinds of calls fail below the prefix. */
static inline void store_fails(unsigned kinds, const char *prefix)
{
    faulty.kinds = kinds;
    faulty.prefix = prefix;
    faulty.n_struck = faulty.n_spared = 0;
    faulty.n_late = 0;
    faulty.holds = false;
}

static inline void store_works(void)
{
    faulty.kinds = 0;
}

/* How many watches of exactly this prefix have ended. */
static inline size_t store_ends_watches(const char *prefix)
{
    struct err err = { 0 };
    size_t n_ended = 0, n = faulty.watches.n; /* those that begin meanwhile live on */
    int r = err_set(&err, E_EXPIRED, "the test's store has forgotten");
    for (size_t i = 0; i < n; i++) {
        struct faulty_watch x = faulty.watches.p[i];
        if (!x.w || !str_is(x.prefix, prefix))
            continue;
        faulty_watch_cancel(x.w);
        x.ops->on_end(x.arg, r, &err);
        n_ended++;
    }
    return n_ended;
}

static inline void faulty_forget(void)
{
    vec_each (x, &faulty.watches)
        free((char *)x->prefix.p);
    vec_fini(&faulty.watches);
}

/* For struct fixture.opened. */
static inline void store_made_faulty(struct loop *loop, struct store *s)
{
    faulty_forget();
    faulty.loop = loop;
    faulty.real = s->backend;
    faulty.backend = *s->backend;
    faulty.backend.get = faulty_get;
    faulty.backend.range = faulty_range;
    faulty.backend.txn = faulty_txn;
    faulty.backend.watch_start = faulty_watch_start;
    faulty.backend.watch_cancel = faulty_watch_cancel;
    s->backend = &faulty.backend;
}
