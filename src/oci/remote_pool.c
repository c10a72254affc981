/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/remote_pool.h"

#include <pthread.h>

struct oci_remote_pool {
    struct oci_remote *first;
    pthread_t maker; /* the thread that uses the first client */
    /* The struct oci_remote of another thread. It ends there: spare memory of io is a thread's. */
    pthread_key_t own;
};

static void on_thread_end(void *m)
{
    oci_remote_free(m);
}

int oci_remote_pool_new(struct oci_remote *first, struct oci_remote_pool **ret, struct err *err)
{
    struct oci_remote_pool *pool = xnew(struct oci_remote_pool);
    int r = -pthread_key_create(&pool->own, on_thread_end);
    if (r < 0) {
        free(pool);
        return err_sys(err, r, "open a registry for several threads");
    }
    pool->first = first;
    pool->maker = pthread_self();
    *ret = pool;
    return 0;
}

void oci_remote_pool_free(struct oci_remote_pool *pool)
{
    if (!pool)
        return;
    oci_remote_free(pthread_getspecific(pool->own));
    (void)pthread_key_delete(pool->own);
    free(pool);
}

int oci_remote_pool_get(struct oci_remote_pool *pool, struct oci_remote **ret, struct err *err)
{
    struct oci_remote *m =
        pthread_equal(pool->maker, pthread_self()) ? pool->first : pthread_getspecific(pool->own);
    int r = m ? 0 : oci_remote_clone(pool->first, &m, err);
    if (r < 0)
        return r;
    if (m != pool->first)
        (void)pthread_setspecific(pool->own, m);
    *ret = m;
    return 0;
}
