/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/frame/condition.h"

#include "base/clock.h"

struct json *workload_condition_find(const struct json *status, const char *type)
{
    json_each (c, json_getc(status, "conditions"))
        if (str_is(json_get_str(c, "type"), type))
            return c;
    return NULL;
}

void workload_condition_remove(struct json *status, const char *type)
{
    struct json *old = workload_condition_find(status, type), *all;
    if (!old)
        return;
    all = json_getc(status, "conditions");
    (void)json_remove(all, old);
    if (all->n == 0)
        (void)json_del(status, STR("conditions"));
}

static struct json *make_condition(struct arena *a, const struct workload_condition *c,
                                   struct str since)
{
    char now[RFC3339_MAX];
    struct json *v = json_new_object(a);
    rfc3339_format(c->at_s, now);
    json_set_str(a, v, "type", str_of(c->type));
    json_set_str(a, v, "status", str_of(c->status));
    if (c->other_time)
        json_set_str(a, v, c->other_time, str_of(now));
    json_set_str(a, v, "lastTransitionTime", since.n ? since : str_of(now));
    json_set_str(a, v, "reason", str_of(c->reason));
    json_set_str(a, v, "message", c->message);
    return v;
}

void workload_condition_set(struct arena *a, struct json *status,
                            const struct workload_condition *c)
{
    const struct json *old = workload_condition_find(status, c->type);
    bool stays = old && str_is(json_get_str(old, "status"), c->status);
    if (stays && !c->is_renewed && str_is(json_get_str(old, "reason"), c->reason))
        return;
    struct json *made =
        make_condition(a, c, stays ? json_get_str(old, "lastTransitionTime") : STR(""));
    workload_condition_remove(status, c->type);
    struct json *all = json_getc(status, "conditions");
    if (!json_is(all, JSON_ARRAY)) {
        all = json_new_array(a);
        json_setc(a, status, "conditions", all);
    }
    json_add(all, made);
}

void workload_status_count(struct arena *a, struct json *status, const char *name, int64_t n)
{
    if (n)
        json_set_int(a, status, name, n);
    else
        (void)json_del(status, str_of(name));
}
