/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/deployment/plan.h"

#include "workload/deployment/names.h"

#include <math.h>
#include <stdio.h>

/* ---------------------------------------------------------------- amounts */

/* A number, or a percentage of `of`. */
static int64_t amount_of(const struct json *v, int64_t of, bool up)
{
    struct str text = json_str(v);
    uint64_t percent = 0;
    if (!text.n)
        return json_int_or(v, 0);
    if (parse_u64(str_slice(text, 0, text.n - 1), 0, INT32_MAX, &percent) < 0)
        return 0;
    return ((int64_t)percent * of + (up ? 99 : 0)) / 100;
}

void deployment_fenceposts(const struct json *surge, const struct json *unavailable,
                           int64_t replicas, int64_t *ret_surge, int64_t *ret_unavailable)
{
    *ret_surge = amount_of(surge, replicas, true);
    *ret_unavailable = amount_of(unavailable, replicas, false);
    if (*ret_surge == 0 && *ret_unavailable == 0)
        *ret_unavailable = 1;
}

int64_t deployment_max_unavailable(const struct deployment *d)
{
    return d->is_rolling ? MIN(d->unavailable, d->replicas) : 0;
}

int64_t deployment_max_surge(const struct deployment *d)
{
    return d->is_rolling ? d->surge : 0;
}

static int64_t sum_replicas(const struct deployment *d)
{
    int64_t n = d->new ? d->new->replicas : 0;
    for (size_t i = 0; i < d->n_old; i++)
        n += d->old[i]->replicas;
    return n;
}

static int64_t sum_available(const struct deployment *d)
{
    int64_t n = d->new ? d->new->available : 0;
    for (size_t i = 0; i < d->n_old; i++)
        n += d->old[i]->available;
    return n;
}

static void scale_to(struct deployment_set *s, int64_t replicas)
{
    s->replicas = replicas;
    s->is_scaled = true;
}

/* ---------------------------------------------------------------- rolling update */

int64_t deployment_new_replicas(const struct deployment *d)
{
    int64_t now = d->new ? d->new->replicas : 0;
    if (!d->is_rolling)
        return d->replicas;
    int64_t room = d->replicas + deployment_max_surge(d) - sum_replicas(d);
    return room <= 0 ? now : now + MIN(room, d->replicas - now);
}

static bool grow_new(struct deployment *d)
{
    struct deployment_set *s = d->new;
    if (s->replicas == d->replicas)
        return false;
    int64_t to = s->replicas > d->replicas ? d->replicas : deployment_new_replicas(d);
    if (to == s->replicas)
        return false;
    scale_to(s, to);
    return true;
}

/* First those pods of old sets that are not available anyway. */
static int64_t shrink_unhealthy(struct deployment *d, int64_t most)
{
    int64_t n = 0;
    for (size_t i = 0; i < d->n_old && n < most; i++) {
        struct deployment_set *s = d->old[i];
        int64_t by = MIN(most - n, s->replicas - s->available);
        if (s->replicas == 0 || by <= 0)
            continue;
        scale_to(s, s->replicas - by);
        n += by;
    }
    return n;
}

static int64_t shrink_available(struct deployment *d)
{
    int64_t least = d->replicas - deployment_max_unavailable(d);
    int64_t most = sum_available(d) - least, n = 0;
    for (size_t i = 0; i < d->n_old && n < most; i++) {
        struct deployment_set *s = d->old[i];
        int64_t by = MIN(s->replicas, most - n);
        if (s->replicas == 0)
            continue;
        scale_to(s, s->replicas - by);
        n += by;
    }
    return n;
}

static bool shrink_old(struct deployment *d)
{
    int64_t least = d->replicas - deployment_max_unavailable(d);
    int64_t new_missing = d->new->replicas - d->new->available;
    int64_t most = sum_replicas(d) - least - new_missing;
    if (sum_replicas(d) == d->new->replicas || most <= 0)
        return false;
    int64_t n = shrink_unhealthy(d, most);
    return n + shrink_available(d) > 0;
}

bool deployment_roll(struct deployment *d)
{
    return grow_new(d) || shrink_old(d);
}

/* ---------------------------------------------------------------- scaling */

static int by_age(const struct deployment_set *a, const struct deployment_set *b)
{
    return a->created_s != b->created_s ? (a->created_s < b->created_s ? -1 : 1)
                                        : str_cmp(a->name, b->name);
}

static int larger_older_first(const void *va, const void *vb)
{
    const struct deployment_set *a = *(struct deployment_set *const *)va;
    const struct deployment_set *b = *(struct deployment_set *const *)vb;
    return a->replicas != b->replicas ? (a->replicas > b->replicas ? -1 : 1) : by_age(a, b);
}

static int larger_newer_first(const void *va, const void *vb)
{
    const struct deployment_set *a = *(struct deployment_set *const *)va;
    const struct deployment_set *b = *(struct deployment_set *const *)vb;
    return a->replicas != b->replicas ? (a->replicas > b->replicas ? -1 : 1) : by_age(b, a);
}

/* The sets with replicas. into: room for all sets. */
static size_t active_sets(const struct deployment *d, struct deployment_set **into)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n_old; i++)
        if (d->old[i]->replicas > 0)
            into[n++] = d->old[i];
    if (d->new && d->new->replicas > 0)
        into[n++] = d->new;
    return n;
}

/* The only active set, else the newest one; NULL: there are several active ones, or none at all. */
static struct deployment_set *active_or_latest(const struct deployment *d,
                                               struct deployment_set *const *active, size_t n)
{
    if (n == 1)
        return active[0];
    if (n > 1)
        return NULL;
    return d->new ? d->new : d->n_old ? d->old[d->n_old - 1] : NULL;
}

