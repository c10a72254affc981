/* SPDX-License-Identifier: Apache-2.0 */
/* One node with its pods, and the sum of their requests. */
#include "sched/cache/internal.h"

#include <assert.h>

/* ---- saturating sums ---- */

static void add(int64_t *to, int64_t v)
{
    if (__builtin_add_overflow(*to, v, to))
        *to = INT64_MAX;
}

static void add_scalar(struct sched_amounts *to, struct intern *name, int64_t value)
{
    uint32_t i = 0;
    while (i < to->n_scalars && to->scalars[i].name < name)
        i++;
    if (i == to->n_scalars || to->scalars[i].name != name) {
        to->scalars = xrealloc(to->scalars, (to->n_scalars + 1) * sizeof(*to->scalars));
        memmove(to->scalars + i + 1, to->scalars + i, (to->n_scalars - i) * sizeof(*to->scalars));
        to->scalars[i] = (struct sched_scalar){ intern_ref(name), 0 };
        to->n_scalars++;
    }
    add(&to->scalars[i].value, value);
}

static void add_amounts(struct sched_node_info *n, const struct sched_pod *pod)
{
    add(&n->requested.milli_cpu, pod->requests.milli_cpu);
    add(&n->requested.memory, pod->requests.memory);
    add(&n->requested.ephemeral, pod->requests.ephemeral);
    add(&n->nonzero_milli_cpu, pod->nonzero_milli_cpu);
    add(&n->nonzero_memory, pod->nonzero_memory);
    for (uint32_t i = 0; i < pod->requests.n_scalars; i++)
        if (pod->requests.scalars[i].value > 0)
            add_scalar(&n->requested, pod->requests.scalars[i].name,
                       pod->requests.scalars[i].value);
}

/* Returns false if the sum has saturated and must be computed again. */
static bool subtract(int64_t *from, int64_t v)
{
    if (*from == INT64_MAX)
        return false;
    assert(v >= 0 && *from >= v); /* it was added before */
    *from -= v;
    return true;
}

static bool subtract_scalar(struct intern_table *w, struct sched_amounts *from,
                            const struct sched_scalar *s)
{
    uint32_t i = 0;
    while (i < from->n_scalars && from->scalars[i].name != s->name)
        i++;
    assert(i < from->n_scalars && from->scalars[i].value >= s->value); /* only pods were added */
    if (!subtract(&from->scalars[i].value, s->value))
        return false;
    if (from->scalars[i].value == 0) {
        intern_unref(w, from->scalars[i].name);
        from->n_scalars--;
        memmove(from->scalars + i, from->scalars + i + 1,
                (from->n_scalars - i) * sizeof(*from->scalars));
    }
    return true;
}

static void subtract_amounts(struct intern_table *w, struct sched_node_info *n,
                             const struct sched_pod *pod)
{
    bool known = subtract(&n->requested.milli_cpu, pod->requests.milli_cpu);
    known &= subtract(&n->requested.memory, pod->requests.memory);
    known &= subtract(&n->requested.ephemeral, pod->requests.ephemeral);
    known &= subtract(&n->nonzero_milli_cpu, pod->nonzero_milli_cpu);
    known &= subtract(&n->nonzero_memory, pod->nonzero_memory);
    for (uint32_t i = 0; i < pod->requests.n_scalars; i++)
        if (pod->requests.scalars[i].value > 0)
            known &= subtract_scalar(w, &n->requested, &pod->requests.scalars[i]);
    if (known)
        return;
    sched_amounts_fini(w, &n->requested);
    n->nonzero_milli_cpu = n->nonzero_memory = 0;
    for (uint32_t i = 0; i < n->n_pods; i++)
        add_amounts(n, n->pods[i]);
}

/* ---- ports ---- */

static bool is_same_port(const struct sched_port *a, const struct sched_port *b)
{
    return a->port == b->port && a->protocol == b->protocol && a->ip == b->ip;
}

static void add_port(struct sched_node_info *n, const struct sched_port *port)
{
    for (uint32_t i = 0; i < n->n_ports; i++)
        if (is_same_port(&n->ports[i].port, port)) {
            n->ports[i].pods++;
            return;
        }
    n->ports = xrealloc(n->ports, (n->n_ports + 1) * sizeof(*n->ports));
    n->ports[n->n_ports++] = (struct sched_used_port){ *port, 1 };
    intern_ref(port->ip);
}

static void remove_port(struct intern_table *w, struct sched_node_info *n,
                        const struct sched_port *port)
{
    uint32_t i = 0;
    while (i < n->n_ports && !is_same_port(&n->ports[i].port, port))
        i++;
    assert(i < n->n_ports && n->ports[i].pods > 0);
    if (--n->ports[i].pods > 0)
        return;
    intern_unref(w, n->ports[i].port.ip);
    n->ports[i] = n->ports[--n->n_ports];
}

static bool is_any_address(const struct intern *ip)
{
    return str_eq(intern_str(ip), STR("0.0.0.0"));
}

bool sched_node_info_port_is_used(const struct sched_node_info *n, const struct sched_port *port)
{
    for (uint32_t i = 0; i < n->n_ports; i++) {
        const struct sched_port *used = &n->ports[i].port;
        if (used->port == port->port && used->protocol == port->protocol &&
            (used->ip == port->ip || is_any_address(used->ip) || is_any_address(port->ip)))
            return true;
    }
    return false;
}

