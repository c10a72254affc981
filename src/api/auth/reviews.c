/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews; see reviews.h. */
#include "api/auth/reviews.h"

#include "api/auth/auth.h"
#include "api/auth/authn.h"
#include "api/auth/authz.h"
#include "api/auth/node_graph.h"
#include "api/auth/tokens.h"
#include "api/write.h"
#include "base/clock.h"
#include "kube/model/managed_fields.h"
#include "kube/model/selector.h"

/* ------------------------------------------------------------------ bodies */

struct json *review_read_body(struct request *rq, const struct kube_resource *res,
                              struct json **ret)
{
    struct write_options opts;
    struct object_warnings warnings = { .a = &rq->arena };
    struct json *status = NULL, *obj = NULL;
    struct json *no = write_parse_options(rq, &opts);
    if (!no)
        no = write_parse_body(rq, res->schema, &warnings, &obj);
    if (no)
        return no;
    if (object_decode_tree(&rq->arena, res, obj, opts.fv, &warnings, &status) < 0)
        return status;
    if (opts.fv == FIELD_VALIDATION_STRICT &&
        (no = object_strict_status(&rq->arena, res, &warnings)))
        return no;
    for (size_t i = 0; opts.fv == FIELD_VALIDATION_WARN && i < warnings.n; i++)
        reply_warn(rq, warnings.text[i]);
    const struct managed_writer writer = { .res = res,
                                           .manager = opts.manager,
                                           .subresource = rq->sub ? rq->sub->name : STR(""),
                                           .now_s = clock_wall_ms() / 1000 };
    managed_update(&rq->arena, &writer, managed_empty(&rq->arena, res), obj);
    *ret = obj;
    return NULL;
}

static struct json *invalid(struct request *rq, const struct field_errors *errs)
{
    /* Upstream shows only the group. */
    return status_invalid(&rq->arena, rq->res->group, STR(""), STR(""), errs);
}

/* Reviews have no metadata; a local one has a namespace. */
static void check_metadata(const struct json *obj, bool local, struct field_errors *errs)
{
    struct fpath at = fpath_child(NULL, STR("metadata"));
    const struct json *meta = json_getc(obj, "metadata");
    json_each (v, meta) {
        bool empty = json_is(v, JSON_NULL) || (v->type == JSON_STRING && v->s.n == 0) ||
                     (v->type >= JSON_ARRAY && v->n == 0);
        if (empty || str_is(v->key, "managedFields") || (local && str_is(v->key, "namespace")))
            continue;
        field_error(errs, FIELD_INVALID, &at, meta,
                    local ? "must be empty except for namespace" : "must be empty");
        return;
    }
}

/* ------------------------------------------------------------------ access reviews */

static const char *const selectors[] = { "fieldSelector", "labelSelector" }; /* in this order */

