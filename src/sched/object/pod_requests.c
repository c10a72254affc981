/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of a pod: the sum of its containers and sidecars, or what an init container needs
 * while it runs, whichever is more; then the pod-level resources, then the overhead. While a
 * container is resized, the largest of the requested, allocated and actual amounts counts.
 *
 * Exact: quantities are summed and rounded up once at the end. A second sum uses 100m and 200 MiB
 * for containers without a CPU or memory request, for scores. Upstream: PodRequests of
 * component-helpers, PodInfo.CalculateResource.
 */
#include "kube/model/quantity.h"
#include "sched/object/pack.h"

enum amount { CPU, MEMORY, EPHEMERAL, N_AMOUNTS };
static const struct str amount_names[N_AMOUNTS] = { { "cpu", 3 },
                                                    { "memory", 6 },
                                                    { "ephemeral-storage", 17 } };
#define NANO ((__int128)1000000000)
static const __int128 nonzero[N_AMOUNTS] = {
    [CPU] = NANO / 10, [MEMORY] = 200 * 1024 * 1024 * NANO
};

struct scalar {
    struct str name;
    __int128 nano;
};
/* The amounts of a resource list, in units of 1e-9. */
struct pod_requests_list {
    __int128 nano[N_AMOUNTS];
    bool has[N_AMOUNTS];
    struct scalar *scalars;
    uint32_t n_scalars, cap_scalars;
};

struct pod_requests_reader {
    struct arena *arena;
    const struct sched_pod_json *json;
    bool is_infeasible; /* a resize that will never happen */
    struct err *err;
};

/* ---- lists ---- */

static struct scalar *scalar_of(struct pod_requests_reader *r, struct pod_requests_list *l,
                                struct str name)
{
    for (uint32_t i = 0; i < l->n_scalars; i++)
        if (str_eq(l->scalars[i].name, name))
            return &l->scalars[i];
    if (l->n_scalars == l->cap_scalars) {
        struct scalar *old = l->scalars;
        l->cap_scalars = old ? l->cap_scalars * 2 : 4;
        l->scalars = arena_new_n(r->arena, struct scalar, l->cap_scalars);
        if (old)
            memcpy(l->scalars, old, l->n_scalars * sizeof(*old));
    }
    l->scalars[l->n_scalars] = (struct scalar){ .name = name };
    return &l->scalars[l->n_scalars++];
}

static int list_read(struct pod_requests_reader *r, const struct json *json,
                     struct pod_requests_list *ret)
{
    *ret = (struct pod_requests_list){ 0 };
    json_each (m, json) {
        __int128 nano;
        if (sched_quantity_nano(sched_quantity_text(m), &nano, r->err) < 0)
            return err_ctx(r->err, E_INVALID, "resources[" STR_FMT "]", STR_ARG(m->key));
        if (nano < 0)
            return err_set(r->err, E_INVALID,
                           "resources[" STR_FMT "]: must be greater than or equal to 0",
                           STR_ARG(m->key));
        size_t i = 0;
        while (i < N_AMOUNTS && !str_eq(m->key, amount_names[i]))
            i++;
        if (i < N_AMOUNTS) {
            ret->nano[i] = nano;
            ret->has[i] = true;
        } else if (sched_is_scalar(m->key)) {
            scalar_of(r, ret, m->key)->nano = nano;
        }
    }
    return 0;
}

static void list_add(struct pod_requests_reader *r, struct pod_requests_list *to,
                     const struct pod_requests_list *from)
{
    for (size_t i = 0; i < N_AMOUNTS; i++) {
        to->nano[i] += from->nano[i];
        to->has[i] |= from->has[i];
    }
    for (uint32_t i = 0; i < from->n_scalars; i++)
        scalar_of(r, to, from->scalars[i].name)->nano += from->scalars[i].nano;
}

static void list_max(struct pod_requests_reader *r, struct pod_requests_list *to,
                     const struct pod_requests_list *from)
{
    for (size_t i = 0; i < N_AMOUNTS; i++) {
        to->nano[i] = MAX(to->nano[i], from->nano[i]);
        to->has[i] |= from->has[i];
    }
    for (uint32_t i = 0; i < from->n_scalars; i++) {
        struct scalar *s = scalar_of(r, to, from->scalars[i].name);
        s->nano = MAX(s->nano, from->scalars[i].nano);
    }
}

