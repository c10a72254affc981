/* SPDX-License-Identifier: Apache-2.0 */
/* /metrics of a node's server. */
#include "image/server_int.h"

#include "image/layer_cache.h"
#include "image/scrub.h"
#include "io/http.h"

#include <inttypes.h>

enum { METRICS_MAX = 16 << 10 };

struct server_metric {
    const char *name, *kind;
    uint64_t value;
};

static void add_metrics(struct buf *to, const struct server_metric *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)buf_printf(to, "# TYPE %s %s\n%s %" PRIu64 "\n", rows[i].name, rows[i].kind,
                         rows[i].name, rows[i].value);
}

void image_server_reply_metrics(struct image_server *s, struct http_exchange *x)
{
    struct headers h = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(METRICS_MAX);
    struct layer_cache_summary cache = { 0 };
    bool has_cache = layer_cache_summary(s->opts.store, &cache);
    const struct server_metric rows[] = {
        { "dormouse_image_requests_served_total", "counter", s->n_served },
        { "dormouse_image_requests_missing_total", "counter", s->n_missing },
        { "dormouse_image_bytes_sent_total", "counter", s->n_bytes },
        { "dormouse_image_pulls_total", "counter", s->n_pulled },
        { "dormouse_image_pulls_failed_total", "counter", s->n_failed },
        { "dormouse_image_requests", "gauge", s->n_requests },
        { "dormouse_image_uploads", "gauge", s->n_uploads },
        { "dormouse_image_deployments", "gauge", s->n_deploying },
        { "dormouse_image_pushes_total", "counter", s->n_pushed },
        { "dormouse_image_pushes_failed_total", "counter", s->n_unpushed },
        { "dormouse_image_pushes_waiting", "gauge", s->n_parcels },
    };
    const struct scrub_stats none = { 0 }, *scrubbed = s->scrub ? scrub_stats(s->scrub) : &none;
    const struct server_metric scrub_rows[] = {
        { "dormouse_image_scrub_layers_total", "counter", scrubbed->n_layers },
        { "dormouse_image_scrub_bytes_total", "counter", scrubbed->n_bytes },
        { "dormouse_image_scrub_damaged_total", "counter", scrubbed->n_damaged },
        { "dormouse_image_scrub_removed_total", "counter", scrubbed->n_removed },
        { "dormouse_image_scrub_failed_total", "counter", scrubbed->n_failed },
    };
    const struct server_metric cache_rows[] = {
        { "dormouse_image_prefetches_total", "counter", s->n_prefetches },
        { "dormouse_image_prefetches_refused_total", "counter", s->n_prefetches_refused },
        { "dormouse_image_cache_prefetched_bytes_total", "counter", cache.stats.prefetched.bytes },
        { "dormouse_image_cache_prefetch_used_bytes_total", "counter",
          cache.stats.prefetch_used.bytes },
        { "dormouse_image_cache_prefetch_wasted_bytes_total", "counter",
          cache.stats.prefetch_wasted.bytes },
        { "dormouse_image_cache_hits_total", "counter", cache.stats.local.n },
        { "dormouse_image_cache_misses_total", "counter", cache.stats.miss.n },
        { "dormouse_image_cache_evicted_total", "counter", cache.stats.evicted.n },
        { "dormouse_image_cache_evicted_bytes_total", "counter", cache.stats.evicted.bytes },
        { "dormouse_image_cache_once_bytes", "gauge", cache.lists[IMAGE_CACHE_T1].bytes },
        { "dormouse_image_cache_often_bytes", "gauge", cache.lists[IMAGE_CACHE_T2].bytes },
        { "dormouse_image_cache_unused_bytes", "gauge", cache.lists[IMAGE_CACHE_DEAD].bytes },
    };
    add_metrics(&b, rows, ARRAY_LEN(rows));
    if (s->scrub)
        add_metrics(&b, scrub_rows, ARRAY_LEN(scrub_rows));
    if (has_cache)
        add_metrics(&b, cache_rows, ARRAY_LEN(cache_rows));
    (void)headers_addc(&h, "content-type", "text/plain; version=0.0.4");
    http_reply(x, 200, &h, buf_str(&b));
    headers_fini(&h);
}
