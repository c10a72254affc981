/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/hash_beside.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

enum { STACK_BYTES = 256 << 10 }; /* the thread calls libcrypto alone */

struct hash_beside {
    struct sha256 *hash;
    char *room;                   /* the blocks, one after the other */
    size_t n[HASH_BESIDE_BLOCKS]; /* bytes in each */
    uint64_t n_given, n_done;     /* blocks; block i is at i % HASH_BESIDE_BLOCKS */
    bool is_over;                 /* no more is given */
    bool has_thread, is_running;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all but the block that is filled and the one that is hashed */
    pthread_cond_t changed;
};

static char *block_of(struct hash_beside *h, uint64_t i)
{
    return h->room + i % HASH_BESIDE_BLOCKS * HASH_BESIDE_BLOCK_BYTES;
}

static void *run(void *arg)
{
    struct hash_beside *h = arg;
    (void)pthread_mutex_lock(&h->mutex);
    h->is_running = true;
    (void)pthread_cond_signal(&h->changed);
    for (;;) {
        while (h->n_done == h->n_given && !h->is_over)
            (void)pthread_cond_wait(&h->changed, &h->mutex);
        if (h->n_done == h->n_given)
            break;
        uint64_t i = h->n_done;
        (void)pthread_mutex_unlock(&h->mutex);
        sha256_add(h->hash, block_of(h, i), h->n[i % HASH_BESIDE_BLOCKS]);
        (void)pthread_mutex_lock(&h->mutex);
        h->n_done++;
        (void)pthread_cond_signal(&h->changed);
    }
    (void)pthread_mutex_unlock(&h->mutex);
    return NULL;
}

/* The caller may forbid itself the system calls with which a thread begins. */
static void wait_until_running(struct hash_beside *h)
{
    (void)pthread_mutex_lock(&h->mutex);
    while (!h->is_running)
        (void)pthread_cond_wait(&h->changed, &h->mutex);
    (void)pthread_mutex_unlock(&h->mutex);
}

/* Signals are for the other threads. */
static bool start(struct hash_beside *h)
{
    sigset_t all, old;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &old);
    int r = pthread_create(&h->thread, &attr, run, h);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attr);
    return r == 0;
}

struct hash_beside *hash_beside_new(void)
{
    char *room = mem_try(HASH_BESIDE_BLOCKS * HASH_BESIDE_BLOCK_BYTES);
    if (!room)
        return NULL;
    struct hash_beside *h = xnew(struct hash_beside);
    h->room = room;
    h->hash = sha256_new();
    (void)pthread_mutex_init(&h->mutex, NULL);
    (void)pthread_cond_init(&h->changed, NULL);
    h->has_thread = start(h);
    if (!h->has_thread) {
        hash_beside_free(h);
        return NULL;
    }
    wait_until_running(h);
    return h;
}

/* Give the block that was filled, and wait until the next one is free. */
static void give(struct hash_beside *h)
{
    (void)pthread_mutex_lock(&h->mutex);
    h->n_given++;
    (void)pthread_cond_signal(&h->changed);
    while (h->n_given - h->n_done == HASH_BESIDE_BLOCKS)
        (void)pthread_cond_wait(&h->changed, &h->mutex);
    (void)pthread_mutex_unlock(&h->mutex);
    h->n[h->n_given % HASH_BESIDE_BLOCKS] = 0;
}

void hash_beside_add(struct hash_beside *h, const void *p, size_t n)
{
    const char *from = p;
    assert(h->has_thread);
    while (n) {
        size_t *filled = &h->n[h->n_given % HASH_BESIDE_BLOCKS];
        size_t part = MIN(n, (size_t)HASH_BESIDE_BLOCK_BYTES - *filled);
        memcpy(block_of(h, h->n_given) + *filled, from, part);
        *filled += part;
        from += part;
        n -= part;
        if (*filled == HASH_BESIDE_BLOCK_BYTES)
            give(h);
    }
}

static void join(struct hash_beside *h)
{
    (void)pthread_mutex_lock(&h->mutex);
    h->is_over = true;
    (void)pthread_cond_signal(&h->changed);
    (void)pthread_mutex_unlock(&h->mutex);
    (void)pthread_join(h->thread, NULL);
    h->has_thread = false;
}

void hash_beside_end(struct hash_beside *h, uint8_t ret[SHA256_BYTES])
{
    if (h->n[h->n_given % HASH_BESIDE_BLOCKS])
        give(h);
    join(h);
    sha256_end(h->hash, ret);
}

void hash_beside_free(struct hash_beside *h)
{
    if (!h)
        return;
    if (h->has_thread)
        join(h);
    (void)pthread_mutex_destroy(&h->mutex);
    (void)pthread_cond_destroy(&h->changed);
    sha256_free(h->hash);
    free(h->room);
    free(h);
}
