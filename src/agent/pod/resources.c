/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and limits, and what control groups get from them. */
#include "agent/pod/resources.h"

#include "kube/model/quantity.h"

enum {
    SHARES_PER_CPU = 1024,
    OOM_GUARANTEED = -997,
    OOM_BEST_EFFORT = 1000,
};

/* ---------------------------------------------------------------- amounts */

static int64_t add(int64_t a, int64_t b)
{
    int64_t sum;
    if (a == POD_AMOUNT_NONE || b == POD_AMOUNT_NONE)
        return MAX(a, b);
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static struct pod_amounts sum_of(struct pod_amounts a, struct pod_amounts b)
{
    return (struct pod_amounts){ add(a.cpu_milli, b.cpu_milli), add(a.memory_bytes, b.memory_bytes),
                                 add(a.ephemeral_bytes, b.ephemeral_bytes) };
}

/* POD_AMOUNT_NONE is below every amount. */
static struct pod_amounts max_of(struct pod_amounts a, struct pod_amounts b)
{
    return (struct pod_amounts){ MAX(a.cpu_milli, b.cpu_milli), MAX(a.memory_bytes, b.memory_bytes),
                                 MAX(a.ephemeral_bytes, b.ephemeral_bytes) };
}

static int read_amounts(const struct pod_quantity *list, size_t n, struct pod_amounts *ret,
                        struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        struct quantity q;
        int r = quantity_parse(list[i].text, &q, err);
        if (r < 0)
            return err_ctx(err, r, "resource '" STR_FMT "'", STR_ARG(list[i].name));
        if (q.nano < 0)
            return err_set(err, E_INVALID, "resource '" STR_FMT "' is negative",
                           STR_ARG(list[i].name));
        if (str_is(list[i].name, "cpu"))
            ret->cpu_milli = quantity_milli(q);
        else if (str_is(list[i].name, "memory"))
            ret->memory_bytes = quantity_value(q);
        else if (str_is(list[i].name, "ephemeral-storage"))
            ret->ephemeral_bytes = quantity_value(q);
    }
    return 0;
}

static void default_to(int64_t *request, int64_t limit)
{
    if (*request == POD_AMOUNT_NONE)
        *request = limit;
}

static int read_need(const struct pod_resources *from, struct pod_need *ret, struct err *err)
{
    struct pod_need n = { POD_AMOUNTS_NONE, POD_AMOUNTS_NONE };
    int r = read_amounts(from->requests, from->n_requests, &n.requests, err);
    if (r == 0)
        r = read_amounts(from->limits, from->n_limits, &n.limits, err);
    if (r < 0)
        return r;
    *ret = n;
    return 0;
}

int pod_need_of_container(const struct pod_container *c, struct pod_need *ret, struct err *err)
{
    int r = read_need(&c->resources, ret, err);
    if (r < 0)
        return err_ctx(err, r, "container '" STR_FMT "'", STR_ARG(c->name));
    default_to(&ret->requests.cpu_milli, ret->limits.cpu_milli);
    default_to(&ret->requests.memory_bytes, ret->limits.memory_bytes);
    default_to(&ret->requests.ephemeral_bytes, ret->limits.ephemeral_bytes);
    return 0;
}

/* ---------------------------------------------------------------- a whole pod */

struct totals {
    struct pod_need sum;      /* main containers and sidecars */
    struct pod_need sidecars; /* those so far */
    struct pod_need initial;  /* the most that an init container needs with them */
};

static struct pod_need sum_need(struct pod_need a, struct pod_need b)
{
    return (struct pod_need){ sum_of(a.requests, b.requests), sum_of(a.limits, b.limits) };
}
static struct pod_need max_need(struct pod_need a, struct pod_need b)
{
    return (struct pod_need){ max_of(a.requests, b.requests), max_of(a.limits, b.limits) };
}