/* ---- pods: those with required anti-affinity, others with affinity, the rest ---- */

static bool has_required_anti(const struct sched_pod *pod)
{
    return pod->required_anti.n > 0;
}

static bool has_affinity(const struct sched_pod *pod)
{
    return pod->required_anti.n > 0 || pod->preferred_anti.n > 0 || pod->required_affinity.n > 0 ||
           pod->preferred_affinity.n > 0;
}

/* To make room, the first pod of each later part moves to the end of its part. */
static void insert_pod(struct sched_node_info *n, const struct sched_pod *pod)
{
    uint32_t at = n->n_pods++;
    if (has_affinity(pod)) {
        n->pods[at] = n->pods[n->n_with_affinity];
        at = n->n_with_affinity++;
    }
    if (has_required_anti(pod)) {
        n->pods[at] = n->pods[n->n_with_required_anti];
        at = n->n_with_required_anti++;
    }
    n->pods[at] = pod;
    assert(n->n_with_required_anti <= n->n_with_affinity && n->n_with_affinity <= n->n_pods);
}

static void extract_pod(struct sched_node_info *n, uint32_t at)
{
    const struct sched_pod *pod = n->pods[at];
    assert(at < n->n_pods);
    assert((at < n->n_with_affinity) == has_affinity(pod));
    assert((at < n->n_with_required_anti) == has_required_anti(pod));
    if (has_required_anti(pod)) {
        n->pods[at] = n->pods[--n->n_with_required_anti];
        at = n->n_with_required_anti;
    }
    if (has_affinity(pod)) {
        n->pods[at] = n->pods[--n->n_with_affinity];
        at = n->n_with_affinity;
    }
    n->pods[at] = n->pods[--n->n_pods];
}

void sched_node_info_add(struct intern_table *w, struct sched_node_info *n,
                         const struct sched_pod *pod)
{
    if (n->n_pods == n->cap_pods) {
        n->cap_pods = MAX(n->cap_pods + n->cap_pods / 2, 4u);
        n->pods = xrealloc(n->pods, n->cap_pods * sizeof(*n->pods));
    }
    insert_pod(n, sched_object_ref((void *)pod));
    add_amounts(n, pod);
    for (uint32_t i = 0; i < pod->n_ports; i++)
        add_port(n, &pod->ports[i]);
    n->generation++;
}

static void remove_at(struct intern_table *w, struct sched_node_info *n, uint32_t at)
{
    const struct sched_pod *pod = n->pods[at];
    extract_pod(n, at);
    subtract_amounts(w, n, pod);
    for (uint32_t i = 0; i < pod->n_ports; i++)
        remove_port(w, n, &pod->ports[i]);
    n->generation++;
    sched_object_unref(w, (void *)pod);
}

bool node_info_remove_pod(struct intern_table *w, struct sched_node_info *n,
                          const struct sched_pod *pod)
{
    for (uint32_t i = 0; i < n->n_pods; i++)
        if (n->pods[i] == pod) {
            remove_at(w, n, i);
            return true;
        }
    return false;
}

bool sched_node_info_remove(struct intern_table *w, struct sched_node_info *n, struct str uid)
{
    for (uint32_t i = 0; i < n->n_pods; i++)
        if (str_eq(n->pods[i]->o.uid, uid)) {
            remove_at(w, n, i);
            return true;
        }
    return false;
}

/* ---- copies ---- */

static void *copy(const void *p, size_t n, size_t size)
{
    return n > 0 ? memcpy(xalloc_n(size, n), p, n * size) : NULL;
}

struct sched_node_info *sched_node_info_clone(struct intern_table *w,
                                              const struct sched_node_info *n)
{
    struct sched_node_info *c = xnew(struct sched_node_info);
    *c = *n;
    c->newer = c->older = NULL;
    c->cap_pods = n->n_pods;
    c->pods = copy(n->pods, n->n_pods, sizeof(*n->pods));
    c->ports = copy(n->ports, n->n_ports, sizeof(*n->ports));
    c->requested.scalars =
        copy(n->requested.scalars, n->requested.n_scalars, sizeof(*n->requested.scalars));
    if (c->node)
        (void)sched_object_ref((void *)c->node);
    for (uint32_t i = 0; i < c->n_pods; i++)
        (void)sched_object_ref((void *)c->pods[i]);
    for (uint32_t i = 0; i < c->n_ports; i++)
        (void)intern_ref(c->ports[i].port.ip);
    for (uint32_t i = 0; i < c->requested.n_scalars; i++)
        (void)intern_ref(c->requested.scalars[i].name);
    return c;
}

void node_info_fini(struct intern_table *w, struct sched_node_info *n)
{
    for (uint32_t i = 0; i < n->n_pods; i++)
        sched_object_unref(w, (void *)n->pods[i]);
    for (uint32_t i = 0; i < n->n_ports; i++)
        intern_unref(w, n->ports[i].port.ip);
    sched_amounts_fini(w, &n->requested);
    sched_object_unref(w, (void *)n->node);
    free(n->pods);
    free(n->ports);
}

void sched_node_info_free(struct intern_table *w, struct sched_node_info *n)
{
    if (!n)
        return;
    node_info_fini(w, n);
    free(n);
}
