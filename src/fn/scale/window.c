/* SPDX-License-Identifier: Apache-2.0 */
/* Samples over a sliding window; see window.h. */
#include "fn/scale/window.h"

#include "base/mem.h"

#include <assert.h>

void scale_window_init(struct scale_window *w, bool averaged, uint64_t length_ms, uint64_t step_ms,
                       uint64_t now_ms)
{
    uint64_t n = averaged ? length_ms / SCALE_BUCKET_MS + 1 : length_ms / step_ms;
    *w = (struct scale_window){
        .averaged = averaged,
        .cap = (uint32_t)MAX(n, 1),
        .begin_ms = now_ms,
        .newest_bucket = now_ms / SCALE_BUCKET_MS,
    };
    w->at = xnew_n(float, w->cap);
}

void scale_window_fini(struct scale_window *w)
{
    free(w->at);
    *w = (struct scale_window){ 0 };
}

void scale_window_change(struct scale_window *w, bool averaged, uint64_t length_ms,
                         uint64_t step_ms, uint64_t now_ms)
{
    struct scale_window next;
    scale_window_init(&next, averaged, length_ms, step_ms, now_ms);
    uint32_t n = MIN(w->cap, next.cap);
    if (averaged && w->averaged) {
        next.newest_bucket = w->newest_bucket;
        uint64_t oldest_ms =
            n > w->newest_bucket ? 0 : (w->newest_bucket - n + 1) * SCALE_BUCKET_MS;
        next.begin_ms = MAX(w->begin_ms, oldest_ms);
        for (uint64_t i = 0; i < n && i <= w->newest_bucket; i++)
            next.at[(w->newest_bucket - i) % next.cap] = w->at[(w->newest_bucket - i) % w->cap];
    }
    if (!averaged && !w->averaged)
        for (uint32_t i = MIN(n, w->n); i > 0; i--)
            scale_window_push(&next, (double)w->at[(w->newest + w->cap - (i - 1)) % w->cap]);
    scale_window_fini(w);
    *w = next;
}

void scale_window_push(struct scale_window *w, double value)
{
    assert(!w->averaged);
    w->newest = w->n ? (w->newest + 1) % w->cap : 0;
    w->at[w->newest] = (float)value;
    w->n = MIN(w->n + 1, w->cap);
}

void scale_window_push_zeros(struct scale_window *w, uint32_t n)
{
    for (uint32_t i = 0; i < MIN(n, w->cap); i++)
        scale_window_push(w, 0);
}

double scale_window_mean_last(const struct scale_window *w, uint32_t n)
{
    double sum = 0;
    n = MIN(MAX(n, 1), w->n);
    for (uint32_t i = 0; i < n; i++)
        sum += (double)w->at[(w->newest + w->cap - i) % w->cap];
    return n ? sum / n : 0;
}

/* Buckets up to `bucket` exist, those that are new empty. */
static void advance(struct scale_window *w, uint64_t bucket)
{
    if (bucket <= w->newest_bucket)
        return;
    uint64_t fresh = MIN(bucket - w->newest_bucket, w->cap);
    for (uint64_t i = 0; i < fresh; i++)
        w->at[(bucket - i) % w->cap] = 0;
    w->newest_bucket = bucket;
}

void scale_window_add(struct scale_window *w, uint64_t from_ms, uint64_t to_ms, double integral)
{
    assert(w->averaged);
    from_ms = MAX(from_ms, w->begin_ms);
    if (to_ms < from_ms)
        return;
    /* An instant belongs to the bucket that it ends. */
    uint64_t last = to_ms ? (to_ms - 1) / SCALE_BUCKET_MS : 0;
    advance(w, last);
    if (from_ms == to_ms) {
        w->at[w->newest_bucket % w->cap] += (float)integral;
        return;
    }
    double per_ms = integral / (double)(to_ms - from_ms);
    uint64_t oldest = w->newest_bucket >= w->cap ? w->newest_bucket - w->cap + 1 : 0;
    for (uint64_t b = MAX(from_ms / SCALE_BUCKET_MS, oldest); b <= last; b++) {
        uint64_t start = MAX(from_ms, b * SCALE_BUCKET_MS);
        uint64_t end = MIN(to_ms, (b + 1) * SCALE_BUCKET_MS);
        w->at[b % w->cap] += (float)(per_ms * (double)(end - start));
    }
}

double scale_window_mean_until(const struct scale_window *w, uint64_t end_ms, uint64_t length_ms)
{
    if (end_ms <= w->begin_ms)
        return 0;
    uint64_t end = (end_ms + SCALE_BUCKET_MS - 1) / SCALE_BUCKET_MS;
    uint64_t n = MIN(MAX(length_ms / SCALE_BUCKET_MS, 1), end);
    double sum = 0;
    for (uint64_t b = end - n; b < end; b++)
        if (b <= w->newest_bucket && b + w->cap > w->newest_bucket)
            sum += (double)w->at[b % w->cap];
    return sum / (double)(end_ms - MAX(w->begin_ms, (end - n) * SCALE_BUCKET_MS));
}
