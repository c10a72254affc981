/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cleaner: deletes objects of declared kinds, in its own namespace, when their time is over.
 *
 * A Cleanup says which kinds, how long each may live, and when to look: on a schedule, since nobody
 * wants every object of every kind watched for this. An object's annotation
 * `cleaner.dormouse.dev/ttl` counts more than its Cleanup: a duration, or "never". Objects are
 * listed without their contents, a page at a time, so a namespace of 50,000 takes the memory of
 * 500.
 *
 * What was due is remembered in the status alone (lastRunTime): a run that was missed is made up
 * for once, and a crash in the middle repeats the run, which finds less to do.
 */
#include "schedule.h"

#include "dm/operator.h"

#include <string.h>

#define TTL_ANNOTATION "cleaner.dormouse.dev/ttl"
#define DELETIONS_MAX                                                                              \
    500 /* in one run, unless the Cleanup says otherwise; the rest waits for the next */

enum { METRIC_DELETED, METRIC_RUNS };

static const struct dm_resource cleanups = { "cleaner.dormouse.dev", "v1alpha1", "cleanups",
                                             "Cleanup", false };

/* One entry of spec.targets, and what came of it. */
struct target {
    const char *api_version, *kind, *label_selector;
    uint64_t ttl_s; /* UINT64_MAX: only what the annotation says */
    int64_t matched, expired, deleted, failed;
    struct dm_text *message; /* the first thing that went wrong */
};

struct run {
    uint64_t now_s;
    bool dry;
    int64_t deletions_left;
    struct target *target;
    const struct dm_resource *res;
};

/* ---- one object ---- */

/* When its time is over; UINT64_MAX: never, as far as anybody has said. */
static uint64_t expires_at(const struct target *target, struct dm_json object)
{
    uint64_t created_us, ttl_s = target->ttl_s;
    struct dm_json ttl = dm_annotation(object, TTL_ANNOTATION);
    if (!dm_parse_time(dm_meta(object, "creationTimestamp"), &created_us))
        return UINT64_MAX;
    /* "never", or something that we do not understand and therefore do not delete for */
    if (ttl.p && !duration_parse(dm_json_plain(ttl), &ttl_s))
        return UINT64_MAX;
    return ttl_s == UINT64_MAX ? ttl_s : created_us / 1000000 + ttl_s;
}

/* Only this very object, as we saw it: one that was written meanwhile may have got more time. */
static int delete_object(struct dm_request *r, const struct run *run, struct dm_json object)
{
    struct dm_json meta = dm_json_member(object, "metadata");
    const char *name = dm_json_string(dm_json_member(meta, "name"), &r->arena);
    struct dm_delete how = {
        .uid = dm_json_string(dm_json_member(meta, "uid"), &r->arena),
        .resource_version = dm_json_string(dm_json_member(meta, "resourceVersion"), &r->arena),
        .propagation = "Background",
    };
    return dm_delete(r, dm_ref(run->res, r->ns, name), &how);
}

/* Does an error concern one object or kind, so that the others may go on? Else the run is tried
 * again. */
static bool is_local(int code)
{
    return code == DM_E_FORBIDDEN || code == DM_E_INVALID || code == DM_E_REFUSED ||
           code == DM_E_NOT_FOUND;
}

static void note_failure(const struct dm_request *r, struct target *t)
{
    t->failed++;
    if (!t->message->n)
        dm_textf(t->message, "%s: %s", r->error.reason, r->error.message);
}

static int look_at(struct dm_request *r, struct dm_json object, void *arg)
{
    struct run *run = arg;
    struct target *t = run->target;
    t->matched++;
    if (dm_is_deleting(object) || expires_at(t, object) > run->now_s)
        return 0;
    t->expired++;
    if (run->dry || run->deletions_left == 0)
        return 0;
    int code = delete_object(r, run, object);
    if (code == DM_E_NOT_FOUND || code == DM_E_CONFLICT)
        return 0; /* somebody was quicker; what is still due, the next run finds */
    if (code < 0 && !is_local(code))
        return code;
    if (code < 0) {
        note_failure(r, t);
        return 0;
    }
    run->deletions_left--;
    t->deleted++;
    return 0;
}

/* ---- one kind ---- */

/* Where objects of the target's kind live, asked of the API. DM_E_NOT_FOUND when it has none of
 * them. */
