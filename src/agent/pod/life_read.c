/* SPDX-License-Identifier: Apache-2.0 */
/* What the state of a life cycle means: which containers count, the phase. */
#include "agent/pod/life_read.h"

bool pod_container_is_main(const struct pod_container_life *c)
{
    return c->kind == POD_CONTAINER_MAIN;
}

bool pod_container_is_sidecar(const struct pod_container_life *c)
{
    return c->spec->is_sidecar;
}

bool pod_container_runs(const struct pod_container_life *c)
{
    enum pod_container_at at = pod_container_at(c);
    return at >= POD_CONTAINER_POST_START && at <= POD_CONTAINER_STOPPING && c->started_ms != 0;
}

bool pod_container_is_probed(const struct pod_container_life *c)
{
    return pod_container_at(c) == POD_CONTAINER_RUNNING;
}

bool pod_container_is_ready(const struct pod_container_life *c)
{
    return pod_container_runs(c) && pod_container_at(c) != POD_CONTAINER_POST_START &&
           c->is_started && c->is_ready;
}

size_t pod_life_find(const struct pod_life *l, struct str name)
{
    for (size_t i = 0; i < l->n; i++) {
        if (str_eq(l->containers[i].name, name))
            return i;
    }
    return SIZE_MAX;
}

bool pod_life_has_main_begun(const struct pod_life *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct pod_container_life *c = &l->containers[i];
        if (pod_container_is_main(c) && c->has_begun)
            return true;
    }
    return false;
}

bool pod_container_has_failed(const struct pod_container_life *c)
{
    return pod_container_at(c) == POD_CONTAINER_ENDED && c->has_ended && c->end.exit_code != 0;
}

bool pod_container_holds_back(const struct pod_container_life *c)
{
    if (pod_container_is_sidecar(c))
        return !(pod_container_at(c) == POD_CONTAINER_RUNNING && c->is_started);
    return pod_container_at(c) != POD_CONTAINER_ENDED;
}

bool pod_life_is_initialized(const struct pod_life *l)
{
    if (pod_life_has_main_begun(l))
        return true;
    for (size_t i = 0; i < l->n && l->containers[i].kind == POD_CONTAINER_INIT; i++) {
        if (pod_container_holds_back(&l->containers[i]) ||
            pod_container_has_failed(&l->containers[i]))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- phase */

struct pod_tally {
    bool is_waiting, is_running, has_stopped, has_failed;
};

static struct pod_tally tally_main(const struct pod_life *l)
{
    struct pod_tally t = { 0 };
    for (size_t i = 0; i < l->n; i++) {
        const struct pod_container_life *c = &l->containers[i];
        if (!pod_container_is_main(c))
            continue;
        if (pod_container_runs(c))
            t.is_running = true;
        else if (c->has_ended || c->has_last)
            t.has_stopped = true;
        else
            t.is_waiting = true;
        t.has_failed |= c->has_ended && c->end.exit_code != 0;
    }
    return t;
}

static bool has_init_failed(const struct pod_life *l)
{
    for (size_t i = 0; i < l->n && l->containers[i].kind == POD_CONTAINER_INIT; i++) {
        if (!pod_container_is_sidecar(&l->containers[i]) &&
            pod_container_has_failed(&l->containers[i]))
            return true;
    }
    return false;
}

const char *pod_life_phase(const struct pod_life *l)
{
    struct pod_tally t = tally_main(l);
    bool is_over = pod_at(l) >= POD_TEARING_DOWN;
    bool is_natural = l->cause == POD_CAUSE_NONE || l->cause == POD_CAUSE_DELETED;
    if (is_over && !is_natural)
        return "Failed";
    if (has_init_failed(l) && pod_at(l) >= POD_ENDING)
        return "Failed";
    if (is_over && (t.has_stopped || t.is_waiting))
        return t.has_failed || t.is_waiting ? "Failed" : "Succeeded";
    if (!pod_life_is_initialized(l) || t.is_waiting)
        return "Pending";
    if (t.is_running || t.has_stopped)
        return "Running";
    return "Pending";
}