/* Unknown operators are accepted, for newer clients. */
static void check_requirement(const struct json *req, const struct fpath *at,
                              struct field_errors *errs)
{
    struct fpath key_at = fpath_child(at, STR("key"));
    struct fpath values_at = fpath_child(at, STR("values"));
    const struct json *values = json_getc(req, "values");
    size_t n = json_is(values, JSON_ARRAY) ? values->n : 0;
    struct str op = json_get_str(req, "operator");
    bool wants = str_is(op, "In") || str_is(op, "NotIn");
    bool refuses = str_is(op, "Exists") || str_is(op, "DoesNotExist");
    if (json_get_str(req, "key").n == 0)
        field_error(errs, FIELD_REQUIRED, &key_at, NULL, "must be specified");
    if (wants && n == 0)
        field_error(errs, FIELD_REQUIRED, &values_at, NULL,
                    "must be specified when `operator` is 'In' or 'NotIn'");
    if (refuses && n > 0)
        field_error(errs, FIELD_FORBIDDEN, &values_at, NULL,
                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}

/* Selectors narrow the request; RBAC does not use them, so they are validated only. */
static void check_selector(const struct json *attrs, const char *member, const struct fpath *up,
                           struct field_errors *errs)
{
    const struct json *sel = json_getc(attrs, member);
    struct fpath at = fpath_child(up, str_of(member)), raw_at, reqs_at;
    if (!json_is(sel, JSON_OBJECT))
        return;
    struct str raw = json_get_str(sel, "rawSelector");
    const struct json *reqs = json_getc(sel, "requirements");
    bool some = json_is(reqs, JSON_ARRAY) && reqs->n > 0;
    raw_at = fpath_child(&at, STR("rawSelector"));
    reqs_at = fpath_child(&at, STR("requirements"));
    if (raw.n && some)
        field_error_str(errs, FIELD_INVALID, &raw_at, raw,
                        "may not specified at the same time as requirements");
    else if (!raw.n && !some)
        field_error(errs, FIELD_REQUIRED, &reqs_at, NULL,
                    "when %s is specified, requirements or rawSelector is required", member);
    size_t i = 0;
    json_each (req, some ? reqs : NULL) {
        struct fpath item = fpath_index(&reqs_at, i++);
        check_requirement(req, &item, errs);
    }
}

/* Upstream shows its own struct. */
static const struct json *go_path(struct arena *a, const struct json *path)
{
    struct json *v = json_new_object(a);
    json_set_str(a, v, "Path", json_get_str(path, "path"));
    json_set_str(a, v, "Verb", json_get_str(path, "verb"));
    return v;
}

static void check_access_spec(const struct json *spec, bool self, struct field_errors *errs)
{
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath path_at = fpath_child(&up, STR("nonResourceAttributes"));
    struct fpath res_at = fpath_child(&up, STR("resourceAttributes"));
    struct fpath user_at = fpath_child(&up, STR("user"));
    const struct json *res = json_getc(spec, "resourceAttributes");
    const struct json *path = json_getc(spec, "nonResourceAttributes");
    const struct json *groups = json_getc(spec, "groups");
    if (res && path)
        field_error(errs, FIELD_INVALID, &path_at, go_path(errs->a, path),
                    "cannot be specified in combination with resourceAttributes");
    if (!res && !path)
        field_error(errs, FIELD_INVALID, &res_at, json_new_null(errs->a),
                    "exactly one of nonResourceAttributes or resourceAttributes must be specified");
    if (!self && json_get_str(spec, "user").n == 0 &&
        !(json_is(groups, JSON_ARRAY) && groups->n > 0))
        field_error_str(errs, FIELD_INVALID, &user_at, STR(""),
                        "at least one of user or group must be specified");
    for (size_t i = 0; i < ARRAY_LEN(selectors); i++)
        check_selector(res, selectors[i], &res_at, errs);
}

/* A local review must name its own namespace only. */
static void check_local(const struct json *obj, struct field_errors *errs)
{
    const struct json *spec = json_getc(obj, "spec");
    const struct json *path = json_getc(spec, "nonResourceAttributes");
    const struct json *res = json_getc(spec, "resourceAttributes");
    struct str ns = json_get_str(res, "namespace");
    struct fpath up = fpath_child(NULL, STR("spec"));
    struct fpath path_at = fpath_child(&up, STR("nonResourceAttributes"));
    struct fpath res_at = fpath_child(&up, STR("resourceAttributes"));
    struct fpath ns_at = fpath_child(&res_at, STR("namespace"));
    if (res && !str_eq(ns, meta_namespace(obj)))
        field_error_str(errs, FIELD_INVALID, &ns_at, ns, "must match metadata.namespace");
    if (path)
        field_error(errs, FIELD_INVALID, &path_at, go_path(errs->a, path),
                    "disallowed on this kind of request");
}

static struct json *take_namespace(struct request *rq, struct json *obj)
{
    struct str given = meta_namespace(obj);
    if (given.n && !str_eq(given, rq->route.ns))
        return status_bad_request(&rq->arena, STR("the namespace of the provided object does not "
                                                  "match the namespace sent on the request"));
    json_set_str(&rq->arena, meta_of(&rq->arena, obj), "namespace", rq->route.ns);
    return NULL;
}

static const struct str *string_list(struct arena *a, const struct json *array, size_t *ret_n)
{
    size_t max = json_is(array, JSON_ARRAY) ? array->n : 0;
    struct str *list = arena_new_n(a, struct str, max + 1);
    *ret_n = 0;
    json_each (v, max ? array : NULL)
        list[(*ret_n)++] = json_str(v);
    return list;
}

/* Keys are not escaped, so one of these characters in a key would start another requirement. */
static bool is_plain_key(struct str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (strchr("=!,\\", key.p[i]))
            return false;
    return true;
}

/*
 * A selector of a review in the form of a query parameter; only requirements of the form
 * `key=value`. "" if there are none.
 */
static struct str field_selector_of(struct arena *a, const struct json *selector)
{
    struct str raw = json_get_str(selector, "rawSelector");
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    if (raw.n)
        return raw;
    json_each (req, json_getc(selector, "requirements")) {
        const struct json *values = json_getc(req, "values");
        struct str value = json_str(json_first(values));
        struct str key = json_get_str(req, "key");
        if (!str_is(json_get_str(req, "operator"), "In") || values->n != 1 || !is_plain_key(key))
            continue; /* ignored: it would narrow the list further */
        (void)buf_printf(&text, "%s" STR_FMT "=", text.n ? "," : "", STR_ARG(key));
        for (size_t i = 0; i < value.n; i++) {
            if (value.p[i] == '\\' || value.p[i] == ',' || value.p[i] == '=')
                (void)buf_add_char(&text, '\\');
            (void)buf_add_char(&text, value.p[i]);
        }
    }
    return str_copy_arena(a, buf_str(&text));
}

static struct api_attributes attributes_of_spec(struct arena *a, const struct kube_identity *id,
                                                const struct json *spec)
{
    const struct json *res = json_getc(spec, "resourceAttributes");
    const struct json *path = json_getc(spec, "nonResourceAttributes");
    if (!res)
        return (struct api_attributes){ .identity = id,
                                        .verb = json_get_str(path, "verb"),
                                        .path = json_get_str(path, "path") };
    return (struct api_attributes){ .identity = id,
                                    .is_resource = true,
                                    .verb = json_get_str(res, "verb"),
                                    .group = json_get_str(res, "group"),
                                    .version = json_get_str(res, "version"),
                                    .resource = json_get_str(res, "resource"),
                                    .subresource = json_get_str(res, "subresource"),
                                    .name = json_get_str(res, "name"),
                                    .ns = json_get_str(res, "namespace"),
                                    .field_selector =
                                        field_selector_of(a, json_getc(res, "fieldSelector")) };
}

static bool is_understood(struct arena *a, const struct json *selector, bool is_labels)
{
    static const char *const operators[] = { "In", "NotIn", "Exists", "DoesNotExist" };
    struct str raw = json_get_str(selector, "rawSelector");
    struct selector parsed;
    if (raw.n && (is_labels ? selector_parse_labels(a, raw, &parsed, NULL)
                            : selector_parse_fields(a, raw, &parsed, NULL)) < 0)
        return false;
    json_each (req, json_getc(selector, "requirements")) {
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(operators); i++)
            known = known || str_is(json_get_str(req, "operator"), operators[i]);
        if (!known)
            return false;
    }
    return true;
}