static int discover(struct dm_request *r, const struct target *t, struct dm_resource *ret)
{
    struct dm_text *path = dm_scratch(r);
    struct dm_json list;
    const char *slash = strchr(t->api_version, '/');
    dm_textf(path, "%s%s", slash ? "/apis/" : "/api/", t->api_version);
    int code = dm_call(r, &(struct dm_call){ .method = "GET", .target = path->p }, &list);
    if (code < 0)
        return code;
    *ret = (struct dm_resource){ .kind = t->kind };
    ret->group =
        slash ? dm_arena_copy(&r->arena, t->api_version, (size_t)(slash - t->api_version)) : "";
    ret->version = slash ? slash + 1 : t->api_version;
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(list, "resources"));
         dm_json_next(&it);) {
        struct dm_str name = dm_json_plain(dm_json_member(it.value, "name"));
        if (!dm_json_is(dm_json_member(it.value, "kind"), t->kind) ||
            dm_find_char(name, '/') < name.n)
            continue; /* another kind, or a subresource */
        ret->plural = dm_arena_copy(&r->arena, name.p, name.n);
        ret->cluster_scoped = !dm_json_true(dm_json_member(it.value, "namespaced"));
        return 0;
    }
    return DM_E_NOT_FOUND;
}

static int clean_target(struct dm_request *r, struct run *run)
{
    struct target *t = run->target;
    struct dm_resource res;
    int code = discover(r, t, &res);
    if (code == DM_E_NOT_FOUND || (code == 0 && res.cluster_scoped)) {
        t->failed++;
        dm_textf(t->message, code ? "the API has no such kind" : "the kind has no namespaces");
        return 0;
    }
    if (code == 0) {
        run->res = &res;
        code = dm_list_each(r,
                            &(struct dm_list){ .res = &res,
                                               .ns = r->ns,
                                               .label_selector = t->label_selector,
                                               .metadata_only = true },
                            look_at, run);
    }
    if (t->deleted) { /* once for all of them: what one activation may say is limited */
        dm_info("deleted", "kind=%s n=%lld", t->kind, (long long)t->deleted);
        dm_metric(METRIC_DELETED, (double)t->deleted, t->kind);
    }
    if (code < 0 && is_local(code)) {
        note_failure(r, t);
        return 0;
    }
    return code;
}

/* ---- one Cleanup ---- */

/* The targets of the spec, in the request's arena; the CRD bounds their number. */
static size_t read_targets(struct dm_request *r, struct dm_json spec, struct target **ret)
{
    size_t n = 0;
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(spec, "targets")); dm_json_next(&it);)
        n++;
    struct target *t = *ret = dm_arena_alloc(&r->arena, n * sizeof(*t) + 1);
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(spec, "targets"));
         dm_json_next(&it);) {
        *t = (struct target){
            .api_version = dm_json_string(dm_json_member(it.value, "apiVersion"), &r->arena),
            .kind = dm_json_string(dm_json_member(it.value, "kind"), &r->arena),
            .label_selector = dm_json_string(dm_json_member(it.value, "labelSelector"), &r->arena),
            .ttl_s = UINT64_MAX,
            .message = dm_scratch(r),
        };
        struct dm_json ttl = dm_json_member(it.value, "ttl");
        if (ttl.p && !duration_parse(dm_json_plain(ttl), &t->ttl_s)) {
            t->failed = 1;
            dm_textf(t->message, "ttl is no duration such as 90s, 1h30m or 7d");
        }
        t++;
    }
    return n;
}

static void put_time(struct dm_text *t, const char *key, uint64_t at_s)
{
    struct dm_text text = { 0 };
    dm_text_time(&text, at_s * 1000000, false);
    dm_jw_kstr(t, key, text.p);
    dm_text_fini(&text);
}

static void put_counts(struct dm_text *t, const struct target *c)
{
    dm_jw_kint(t, "matched", c->matched);
    dm_jw_kint(t, "expired", c->expired);
    dm_jw_kint(t, "deleted", c->deleted);
    dm_jw_kint(t, "failed", c->failed);
}

static void put_targets(struct dm_text *t, const struct target *targets, size_t n)
{
    dm_jw_key(t, "targets");
    dm_jw_open(t, '[');
    for (size_t i = 0; i < n; i++) {
        dm_jw_open(t, '{');
        dm_jw_kstr(t, "apiVersion", targets[i].api_version);
        dm_jw_kstr(t, "kind", targets[i].kind);
        put_counts(t, &targets[i]);
        if (targets[i].message->n)
            dm_jw_kstr(t, "message", targets[i].message->p);
        dm_jw_close(t, '}');
    }
    dm_jw_close(t, ']');
}

static int set_ready(struct dm_request *r, const char *members, bool ready, const char *reason,
                     const char *message)
{
    return dm_set_status(r, members,
                         &(struct dm_condition){ .type = "Ready",
                                                 .status = ready ? "True" : "False",
                                                 .reason = reason,
                                                 .message = message });
}

static struct dm_result refuse(struct dm_request *r, const char *why)
{
    if (set_ready(r, NULL, false, "InvalidSchedule", why) < 0)
        return dm_fail(r, "write the status");
    return dm_give_up(r, "the schedule: %s", why);
}

static struct dm_result again_at(uint64_t at_s)
{
    uint64_t now_us = dm_wall_us(), at_us = at_s * 1000000;
    return dm_again_after(at_us > now_us ? (at_us - now_us + 999) / 1000 : 1);
}

