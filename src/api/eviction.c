/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pods/eviction: a deletion that must be allowed by the PodDisruptionBudgets.
 *
 *     read pod -> [list budgets -> take one disruption from the budget] -> delete pod
 *        ^                                |
 *        +--------------------------------+ conflict: the budget was changed meanwhile
 *
 * Each step is a request of the server to itself, and so follows the rules of its verb.
 */
#include "api/subresources.h"

#include "api/admission.h"
#include "api/inner.h"
#include "api/write.h"
#include "base/clock.h"
#include "kube/model/builtin.h"
#include "kube/model/selector.h"
#include "kube/rules/kinds/pods.h"

#include <errno.h>

enum { EVICTION_MAX_ATTEMPTS = 16, DISRUPTED_PODS_MAX = 2000 };

#define EVICTION "io.k8s.api.policy.v1.Eviction"

struct api_eviction {
    struct request *rq;
    struct admission ad;
    struct json *options; /* DeleteOptions */
    bool dry_run;
    struct json *pod, *budget;
    struct arena_mark mark; /* start of an attempt */
    bool pinned;            /* the server has set a precondition that the client did not ask for */
    unsigned attempt;
};

static void read_pod(struct api_eviction *e);

static struct str budgets_path(struct api_eviction *e, const struct json *budget)
{
    struct arena *a = &e->rq->arena;
    const char *ns = str_dup_arena(a, e->rq->route.ns);
    if (!budget)
        return str_of(arena_printf(a, "/apis/policy/v1/namespaces/%s/poddisruptionbudgets", ns));
    return str_of(
        arena_printf(a, "/apis/policy/v1/namespaces/%s/poddisruptionbudgets/" STR_FMT "/status", ns,
                     STR_ARG(meta_name(budget))));
}

static struct str pod_path(struct api_eviction *e)
{
    return str_of(arena_printf(&e->rq->arena, "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT,
                               STR_ARG(e->rq->route.ns), STR_ARG(e->rq->route.name)));
}

/* ------------------------------------------------------------------ steps */

/* The context is for the log; clients get no internal text. */
static void failed(struct api_eviction *e, int r, const char *what, struct str path)
{
    struct err err = { 0 };
    (void)err_ctx(&err, r, "evict a pod: %s " STR_FMT, what, STR_ARG(path));
    reply_err(e->rq, r, &err);
}

static void call(struct api_eviction *e, const char *method, struct str path,
                 const struct json *body, inner_cb cb)
{
    struct request *rq = e->rq;
    struct buf b = BUF_INIT(API_BODY_MAX_BYTES);
    if (body)
        (void)json_write(&b, body);
    request_busy(rq);
    int r = inner_call(rq->api,
                       &(struct inner_request){ .method = method,
                                                .target = path,
                                                .content_type = body ? "application/json" : NULL,
                                                .body = buf_str(&b) },
                       cb, e);
    buf_fini(&b);
    if (r < 0 && !request_idle(rq))
        failed(e, r, method, path);
}

/*
 * The answer as a tree in the request's arena. NULL: the client is gone, or the answer cannot be
 * read and an error was sent.
 */
static struct json *answer_of(struct api_eviction *e, int r, struct str body)
{
    struct request *rq = e->rq;
    struct json *v;
    if (request_idle(rq))
        return NULL;
    if (r >= 0 && json_parse(&rq->arena, str_copy_arena(&rq->arena, body), NULL, &v, NULL) >= 0)
        return v;
    failed(e, r < 0 ? r : -EIO, "read the answer about", pod_path(e));
    return NULL;
}

static struct json *too_many(struct api_eviction *e, int retry_after_s, const char *why)
{
    struct arena *a = &e->rq->arena;
    struct json *s =
        status_new(a, 429, "TooManyRequests",
                   STR("Cannot evict pod as it would violate the pod's disruption budget."));
    struct json *details = json_obj(a, s, "details"), *causes = json_new_array(a);
    struct json *cause = json_new_object(a);
    json_set_str(a, cause, "reason", STR("DisruptionBudget"));
    json_set_str(a, cause, "message", str_of(why));
    json_add(causes, cause);
    json_setc(a, details, "causes", causes);
    if (retry_after_s)
        json_set_int(a, details, "retryAfterSeconds", retry_after_s);
    return s;
}

static struct json *still_processed(struct api_eviction *e)
{
    return too_many(e, 10,
                    arena_printf(&e->rq->arena,
                                 "The disruption budget " STR_FMT
                                 " is still being processed by the server.",
                                 STR_ARG(meta_name(e->budget))));
}

static void on_deleted(void *arg, int r, struct str body)
{
    struct api_eviction *e = arg;
    struct request *rq = e->rq;
    const struct json *v = answer_of(e, r, body);
    if (!v)
        return;
    if (r == 200 || r == 202)
        reply_status(rq, status_new(&rq->arena, 201, "", STR("")));
    else if (r == 409 && e->pinned && e->budget)
        reply_status(rq, still_processed(e));
    else if (r == 409 && e->pinned && ++e->attempt < EVICTION_MAX_ATTEMPTS)
        read_pod(e);
    else
        reply_status(rq, v);
}