/* Report the parts of the request that were ignored. */
static void tell_ignored(struct arena *a, const struct json *spec, struct json *status)
{
    const char *text = "";
    for (size_t i = 0; i < ARRAY_LEN(selectors); i++) {
        const struct json *sel = json_path(spec, "resourceAttributes", selectors[i], NULL);
        if (json_is(sel, JSON_OBJECT) && !is_understood(a, sel, i == 1))
            text = arena_printf(a, "%s%sspec.resourceAttributes.%s ignored due to parse error",
                                text, text[0] ? ", " : "", selectors[i]);
    }
    if (text[0])
        json_set_str(a, status, "evaluationError", str_of(text));
}

static void answer_access(struct request *rq, struct json *obj, const struct api_attributes *at)
{
    struct arena *a = &rq->arena;
    const struct api *api = rq->api;
    scoped(buf_fini_scoped) struct buf reason = BUF_INIT(BUF_MAX_DEFAULT);
    bool allowed = !api->authorize || api->authorize(api->authorize_arg, at, &reason);
    struct json *status = json_new_object(a);
    json_set_bool(a, status, "allowed", allowed);
    if (reason.n)
        json_set_str(a, status, "reason", buf_str(&reason));
    tell_ignored(a, json_getc(obj, "spec"), status);
    json_setc(a, obj, "status", status);
    reply_json(rq, 201, obj);
}

struct access {
    struct node_lookup lookup;
    struct request *rq;
    struct json *obj;
    struct kube_identity id;
    struct api_attributes at;
};

static void on_looked_up(struct node_lookup *l)
{
    struct access *c = container_of(l, struct access, lookup);
    if (request_idle(c->rq))
        return;
    c->at.related = l->related;
    if (l->r < 0)
        reply_store_err(c->rq, l->r, 0, &l->err);
    else
        answer_access(c->rq, c->obj, &c->at);
}