static struct dm_result report(struct dm_request *r, const struct run *run,
                               const struct target *targets, size_t n, uint64_t next_s)
{
    struct target sum = { 0 };
    for (size_t i = 0; i < n; i++) {
        sum.matched += targets[i].matched;
        sum.expired += targets[i].expired;
        sum.deleted += targets[i].deleted;
        sum.failed += targets[i].failed;
    }
    struct dm_text *t = dm_scratch(r), *message = dm_scratch(r);
    put_time(t, "lastRunTime", run->now_s);
    put_time(t, "nextRunTime", next_s);
    put_counts(t, &sum);
    put_targets(t, targets, n);
    dm_textf(message, "%s%lld of %lld objects %s%s", run->dry ? "dry run: " : "",
             (long long)(run->dry ? sum.expired : sum.deleted), (long long)sum.matched,
             run->dry ? "would be deleted" : "deleted",
             !run->dry && sum.expired > sum.deleted + sum.failed ? ", more next time" : "");
    dm_metric(METRIC_RUNS, 1, sum.failed ? "partial" : "ok");
    if (sum.failed)
        dm_event(&cleanups, r->object, DM_WARNING, "CleanupFailed", "Clean",
                 "%lld failures, see the status", (long long)sum.failed);
    else if (sum.deleted)
        dm_event(&cleanups, r->object, DM_NORMAL, "Cleaned", "Clean", "%s", message->p);
    if (set_ready(r, t->p, sum.failed == 0, sum.failed ? "Failures" : "Cleaned", message->p) < 0)
        return dm_fail(r, "write the status");
    return again_at(next_s);
}

static struct dm_result clean(struct dm_request *r, struct dm_json spec,
                              const struct schedule *schedule)
{
    struct target *targets;
    size_t n = read_targets(r, spec, &targets);
    struct run run = {
        .now_s = dm_wall_us() / 1000000,
        .dry = dm_json_true(dm_json_member(spec, "dryRun")) ||
               strcmp(dm_env("DRY_RUN", ""), "true") == 0,
        .deletions_left = dm_json_int(dm_json_member(spec, "maxDeletions"), DELETIONS_MAX),
    };
    for (size_t i = 0; i < n; i++) {
        run.target = &targets[i];
        if (!targets[i].failed && clean_target(r, &run) < 0) {
            dm_metric(METRIC_RUNS, 1, "failed");
            return dm_fail(r, "clean %s", targets[i].kind);
        }
    }
    return report(r, &run, targets, n, schedule_next(schedule, run.now_s));
}

static struct dm_result reconcile(struct dm_request *r)
{
    if (!dm_json_has(r->object) || dm_is_deleting(r->object))
        return dm_done();
    struct dm_json spec = dm_json_member(r->object, "spec");
    struct dm_str last = dm_json_plain(dm_json_at(r->object, "status.lastRunTime"));
    struct schedule schedule;
    const char *why;
    uint64_t since_us = 0;
    if (!schedule_parse(dm_json_plain(dm_json_member(spec, "schedule")), &schedule, &why))
        return refuse(r, why);
    if (dm_json_true(dm_json_member(spec, "suspend"))) {
        int code = set_ready(r, NULL, true, "Suspended", "nothing is deleted");
        return code < 0 ? dm_fail(r, "write the status") : dm_done();
    }
    if (!dm_parse_time(last, &since_us))
        (void)dm_parse_time(dm_meta(r->object, "creationTimestamp"), &since_us);
    uint64_t due_s = schedule_next(&schedule, since_us / 1000000);
    if (due_s == 0)
        return refuse(r, "there is no such day");
    if (due_s <= dm_wall_us() / 1000000)
        return clean(r, spec, &schedule);
    struct dm_text *t = dm_scratch(r);
    put_time(t, "nextRunTime", due_s);
    if (set_ready(r, t->p, true, "Scheduled", "waiting for the next run") < 0)
        return dm_fail(r, "write the status");
    return again_at(due_s);
}

/* ---- the operator ---- */

static const struct dm_controller controllers[] = {
    {
        .name = "cleanups",
        .reconcile = reconcile,
        .primary = { .res = &cleanups, .predicate = DM_SPEC_CHANGED },
        .resync_s = -1, /* timers bring it back */
    },
    { .name = NULL },
};

static const char *const by_kind[] = { "kind", NULL }, *const by_result[] = { "result", NULL };
static const struct dm_metric metrics[] = {
    [METRIC_DELETED] = { "cleaner_deleted_total", "counter", "Objects deleted.", by_kind, NULL },
    [METRIC_RUNS] = { "cleaner_runs_total", "counter", "Runs of cleanups.", by_result, NULL },
    { .name = NULL },
};

const struct dm_operator dm_operator = {
    .name = "cleaner",
    .version = "1.0.0",
    .controllers = controllers,
    .metrics = metrics,
    .stateless = true,
};
