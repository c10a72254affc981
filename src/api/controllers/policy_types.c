/* SPDX-License-Identifier: Apache-2.0 */
/* Type checks of policies' expressions; see policy_types.h. */
#include "api/controllers/policy_types.h"

#include "api/controllers/rescan.h"
#include "api/inner.h"
#include "base/log.h"
#include "codec/url.h"
#include "kube/cel/cel_policy.h"

#include <assert.h>
#include <stdlib.h>

#define GROUP   "admissionregistration.k8s.io"
#define PLURAL  "validatingadmissionpolicies"
#define MANAGER "validatingadmissionpolicy-status"

static void on_retry(struct timer *t)
{
    policy_types_start(container_of(t, struct controllers, policy_types_retry.timer));
}

static void retry(struct controllers *c)
{
    if (!c->api->closing)
        retry_arm(c->api->loop, &c->policy_types_retry, on_retry);
}

/* ------------------------------------------------------------------ matched kinds */

struct policy_types_kinds {
    struct policy_type types[POLICY_TYPES_MAX];
    size_t n;
};

/* The order in which kinds are reported. */
static int compare(const struct policy_type *x, const struct policy_type *y)
{
    int r = str_cmp(x->group, y->group);
    if (r == 0)
        r = str_cmp(x->version, y->version);
    return r ? r : str_cmp(x->kind, y->kind);
}

static void add_kind(struct policy_types_kinds *k, const struct kube_resource *res)
{
    struct policy_type t = {
        .group = res->group, .version = res->version, .kind = res->kind, .schema = res->schema
    };
    size_t at = 0;
    while (at < k->n && compare(&k->types[at], &t) < 0)
        at++;
    if (k->n == POLICY_TYPES_MAX || (at < k->n && compare(&k->types[at], &t) == 0))
        return;
    memmove(&k->types[at + 1], &k->types[at], (k->n - at) * sizeof(k->types[0]));
    k->types[at] = t;
    k->n++;
}

static bool holds(const struct json *list, struct str s)
{
    json_each (x, list)
        if (str_eq(json_str(x), s))
            return true;
    return false;
}

static bool has_wildcard(const struct json *list)
{
    json_each (x, list)
        if (str_find_char(json_str(x), '*') >= 0)
            return true;
    return false;
}

/*
 * The group "" matches any group that has the resource in that version, as in upstream's mapping.
 */
static bool names_kind(const struct json *rule, const struct kube_resource *res)
{
    const struct json *groups = json_getc(rule, "apiGroups");
    return (holds(groups, res->group) || holds(groups, STR(""))) &&
           holds(json_getc(rule, "apiVersions"), res->version) &&
           holds(json_getc(rule, "resources"), res->plural);
}

static void find_kinds(const struct api *api, const struct json *policy,
                       struct policy_types_kinds *k)
{
    json_each (rule, json_path(policy, "spec", "matchConstraints", "resourceRules", NULL)) {
        if (has_wildcard(json_getc(rule, "apiGroups")) ||
            has_wildcard(json_getc(rule, "apiVersions")))
            continue;
        kube_registry_each(res, &api->reg) if (names_kind(rule, *res) && (*res)->schema)
            add_kind(k, *res);
    }
}

static const struct schema *params_of(const struct api *api, const struct json *policy)
{
    const struct json *kind = json_path(policy, "spec", "paramKind", NULL);
    struct str version = json_get_str(kind, "apiVersion"), group = STR(""), rest;
    if (str_cut(version, '/', &group, &rest))
        version = rest;
    else
        group = STR("");
    const struct kube_resource *res =
        kube_registry_find_kind(&api->reg, group, version, json_get_str(kind, "kind"));
    return res ? res->schema : NULL;
}

/* ------------------------------------------------------------------ the status */

static void on_applied(void *arg, int r, struct str body)
{
    struct controllers *c = arg;
    (void)body;
    if (r < 0 || r == 429 || r >= 500) {
        log_warn("the types of a policy were not written, trying again", "answer=%d", r);
        retry(c);
    } else {
        retry_settle(&c->policy_types_retry);
    }
    assert(c->policy_types_in_flight > 0);
    c->policy_types_in_flight--;
    api_part_idle(c->api);
}

static bool is_policy(const struct kube_resource *res)
{
    return str_is(res->group, GROUP) && str_is(res->plural, PLURAL);
}

void policy_types_written(struct controllers *c, const struct written *w)
{
    if (!w->obj || !is_policy(w->res) || meta_is_deleting(w->obj))
        return;
    int64_t generation = json_int_or(json_path(w->obj, "metadata", "generation", NULL), 0);
    if (generation <= json_int_or(json_path(w->obj, "status", "observedGeneration", NULL), 0))
        return;
    struct arena arena = { 0 }, *a = &arena;
    struct policy_types_kinds kinds = { .n = 0 };
    find_kinds(c->api, w->obj, &kinds);
    struct json *warnings =
        cel_policy_type_warnings(a, w->obj, kinds.types, kinds.n, params_of(c->api, w->obj));
    struct json *config = json_new_object(a), *status = json_new_object(a),
                *checking = json_new_object(a), *meta = json_new_object(a);
    if (warnings->n)
        json_setc(a, checking, "expressionWarnings", warnings);
    json_setc(a, status, "observedGeneration", json_new_int(a, generation));
    json_setc(a, status, "typeChecking", checking);
    json_set_str(a, meta, "name", w->name);
    json_set_str(a, config, "apiVersion", STR(GROUP "/v1"));
    json_set_str(a, config, "kind", STR("ValidatingAdmissionPolicy"));
    json_setc(a, config, "metadata", meta);
    json_setc(a, config, "status", status);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(API_BODY_MAX_BYTES);
    const struct inner_request req = { .method = "PATCH",
                                       .target = str_of(arena_printf(
                                           a,
                                           "/apis/" GROUP "/v1/" PLURAL "/" STR_FMT
                                           "/status?fieldManager=" MANAGER "&force=true",
                                           STR_ARG(w->name))),
                                       .content_type = "application/apply-patch+yaml",
                                       .only_status = true };
    struct inner_request sent = req;
    if (json_write(&text, config) < 0) {
        log_warn("the types of a policy are not written, there is too much to say",
                 "policy=" STR_FMT, STR_ARG(w->name));
    } else {
        sent.body = buf_str(&text);
        if (inner_call(c->api, &sent, on_applied, c) >= 0)
            c->policy_types_in_flight++;
    }
    arena_fini(a);
}

/* ------------------------------------------------------------------ rescan */

static void on_rescan_done(struct controllers *c, int r)
{
    if (r < 0)
        retry(c);
    assert(c->policy_types_in_flight > 0);
    c->policy_types_in_flight--;
    api_part_idle(c->api);
}

static const struct rescan_opts rescan = { .group = { GROUP, sizeof GROUP - 1 },
                                           .plural = { PLURAL, sizeof PLURAL - 1 },
                                           .written = policy_types_written,
                                           .done = on_rescan_done };

void policy_types_start(struct controllers *c)
{
    c->policy_types_in_flight++;
    int r = rescan_start(c, &rescan);
    if (r < 0)
        on_rescan_done(c, r);
}

void policy_types_stop(struct controllers *c)
{
    timer_stop(c->api->loop, &c->policy_types_retry.timer);
}
