/* SPDX-License-Identifier: Apache-2.0 */
/* The store's interface: checks the limits and calls the back end; see store.h. */
#include "store/store.h"

#include "base/mem.h"
#include "store/store_backend.h"

#include <assert.h>
#include <errno.h>

int store_open(struct loop *loop, const struct store_opts *opts, struct store **ret,
               struct err *err)
{
    return sqlite_store_open(loop, opts, ret, err);
}

void store_close(struct store *s, void (*done)(void *arg), void *arg)
{
    s->backend->close(s, done, arg);
}

uint64_t store_revision(const struct store *s)
{
    return s->backend->revision(s);
}

uint64_t store_compacted(const struct store *s)
{
    return s->backend->compacted(s);
}

static int check_key(struct str key, struct err *err)
{
    if (key.n == 0)
        return err_set(err, -EINVAL, "empty key");
    if (key.n > STORE_KEY_MAX_BYTES)
        return err_set(err, -EINVAL, "key of %zu bytes, at most %d", key.n, STORE_KEY_MAX_BYTES);
    return 0;
}

static int check_prefix(struct str prefix, struct err *err)
{
    if (prefix.n > STORE_KEY_MAX_BYTES)
        return err_set(err, -EINVAL, "prefix of %zu bytes, at most %d", prefix.n,
                       STORE_KEY_MAX_BYTES);
    return 0;
}

int store_get(struct store *s, struct str key, uint64_t at_rev, store_get_cb cb, void *arg,
              struct err *err)
{
    int r = check_key(key, err);
    return r < 0 ? r : s->backend->get(s, key, at_rev, cb, arg, err);
}

int store_range(struct store *s, const struct store_range *range, store_range_cb cb, void *arg,
                struct err *err)
{
    int r = check_prefix(range->prefix, err);
    if (r >= 0)
        r = check_prefix(range->after, err);
    if (r >= 0)
        r = check_prefix(range->index, err);
    assert(range->index.n == 0 || (!range->keys_only && !range->count_left));
    assert(range->index_root <= range->prefix.n);
    return r < 0 ? r : s->backend->range(s, range, cb, arg, err);
}

/* A key has one value per revision, so two changes of it in one transaction are invalid. */
static bool changes_twice(const struct store_op *ops, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (ops[i].kind != STORE_CHECK && str_eq(ops[i].key, ops[at].key))
            return true;
    return false;
}

static int check_op(const struct store_op *ops, size_t at, size_t *n_bytes, struct err *err)
{
    const struct store_op *op = &ops[at];
    int r = check_key(op->key, err);
    if (r < 0)
        return r;
    if (op->kind == STORE_PUT && op->value.n > STORE_VALUE_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "value of %zu bytes, at most %d", op->value.n,
                       STORE_VALUE_MAX_BYTES);
    if (op->kind != STORE_CHECK && changes_twice(ops, at))
        return err_set(err, -EINVAL, "key '" STR_FMT "' twice in one transaction",
                       STR_ARG(op->key));
    *n_bytes += op->key.n + (op->kind == STORE_PUT ? op->value.n : 0);
    return 0;
}

int store_txn(struct store *s, const struct store_op *ops, size_t n, store_txn_cb cb, void *arg,
              struct err *err)
{
    if (n == 0 || n > STORE_TXN_MAX_OPS)
        return err_set(err, -EINVAL, "transaction of %zu operations, 1 to %d", n,
                       STORE_TXN_MAX_OPS);
    size_t n_bytes = 0; /* at most 128 times 8 MiB */
    for (size_t i = 0; i < n; i++) {
        int r = check_op(ops, i, &n_bytes, err);
        if (r < 0)
            return r;
    }
    if (n_bytes > STORE_PENDING_MAX_BYTES)
        return err_set(err, -EMSGSIZE, "transaction of %zu bytes, at most %d", n_bytes,
                       STORE_PENDING_MAX_BYTES);
    return s->backend->txn(s, ops, n, n_bytes, cb, arg, err);
}

int store_watch_start(struct store *s, struct str prefix, uint64_t from_rev,
                      const struct store_watch_ops *ops, void *arg, struct store_watch **ret,
                      struct err *err)
{
    int r = check_prefix(prefix, err);
    return r < 0 ? r : s->backend->watch_start(s, prefix, from_rev, ops, arg, ret, err);
}

void store_watch_pause(struct store_watch *w)
{
    w->store->backend->watch_pause(w);
}

void store_watch_resume(struct store_watch *w)
{
    w->store->backend->watch_resume(w);
}

void store_watch_cancel(struct store_watch *w)
{
    w->store->backend->watch_cancel(w);
}

uint64_t store_watch_progress(const struct store_watch *w)
{
    return w->store->backend->watch_progress(w);
}

int store_compact(struct store *s, uint64_t rev, store_compact_cb cb, void *arg, struct err *err)
{
    return s->backend->compact(s, rev, cb, arg, err);
}

void store_stats(const struct store *s, struct store_stats *ret)
{
    s->backend->stats(s, ret);
}
