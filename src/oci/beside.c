/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/beside.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

struct beside {
    beside_sink sink;
    void *arg;
    char *room;               /* the blocks, one after the other */
    size_t n[BESIDE_BLOCKS];  /* bytes in each */
    uint64_t n_given, n_done; /* blocks; block i lies at i % BESIDE_BLOCKS */
    bool is_over, is_dropped; /* no more is given; what is left is not wanted */
    bool is_joined;
    struct err err; /* of the sink */
    pthread_t thread;
    pthread_mutex_t mutex; /* of all but the block that is filled and the one that is taken */
    pthread_cond_t changed;
};

static char *block_of(struct beside *b, uint64_t i)
{
    return b->room + i % BESIDE_BLOCKS * BESIDE_BLOCK_BYTES;
}

/* Wait for a full block. False: there will be none. */
static bool wait_for_block(struct beside *b)
{
    while (b->n_done == b->n_given && !b->is_over)
        (void)pthread_cond_wait(&b->changed, &b->mutex);
    return b->n_done < b->n_given && !b->is_dropped && b->err.code == 0;
}

static void *run(void *arg)
{
    struct beside *b = arg;
    (void)pthread_mutex_lock(&b->mutex);
    while (wait_for_block(b)) {
        struct err err = { 0 };
        struct str bytes = str_n(block_of(b, b->n_done), b->n[b->n_done % BESIDE_BLOCKS]);
        (void)pthread_mutex_unlock(&b->mutex);
        int r = b->sink(b->arg, bytes, &err);
        (void)pthread_mutex_lock(&b->mutex);
        b->n_done++;
        if (r < 0) {
            b->err = err;
            b->err.code = r;
        }
        (void)pthread_cond_signal(&b->changed);
    }
    (void)pthread_mutex_unlock(&b->mutex);
    return NULL;
}

/* Signals are for the other threads. */
static int start(struct beside *b)
{
    sigset_t all, old;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    int r = pthread_create(&b->thread, NULL, run, b);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return -r;
}

int beside_new(beside_sink sink, void *arg, struct beside **ret, struct err *err)
{
    char *room = mem_try(BESIDE_BLOCKS * BESIDE_BLOCK_BYTES);
    if (!room)
        return err_set(err, -ENOMEM, "no memory for a stream");
    struct beside *b = xnew(struct beside);
    b->sink = sink;
    b->arg = arg;
    b->room = room;
    (void)pthread_mutex_init(&b->mutex, NULL);
    (void)pthread_cond_init(&b->changed, NULL);
    int r = start(b);
    if (r < 0) {
        b->is_joined = true;
        beside_free(b);
        return err_sys(err, r, "start a thread");
    }
    *ret = b;
    return 0;
}

/* Give the block that was filled, and wait until the next one is free. */
static int give(struct beside *b, struct err *err)
{
    (void)pthread_mutex_lock(&b->mutex);
    b->n_given++;
    (void)pthread_cond_signal(&b->changed);
    while (b->n_given - b->n_done == BESIDE_BLOCKS && b->err.code == 0)
        (void)pthread_cond_wait(&b->changed, &b->mutex);
    int r = b->err.code;
    (void)pthread_mutex_unlock(&b->mutex);
    b->n[b->n_given % BESIDE_BLOCKS] = 0;
    return r < 0 ? err_set(err, r, "%s", b->err.text) : 0;
}

int beside_add(struct beside *b, struct str bytes, struct err *err)
{
    assert(!b->is_joined);
    while (bytes.n) {
        size_t *n = &b->n[b->n_given % BESIDE_BLOCKS];
        size_t part = MIN(bytes.n, (size_t)BESIDE_BLOCK_BYTES - *n);
        memcpy(block_of(b, b->n_given) + *n, bytes.p, part);
        *n += part;
        bytes = str_slice(bytes, part, bytes.n);
        int r = *n == BESIDE_BLOCK_BYTES ? give(b, err) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static void join(struct beside *b, bool is_dropped)
{
    (void)pthread_mutex_lock(&b->mutex);
    b->is_over = true;
    b->is_dropped = is_dropped;
    (void)pthread_cond_signal(&b->changed);
    (void)pthread_mutex_unlock(&b->mutex);
    (void)pthread_join(b->thread, NULL);
    b->is_joined = true;
}

int beside_end(struct beside *b, struct err *err)
{
    int r = b->n[b->n_given % BESIDE_BLOCKS] ? give(b, NULL) : 0;
    join(b, r < 0);
    return b->err.code < 0 ? err_set(err, b->err.code, "%s", b->err.text) : 0;
}

void beside_free(struct beside *b)
{
    if (!b)
        return;
    if (!b->is_joined)
        join(b, true);
    (void)pthread_mutex_destroy(&b->mutex);
    (void)pthread_cond_destroy(&b->changed);
    free(b->room);
    free(b);
}