/* ---- resizing ---- */

static bool is_resize_infeasible(const struct json *conditions)
{
    json_each (m, conditions)
        if (str_eq(json_get_str(m, "type"), STR("PodResizePending")))
            return str_eq(json_get_str(m, "reason"), STR("Infeasible"));
    return false;
}

/* The largest of the requested (unless infeasible), actual and allocated amounts. */
static int effective(struct pod_requests_reader *r, const struct json *asked,
                     const struct json *actuated, const struct json *granted,
                     struct pod_requests_list *ret)
{
    struct pod_requests_list l;
    *ret = (struct pod_requests_list){ 0 };
    const struct json *of[] = { r->is_infeasible ? NULL : asked, actuated, granted };
    for (size_t i = 0; i < ARRAY_LEN(of); i++) {
        int e = list_read(r, of[i], &l);
        if (e < 0)
            return e;
        list_max(r, ret, &l);
    }
    return 0;
}

static const struct json *status_of(const struct json *statuses, struct str name)
{
    json_each (m, statuses)
        if (str_eq(json_get_str(m, "name"), name))
            return m;
    return NULL;
}

static int container_requests(struct pod_requests_reader *r, const struct json *c,
                              bool may_be_resized, struct pod_requests_list *ret)
{
    const struct json *asked = json_path(c, "resources", "requests", NULL);
    if (may_be_resized && (r->json->statuses || r->json->init_statuses)) {
        struct str name = json_get_str(c, "name");
        const struct json *status = status_of(r->json->init_statuses, name);
        if (!status)
            status = status_of(r->json->statuses, name);
        const struct json *resources = json_getc(status, "resources");
        if (json_is(resources, JSON_OBJECT))
            return effective(r, asked, json_getc(resources, "requests"),
                             json_getc(status, "allocatedResources"), ret);
    }
    return list_read(r, asked, ret);
}

/* ---- the sum ---- */

/* The amounts, and CPU and memory again with defaults for containers without a request. */
struct pod_requests_sum {
    struct pod_requests_list list;
    __int128 with_defaults[2];
};

static void sum_add(struct pod_requests_reader *r, struct pod_requests_sum *to,
                    const struct pod_requests_sum *from)
{
    list_add(r, &to->list, &from->list);
    to->with_defaults[CPU] += from->with_defaults[CPU];
    to->with_defaults[MEMORY] += from->with_defaults[MEMORY];
}

static void sum_max(struct pod_requests_reader *r, struct pod_requests_sum *to,
                    const struct pod_requests_sum *from)
{
    list_max(r, &to->list, &from->list);
    for (size_t i = 0; i < 2; i++)
        to->with_defaults[i] = MAX(to->with_defaults[i], from->with_defaults[i]);
}

static int container_sum(struct pod_requests_reader *r, const struct json *c, bool may_be_resized,
                         struct pod_requests_sum *ret)
{
    int e = container_requests(r, c, may_be_resized, &ret->list);
    if (e < 0)
        return err_ctx(r->err, e, "container '" STR_FMT "'", STR_ARG(json_get_str(c, "name")));
    for (size_t i = 0; i < 2; i++)
        ret->with_defaults[i] = ret->list.has[i] ? ret->list.nano[i] : nonzero[i];
    return 0;
}

static int sum_containers(struct pod_requests_reader *r, struct pod_requests_sum *ret)
{
    struct pod_requests_sum sidecars = { 0 }, init = { 0 }, one;
    json_each (c, r->json->containers) {
        int e = container_sum(r, c, true, &one);
        if (e < 0)
            return e;
        sum_add(r, ret, &one);
    }
    json_each (c, r->json->init_containers) {
        bool is_sidecar = str_eq(json_get_str(c, "restartPolicy"), STR("Always"));
        int e = container_sum(r, c, is_sidecar, &one);
        if (e < 0)
            return e;
        if (is_sidecar) {
            sum_add(r, ret, &one);
            sum_add(r, &sidecars, &one);
            sum_max(r, &init, &sidecars);
        } else {
            sum_add(r, &one, &sidecars);
            sum_max(r, &init, &one);
        }
    }
    sum_max(r, ret, &init);
    return 0;
}