bool deployment_is_saturated(const struct deployment *d)
{
    return d->new && d->new->replicas == d->replicas && d->new->desired == d->replicas &&
           d->new->available == d->replicas;
}

/* What a set gets of `add`, of which `added` are given already (GetReplicaSetProportion()). */
static int64_t proportion_of(const struct deployment *d, const struct deployment_set *s,
                             int64_t add, int64_t added)
{
    int64_t of = s->max > 0 ? s->max : d->status_replicas, share;
    if (s->replicas == 0 || add == 0 || add == added)
        return 0;
    if (d->replicas == 0)
        share = -s->replicas;
    else if (of == 0)
        share = 0;
    else
        share = (int64_t)round((double)(s->replicas * (d->replicas + deployment_max_surge(d))) /
                               (double)of) -
                s->replicas;
    return add > 0 ? MIN(share, add - added) : MAX(share, add - added);
}

static void scale_in_proportion(struct deployment *d, struct deployment_set **active, size_t n)
{
    int64_t total = 0, added = 0;
    for (size_t i = 0; i < n; i++)
        total += active[i]->replicas;
    int64_t allowed = d->replicas > 0 ? d->replicas + deployment_max_surge(d) : 0;
    int64_t add = allowed - total;
    qsort(active, n, sizeof *active, add > 0 ? larger_newer_first : larger_older_first);
    for (size_t i = 0; i < n; i++) {
        int64_t by = proportion_of(d, active[i], add, added);
        added += by;
        scale_to(active[i], active[i]->replicas + by);
    }
    if (n > 0 && add != 0)
        scale_to(active[0], MAX(active[0]->replicas + add - added, 0));
}

void deployment_scale(struct deployment *d)
{
    struct deployment_set **active = xnew_n(struct deployment_set *, d->n_old + 1);
    size_t n = active_sets(d, active);
    struct deployment_set *only = active_or_latest(d, active, n);
    if (only) {
        scale_to(only, d->replicas);
    } else if (deployment_is_saturated(d)) {
        for (size_t i = 0; i < n; i++)
            if (active[i] != d->new)
                scale_to(active[i], 0);
    } else if (d->is_rolling) {
        scale_in_proportion(d, active, n);
    }
    free(active);
}

bool deployment_is_scaling(const struct deployment *d)
{
    for (size_t i = 0; i <= d->n_old; i++) {
        const struct deployment_set *s = i < d->n_old ? d->old[i] : d->new;
        if (s && s->replicas > 0 && s->desired >= 0 && s->desired != d->replicas)
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- history */

static int by_revision(const void *va, const void *vb)
{
    const struct deployment_set *a = *(struct deployment_set *const *)va;
    const struct deployment_set *b = *(struct deployment_set *const *)vb;
    return a->revision != b->revision ? (a->revision < b->revision ? -1 : 1) : by_age(a, b);
}

size_t deployment_excess(struct deployment *d, int64_t limit)
{
    size_t n_kept = 0, n = 0;
    for (size_t i = 0; i < d->n_old; i++)
        n_kept += !d->old[i]->is_deleting;
    size_t n_excess = (int64_t)n_kept > limit ? n_kept - (size_t)limit : 0;
    if (n_excess == 0)
        return 0;
    qsort(d->old, d->n_old, sizeof *d->old, by_revision);
    for (size_t i = 0, n_seen = 0; i < d->n_old && n_seen < n_excess; i++) {
        struct deployment_set *s = d->old[i];
        if (s->is_deleting)
            continue;
        n_seen++;
        if (s->actual != 0 || s->replicas != 0 || !s->is_observed)
            continue;
        d->old[i] = d->old[n];
        d->old[n++] = s;
    }
    return n;
}

/* ---------------------------------------------------------------- templates */

static uint32_t fnv1a(uint32_t hash, const void *p, size_t n)
{
    const uint8_t *at = p;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * 16777619u;
    return hash;
}

struct str deployment_hash(struct arena *a, const struct json *template, int64_t collisions)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789"; /* Go's rand.SafeEncodeString() */
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    (void)json_write_sorted(&text, template);
    uint32_t hash = fnv1a(2166136261u, buf_cstr(&text), text.n);
    if (collisions)
        hash = fnv1a(hash, &collisions, sizeof collisions);
    char *encoded = arena_printf(a, "%u", hash);
    for (char *p = encoded; *p; p++)
        *p = letters[(unsigned char)*p % (sizeof letters - 1)];
    return str_of(encoded);
}

static struct json *without_hash(struct arena *a, const struct json *template)
{
    const struct json *from = json_getc(template, "metadata");
    struct json *meta = from ? json_copy(a, from) : json_new_object(a),
                *stamp = json_getc(meta, "creationTimestamp");
    (void)json_del(json_getc(meta, "labels"), STR(DEPLOYMENT_HASH_LABEL));
    if (json_is(stamp, JSON_NULL))
        (void)json_remove(meta, stamp);
    return meta;
}

bool deployment_same_template(const struct json *a, const struct json *b)
{
    struct arena arena = { 0 };
    const struct json *spec_a = json_getc(a, "spec"), *spec_b = json_getc(b, "spec");
    bool same = spec_a && spec_b && json_equal(spec_a, spec_b) &&
                json_equal(without_hash(&arena, a), without_hash(&arena, b));
    arena_fini(&arena);
    return same;
}