/*
 * Answer at once, or after a read of the store if the decision depends on what a node's pods refer
 * to.
 */
static struct json *decide_access(struct request *rq, struct json *obj,
                                  const struct kube_identity *id)
{
    struct arena *a = &rq->arena;
    struct access *c = arena_new(a, struct access);
    struct node_rules_question question;
    *c = (struct access){ .rq = rq, .obj = obj, .id = *id };
    c->at = attributes_of_spec(a, &c->id, json_getc(obj, "spec"));
    if (!authz_asks(rq->api, &c->at, &question)) {
        answer_access(rq, obj, &c->at);
        return NULL;
    }
    c->lookup =
        (struct node_lookup){ .api = rq->api, .a = a, .ask = question, .done = on_looked_up };
    int r = node_look_up(&c->lookup);
    if (r < 0)
        return status_from_err(a, r, &c->lookup.err);
    request_busy(rq);
    return NULL;
}

static struct json *access_review(struct request *rq, struct json *obj, bool self, bool local)
{
    struct arena *a = &rq->arena;
    const struct json *spec = json_getc(obj, "spec");
    struct field_errors errs = field_errors_init(a);
    struct json *no = local ? take_namespace(rq, obj) : NULL;
    if (no)
        return no;
    check_access_spec(spec, self, &errs);
    check_metadata(obj, local, &errs);
    if (local)
        check_local(obj, &errs);
    if (errs.n)
        return invalid(rq, &errs);
    struct kube_identity id = self ? rq->identity : identity_from_json(a, spec, "user");
    return decide_access(rq, obj, &id);
}

static struct json *self_access_review(struct request *rq, struct json *obj)
{
    return access_review(rq, obj, true, false);
}

static struct json *subject_access_review(struct request *rq, struct json *obj)
{
    return access_review(rq, obj, false, false);
}

static struct json *local_access_review(struct request *rq, struct json *obj)
{
    return access_review(rq, obj, false, true);
}

/* ------------------------------------------------------------------ rules review */

struct reviews_listing {
    struct arena *a;
    struct json *resources, *paths;
};

static void list_rule(void *arg, const struct rbac_rule *rule)
{
    struct reviews_listing *l = arg;
    struct json *v = rbac_rule_to_json(l->a, rule);
    if (rbac_rule_count(rule, RBAC_RESOURCES)) {
        struct json *one = json_clone(l->a, v);
        (void)json_del(one, STR("nonResourceURLs"));
        json_add(l->resources, one);
    }
    if (rbac_rule_count(rule, RBAC_URLS)) {
        struct json *one = json_new_object(l->a);
        json_setc(l->a, one, "verbs", json_clone(l->a, json_getc(v, "verbs")));
        json_setc(l->a, one, "nonResourceURLs", json_clone(l->a, json_getc(v, "nonResourceURLs")));
        json_add(l->paths, one);
    }
}

static void list_everything(struct reviews_listing *l)
{
    struct json *all = json_new_array(l->a), *rule = json_new_object(l->a);
    json_add(all, json_new_cstr(l->a, "*"));
    json_setc(l->a, rule, "verbs", all);
    json_setc(l->a, rule, "apiGroups", json_clone(l->a, all));
    json_setc(l->a, rule, "resources", json_clone(l->a, all));
    json_add(l->resources, rule);
    rule = json_new_object(l->a);
    json_setc(l->a, rule, "verbs", json_clone(l->a, all));
    json_setc(l->a, rule, "nonResourceURLs", json_clone(l->a, all));
    json_add(l->paths, rule);
}

static struct json *self_rules_review(struct request *rq, struct json *obj)
{
    struct arena *a = &rq->arena;
    struct str ns = json_str(json_path(obj, "spec", "namespace", NULL));
    struct reviews_listing l = { .a = a,
                                 .resources = json_new_array(a),
                                 .paths = json_new_array(a) };
    if (ns.n == 0)
        return status_bad_request(a, STR("no namespace on request"));
    if (rq->api->auth->authz)
        rbac_each_rule(authz_policy(rq->api->auth->authz), &rq->identity, ns, list_rule, &l);
    else
        list_everything(&l);
    struct json *status = json_new_object(a);
    json_setc(a, status, "resourceRules", l.resources);
    json_setc(a, status, "nonResourceRules", l.paths);
    struct str node;
    bool is_node = rq->api->auth->authz && identity_is_node(&rq->identity, &node);
    json_set_bool(a, status, "incomplete", is_node);
    if (is_node)
        json_set_str(a, status, "evaluationError",
                     STR("node authorizer does not support user rule resolution"));
    json_setc(a, obj, "status", status);
    reply_json(rq, 201, obj);
    return NULL;
}