static void add_container(struct totals *t, const struct pod_container *c, struct pod_need need)
{
    if (c->kind == POD_CONTAINER_MAIN || c->is_sidecar)
        t->sum = sum_need(t->sum, need);
    if (c->is_sidecar)
        t->sidecars = sum_need(t->sidecars, need);
    if (c->kind == POD_CONTAINER_INIT)
        t->initial =
            max_need(t->initial, c->is_sidecar ? t->sidecars : sum_need(t->sidecars, need));
}

/* Ephemeral containers have no resources of their own. */
static int sum_containers(const struct pod_spec *p, struct pod_need *ret, struct err *err)
{
    const struct pod_need none = { POD_AMOUNTS_NONE, POD_AMOUNTS_NONE };
    struct totals t = { none, none, none };
    const struct pod_container *c;
    for (size_t i = 0; i < p->n_init + p->n_main && (c = pod_spec_at(p, i)); i++) {
        struct pod_need need;
        int r = pod_need_of_container(c, &need, err);
        if (r < 0)
            return r;
        add_container(&t, c, need);
    }
    *ret = max_need(t.sum, t.initial);
    return 0;
}

static void replace(int64_t *sum, int64_t own)
{
    if (own != POD_AMOUNT_NONE)
        *sum = own;
}

/* The pod's own CPU and memory replace the sums; other resources cannot be stated for a pod. */
static void apply_own(struct pod_need *sum, const struct pod_need *own)
{
    replace(&sum->limits.cpu_milli, own->limits.cpu_milli);
    replace(&sum->limits.memory_bytes, own->limits.memory_bytes);
    replace(&sum->requests.cpu_milli, own->requests.cpu_milli);
    replace(&sum->requests.memory_bytes, own->requests.memory_bytes);
    default_to(&sum->requests.cpu_milli, own->limits.cpu_milli);
    default_to(&sum->requests.memory_bytes, own->limits.memory_bytes);
}

static int64_t add_if_stated(int64_t limit, int64_t overhead)
{
    return limit > 0 ? add(limit, overhead) : limit;
}

int pod_need_of_pod(const struct pod_spec *p, struct pod_need *ret, struct err *err)
{
    struct pod_need sum, own;
    struct pod_amounts overhead = POD_AMOUNTS_NONE;
    int r = sum_containers(p, &sum, err);
    if (r == 0)
        r = read_need(&p->resources, &own, err);
    if (r == 0)
        r = read_amounts(p->overhead, p->n_overhead, &overhead, err);
    if (r < 0)
        return r;
    apply_own(&sum, &own);
    sum.requests = sum_of(sum.requests, overhead);
    sum.limits.cpu_milli = add_if_stated(sum.limits.cpu_milli, overhead.cpu_milli);
    sum.limits.memory_bytes = add_if_stated(sum.limits.memory_bytes, overhead.memory_bytes);
    sum.limits.ephemeral_bytes =
        add_if_stated(sum.limits.ephemeral_bytes, overhead.ephemeral_bytes);
    *ret = sum;
    return 0;
}

/* ---------------------------------------------------------------- QoS class */

struct qos_sums {
    int64_t cpu_request, cpu_limit, memory_request, memory_limit; /* 0: none */
    bool is_limited; /* every part has limits of CPU and memory */
};

static void qos_add(struct qos_sums *s, const struct pod_need *need)
{
    s->cpu_request = add(s->cpu_request, MAX(need->requests.cpu_milli, 0));
    s->memory_request = add(s->memory_request, MAX(need->requests.memory_bytes, 0));
    s->cpu_limit = add(s->cpu_limit, MAX(need->limits.cpu_milli, 0));
    s->memory_limit = add(s->memory_limit, MAX(need->limits.memory_bytes, 0));
    s->is_limited = s->is_limited && need->limits.cpu_milli > 0 && need->limits.memory_bytes > 0;
}

static bool has_own_resources(const struct pod_need *own)
{
    return own->requests.cpu_milli >= 0 || own->requests.memory_bytes >= 0 ||
           own->limits.cpu_milli >= 0 || own->limits.memory_bytes >= 0;
}

