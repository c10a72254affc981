/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call deletes Jobs and makes one in its first round, reads the Job if its name was taken, and
 * writes the status. It asks to be called again at the next time of the schedule.
 */
#include "workload/cronjob/cronjob.h"

#include "kube/model/meta.h"
#include "workload/cronjob/plan.h"

#define ZONES "/usr/share/zoneinfo"

enum cronjob_stage { CRON_CHANGE, CRON_MADE, CRON_EXISTED, CRON_WRITTEN };

struct cronjob_state {
    enum cronjob_stage stage;
    struct cronjob_plan *plan;
    struct workload_effect *create; /* NULL: none */
};

/* Without spec.timeZone: that of the machine. */
static int load_zone(const struct json *object, struct zone **ret, struct err *err)
{
    struct str name = json_str(json_path(object, "spec", "timeZone", NULL));
    if (!name.n)
        return zone_load("/etc", STR("localtime"), ret, NULL) < 0 ? 0 : 1;
    return zone_load(ZONES, name, ret, err);
}

static void change(struct workload_call *call, struct cronjob_state *s)
{
    struct zone *zone = NULL;
    struct err err = { 0 };
    struct arena *a = &call->arena;
    const char *wrong = load_zone(call->object, &zone, &err) < 0 ? err_text(&err) : "";
    struct cronjob_plan *p = s->plan =
        cronjob_decide(a, call->object, &call->claims[0], zone, wrong, call->now_ms);
    zone_free(zone);
    for (size_t i = 0; i < p->n_events; i++)
        workload_event(call, p->events[i].is_warning, p->events[i].reason, STR_FMT,
                       STR_ARG(p->events[i].note));
    for (size_t i = 0; i < p->n; i++)
        if (p->jobs[i].is_removed)
            workload_delete(call, &workload_jobs, p->jobs[i].claim)->propagation = "Background";
    if (p->create) {
        struct json *refs = json_new_array(a);
        json_add(refs, workload_owner_reference(call));
        json_setc(a, json_obj(a, p->create, "metadata"), "ownerReferences", refs);
        s->create = workload_create(call, &workload_jobs, p->create);
    }
    if (p->again_ms)
        workload_again_after(call, p->again_ms);
}

static void write_status(struct workload_call *call, struct cronjob_state *s)
{
    s->stage = CRON_WRITTEN;
    if (json_equal(s->plan->status, json_getc(call->object, "status")))
        return;
    json_setc(&call->arena, call->object, "status", s->plan->status);
    (void)workload_update(call, &workload_cron_jobs, STR("status"), call->object);
}

static void report_deletions(struct workload_call *call)
{
    struct workload_effect *e;
    for (size_t i = 0; (e = workload_effect_at(call, i)); i++)
        if (e->kind == WORKLOAD_DELETE && e->is_done && workload_effect_ok(e))
            workload_event(call, false, "SuccessfulDelete", "Deleted job " STR_FMT,
                           STR_ARG(e->name));
}

static void take_made(struct workload_call *call, struct cronjob_state *s)
{
    report_deletions(call);
    if (s->create && str_is(workload_effect_reason(s->create), "AlreadyExists")) {
        s->create->is_settled = true;
        (void)workload_get(call, &workload_jobs, s->create->name);
        s->stage = CRON_EXISTED;
        return;
    }
    if (s->create && workload_effect_ok(s->create)) {
        workload_event(call, false, "SuccessfulCreate", "Created job " STR_FMT,
                       STR_ARG(meta_name(s->create->answer)));
        cronjob_started(&call->arena, s->plan->status, s->create->answer, s->plan->scheduled_s);
    } else if (s->create && !s->create->is_settled) {
        workload_event(call, true, "FailedCreate", "Error creating job: " STR_FMT,
                       STR_ARG(workload_effect_message(s->create)));
    }
    write_status(call, s);
}

static bool is_own(const struct workload_call *call, const struct json *job)
{
    json_each (ref, json_path(job, "metadata", "ownerReferences", NULL))
        if (json_bool(json_getc(ref, "controller")))
            return str_eq(json_get_str(ref, "uid"), call->uid);
    return false;
}

/* The Job of this time was made before: by a process that has ended, or in the same minute. */
static void take_existing(struct workload_call *call, struct cronjob_state *s)
{
    const struct workload_effect *e = workload_effect_at(call, 0);
    const struct json *job = e && workload_effect_ok(e) ? e->answer : NULL;
    bool has_ended = false;
    if (!is_own(call, job)) {
        workload_event(call, true, "FailedCreate",
                       "Error creating job: " STR_FMT " exists and belongs to another",
                       STR_ARG(s->create->name));
        write_status(call, s);
        return;
    }
    for (size_t i = 0; i < s->plan->n; i++)
        has_ended |= str_eq(s->plan->jobs[i].claim->uid, meta_uid(job)) &&
                     (s->plan->jobs[i].is_complete || s->plan->jobs[i].has_failed);
    cronjob_started(&call->arena, s->plan->status, has_ended ? NULL : job, s->plan->scheduled_s);
    write_status(call, s);
}

static void reconcile(struct workload_call *call)
{
    struct cronjob_state *s = call->state;
    if (!s)
        call->state = s = arena_new(&call->arena, struct cronjob_state);
    switch (s->stage) {
    case CRON_CHANGE:
        change(call, s);
        s->stage = CRON_MADE;
        if (!workload_adds(call))
            write_status(call, s);
        break;
    case CRON_MADE:
        take_made(call, s);
        break;
    case CRON_EXISTED:
        take_existing(call, s);
        break;
    case CRON_WRITTEN:
        break;
    }
}

const struct workload_controller cronjob_controller = {
    .name = "cronjob-controller",
    .kind = &workload_cron_jobs,
    .watches = { { .kind = &workload_jobs, .how = WORKLOAD_OWNED, .reads_bodies = true } },
    .reconcile = reconcile,
};
