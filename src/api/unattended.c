/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads without a controller; see unattended.h. */
#include "api/unattended.h"

#include "api/core.h"
#include "base/log.h"

/* The effect that is missing without a controller for the kind. */
static const struct {
    const char *group, *plural, *effect;
} kinds[] = {
    { "apps", "deployments", "no Pods are made for it" },
    { "apps", "replicasets", "no Pods are made for it" },
    { "apps", "statefulsets", "no Pods are made for it" },
    { "apps", "daemonsets", "no Pods are made for it" },
    { "", "replicationcontrollers", "no Pods are made for it" },
    { "batch", "jobs", "no Pods are made for it" },
    { "batch", "cronjobs", "no Jobs are made for it" },
    { "autoscaling", "horizontalpodautoscalers", "it scales nothing" },
};

void unattended_fini(struct unattended *u)
{
    map_fini(&u->warned);
}

static const char *effect_of(const struct kube_resource *res)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(res->group, kinds[i].group) && str_is(res->plural, kinds[i].plural))
            return kinds[i].effect;
    return NULL;
}

/* true: `key` was remembered before. */
static bool was_warned(struct unattended *u, struct str key)
{
    if (map_has(&u->warned, key))
        return true;
    if (u->warned.n >= UNATTENDED_WARNED_MAX)
        map_fini(&u->warned);
    (void)map_put(&u->warned, key, u);
    return false;
}

void unattended_warn(struct request *rq)
{
    struct unattended *u = &rq->api->unattended;
    const struct kube_resource *res = rq->res;
    const char *effect = u->is_on && !rq->sub ? effect_of(res) : NULL;
    if (!effect || watch_is_followed(rq->api, res))
        return;
    if (!was_warned(u, res->kind))
        log_warn("no controller here runs objects of a kind; they are stored",
                 "kind=" STR_FMT " effect=\"%s\"", STR_ARG(res->kind), effect);
    if (was_warned(u, str_of(arena_printf(&rq->arena, STR_FMT " " STR_FMT, STR_ARG(res->kind),
                                          STR_ARG(rq->peer)))))
        return;
    reply_warn(rq, str_of(arena_printf(&rq->arena,
                                       "this cluster has no controller for " STR_FMT
                                       ": the " STR_FMT " is stored, and %s",
                                       STR_ARG(res->plural), STR_ARG(res->kind), effect)));
}