/* ------------------------------------------------------------------ SelfSubjectReview */

static struct json *self_review(struct request *rq, struct json *obj)
{
    struct arena *a = &rq->arena;
    struct field_errors errs = field_errors_init(a);
    check_metadata(obj, false, &errs);
    if (errs.n)
        return invalid(rq, &errs);
    struct json *status = json_new_object(a);
    char now[RFC3339_MAX];
    rfc3339_format(clock_wall_ms() / 1000, now);
    json_set_str(a, json_obj(a, obj, "metadata"), "creationTimestamp", str_of(now));
    json_setc(a, status, "userInfo", identity_to_json(a, &rq->identity));
    json_setc(a, obj, "status", status);
    reply_json(rq, 201, obj);
    return NULL;
}

/* ------------------------------------------------------------------ token review */

struct reviewing {
    struct token_check check;
    struct request *rq;
    struct json *obj;
};

static void answer_token_review(struct reviewing *rv)
{
    struct request *rq = rv->rq;
    struct arena *a = &rq->arena;
    const struct token_check *c = &rv->check;
    struct json *status = json_new_object(a);
    if (c->good) {
        struct json *audiences = json_new_array(a);
        for (size_t i = 0; i < c->n_good_for; i++)
            json_add(audiences, json_new_str(a, c->good_for[i]));
        json_set_bool(a, status, "authenticated", true);
        json_setc(a, status, "user", identity_to_json(a, &c->identity));
        json_setc(a, status, "audiences", audiences);
    } else {
        json_setc(a, status, "user", json_new_object(a));
        json_set_str(a, status, "error",
                     str_of(c->why ? arena_printf(a, "[invalid bearer token, %s]", c->why)
                                   : "invalid bearer token"));
    }
    json_setc(a, rv->obj, "status", status);
    reply_json(rq, 201, rv->obj);
}

static void on_reviewed(struct token_check *c)
{
    struct reviewing *rv = container_of(c, struct reviewing, check);
    if (!request_idle(rv->rq))
        answer_token_review(rv);
}

static void token_review(struct request *rq, struct json *obj)
{
    struct arena *a = &rq->arena;
    const struct json *spec = json_getc(obj, "spec");
    struct reviewing *rv = arena_new(a, struct reviewing);
    *rv = (struct reviewing){ .check = { .tokens = rq->api->auth->tokens,
                                         .a = a,
                                         .token = json_get_str(spec, "token"),
                                         .done = on_reviewed },
                              .rq = rq,
                              .obj = obj };
    rv->check.audiences = string_list(a, json_getc(spec, "audiences"), &rv->check.n_audiences);
    if (rv->check.token.n == 0) {
        reply_status(
            rq, status_bad_request(a, STR("token is required for TokenReview in authentication")));
        return;
    }
    if (token_check(&rv->check))
        answer_token_review(rv);
    else
        request_busy(rq);
}

/* ------------------------------------------------------------------ the table */

static const struct {
    const char *kind;
    /* Answers, at once or later, or returns the Status that refuses the review. */
    struct json *(*answer)(struct request *rq, struct json *obj);
} reviews[] = {
    { "SelfSubjectReview", self_review },
    { "SelfSubjectAccessReview", self_access_review },
    { "SubjectAccessReview", subject_access_review },
    { "LocalSubjectAccessReview", local_access_review },
    { "SelfSubjectRulesReview", self_rules_review },
};

bool reviews_serve(struct request *rq)
{
    if (rq->sub || !rq->res->strategy->is_review)
        return false;
    struct json *obj = NULL;
    const struct json *no = review_read_body(rq, rq->res, &obj);
    if (!no && str_is(rq->res->kind, "TokenReview")) {
        token_review(rq, obj);
        return true;
    }
    for (size_t i = 0; !no && i < ARRAY_LEN(reviews); i++) {
        if (str_is(rq->res->kind, reviews[i].kind)) {
            no = reviews[i].answer(rq, obj);
            break;
        }
    }
    if (no)
        reply_status(rq, no);
    return true;
}