static void delete_pod(struct api_eviction *e);

static void on_status_written(void *arg, int r, struct str body)
{
    struct api_eviction *e = arg;
    struct json *v = answer_of(e, r, body);
    if (!v)
        return;
    if (r == 200)
        e->pod = v;
    if (r == 200 || r == 404)
        delete_pod(e);
    else if (r == 409 && ++e->attempt < EVICTION_MAX_ATTEMPTS)
        read_pod(e);
    else
        reply_status(e->rq, v);
}

/* Add the condition DisruptionTarget to the pod's status, then delete the pod. */
static void evict(struct api_eviction *e, bool pin)
{
    struct arena *a = &e->rq->arena;
    const struct json *asked = json_path(e->options, "preconditions", "resourceVersion", NULL);
    e->pinned = pin && !asked;
    if (e->dry_run || meta_is_deleting(e->pod) || asked) {
        delete_pod(e);
        return;
    }
    struct json *pod = json_clone(a, e->pod);
    kind_pod_add_condition(a, pod, "DisruptionTarget", "True", "EvictionByEvictionAPI",
                           "Eviction API: evicting", clock_wall_ms() / 1000);
    call(e, "PUT", str_of(arena_printf(a, STR_FMT "/status", STR_ARG(pod_path(e)))), pod,
         on_status_written);
}

/* If pinned, delete the pod only if it is unchanged since the check. */
static void delete_pod(struct api_eviction *e)
{
    struct arena *a = &e->rq->arena;
    struct json *options = json_clone(a, e->options);
    if (e->pinned)
        json_set_str(a, json_obj(a, options, "preconditions"), "resourceVersion",
                     meta_resource_version(e->pod));
    if (e->dry_run) {
        struct json *all = json_new_array(a);
        json_add(all, json_new_cstr(a, "All"));
        json_setc(a, options, "dryRun", all);
    }
    call(e, "DELETE", pod_path(e), options, on_deleted);
}

/* ------------------------------------------------------------------ budgets */

static int64_t status_num(const struct json *budget, const char *name)
{
    return json_int_or(json_path(budget, "status", name, NULL), 0);
}

static struct json *refused_by(struct api_eviction *e)
{
    struct arena *a = &e->rq->arena;
    const struct json *b = e->budget, *pods = json_path(b, "status", "disruptedPods", NULL);
    struct str name = meta_name(b), group = STR("policy"), kind = STR("poddisruptionbudget");
    int64_t generation = json_int_or(json_path(b, "metadata", "generation", NULL), 0);
    if (status_num(b, "observedGeneration") < generation)
        return still_processed(e);
    if (status_num(b, "disruptionsAllowed") < 0)
        return status_forbidden(a, group, kind, name, STR("pdb disruptions allowed is negative"));
    if (pods && pods->n > DISRUPTED_PODS_MAX)
        return status_forbidden(a, group, kind, name,
                                STR("DisruptedPods map too big - too many evictions not confirmed "
                                    "by PDB controller"));
    if (status_num(b, "disruptionsAllowed") > 0)
        return NULL;
    return too_many(e, 0,
                    arena_printf(a,
                                 "The disruption budget " STR_FMT
                                 " needs %lld healthy pods and has %lld currently",
                                 STR_ARG(name), (long long)status_num(b, "desiredHealthy"),
                                 (long long)status_num(b, "currentHealthy")));
}

static void on_budget_written(void *arg, int r, struct str body)
{
    struct api_eviction *e = arg;
    const struct json *v = answer_of(e, r, body);
    if (!v)
        return;
    if (r == 200)
        evict(e, false);
    else if (r == 409 && ++e->attempt < EVICTION_MAX_ATTEMPTS)
        read_pod(e);
    else
        reply_status(e->rq, v);
}

/* Decrement disruptionsAllowed and list the pod in disruptedPods until it is gone. */
static void take_disruption(struct api_eviction *e)
{
    struct arena *a = &e->rq->arena;
    struct json *b = json_clone(a, e->budget), *status = json_obj(a, b, "status");
    int64_t left = status_num(b, "disruptionsAllowed") - 1, now_s = clock_wall_ms() / 1000;
    char now[RFC3339_MAX];
    if (e->dry_run) {
        evict(e, false);
        return;
    }
    rfc3339_format(now_s, now);
    json_set_int(a, status, "disruptionsAllowed", left);
    json_set_str(a, json_obj(a, status, "disruptedPods"), str_dup_arena(a, e->rq->route.name),
                 str_of(now));
    if (left == 0)
        json_each (c, json_getc(status, "conditions")) {
            if (!str_is(json_get_str(c, "type"), "DisruptionAllowed"))
                continue;
            json_set_str(a, c, "status", STR("False"));
            json_set_str(a, c, "reason", STR("InsufficientPods"));
            json_set_str(a, c, "lastTransitionTime", str_of(now));
        }
    call(e, "PUT", budgets_path(e, b), b, on_budget_written);
}