static enum pod_qos qos_of(const struct qos_sums *s)
{
    if (!s->cpu_request && !s->memory_request && !s->cpu_limit && !s->memory_limit)
        return POD_QOS_BEST_EFFORT;
    if (s->is_limited && s->cpu_request == s->cpu_limit && s->memory_request == s->memory_limit)
        return POD_QOS_GUARANTEED;
    return POD_QOS_BURSTABLE;
}

/* A quantity that does not parse counts as missing; starting the container reports it. */
enum pod_qos pod_qos_class(const struct pod_spec *p)
{
    const struct pod_need none = { POD_AMOUNTS_NONE, POD_AMOUNTS_NONE };
    struct qos_sums sums = { .is_limited = true };
    struct pod_need need = none;
    const struct pod_container *c;
    if (read_need(&p->resources, &need, NULL) == 0 && has_own_resources(&need)) {
        default_to(&need.requests.cpu_milli, need.limits.cpu_milli);
        default_to(&need.requests.memory_bytes, need.limits.memory_bytes);
        qos_add(&sums, &need);
        return qos_of(&sums);
    }
    for (size_t i = 0; i < p->n_init + p->n_main && (c = pod_spec_at(p, i)); i++) {
        if (pod_need_of_container(c, &need, NULL) < 0)
            need = none;
        qos_add(&sums, &need);
    }
    return qos_of(&sums);
}

const char *pod_qos_name(enum pod_qos qos)
{
    switch (qos) {
    case POD_QOS_GUARANTEED:
        return "Guaranteed";
    case POD_QOS_BURSTABLE:
        return "Burstable";
    case POD_QOS_BEST_EFFORT:
        return "BestEffort";
    }
    return "";
}

/* ---------------------------------------------------------------- control groups */

uint64_t pod_cpu_shares(int64_t cpu_milli)
{
    if (cpu_milli <= 0)
        return POD_CPU_SHARES_MIN;
    __int128 shares = (__int128)cpu_milli * SHARES_PER_CPU / 1000;
    return (uint64_t)MIN(MAX(shares, POD_CPU_SHARES_MIN), POD_CPU_SHARES_MAX);
}

int64_t pod_cpu_quota_us(int64_t cpu_milli)
{
    if (cpu_milli <= 0)
        return 0;
    __int128 quota = (__int128)cpu_milli * POD_CPU_PERIOD_US / 1000;
    return (int64_t)MIN(MAX(quota, POD_CPU_QUOTA_MIN_US), INT64_MAX);
}

uint64_t pod_cpu_weight(uint64_t shares)
{
    uint64_t s = MIN(MAX(shares, (uint64_t)POD_CPU_SHARES_MIN), (uint64_t)POD_CPU_SHARES_MAX);
    return 1 + (s - POD_CPU_SHARES_MIN) * 9999 / (POD_CPU_SHARES_MAX - POD_CPU_SHARES_MIN);
}

/* Whether every container, or the pod itself, states the limits. */
static void find_declared(const struct pod_spec *p, bool *ret_cpu, bool *ret_memory)
{
    struct pod_need need;
    const struct pod_container *c;
    *ret_cpu = *ret_memory = true;
    for (size_t i = 0; i < p->n_init + p->n_main && (c = pod_spec_at(p, i)); i++) {
        bool known = pod_need_of_container(c, &need, NULL) == 0;
        *ret_cpu = *ret_cpu && known && need.limits.cpu_milli > 0;
        *ret_memory = *ret_memory && known && need.limits.memory_bytes > 0;
    }
    if (read_need(&p->resources, &need, NULL) < 0)
        return;
    *ret_cpu = *ret_cpu || need.limits.cpu_milli > 0;
    *ret_memory = *ret_memory || need.limits.memory_bytes > 0;
}

