/* SPDX-License-Identifier: Apache-2.0 */
#include "image/collect.h"

#include "image/linked_dir.h"
#include "image/provide.h"

#include <pthread.h>

static int collect_all(struct oci_store *s, bool is_dry, struct image_collected *c, struct err *err)
{
    size_t n_links = 0;
    uint64_t link_bytes = 0;
    int r = provide_sweep(s, 0, is_dry, &c->n_roots, err);
    r = r < 0 ? r : oci_store_gc(s, is_dry, &c->store, err);
    r = r < 0 ? r : oci_store_sweep(s, SIZE_MAX, err);
    r = r < 0 ? r : linked_dir_sweep(s, is_dry, &n_links, &link_bytes, err);
    r = r < 0 ? r : layer_cache_settle(s, err);
    if (r < 0)
        return r;
    (void)layer_cache_summary(s, &c->cache);
    c->store.n_objects += n_links;
    c->store.n_bytes += link_bytes;
    return 0;
}

int image_collect(struct oci_store *s, bool is_dry, struct image_collected *ret, struct err *err)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* a tree is removed by one thread */
    struct image_collected c = { 0 };
    (void)pthread_mutex_lock(&mutex);
    int r = collect_all(s, is_dry, &c, err);
    (void)pthread_mutex_unlock(&mutex);
    if (r >= 0)
        *ret = c;
    return r;
}