/* ---- pod-level resources ---- */

static bool is_pod_level(struct str name)
{
    return str_eq(name, amount_names[CPU]) || str_eq(name, amount_names[MEMORY]) ||
           str_has_prefix(name, STR("hugepages-"));
}

/* Pod-level resources replace the sum. *ret_is_set: the pod has any. */
static int pod_level(struct pod_requests_reader *r, struct pod_requests_sum *sum, bool *ret_is_set)
{
    const struct json *asked = json_getc(r->json->resources, "requests");
    struct pod_requests_list l;
    bool is_resized = json_is(r->json->actuated, JSON_OBJECT);
    int e = is_resized ? effective(r, asked, json_getc(r->json->actuated, "requests"),
                                   r->json->allocated, &l)
                       : list_read(r, asked, &l);
    if (e < 0)
        return err_ctx(r->err, e, "spec.resources");
    json_each (m, asked) {
        if (!is_pod_level(m->key))
            continue;
        *ret_is_set = true;
        for (size_t i = 0; i < 2; i++)
            if (str_eq(m->key, amount_names[i])) {
                sum->list.nano[i] = sum->with_defaults[i] = l.nano[i];
                sum->list.has[i] = true;
            }
        if (sched_is_scalar(m->key))
            scalar_of(r, &sum->list, m->key)->nano = scalar_of(r, &l, m->key)->nano;
    }
    return 0;
}

static void take_amounts(struct intern_table *w, struct pod_requests_reader *r,
                         const struct pod_requests_list *l, struct sched_amounts *ret)
{
    ret->milli_cpu = quantity_milli((struct quantity){ .nano = l->nano[CPU] });
    ret->memory = quantity_value((struct quantity){ .nano = l->nano[MEMORY] });
    ret->ephemeral = quantity_value((struct quantity){ .nano = l->nano[EPHEMERAL] });
    ret->scalars = SCHED_ARRAY(r->arena, struct sched_scalar, l->n_scalars);
    for (uint32_t i = 0; i < l->n_scalars; i++)
        ret->scalars[ret->n_scalars++] = (struct sched_scalar){
            intern_get(w, l->scalars[i].name),
            quantity_value((struct quantity){ .nano = l->scalars[i].nano }),
        };
    sched_amounts_sort(ret);
}

int sched_pod_read_requests(struct intern_table *w, struct arena *a, const struct sched_pod_json *j,
                            struct sched_pod *p, struct err *err)
{
    struct pod_requests_reader r = { a, j, is_resize_infeasible(j->conditions), err };
    struct pod_requests_sum sum = { 0 };
    struct pod_requests_list overhead;
    bool is_set = false;
    int e = sum_containers(&r, &sum);
    __int128 of_containers[2] = { sum.with_defaults[CPU], sum.with_defaults[MEMORY] };
    if (e >= 0 && json_is(j->resources, JSON_OBJECT))
        e = pod_level(&r, &sum, &is_set);
    if (e >= 0)
        e = list_read(&r, j->overhead, &overhead);
    if (e < 0)
        return e;
    list_add(&r, &sum.list, &overhead);
    for (size_t i = 0; i < 2; i++) {
        sum.with_defaults[i] += overhead.nano[i];
        /* A pod with pod-level resources gets defaults only for resources without any request. */
        if (is_set && sum.list.has[i])
            sum.with_defaults[i] = sum.list.nano[i];
    }
    if (is_set) {
        p->container_nonzero = SCHED_ARRAY(a, int64_t, 2);
        p->container_nonzero[CPU] =
            quantity_milli((struct quantity){ .nano = of_containers[CPU] + overhead.nano[CPU] });
        p->container_nonzero[MEMORY] = quantity_value(
            (struct quantity){ .nano = of_containers[MEMORY] + overhead.nano[MEMORY] });
    }
    take_amounts(w, &r, &sum.list, &p->requests);
    for (size_t i = 0; i < N_AMOUNTS; i++)
        p->names_requests |= (uint8_t)(sum.list.has[i] << i);
    p->nonzero_milli_cpu = quantity_milli((struct quantity){ .nano = sum.with_defaults[CPU] });
    p->nonzero_memory = quantity_value((struct quantity){ .nano = sum.with_defaults[MEMORY] });
    return 0;
}