int pod_cgroup_of_pod(const struct pod_spec *p, struct pod_cgroup *ret, struct err *err)
{
    struct pod_need need;
    bool has_cpu, has_memory;
    int r = pod_need_of_pod(p, &need, err);
    if (r < 0)
        return r;
    *ret = (struct pod_cgroup){ .cpu_shares = POD_CPU_SHARES_MIN };
    if (pod_qos_class(p) == POD_QOS_BEST_EFFORT)
        return 0;
    find_declared(p, &has_cpu, &has_memory);
    ret->cpu_shares = pod_cpu_shares(need.requests.cpu_milli);
    if (has_cpu)
        ret->cpu_quota_us = pod_cpu_quota_us(need.limits.cpu_milli);
    if (has_memory)
        ret->memory_bytes = MAX(need.limits.memory_bytes, 0);
    return 0;
}

/* A container without limits has those of its pod. */
int pod_cgroup_of_container(const struct pod_spec *p, const struct pod_container *c,
                            struct pod_cgroup *ret, struct err *err)
{
    struct pod_need need, own;
    int r = pod_need_of_container(c, &need, err);
    if (r == 0)
        r = read_need(&p->resources, &own, err);
    if (r < 0)
        return r;
    int64_t cpu = need.limits.cpu_milli > 0 ? need.limits.cpu_milli : own.limits.cpu_milli;
    int64_t memory =
        need.limits.memory_bytes > 0 ? need.limits.memory_bytes : own.limits.memory_bytes;
    *ret = (struct pod_cgroup){ .cpu_shares = pod_cpu_shares(need.requests.cpu_milli),
                                .cpu_quota_us = pod_cpu_quota_us(cpu),
                                .memory_bytes = MAX(memory, 0) };
    return 0;
}

struct str pod_cgroup_path(struct arena *a, const struct pod_spec *p)
{
    static const char *const parents[] = { [POD_QOS_GUARANTEED] = "",
                                           [POD_QOS_BURSTABLE] = "burstable/",
                                           [POD_QOS_BEST_EFFORT] = "besteffort/" };
    return str_of(arena_printf(a, "%spod" STR_FMT, parents[pod_qos_class(p)], STR_ARG(p->uid)));
}

/* ---------------------------------------------------------------- oom_score_adj */

static int64_t memory_request(const struct pod_container *c)
{
    struct pod_need need;
    return pod_need_of_container(c, &need, NULL) < 0 ? 0 : MAX(need.requests.memory_bytes, 0);
}

/* The pod's own request minus those of its containers, divided among them. */
static int64_t undivided_request(const struct pod_spec *p)
{
    struct pod_need own, sum;
    size_t n = p->n_main + p->n_init;
    if (n == 0 || read_need(&p->resources, &own, NULL) < 0 || own.requests.memory_bytes <= 0 ||
        sum_containers(p, &sum, NULL) < 0)
        return 0;
    int64_t rest = own.requests.memory_bytes - MAX(sum.requests.memory_bytes, 0);
    return MAX(rest, 0) / (int64_t)n;
}

static int64_t adjust_of(int64_t request, int64_t memory_bytes)
{
    return 1000 - (int64_t)MIN((__int128)request * 1000 / memory_bytes, (__int128)2000);
}

/* The adjustment of the main container with the smallest request. */
static int64_t main_adjust(const struct pod_spec *p, int64_t rest, int64_t memory_bytes)
{
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < p->n_main; i++)
        least = MIN(least, memory_request(&p->main[i]));
    return adjust_of(add(least, rest), memory_bytes);
}

int pod_oom_score_adj(const struct pod_spec *p, const struct pod_container *c, int64_t memory_bytes)
{
    enum pod_qos qos = pod_qos_class(p);
    if (qos == POD_QOS_GUARANTEED || str_is(p->priority_class, "system-node-critical"))
        return OOM_GUARANTEED;
    if (qos == POD_QOS_BEST_EFFORT || memory_bytes <= 0)
        return OOM_BEST_EFFORT;
    int64_t rest = undivided_request(p);
    int64_t adjust = adjust_of(add(memory_request(c), rest), memory_bytes);
    if (c->is_sidecar) /* it must not be killed before the containers that need it */
        adjust = MIN(adjust, main_adjust(p, rest, memory_bytes));
    return (int)MIN(MAX(adjust, 1000 + OOM_GUARANTEED), OOM_BEST_EFFORT - 1);
}
