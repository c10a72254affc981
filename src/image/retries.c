/* SPDX-License-Identifier: Apache-2.0 */
#include "image/retries.h"

#include "base/backoff.h"
#include "base/mem.h"

#include <string.h>

void image_retries_fini(struct image_retries *r)
{
    for (size_t i = 0; i < r->all.n; i++)
        free(r->all.p[i].key);
    vec_fini(&r->all);
}

static size_t find(const struct image_retries *r, const char *key)
{
    size_t i = 0;
    while (i < r->all.n && strcmp(r->all.p[i].key, key) != 0)
        i++;
    return i;
}

static void forget(struct image_retries *r, size_t i)
{
    free(r->all.p[i].key);
    vec_remove(&r->all, i);
}

/* Keys change with their content, so most are never used again. */
static void make_room(struct image_retries *r)
{
    size_t first = 0;
    if (r->all.n < IMAGE_RETRIES_MAX)
        return;
    for (size_t i = 1; i < r->all.n; i++)
        if (r->all.p[i].end_ms < r->all.p[first].end_ms)
            first = i;
    forget(r, first);
}

bool image_retries_is_due(const struct image_retries *r, const char *key, uint64_t now_ms)
{
    size_t i = find(r, key);
    return i == r->all.n || now_ms >= r->all.p[i].end_ms;
}

uint64_t image_retries_failed(struct image_retries *r, const char *key, uint64_t now_ms)
{
    size_t i = find(r, key);
    if (i == r->all.n) {
        make_room(r);
        i = r->all.n;
        struct image_retry fresh = { .key = xstrdup(key) };
        vec_push(&r->all, fresh);
    }
    struct image_retry *at = &r->all.p[i];
    uint64_t most = MIN(r->max_ms, (uint64_t)IMAGE_RETRIES_LAST_MS);
    uint64_t ms = backoff_wait(IMAGE_RETRIES_FIRST_MS, most, at->n_failures);
    at->n_failures++;
    at->end_ms = now_ms + ms;
    return ms;
}

void image_retries_done(struct image_retries *r, const char *key)
{
    size_t i = find(r, key);
    if (i < r->all.n)
        forget(r, i);
}
