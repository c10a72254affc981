/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that scores count; see resource_shares.h. */
#include "sched/plugins/resource_shares.h"

static int read_spec(struct intern_table *w, const struct json *json, struct sched_spec *ret,
                     struct err *err)
{
    struct str name = json_get_str(json, "name");
    int64_t weight = json_int_or(json_getc(json, "weight"), 1);
    if (weight == 0)
        weight = 1; /* upstream's default fills it in */
    if (weight < 0 || weight > 100)
        return err_set(err, E_INVALID, "resource weight of " STR_FMT " not in valid range (0, 100]",
                       STR_ARG(name));
    ret->weight = weight;
    if (str_is(name, "cpu"))
        ret->kind = SCHED_SPEC_CPU;
    else if (str_is(name, "memory"))
        ret->kind = SCHED_SPEC_MEMORY;
    else if (str_is(name, "ephemeral-storage"))
        ret->kind = SCHED_SPEC_EPHEMERAL;
    else
        *ret = (struct sched_spec){ SCHED_SPEC_SCALAR, intern_get(w, name), weight };
    return 0;
}

int sched_specs_read(struct intern_table *w, const struct json *resources, struct sched_specs *ret,
                     struct err *err)
{
    struct sched_specs s = { 0 };
    uint32_t n = json_is(resources, JSON_ARRAY) ? resources->n : 0;
    if (n > SCHED_SPECS_MAX)
        return err_set(err, E_LIMIT, "more than %d resources", SCHED_SPECS_MAX);
    s.p = xnew_n(struct sched_spec, MAX(n, 2));
    json_each (e, resources) {
        int r = read_spec(w, e, &s.p[s.n], err);
        if (r < 0) {
            sched_specs_fini(w, &s);
            return r;
        }
        s.n++;
    }
    if (s.n == 0) {
        s.p[s.n++] = (struct sched_spec){ SCHED_SPEC_CPU, NULL, 1 };
        s.p[s.n++] = (struct sched_spec){ SCHED_SPEC_MEMORY, NULL, 1 };
    }
    *ret = s;
    return 0;
}

void sched_specs_fini(struct intern_table *w, struct sched_specs *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        intern_unref(w, s->p[i].name);
    free(s->p);
    *s = (struct sched_specs){ 0 };
}

const int64_t *sched_specs_requests(const struct sched_specs *s, struct arena *a,
                                    const struct sched_pod *pod, bool nonzero)
{
    int64_t *ret = arena_new_n(a, int64_t, s->n);
    const int64_t containers[2] = { pod->nonzero_milli_cpu, pod->nonzero_memory };
    const int64_t *assumed = pod->container_nonzero ? pod->container_nonzero : containers;
    for (uint32_t i = 0; i < s->n; i++) {
        switch (s->p[i].kind) {
        case SCHED_SPEC_CPU:
            ret[i] = nonzero ? assumed[0] : pod->requests.milli_cpu;
            break;
        case SCHED_SPEC_MEMORY:
            ret[i] = nonzero ? assumed[1] : pod->requests.memory;
            break;
        case SCHED_SPEC_EPHEMERAL:
            ret[i] = pod->requests.ephemeral;
            break;
        case SCHED_SPEC_SCALAR:
            ret[i] = sched_amounts_scalar(&pod->requests, s->p[i].name);
            break;
        }
    }
    return ret;
}

void sched_specs_shares(const struct sched_specs *s, const int64_t *requests,
                        const struct sched_node_info *node, bool nonzero, struct place_share *ret)
{
    const struct sched_amounts *has = &node->node->allocatable, *promised = &node->requested;
    for (uint32_t i = 0; i < s->n; i++) {
        struct place_share *share = &ret[i];
        share->weight = s->p[i].weight;
        switch (s->p[i].kind) {
        case SCHED_SPEC_CPU:
            share->capacity = has->milli_cpu;
            share->used = nonzero ? node->nonzero_milli_cpu : promised->milli_cpu;
            break;
        case SCHED_SPEC_MEMORY:
            share->capacity = has->memory;
            share->used = nonzero ? node->nonzero_memory : promised->memory;
            break;
        case SCHED_SPEC_EPHEMERAL:
            share->capacity = has->ephemeral;
            share->used = promised->ephemeral;
            break;
        case SCHED_SPEC_SCALAR:
            share->capacity = requests[i] ? sched_amounts_scalar(has, s->p[i].name) : 0;
            share->used = requests[i] ? sched_amounts_scalar(promised, s->p[i].name) : 0;
            break;
        }
    }
}
