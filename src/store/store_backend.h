/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of a store back end. Private to src/store/.
 *
 * store.c checks the arguments against the limits of store.h and calls these; the contracts are
 * those of the functions of the same name there. A back end embeds struct store as the first member
 * of its own struct, and struct store_watch as the first member of its watches.
 */
#pragma once

#include "store/store.h"

struct store_backend {
    void (*close)(struct store *s, void (*done)(void *arg), void *arg);
    uint64_t (*revision)(const struct store *s);
    uint64_t (*compacted)(const struct store *s);
    int (*get)(struct store *s, struct str key, uint64_t at_rev, store_get_cb cb, void *arg,
               struct err *err);
    int (*range)(struct store *s, const struct store_range *range, store_range_cb cb, void *arg,
                 struct err *err);
    /* n_bytes: of all keys and values */
    int (*txn)(struct store *s, const struct store_op *ops, size_t n, size_t n_bytes,
               store_txn_cb cb, void *arg, struct err *err);
    int (*watch_start)(struct store *s, struct str prefix, uint64_t from_rev,
                       const struct store_watch_ops *ops, void *arg, struct store_watch **ret,
                       struct err *err);
    void (*watch_pause)(struct store_watch *w);
    void (*watch_resume)(struct store_watch *w);
    void (*watch_cancel)(struct store_watch *w);
    uint64_t (*watch_progress)(const struct store_watch *w);
    int (*compact)(struct store *s, uint64_t rev, store_compact_cb cb, void *arg, struct err *err);
    void (*stats)(const struct store *s, struct store_stats *ret);
};

struct store {
    const struct store_backend *backend;
};

struct store_watch {
    struct store *store;
};

int sqlite_store_open(struct loop *loop, const struct store_opts *opts, struct store **ret,
                      struct err *err);
