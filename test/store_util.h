/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that use a store step by step: a temporary directory, a loop, calls that wait. */
#pragma once

#include "base/mem.h"
#include "base/sys.h"
#include "store/store.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

struct fixture {
    struct loop loop;
    struct store *store;
    struct store_opts opts; /* history windows may be set before fx_open() */
    char dir[64], path[96];
};

static inline void fx_init(struct fixture *fx)
{
    *fx = (struct fixture){ .store = NULL };
    CHECK_OK(loop_init(&fx->loop, NULL));
    /* In memory where there is such a place: thousands of syncs would measure the disk. */
    const char *base = getenv("TMPDIR");
    if (!base || strlen(base) >= 40)
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(fx->dir, sizeof fx->dir, "%s/store-XXXXXX", base);
    CHECK(mkdtemp(fx->dir));
    (void)snprintf(fx->path, sizeof fx->path, "%s/store.db", fx->dir);
    fx->opts.path = fx->path;
}

static inline int fx_try_open(struct fixture *fx, struct err *err)
{
    return store_open(&fx->loop, &fx->opts, &fx->store, err);
}

static inline void fx_open(struct fixture *fx)
{
    struct err err = { 0 };
    if (fx_try_open(fx, &err) < 0)
        TEST_FAIL("%s", err.text);
}

static inline void fx_turn(struct fixture *fx)
{
    CHECK(loop_turn(&fx->loop, true) || true);
}

static inline void fx_on_closed(void *arg)
{
    *(bool *)arg = true;
}

static inline void fx_close(struct fixture *fx)
{
    bool done = false;
    store_close(fx->store, fx_on_closed, &done);
    while (!done)
        fx_turn(fx);
    fx->store = NULL;
}

static inline void fx_clean_dir(struct fixture *fx)
{
    DIR *d = opendir(fx->dir);
    CHECK(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.')
            CHECK_OK(unlinkat(dirfd(d), e->d_name, 0));
    (void)closedir(d);
}

static inline void fx_fini(struct fixture *fx)
{
    if (fx->store)
        fx_close(fx);
    loop_fini(&fx->loop);
    fx_clean_dir(fx);
    CHECK_OK(rmdir(fx->dir));
}

/* ------------------------------------------------------------------ waiting calls */

struct fx_txn {
    struct store_txn_result res;
    struct err err;
    bool done;
};

static inline void fx_on_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct fx_txn *t = arg;
    t->res = *res;
    t->err = *err;
    t->done = true;
}

static inline void fx_on_queued(void *arg, const struct store_txn_result *res,
                                const struct err *err)
{
    CHECK_OK(res->r);
}

/* Without waiting; must succeed. */
static inline void fx_queue(struct fixture *fx, struct store_op op)
{
    CHECK_OK(store_txn(fx->store, &op, 1, fx_on_queued, NULL, NULL));
}

static inline void fx_wait_rev(struct fixture *fx, uint64_t rev)
{
    while (store_revision(fx->store) < rev)
        fx_turn(fx);
}

static inline struct store_txn_result fx_txn(struct fixture *fx, const struct store_op *ops,
                                             size_t n)
{
    struct fx_txn t = { .done = false };
    CHECK_OK(store_txn(fx->store, ops, n, fx_on_txn, &t, NULL));
    while (!t.done)
        fx_turn(fx);
    return t.res;
}

static inline struct store_op op_put(const char *key, const char *value)
{
    return (struct store_op){ .kind = STORE_PUT, .key = str_of(key), .value = str_of(value) };
}

static inline struct store_op op_delete(const char *key)
{
    return (struct store_op){ .kind = STORE_DELETE, .key = str_of(key) };
}

/* The revision. */
static inline uint64_t fx_put(struct fixture *fx, const char *key, const char *value)
{
    struct store_op op = op_put(key, value);
    struct store_txn_result res = fx_txn(fx, &op, 1);
    CHECK_OK(res.r);
    return res.rev;
}

static inline uint64_t fx_delete(struct fixture *fx, const char *key)
{
    struct store_op op = op_delete(key);
    struct store_txn_result res = fx_txn(fx, &op, 1);
    CHECK_OK(res.r);
    return res.rev;
}

struct fx_got {
    int r;
    bool done, found;
    uint64_t rev, create_rev, mod_rev, version;
    char value[256]; /* cut */
};

static inline void fx_on_get(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                             const struct err *err)
{
    struct fx_got *g = arg;
    g->done = true;
    g->r = r;
    g->rev = rev;
    g->found = kv;
    if (!kv)
        return;
    g->create_rev = kv->create_rev;
    g->mod_rev = kv->mod_rev;
    g->version = kv->version;
    memcpy(g->value, kv->value.p, MIN(kv->value.n, sizeof g->value - 1));
}

static inline struct fx_got fx_get(struct fixture *fx, const char *key, uint64_t at_rev)
{
    struct fx_got g = { .done = false };
    CHECK_OK(store_get(fx->store, str_of(key), at_rev, fx_on_get, &g, NULL));
    CHECK(!g.done);
    while (!g.done)
        fx_turn(fx);
    return g;
}

/* Keys joined by commas; cut. */
struct fx_page {
    int r;
    bool done, more;
    size_t n, bytes;
    uint64_t left, rev;
    char keys[256], last[STORE_KEY_MAX_BYTES];
    size_t n_last;
};

static inline void fx_on_page(void *arg, int r, const struct store_page *page,
                              const struct err *err)
{
    struct fx_page *p = arg;
    p->done = true;
    p->r = r;
    if (r < 0)
        return;
    p->more = page->more;
    p->n = page->n;
    p->left = page->left;
    p->rev = page->rev;
    size_t at = 0;
    for (size_t i = 0; i < page->n; i++) {
        const struct store_kv *kv = &page->kv[i];
        p->bytes += kv->value.n;
        if (at + kv->key.n + 2 < sizeof p->keys) {
            memcpy(p->keys + at, kv->key.p, kv->key.n);
            at += kv->key.n;
            p->keys[at++] = ',';
        }
        memcpy(p->last, kv->key.p, kv->key.n);
        p->n_last = kv->key.n;
    }
    p->keys[at ? at - 1 : 0] = '\0';
}

static inline struct fx_page fx_range(struct fixture *fx, struct store_range range)
{
    struct fx_page p = { .done = false };
    CHECK_OK(store_range(fx->store, &range, fx_on_page, &p, NULL));
    while (!p.done)
        fx_turn(fx);
    return p;
}

struct fx_compacted {
    int r;
    bool done;
};

static inline void fx_on_compacted(void *arg, int r, const struct err *err)
{
    *(struct fx_compacted *)arg = (struct fx_compacted){ .r = r, .done = true };
}

static inline int fx_compact(struct fixture *fx, uint64_t rev)
{
    struct fx_compacted c = { .done = false };
    int r = store_compact(fx->store, rev, fx_on_compacted, &c, NULL);
    while (r >= 0 && !c.done)
        fx_turn(fx);
    return r < 0 ? r : c.r;
}
