/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pod/eviction.h"

#include "agent/pod/resources.h"
#include "kube/model/quantity.h"

#include <stdio.h>

/* ---------------------------------------------------------------- the machine runs short */

bool pod_is_critical(const struct pod_spec *p)
{
    return p->priority >= POD_PRIORITY_CRITICAL;
}

static uint64_t excess(const struct pod_eviction_candidate *c)
{
    return c->used > c->requested ? c->used - c->requested : 0;
}

/* a is ended rather than b. */
static bool is_before(enum pod_eviction_resource resource, const struct pod_eviction_candidate *a,
                      const struct pod_eviction_candidate *b)
{
    bool counts_requests = resource != POD_EVICTION_PROCESSES;
    if (counts_requests && (excess(a) > 0) != (excess(b) > 0))
        return excess(a) > 0;
    if (a->priority != b->priority)
        return a->priority < b->priority;
    return counts_requests && excess(a) != excess(b) ? excess(a) > excess(b) : a->used > b->used;
}

size_t pod_eviction_choose(enum pod_eviction_resource resource,
                           const struct pod_eviction_candidate *list, size_t n)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!list[i].is_protected &&
            (best == SIZE_MAX || is_before(resource, &list[i], &list[best])))
            best = i;
    }
    return best;
}

/* ---------------------------------------------------------------- storage */

static int64_t limit_of(const struct pod_volume *v)
{
    struct quantity q;
    if (v->kind != POD_VOLUME_EMPTY_DIR || v->in_memory || !v->size_limit.n ||
        quantity_parse(v->size_limit, &q, NULL) < 0)
        return POD_AMOUNT_NONE;
    int64_t n = quantity_value(q);
    return n > 0 ? n : POD_AMOUNT_NONE;
}

static struct pod_need need_of(const struct pod_container *c)
{
    struct pod_need need = { POD_AMOUNTS_NONE, POD_AMOUNTS_NONE };
    (void)pod_need_of_container(c, &need, NULL);
    return need;
}

static struct pod_need need_of_pod(const struct pod_spec *p)
{
    struct pod_need need = { POD_AMOUNTS_NONE, POD_AMOUNTS_NONE };
    (void)pod_need_of_pod(p, &need, NULL);
    return need;
}

bool pod_storage_is_limited(const struct pod_spec *p)
{
    const struct pod_container *c;
    for (size_t i = 0; i < p->n_volumes; i++) {
        if (limit_of(&p->volumes[i]) != POD_AMOUNT_NONE)
            return true;
    }
    for (size_t i = 0; (c = pod_spec_at(p, i)); i++) {
        if (need_of(c).limits.ephemeral_bytes > 0)
            return true;
    }
    return need_of_pod(p).limits.ephemeral_bytes > 0;
}

uint64_t pod_storage_requested(const struct pod_spec *p)
{
    return (uint64_t)MAX(need_of_pod(p).requests.ephemeral_bytes, 0);
}

/* The sum that the pod may use; the limits of all containers, if each of them has one. */
static int64_t pod_limit(const struct pod_spec *p)
{
    for (size_t i = 0; i < p->n_main; i++) {
        if (need_of(&p->main[i]).limits.ephemeral_bytes <= 0)
            return POD_AMOUNT_NONE;
    }
    return need_of_pod(p).limits.ephemeral_bytes;
}

static struct str limit_text(const struct pod_container *c)
{
    for (size_t i = 0; i < c->resources.n_limits; i++) {
        if (str_is(c->resources.limits[i].name, "ephemeral-storage"))
            return c->resources.limits[i].text;
    }
    return STR("");
}

static bool volume_exceeds(const struct pod_spec *p, const struct pod_storage *s, char *text)
{
    const struct pod_volume *v = pod_spec_volume(p, s->name);
    int64_t limit = v ? limit_of(v) : POD_AMOUNT_NONE;
    if (limit == POD_AMOUNT_NONE || s->used <= (uint64_t)limit)
        return false;
    (void)snprintf(text, POD_EVICTION_TEXT_MAX,
                   "Usage of EmptyDir volume \"" STR_FMT "\" exceeds the limit \"" STR_FMT "\". ",
                   STR_ARG(v->name), STR_ARG(v->size_limit));
    return true;
}

static bool container_exceeds(const struct pod_spec *p, const struct pod_storage *s, char *text)
{
    const struct pod_container *c = pod_spec_container(p, s->name);
    int64_t limit = c ? need_of(c).limits.ephemeral_bytes : POD_AMOUNT_NONE;
    if (limit <= 0 || s->used <= (uint64_t)limit)
        return false;
    (void)snprintf(text, POD_EVICTION_TEXT_MAX,
                   "Container " STR_FMT " exceeded its local ephemeral storage limit \"" STR_FMT
                   "\". ",
                   STR_ARG(c->name), STR_ARG(limit_text(c)));
    return true;
}

bool pod_storage_exceeds(const struct pod_spec *p, const struct pod_storage *volumes,
                         size_t n_volumes, const struct pod_storage *containers,
                         size_t n_containers, char *text)
{
    int64_t limit = pod_limit(p);
    uint64_t sum = 0;
    for (size_t i = 0; i < n_volumes; i++) {
        if (volume_exceeds(p, &volumes[i], text))
            return true;
        sum += volumes[i].is_ephemeral ? volumes[i].used : 0;
    }
    for (size_t i = 0; i < n_containers; i++)
        sum += containers[i].used;
    if (limit > 0 && sum > (uint64_t)limit) {
        (void)snprintf(text, POD_EVICTION_TEXT_MAX,
                       "Pod ephemeral local storage usage exceeds the total limit of containers "
                       "%lld. ",
                       (long long)limit);
        return true;
    }
    for (size_t i = 0; i < n_containers; i++) {
        if (container_exceeds(p, &containers[i], text))
            return true;
    }
    return false;
}