static bool is_ready(const struct json *pod)
{
    json_each (c, json_path(pod, "status", "conditions", NULL))
        if (str_is(json_get_str(c, "type"), "Ready"))
            return str_is(json_get_str(c, "status"), "True");
    return false;
}

/*
 * The eviction of an unready pod does not count if enough pods are healthy or the budget's
 * unhealthyPodEvictionPolicy allows it.
 */
static bool costs_nothing(const struct api_eviction *e)
{
    const struct json *b = e->budget;
    struct str policy = json_str(json_path(b, "spec", "unhealthyPodEvictionPolicy", NULL));
    int64_t desired = status_num(b, "desiredHealthy");
    if (is_ready(e->pod))
        return false;
    return str_is(policy, "AlwaysAllow") ||
           (desired > 0 && status_num(b, "currentHealthy") >= desired);
}

static size_t find_budgets(struct api_eviction *e, const struct json *list)
{
    size_t n = 0;
    json_each (b, json_getc(list, "items")) {
        struct selector s;
        const struct json *wanted = json_path(b, "spec", "selector", NULL);
        if (!wanted || selector_from_object(&e->rq->arena, wanted, &s, NULL) < 0)
            continue;
        if (s.nothing || s.n == 0 ||
            !selector_matches_labels_budget(&s, json_path(e->pod, "metadata", "labels", NULL),
                                            &e->rq->budget))
            continue;
        e->budget = b;
        n++;
    }
    return n;
}

static void on_budgets(void *arg, int r, struct str body)
{
    struct api_eviction *e = arg;
    struct request *rq = e->rq;
    const struct json *v = answer_of(e, r, body);
    if (!v)
        return;
    if (r != 200) {
        reply_status(rq, v);
        return;
    }
    size_t n = find_budgets(e, v);
    struct json *no = NULL;
    if (arena_is_full(&rq->arena))
        no = status_too_much_work(&rq->arena);
    else if (n > 1)
        no = status_new(&rq->arena, 500, "",
                        STR("This pod has more than one PodDisruptionBudget, which the eviction "
                            "subresource does not support."));
    else if (n == 1 && !costs_nothing(e))
        no = refused_by(e);
    if (no)
        reply_status(rq, no);
    else if (n == 0)
        evict(e, false);
    else if (costs_nothing(e))
        evict(e, true);
    else
        take_disruption(e);
}

/* ------------------------------------------------------------------ the pod */

static void on_admitted(struct admission *ad, struct json *no)
{
    struct api_eviction *e = container_of(ad, struct api_eviction, ad);
    if (no) {
        reply_status(e->rq, no);
        return;
    }
    e->budget = NULL;
    struct str phase = json_str(json_path(e->pod, "status", "phase", NULL));
    bool over = str_is(phase, "Succeeded") || str_is(phase, "Failed") || meta_is_deleting(e->pod);
    if (over || str_is(phase, "Pending"))
        evict(e, !over);
    else
        call(e, "GET", budgets_path(e, NULL), NULL, on_budgets);
}

static void on_pod(void *arg, int r, struct str body)
{
    struct api_eviction *e = arg;
    struct json *v = answer_of(e, r, body), *no = NULL;
    if (!v)
        return;
    if (r != 200) {
        reply_status(e->rq, v);
        return;
    }
    e->pod = v;
    e->ad = (struct admission){
        .rq = e->rq, .op = ADMISSION_ASK, .name = e->rq->route.name, .old = v, .done = on_admitted
    };
    admission_begin(&e->ad);
    if (admission_run(&e->ad, ADMISSION_SHAPED, &no))
        on_admitted(&e->ad, no);
}

static void read_pod(struct api_eviction *e)
{
    arena_rewind(&e->rq->arena, &e->mark); /* the previous attempt has read all budgets */
    call(e, "GET", pod_path(e), NULL, on_pod);
}

void eviction_create(struct request *rq)
{
    struct arena *a = &rq->arena;
    struct api_eviction *e = arena_new(a, struct api_eviction);
    struct write_options opts;
    struct json *body = NULL;
    struct err err = { 0 };
    const struct schema *type = builtin_type(EVICTION);
    struct json *no = write_parse_options(rq, &opts);
    if (!no)
        no = write_parse_body(rq, type, NULL, &body);
    if (!no && schema_normalize(a, type, body, "Eviction", NULL, NULL, &err) < 0)
        no = status_bad_request(a, str_copy_arena(a, str_of(err_text(&err))));
    if (!no && !str_eq(meta_name(body), rq->route.name))
        no = status_bad_request(a, STR("name in URL does not match name in Eviction object"));
    if (no) {
        reply_status(rq, no);
        return;
    }
    const struct json *options = json_getc(body, "deleteOptions");
    const struct json *dry = json_getc(options, "dryRun");
    *e = (struct api_eviction){ .rq = rq,
                                .options = options ? json_clone(a, options) : json_new_object(a),
                                .dry_run = opts.dry_run || (dry && dry->n) };
    e->mark = arena_mark(a);
    read_pod(e);
}
